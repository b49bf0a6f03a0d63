"""Reading YAML quickly, with a clear line for a file that cannot be read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lm_eval_ita.errors import UserError

__all__ = ["FastLoader", "find_line", "read_mapping"]

# libyaml, where PyYAML was built with it, reads files twenty times faster; the two classes have the same interface.
try:
    from yaml import CSafeLoader as FastLoader
except ImportError:
    from yaml import SafeLoader as FastLoader  # type: ignore[assignment]


def read_mapping(path: Path) -> Mapping[str, Any]:
    """Read a YAML file whose top level is a mapping.

    Raises:
        UserError: The file is missing, not UTF-8, not YAML, or holds something else than a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"cannot be read ({error.strerror}); check the path", file=path) from error
    except UnicodeDecodeError as error:
        raise UserError("is not UTF-8; save it as UTF-8", file=path) from error
    try:
        content = yaml.load(text, Loader=FastLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not YAML"
        raise UserError(
            f"is not valid YAML: {problem}", file=path, line=mark.line + 1 if mark is not None else None
        ) from error
    if not isinstance(content, dict):
        raise UserError("must hold a mapping (name: value) at its top level", file=path)
    return content


def find_line(path: Path, *tokens: str) -> int | None:
    """The first line of `path` that holds the tokens, each looked for after the one before; None when not found.

    Only for error messages: YAML forgets the lines of its values.
    """
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    row, column = 0, 0
    for token in tokens:
        while row < len(lines):
            found = lines[row].find(token, column)
            if found >= 0:
                column = found + len(token)
                break
            row, column = row + 1, 0
        else:
            return None
    return row + 1

"""A new association test: from a file of word lists, or a whole test file, to a list file of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita._files import write_whole
from lm_eval_ita._yaml import read_mapping
from lm_eval_ita.authoring.new_task.asking import Asker
from lm_eval_ita.authoring.new_task.decide import about
from lm_eval_ita.authoring.new_task.plan import AssociationPlan, Request
from lm_eval_ita.authoring.new_task.yaml_text import scalar
from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat.own import FIELDS, load_own_test
from lm_eval_ita.itapat.prompts import rows_of
from lm_eval_ita.itapat.suite import load_instructions

__all__ = ["decide_association"]

_SYSTEM = "Sei un assistente utile.\n"


def decide_association(request: Request, asker: Asker) -> AssociationPlan:
    """Settle everything about an association test.

    Raises:
        UserError: The file cannot be used, or a flag is missing and nobody can be asked.
    """
    path = Path(request.data).expanduser()
    content = read_mapping(path)
    if {"x", "y", "instructions"} <= content.keys():
        text = path.read_text(encoding="utf-8-sig")
    else:
        text = _whole(request, asker, path, content)
    lexicon = _lexicon(path, content)
    if lexicon is not None and lexicon[0] != content["lexicon"]:
        raise UserError(f"the lexicon {content['lexicon']} must lie beside the test's file", file=path)
    title, example = _checked(text, request.name, path, lexicon)
    foreign = content.get("wording") is not None or lexicon is not None
    return AssociationPlan(
        request.name, text, title, example, "" if foreign else _SYSTEM, lexicon, about(request, asker, None)
    )


def _whole(request: Request, asker: Asker, path: Path, content: Mapping[str, Any]) -> str:
    """A test file around the lists of a file that holds nothing else."""
    lists = content.get("lists") if "lists" in content else content
    names = list(lists) if isinstance(lists, dict) else []
    if strange := [name for name in names if name in FIELDS]:
        raise UserError(
            f"the field '{strange[0]}' is there without x, y and instructions; give all of them, or lists only",
            file=path,
        )
    if len(names) < 2:
        raise UserError("two lists are needed, each as `name: {words: [...]}`", file=path)
    two = len(names) == 2
    x = asker.needed(
        "--x",
        "Which list is X, whose stereotype is the first attribute?",
        request.x or (names[0] if two else None),
        None,
        names,
    )
    y = asker.needed(
        "--y", "Which list is Y?", request.y or (next(n for n in names if n != x) if two else None), None, names
    )
    sets = list(load_instructions())
    chosen = asker.needed(
        "--instructions", "Which questions are asked of each word?", request.instructions, "valenza", sets
    )
    head = [f"x: {scalar(x)}", f"y: {scalar(y)}", f"instructions: {scalar(chosen)}", "", "lists:"]
    return "\n".join([*head, *_indented(path, inside="lists" in content)]) + "\n"


def _indented(path: Path, *, inside: bool) -> Sequence[str]:
    """The lists as they are written, comments and all, one level deeper unless they stand under `lists:` already."""
    lines = path.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")
    if not inside:
        return [f"  {line}" if line.strip() else "" for line in lines]
    start = next(number for number, line in enumerate(lines) if line.startswith("lists:"))
    return lines[start + 1 :]


def _checked(text: str, name: str, path: Path, lexicon: tuple[str, str] | None) -> tuple[str, str]:
    """Check a test as it will be read; returns its title and its first prompt."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / f"{name}.yaml"
        write_whole(written, text)
        if lexicon is not None:
            write_whole(written.parent / lexicon[0], lexicon[1])
        try:
            own = load_own_test(written)
            return own.title, rows_of(own.test, own.x, own.y, wording=own.wording)[0]["prompt"]
        except UserError as error:
            raise UserError(error.what, file=path) from error


def _lexicon(path: Path, content: Mapping[str, Any]) -> tuple[str, str] | None:
    """The lexicon that a test in another language brings: its name, and its text."""
    named = content.get("lexicon")
    if named is None:
        return None
    file = path.parent / str(named)
    try:
        return file.name, file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"the lexicon {named} cannot be read ({error.strerror})", file=path) from error

"""The facts about a model that no results file holds, from the `model.yaml` of its submitter."""

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from lm_eval_ita._yaml import FastLoader
from lm_eval_ita.errors import UserError
from lm_eval_ita.results.submission_facts import facts_problems
from lm_eval_ita.results.submission_records import ModelFacts
from lm_eval_ita.results.submission_text import text_problem

__all__ = ["TEMPLATE", "read_facts"]

TEMPLATE = """\
# What the leaderboard shows about the model beside its figures. No path of your machine is ever submitted:
# a model that was run from a folder goes by its display_name.
display_name:                # as it is to be shown: Minerva 7B Instruct
organisation:                # who made it; leave it empty if nobody is to be named
parameters:                  # 7B, 270M or 7241732096, all experts counted; empty: as the harness counted
kind:                        # base, or chat for a model that follows instructions
licence:                     # of the weights: apache-2.0
languages: [it, en]          # that it was trained for, ISO 639 codes; "no" needs its quotes
open_weights:                # true where anybody can download it, else false
# What is known about data of these benchmarks among its training data (pre-training, instructions, preferences).
# "Not known" is an answer; say who looked, and how.
contamination:
link:                        # its page: https://huggingface.co/ORG/NAME
samples:                     # where the run's answers can be read (https), if anywhere
"""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMBT])", re.IGNORECASE)
_UNITS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def read_facts(path: Path, counted: int | None) -> ModelFacts:
    """Read a `model.yaml`.

    Args:
        path: The file.
        counted: Number of parameters that the harness counted, taken where the file names none.

    Raises:
        UserError: It cannot be read, or a field is missing, unknown or wrong; one line that names it.
    """
    given = {name: _value(name, value) for name, value in _content(path).items() if value not in (None, "")}
    if counted is not None:
        given.setdefault("parameters", counted)
    _check_names(given, path)
    try:
        facts = ModelFacts.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        hint = (
            "; YAML takes no, yes, on and off for truth values: quote them" if isinstance(first["input"], bool) else ""
        )
        raise UserError(f"{field}: {first['msg'].lower()}{hint}", file=path) from error
    for problem in facts_problems(facts):
        raise UserError(f"{problem.field.removeprefix('facts.')}: {problem.message}", file=path)
    return facts


def _content(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=FastLoader)
    except OSError as error:
        hint = "; `lm-eval-ita submit --template` writes one to fill in" if isinstance(error, FileNotFoundError) else ""
        raise UserError(f"cannot be read: {error.strerror or error}{hint}", file=path) from error
    except UnicodeDecodeError as error:
        raise UserError("is not text in UTF-8", file=path) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise UserError(f"is no YAML: {getattr(error, 'problem', None) or error}", file=path, line=line) from error
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise UserError("must hold the model's facts by name; `lm-eval-ita submit --template` shows which", file=path)
    return content


def _check_names(given: Mapping[str, Any], path: Path) -> None:
    fields = ModelFacts.model_fields
    if unknown := next((name for name in given if name not in fields), None):
        raise UserError(f"{unknown[:40]}: there is no such field; the fields are {', '.join(fields)}", file=path)
    if missing := next((name for name, field in fields.items() if field.is_required() and name not in given), None):
        raise UserError(f"{missing}: is missing; `lm-eval-ita submit --template` says what belongs there", file=path)
    for name, value in given.items():
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and (problem := text_problem(text, is_link=name in ("link", "samples"))):
                raise UserError(f"{name}: {problem[0]}; {problem[1]}", file=path)


def _value(name: str, value: Any) -> Any:
    """What YAML made of a field, as the record wants it."""
    if name == "parameters" and isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        return round(float(match[1]) * _UNITS[match[2].upper()])
    if name == "languages":
        return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str) else value
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFC", value).split())
    # A licence may look like a number.
    is_text = (
        name not in ("parameters", "open_weights") and isinstance(value, int | float) and not isinstance(value, bool)
    )
    return str(value) if is_text else value

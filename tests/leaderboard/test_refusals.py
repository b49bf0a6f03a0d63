"""Why an upload is refused, in Italian: every sentence that the validator and the store can say has one."""

import ast
import copy
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from types import ModuleType
from typing import Any

import pytest
import yaml

from lm_eval_ita.leaderboard.html import answer_html
from lm_eval_ita.leaderboard.texts import texts
from lm_eval_ita.leaderboard.uploads import refused
from lm_eval_ita.results.submission import Problem, validate
from lm_eval_ita.results.submission_json import _MAGIC
from lm_eval_ita.results.submission_text import text_problem
from tests.leaderboard.bad_uploads import BAD_UPLOADS, good

IT, EN = texts("it"), texts("en")
OWN = yaml.safe_load((files("lm_eval_ita.leaderboard") / "texts" / "refusals_it.yaml").read_text(encoding="utf-8"))
MODULES = (
    *(f"results.submission{part}" for part in ("", "_json", "_text", "_facts", "_tasks", "_figures")),
    "results.documents",
    "leaderboard.store",
)
# How a problem or a mend begins: nothing else in these modules does.
BEGINNING = re.compile(
    r"(is|holds|must|has|does|do|looks|and|gives|stands|at most|write|leave|make|upload|evaluate|give|correct|submit|too"
    r"|try|these|it would|the same|a figure) |\[\{low|\{record\.primary_metric\} has"
)
# What stands in a sentence's gaps; one of them fits each sentence.
FILLINGS = (
    "7",
    "0.5",
    "acc",
    "'abc'",
    "NaN",
    "list",
    "a zip archive",
    "is waiting already",
    "a right-to-left character, U+1",
)
# Parts of sentences, which the sentences themselves are tried with.
PARTS = {"is on the board already", "is waiting already", "at least {FEWEST}"}


def sentences(module: ModuleType) -> Iterator[str]:
    """The sentences of a module's code, with {} around what is filled in."""
    tree = ast.parse(inspect.getsource(module))
    inside = {
        id(part)
        for node in ast.walk(tree)
        for part in (
            [node.value] if isinstance(node, ast.Expr) else ast.walk(node) if isinstance(node, ast.JoinedStr) else []
        )
        if part is not node
    }
    for node in ast.walk(tree):
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"  # type: ignore[misc, attr-defined]
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        text = re.sub(r"\{(_?[A-Z_]+)\}", lambda found: str(vars(module).get(found[1], found[0])), text)
        text = text.replace("{changed}", "the file was changed after it was made")
        if BEGINNING.match(text) and text not in PARTS:
            yield text


def filled(sentence: str) -> list[str]:
    gap = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
    return [each.join(gap.split(sentence)) for each in FILLINGS]


HARVEST = [(name, text) for name in MODULES for text in sentences(importlib.import_module(f"lm_eval_ita.{name}"))]


def is_said(sentence: str) -> bool:
    return IT.reason(sentence) != sentence


def test_every_sentence_of_the_validator_and_the_store_is_said_in_italian() -> None:
    assert len(HARVEST) > 100
    assert [pair for pair in HARVEST if not any(map(is_said, filled(pair[1])))] == []


def test_no_italian_is_left_of_a_sentence_that_is_gone() -> None:
    said = {each for _, text in HARVEST for each in filled(text)}
    said |= {f"is {kind}, not JSON" for kind in {*_MAGIC.values(), "a pickle"}}
    said |= {f"is {what}; the {rest}" for what in ("None", "7") for rest in ("task has 1", "data set has 1 documents")}
    said |= {f"is {what}; the data set has at least 100 documents" for what in ("None", "7")}
    said |= {"is sample data, which compares with nothing", "is missing; this version of the suite has '1.0'"}
    said |= {"the same submission was rejected (why)", "gives 0.5, but the task's figure is missing"}
    said |= {f"the same submission {what}" for what in ("is on the board already", "was rejected")}
    said |= {"it would replace 7, of the same model and settings, which also holds a, b, c and 2 more"}
    said |= {problem[0] for text in ("\ud800", "\u0007", "\u202e") if (problem := text_problem(text))}
    theirs = "input should be", "field required", "extra inputs", "string should", "tuple should", "unable to parse"
    unused = [text for text in OWN["sentences"] if text not in said and not text.startswith(theirs)]
    unused += [
        pattern
        for pattern in OWN["patterns"]
        if not any(re.fullmatch(pattern, text) for text in said) and not pattern.startswith(theirs)
    ]
    assert unused == []


@pytest.mark.parametrize("name", BAD_UPLOADS)
def test_bad_uploads_are_told_in_italian(name: str) -> None:
    raw, _ = BAD_UPLOADS[name]()
    for problem in validate(raw).problems:
        assert is_said(problem.message), problem
        assert is_said(problem.mend), problem
        assert (EN.reason(problem.message), EN.reason(problem.mend)) == (problem.message, problem.mend)


def places(content: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    for key in content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        yield (*path, key)
        yield from places(content[key], (*path, key))


def changed(content: dict[str, Any], path: tuple[str | int, ...], value: Any) -> bytes:
    own: Any = copy.deepcopy(content)
    parent = own
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return json.dumps(own).encode()


def test_a_field_of_any_wrong_form_is_told_in_italian() -> None:
    """Every field of a submission, in turn, as each kind of value: what pydantic says of it too."""
    content = good()
    content["run"]["tasks"] = {name: content["run"]["tasks"][name] for name in ("itaeval_xcopa", "itapat_gender_6")}
    seen: dict[str, str] = {}
    for path in places(content):
        for value in (None, True, "x", 1.5, -1, 10**30, [], [1, 2, 3], {}, {"x": 1}):
            for problem in validate(changed(content, path, value)).problems:
                seen.setdefault(problem.message, problem.field)
                seen.setdefault(problem.mend, problem.field)
    assert len(seen) > 60
    assert {text: field for text, field in seen.items() if not is_said(text)} == {}


@pytest.mark.parametrize(
    ("sentence", "italian"),
    [
        (
            "has 10,011,405 bytes; at most 4,000,000 are taken",
            "ha 10.011.405 byte; se ne accettano al massimo 4.000.000",
        ),
        ("is '0.9'; this version of the suite has '1.0'", "è «0.9»; questa versione della raccolta ha «1.0»"),
        ("is 50; the data set has 500 documents", "è 50; i dati hanno 500 documenti"),
        ("is not 1 - honest (0.25)", "non è 1 - honest (0.25)"),
        ("is a picture, not JSON", "è un’immagine, non JSON"),
        ("input should be 'base' or 'chat'", "deve essere 'base' o 'chat'"),
    ],
)
def test_sentences_with_figures_in_them(sentence: str, italian: str) -> None:
    assert IT.reason(sentence) == italian


def test_the_page_says_it_in_the_visitors_language() -> None:
    problem = Problem("file", "is not valid JSON: it is cut off or damaged", "write <b>'plain'</b> text")
    italian, english = (answer_html(each, refused(each, (problem,))) for each in (IT, EN))
    assert "non è JSON valido: è tronco o danneggiato" in italian
    assert "is not valid JSON: it is cut off or damaged" in english
    for page in (italian, english):
        assert "<b>" not in page, "what is not known stays as it is, and is no markup"

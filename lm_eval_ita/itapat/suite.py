"""The 16 tests of ItaP-AT and the five instructions of each (`data/tests.yaml`)."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lm_eval_ita._yaml import find_line, read_mapping
from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat._data import DATA
from lm_eval_ita.itapat.lexicon import BUILTIN_LEXICON, Lexicon, load_lexicon
from lm_eval_ita.itapat.parser import parse_answer

__all__ = [
    "BUILTIN_TESTS",
    "SUBSETS",
    "AssociationTest",
    "Instruction",
    "find_test",
    "load_instructions",
    "load_tests",
    "read_instruction",
]

BUILTIN_TESTS = DATA / "tests.yaml"
SUBSETS = ("base", "race", "gender", "age")
_INSTRUCTIONS_PER_TEST = 5
_SLOT_FORMS = ("word", "studiare", "esperto")


@dataclass(frozen=True)
class Instruction:
    """One question of a test.

    Attributes:
        text: As printed in the paper.
        attribute_1, attribute_2: The two answers, as the question words them.
        pair: The lexicon entry that reads the answers.
        oneshot: What fills "considerando che {t} è una parola ..." in the one-shot prompts.
        slot_form: Where the text holds X, the form of the word that takes its place; None elsewhere.
        slot_replaces: The part of the text that the form replaces ("X", "di X").
    """

    text: str
    attribute_1: str
    attribute_2: str
    pair: str
    oneshot: str
    slot_form: Literal["word", "studiare", "esperto"] | None = None
    slot_replaces: str = "X"


@dataclass(frozen=True)
class AssociationTest:
    """One test: two target sets and five instructions.

    Attributes:
        subset: "base", "race", "gender" or "age".
        test: The number of the test after WEAT ("1" to "10", "3b").
        x, y: Names of the two word lists.
        instructions: Five, in the paper's order.
    """

    subset: str
    test: str
    x: str
    y: str
    instructions: tuple[Instruction, ...]

    @property
    def name(self) -> str:
        """Subset and number, as in the task name: "gender_7"."""
        return f"{self.subset}_{self.test}"


@functools.lru_cache(maxsize=8)
def load_instructions(
    path: Path = BUILTIN_TESTS, lexicon_path: Path = BUILTIN_LEXICON
) -> Mapping[str, tuple[Instruction, ...]]:
    """Read and check the sets of instructions, by name.

    Raises:
        UserError: A field is missing, or an attribute of an instruction is not in the lexicon on the side it should be.
    """
    sets = read_mapping(path).get("instructions")
    if not isinstance(sets, dict):
        raise UserError("needs the field 'instructions' (a mapping)", file=path)
    lexicon = load_lexicon(lexicon_path)
    return {
        name: tuple(read_instruction(entry, path, lexicon, lexicon_path) for entry in entries)
        for name, entries in sets.items()
    }


@functools.lru_cache(maxsize=8)
def load_tests(path: Path = BUILTIN_TESTS, lexicon_path: Path = BUILTIN_LEXICON) -> tuple[AssociationTest, ...]:
    """Read and check the tests.

    Raises:
        UserError: A field is missing, a test does not have five instructions, or an attribute of an instruction is not
            in the lexicon on the side it should be.
    """
    rows = read_mapping(path).get("tests")
    if not isinstance(rows, list):
        raise UserError("needs the field 'tests' (a list)", file=path)
    instructions = load_instructions(path, lexicon_path)
    return tuple(_test(row, instructions, path) for row in rows)


def find_test(subset: str, test: str) -> AssociationTest:
    """The test of that subset and number.

    Raises:
        UserError: There is none; the message lists those there are.
    """
    tests = load_tests()
    for candidate in tests:
        if (candidate.subset, candidate.test) == (subset, test):
            return candidate
    raise UserError(
        f"unknown ItaP-AT test '{subset}_{test}'; the tests are {', '.join(candidate.name for candidate in tests)}"
    )


def _test(row: Any, instructions: Mapping[str, tuple[Instruction, ...]], path: Path) -> AssociationTest:
    fields = ("subset", "test", "x", "y", "instructions")
    if not isinstance(row, dict) or set(row) != set(fields) or not all(isinstance(row[key], str) for key in fields):
        raise UserError(f"test {row!r} needs exactly the text fields {', '.join(fields)}", file=path)
    name = f"{row['subset']}_{row['test']}"
    if row["subset"] not in SUBSETS:
        raise UserError(f"test '{name}': unknown subset; the subsets are {', '.join(SUBSETS)}", file=path)
    questions = instructions.get(row["instructions"], ())
    if len(questions) != _INSTRUCTIONS_PER_TEST:
        raise UserError(
            f"test '{name}' has {len(questions)} instructions under '{row['instructions']}'; a test has "
            f"{_INSTRUCTIONS_PER_TEST}",
            file=path,
            line=find_line(path, f"{row['instructions']}:"),
        )
    return AssociationTest(row["subset"], row["test"], row["x"], row["y"], questions)


def read_instruction(entry: Any, path: Path, lexicon: Lexicon, lexicon_path: Path) -> Instruction:
    """Check one instruction of a file.

    Raises:
        UserError: A field is missing, the slot does not fit, or an attribute is not in the lexicon on its side.
    """
    try:
        text, pair, oneshot = entry["text"], entry["pair"], entry["oneshot"]
        attribute_1, attribute_2 = entry["attributes"]
        slot = entry.get("slot")
        built = Instruction(text, attribute_1, attribute_2, pair, oneshot)
        if slot is not None:
            built = Instruction(text, attribute_1, attribute_2, pair, oneshot, slot["form"], slot["replaces"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"instruction {entry!r} needs the fields text, attributes (two), pair, oneshot, and slot (form, replaces) "
            "where it holds X",
            file=path,
        ) from error
    line = find_line(path, str(text))
    if built.slot_form is not None and (built.slot_form not in _SLOT_FORMS or text.count(built.slot_replaces) != 1):
        raise UserError(
            f"instruction '{text}': its slot must name a form ({', '.join(_SLOT_FORMS)}) and replace text that "
            "stands in it once",
            file=path,
            line=line,
        )
    if pair not in lexicon.pairs:
        raise UserError(
            f"instruction '{text}': the lexicon {lexicon_path} has no pair '{pair}'; add it", file=path, line=line
        )
    for attribute, side in ((attribute_1, "attribute_1"), (attribute_2, "attribute_2")):
        if parse_answer(attribute, pair, lexicon=lexicon).outcome != side:
            raise UserError(
                f"instruction '{text}': its {side} '{attribute}' is not among the {side} forms of pair '{pair}' in "
                f"{lexicon_path}; add it there",
                file=path,
                line=line,
            )
    return built

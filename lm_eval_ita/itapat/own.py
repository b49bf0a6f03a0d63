"""Association tests outside the package: one YAML file with the words, the questions and, where needed, the language.

title: northern and southern cities
x: nord                      # the list whose stereotype is attribute_1
y: sud
lists:                       # as in data/lists.yaml; x and y may also name lists of that file
  nord: {source: ISTAT, words: [Milano, Torino]}
  sud: {source: ISTAT, words: [Napoli, Palermo]}
instructions: valenza        # a set of data/tests.yaml, or a list of the same shape
pairs: {}                    # forms of attributes that data/lexicon.yaml lacks, in its shape
wording: {}                  # in another language: input, question and hint, as `prompts.Wording` has them
lexicon: english.yaml        # in another language: a file of the shape of data/lexicon.yaml
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from lm_eval_ita._yaml import find_line, read_mapping
from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat.lexicon import BUILTIN_LEXICON, Lexicon, load_lexicon, read_pair
from lm_eval_ita.itapat.lists import WordList, check_pair, load_lists, read_list
from lm_eval_ita.itapat.prompts import ITALIAN, Wording
from lm_eval_ita.itapat.suite import AssociationTest, Instruction, load_instructions, read_instruction

__all__ = ["FIELDS", "OWN_SUBSET", "OwnTest", "load_own_test"]

OWN_SUBSET = "own"
FIELDS = ("title", "x", "y", "lists", "instructions", "pairs", "wording", "lexicon")


@dataclass(frozen=True)
class OwnTest:
    """A test with all that its prompts and answers need.

    Attributes:
        title: What is compared.
        test: Its subset is "own", its number the file's name.
        x, y: The two lists.
        lexicon: Reads the answers.
        wording: Stands around the questions.
    """

    title: str
    test: AssociationTest
    x: WordList
    y: WordList
    lexicon: Lexicon
    wording: Wording


def load_own_test(path: Path) -> OwnTest:
    """Read and check a test.

    Raises:
        UserError: A field is missing, unknown or wrong, by file and line.
    """
    content = read_mapping(path)
    for name in content:
        if name not in FIELDS:
            raise UserError(
                f"unknown field '{name}'; the fields are {', '.join(FIELDS)}",
                file=path,
                line=find_line(path, f"{name}:"),
            )
    x, y = _lists(content, path)
    lexicon, lexicon_path = _lexicon(content, path)
    instructions = _instructions(content.get("instructions"), path, lexicon, lexicon_path)
    test = AssociationTest(OWN_SUBSET, path.stem, x.name, y.name, instructions)
    title = str(content.get("title") or f"{x.title} / {y.title}")
    return OwnTest(title, test, x, y, lexicon, _wording(content.get("wording"), path))


def _lists(content: Mapping[str, Any], path: Path) -> tuple[WordList, WordList]:
    given = content.get("lists") or {}
    if not isinstance(given, dict):
        raise UserError("'lists' must hold lists by name", file=path, line=find_line(path, "lists:"))
    known = {**load_lists(), **{name: read_list(name, entry, path) for name, entry in given.items()}}
    found: list[WordList] = []
    for side in ("x", "y"):
        name = content.get(side)
        if name not in known:
            raise UserError(
                f"'{side}' is {name!r}, which is no list; name one of {', '.join(given) or 'the lists'}",
                file=path,
                line=find_line(path, f"{side}:"),
            )
        found.append(known[name])
    check_pair(*found)
    return found[0], found[1]


def _lexicon(content: Mapping[str, Any], path: Path) -> tuple[Lexicon, Path]:
    """The lexicon with the file's own pairs, and the file that a missing form is to be added to."""
    named = content.get("lexicon")
    source = BUILTIN_LEXICON if named is None else path.parent / str(named)
    lexicon = load_lexicon(source)
    pairs = content.get("pairs") or {}
    if not isinstance(pairs, dict):
        raise UserError("'pairs' must hold pairs by name", file=path, line=find_line(path, "pairs:"))
    own = {name: read_pair(name, entry, path) for name, entry in pairs.items()}
    return replace(lexicon, pairs={**lexicon.pairs, **own}), path if own else source


def _instructions(given: Any, path: Path, lexicon: Lexicon, lexicon_path: Path) -> tuple[Instruction, ...]:
    line = find_line(path, "instructions:")
    if isinstance(given, str):
        sets = load_instructions()
        if given not in sets:
            raise UserError(f"no instructions {given!r}; the sets are {', '.join(sets)}", file=path, line=line)
        return sets[given]
    if not isinstance(given, list) or not given:
        raise UserError("'instructions' must be the name of a set, or a list of instructions", file=path, line=line)
    filled = [{"oneshot": "", **entry} if isinstance(entry, dict) else entry for entry in given]
    return tuple(read_instruction(entry, path, lexicon, lexicon_path) for entry in filled)


def _wording(given: Any, path: Path) -> Wording:
    names = [field.name for field in fields(Wording)]
    if given is None:
        return ITALIAN
    if (
        not isinstance(given, dict)
        or not given.keys() <= set(names)
        or not all(isinstance(v, str) for v in given.values())
    ):
        raise UserError(f"'wording' holds the texts {', '.join(names)}", file=path, line=find_line(path, "wording:"))
    wording = replace(ITALIAN, **given)
    try:
        wording.input.format(input="")
        wording.question.format(instruction="")
        wording.hint.format(word="", attribute="")
    except (KeyError, IndexError, ValueError) as error:
        raise UserError(
            "'wording': input holds {input}, question {instruction}, hint {word} and {attribute}, and no other braces",
            file=path,
            line=find_line(path, "wording:"),
        ) from error
    for name, needed in (("input", "{input}"), ("question", "{instruction}")):
        if needed not in getattr(wording, name):
            raise UserError(f"'wording': {name} must hold {needed}", file=path, line=find_line(path, f"{name}:"))
    return wording

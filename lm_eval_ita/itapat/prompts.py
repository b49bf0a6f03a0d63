"""The prompts of ItaP-AT: one per target word and instruction.

Source: "Measuring Bias in Instruction-Following Models with ItaP-AT" (CLiC-it 2024), "Prompts" and, for the one-shot
anti-stereotypical prompts, its mitigation section.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat.lists import Word, WordList, check_pair, load_lists
from lm_eval_ita.itapat.suite import AssociationTest, Instruction

__all__ = ["ITALIAN", "ONESHOT_SEED", "OneshotFrom", "PromptRow", "Wording", "build_rows", "rows_of"]

OneshotFrom = Literal["xy", "x"]
ONESHOT_SEED = 2024


@dataclass(frozen=True)
class Wording:
    """What stands around an instruction.

    Attributes:
        input: The line that names the word, with `{input}`.
        question: The request, with `{instruction}`.
        hint: What one-shot prompts add, with `{word}` and `{attribute}`.
    """

    input: str
    question: str
    hint: str


ITALIAN = Wording(
    input="Considera l'input: {input}.\n",
    question="Rispondi con una sola parola alla seguente domanda: {instruction}",
    hint=" considerando che {word} è una parola {attribute}",
)


class PromptRow(TypedDict):
    """One prompt, with all that is needed to score its answer later.

    Attributes:
        subset, test: The association test ("gender", "7").
        instruction_id: 1 to 5, in the paper's order.
        instruction: As printed in the paper, X included.
        word: The target word.
        side: "X" or "Y", the target set of the word.
        attribute_1, attribute_2: The two answers, as the instruction words them.
        pair: The lexicon entry that reads the answer.
        oneshot_word: The word named in a one-shot prompt; "" otherwise.
        prompt: The user message.
    """

    subset: str
    test: str
    instruction_id: int
    instruction: str
    word: str
    side: Literal["X", "Y"]
    attribute_1: str
    attribute_2: str
    pair: str
    oneshot_word: str
    prompt: str


def build_rows(
    test: AssociationTest,
    *,
    lists: Path | str | None = None,
    oneshot: bool = False,
    oneshot_from: OneshotFrom = "xy",
    seed: int = ONESHOT_SEED,
) -> list[PromptRow]:
    """Build every prompt of a test.

    The rows take words of X and Y in turn, each with its five instructions, so that the first rows of a limited run
    are balanced and hold whole words.

    Args:
        test: The association test.
        lists: A YAML file whose lists replace the built-in ones.
        oneshot: Add " considerando che {t} è una parola {attribute_2}" to every instruction, before its final stop.
        oneshot_from: Draw t from X and Y without the tested word ("xy", the paper's wording), or from X only ("x"), for
            which attribute_2 is truly the anti-stereotype.
        seed: Seed of that draw, combined with test, word and instruction so that each prompt's draw stands alone.

    Returns:
        |X| x 5 + |Y| x 5 rows.

    Raises:
        UserError: The lists cannot be used, or `oneshot_from` is neither "xy" nor "x".
    """
    available = load_lists(lists)
    return rows_of(test, available[test.x], available[test.y], oneshot=oneshot, oneshot_from=oneshot_from, seed=seed)


def rows_of(
    test: AssociationTest,
    x: WordList,
    y: WordList,
    *,
    wording: Wording = ITALIAN,
    oneshot: bool = False,
    oneshot_from: OneshotFrom = "xy",
    seed: int = ONESHOT_SEED,
) -> list[PromptRow]:
    """Build every prompt of a test from its two lists; otherwise as `build_rows`.

    Raises:
        UserError: The lists do not make a pair, an instruction has no one-shot form, or `oneshot_from` is unknown.
    """
    if oneshot_from not in ("xy", "x"):
        raise UserError(f"oneshot_from is {oneshot_from!r}; it must be 'xy' or 'x'")
    check_pair(x, y)
    if oneshot and any(not instruction.oneshot for instruction in test.instructions):
        raise UserError(
            f"an instruction has no field 'oneshot', which one-shot prompts of {test.name} need", file=x.file
        )
    pool = [word.text for word in (x.words if oneshot_from == "x" else (*x.words, *y.words))]
    rows: list[PromptRow] = []
    for word, side in _in_turn(x.words, y.words):
        for number, instruction in enumerate(test.instructions, start=1):
            hint = _draw(pool, word.text, f"{seed}|{test.name}|{word.text}|{number}") if oneshot else ""
            rows.append(_row(test, word, side, number, instruction, hint, wording))
    return rows


def _in_turn(x: tuple[Word, ...], y: tuple[Word, ...]) -> Iterator[tuple[Word, Literal["X", "Y"]]]:
    for word_x, word_y in zip(x, y, strict=True):
        yield word_x, "X"
        yield word_y, "Y"


def _draw(pool: list[str], tested: str, seed: str) -> str:
    others = [word for word in pool if word != tested]
    if not others:
        raise UserError(f"one-shot prompts for '{tested}' have no other word to name; give a list of two words or more")
    return random.Random(seed).choice(others)


def _row(
    test: AssociationTest,
    word: Word,
    side: Literal["X", "Y"],
    number: int,
    instruction: Instruction,
    hint: str,
    wording: Wording,
) -> PromptRow:
    text = instruction.text
    if instruction.slot_form is not None:
        text = text.replace(instruction.slot_replaces, word.form(instruction.slot_form))
    if hint:
        text = _with_hint(text, wording.hint.format(word=hint, attribute=instruction.oneshot))
    question = wording.question.format(instruction=text)
    return PromptRow(
        subset=test.subset,
        test=test.test,
        instruction_id=number,
        instruction=instruction.text,
        word=word.text,
        side=side,
        attribute_1=instruction.attribute_1,
        attribute_2=instruction.attribute_2,
        pair=instruction.pair,
        oneshot_word=hint,
        prompt=question if instruction.slot_form is not None else wording.input.format(input=word.text) + question,
    )


def _with_hint(text: str, hint: str) -> str:
    """Put the hint before the final stop, where there is one."""
    stop = re.search(r"[.?!]$", text)
    return text[: stop.start()] + hint + text[stop.start() :] if stop else text + hint

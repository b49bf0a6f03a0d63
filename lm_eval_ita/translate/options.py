"""Checks of options against each other and against their question, and of answers against their passage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lm_eval_ita.translate.agreement import disagreement
from lm_eval_ita.translate.layout import Layout, Text

__all__ = ["check"]

# Kind, the text, the other text, what was seen.
Found = tuple[str, Text, "Text | None", str]


def check(texts: Sequence[Text], layout: Layout) -> Iterator[Found]:
    """All checks that look at more than one text of a row."""
    by_path: dict[str, list[Text]] = {}
    for text in texts:
        by_path.setdefault(text.path, []).append(text)
    question = next(iter(by_path.get(layout.question or "", [])), None)
    seen: set[tuple[str, str, str]] = set()
    for path in layout.options:
        options = [option for option in by_path.get(path, []) if option.target.strip()]
        found = [*_equal(options), *_inside(options)]
        if question is not None:
            found += [*_told(question, options), *_disagreeing(question, options)]
        for kind, first, second, detail in found:
            # TruthfulQA's two lists share most of their options: told once.
            key = (kind, first.target, "" if second is None else second.target)
            if key not in seen:
                seen.add(key)
                yield kind, first, second, detail
    if layout.context is not None and layout.answers is not None and by_path.get(layout.context):
        yield from _in_passage(by_path[layout.context][0], by_path.get(layout.answers, []))


def _folded(text: str) -> str:
    """Without case and punctuation; but the case of "Rr" and "b" is what they say (genes, symbols)."""
    words = re.findall(r"\d+(?:[.,]\d+)*|\w+|[^\w\s.,;:!?\"'«»“”’()]", text)
    return " ".join(word if len(set(word.casefold())) == 1 else word.casefold() for word in words)


def _equal(options: Sequence[Text]) -> Iterator[Found]:
    """Options that were different, and are equal now but for case and punctuation."""
    for number, first in enumerate(options):
        for second in options[number + 1 :]:
            if not _folded(first.target) or _folded(first.target) != _folded(second.target):
                continue
            if (
                first.source is not None
                and second.source is not None
                and _folded(first.source) == _folded(second.source)
            ):
                continue
            mixed = None not in (first.right, second.right) and first.right != second.right
            yield "right_equals_wrong" if mixed else "equal_options", first, second, first.target[:80]


def _inside(options: Sequence[Text]) -> Iterator[Found]:
    """An option of two words or more that another one holds, where it did not do so before."""
    for inner in options:
        for outer in options:
            if inner is not outer and _holds(outer.target, inner.target) and not _held(outer, inner):
                yield "option_in_option", inner, outer, f"{inner.target[:60]} | {outer.target[:80]}"


def _held(outer: Text, inner: Text) -> bool:
    return outer.source is not None and inner.source is not None and _holds(outer.source, inner.source)


def _holds(outer: str, inner: str) -> bool:
    """Whether a text holds another one, of two words or more, and is longer."""
    small, large = _folded(inner), _folded(outer)
    return " " in small and small != large and f" {small} " in f" {large} "


def _told(question: Text, options: Sequence[Text]) -> Iterator[Found]:
    """The question holds the right option and no wrong one."""
    right = [option for option in options if option.right]
    if len(right) != 1 or len(options) < 2 or not _holds(question.target, right[0].target):
        return
    if any(_holds(question.target, option.target) for option in options if option is not right[0]):
        return
    if question.source is None or right[0].source is None or not _holds(question.source, right[0].source):
        yield "answer_in_question", question, right[0], right[0].target[:80]


def _disagreeing(question: Text, options: Sequence[Text]) -> Iterator[Found]:
    for option in options:
        if why := disagreement(question.target, option.target):
            yield "agreement", question, option, why


def _in_passage(passage: Text, answers: Sequence[Text]) -> Iterator[Found]:
    told: set[str] = set()
    for answer in answers:
        if answer.target in told or not answer.target.strip():
            continue
        # Scores do not look at case, and neither does this.
        wanted = answer.target.casefold()
        if wanted not in passage.target.casefold():
            told.add(answer.target)
            yield "answer_not_in_context", answer, passage, answer.target[:80]
        elif answer.start is not None and passage.target[answer.start :][: len(answer.target)].casefold() != wanted:
            told.add(answer.target)
            there = passage.target[answer.start : answer.start + 40]
            yield "answer_start", answer, passage, f"{answer.target[:40]} | there: {there}"

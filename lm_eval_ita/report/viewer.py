"""The part of the logged samples that a report holds: of every outcome some, and the same documents for all models.

Samples are streamed, so a file of any size takes the memory of the part that is held.
"""

import hashlib
import heapq
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics.multiple_choice import best, best_per_character
from lm_eval_ita.results.records import TaskRecord, as_number
from lm_eval_ita.results.samples import iter_samples

__all__ = ["Held", "Option", "Part", "cut", "held_part"]

# A longer text loses its middle: a few-shot prompt ends with its question.
_LONGEST = 3000
_HONEST = {1.0: "no hurtful word", 0.0: "hurtful word"}


@dataclass(frozen=True)
class Option:
    """One choice of a document.

    Attributes:
        text: As the model read it.
        log_likelihood: Of the choice after the prompt; None where it is no number.
        gold: Whether it is right.
        chosen: Whether the model chose it.
    """

    text: str
    log_likelihood: float | None
    gold: bool
    chosen: bool


@dataclass(frozen=True)
class Held:
    """One document with a model's answer.

    Attributes:
        document: The harness's number of it.
        outcome: "right", "wrong", "partial", "unparsable", "unscored"; for ItaP-AT that of the parser.
        prompt: As the model read it.
        answer: What the model wrote, or the choice that it took.
        gold: The right answer; empty where there is none.
        options: The choices of a multiple-choice task.
        about: Facts on the document: functionality, category, word.
    """

    document: str
    outcome: str
    prompt: str
    answer: str
    gold: str
    options: tuple[Option, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class Part:
    """What is held of one task of one model.

    Attributes:
        held: In the file's order.
        total: How many samples the file has.
        outcomes: How many of each outcome the file has.
        problem: Why reading stopped; None where it did not.
    """

    held: tuple[Held, ...]
    total: int
    outcomes: Mapping[str, int]
    problem: str | None = None


def held_part(record: TaskRecord, most: int) -> Part:
    """Draw a part of a task's samples, stratified by outcome.

    A document's place in the draw is a hash of it, so every model's part holds the same documents wherever the
    outcomes agree. Outcomes take turns, so that a rare one is there.

    Args:
        record: The task; its samples are read.
        most: How many samples to hold at most.
    """
    # By outcome: the `most` smallest hashes, as a heap with the largest first.
    drawn: dict[str, list[tuple[int, int, Held]]] = {}
    outcomes: Counter[str] = Counter()
    problem = None
    assert record.samples is not None
    try:
        for number, sample in enumerate(iter_samples(record.samples)):
            outcome = _outcome(record, sample)
            outcomes[outcome] += 1
            place = _place(sample)
            heap = drawn.setdefault(outcome, [])
            if len(heap) < most:
                heapq.heappush(heap, (-place, -number, _held(record, sample, outcome)))
            elif -place > heap[0][0]:
                heapq.heapreplace(heap, (-place, -number, _held(record, sample, outcome)))
    except UserError as error:
        problem = str(error)
    return Part(_taken(drawn, most), sum(outcomes.values()), dict(outcomes), problem)


def _taken(drawn: Mapping[str, list[tuple[int, int, Held]]], most: int) -> tuple[Held, ...]:
    queues = [sorted(heap, reverse=True) for _, heap in sorted(drawn.items())]
    taken: list[tuple[int, Held]] = []
    for turn in range(max(map(len, queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(taken) < most:
                _, number, held = queue[turn]
                taken.append((-number, held))
    return tuple(held for _, held in sorted(taken, key=lambda pair: pair[0]))


def _place(sample: Mapping[str, Any]) -> int:
    name = str(sample.get("doc_hash") or sample.get("doc_id"))
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()[:8], "big")


def _outcome(record: TaskRecord, sample: Mapping[str, Any]) -> str:
    # ItaP-AT: none is right or wrong. Where there is a score too, its outcome says how an answer was read.
    if isinstance(own := sample.get("outcome"), str) and sample.get("score") is None:
        return cut(own.replace("_", " "), 40)
    if as_number(sample.get("invalid")) == 1:
        return "unparsable"
    score = sample.get("score", sample.get(record.primary_metric or ""))
    if isinstance(score, list) and len(score) == 3:
        gold, chosen, _ = score
        return "unparsable" if chosen is None else "right" if chosen == gold else "wrong"
    value = as_number(score)
    if value is None:
        return "unscored"
    if record.primary_metric == "honest":
        return _HONEST.get(value, "partial")
    return "right" if value == 1 else "wrong" if value == 0 else "partial"


def _held(record: TaskRecord, sample: Mapping[str, Any], outcome: str) -> Held:
    requests = _requests(sample)
    options = _options(record, sample, requests)
    chosen = next((option.text for option in options if option.chosen), "")
    answer = chosen if options else _generated(sample)
    gold = " | ".join(option.text for option in options if option.gold) if options else _text(sample.get("target"))
    if record.suite == "itapat":
        gold = ""  # its target is the two attributes, of which neither is right
    return Held(
        document=cut(_text(sample.get("doc_id")), 40),
        outcome=outcome,
        prompt=cut(_prompt(requests)),
        answer=cut(answer),
        gold=cut(gold),
        options=options,
        about=cut(_about(sample.get("doc")), 200),
    )


def _requests(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    arguments = sample.get("arguments")
    values = list(arguments.values()) if isinstance(arguments, dict) else arguments
    if not isinstance(values, list):
        return []
    # Older versions wrote lists of positional arguments.
    return [
        value if isinstance(value, dict) else {f"arg_{i}": part for i, part in enumerate(value)}
        for value in values
        if isinstance(value, dict | list)
    ]


def _prompt(requests: list[Mapping[str, Any]]) -> str:
    return _text(requests[0].get("arg_0")) if requests else ""


def _options(record: TaskRecord, sample: Mapping[str, Any], requests: list[Mapping[str, Any]]) -> tuple[Option, ...]:
    responses = sample.get("filtered_resps")
    texts = [request.get("arg_1") for request in requests]
    if len(texts) < 2 or not all(isinstance(text, str) for text in texts) or not isinstance(responses, list):
        return ()
    lls = [_log_likelihood(response) for response in responses]
    if len(lls) != len(texts):
        return ()
    choices = [_text(text).strip() for text in texts]
    golds = _golds(sample, len(texts))
    chosen = _chosen(record, sample, choices, lls)
    return tuple(
        Option(cut(text, 500), ll, i in golds, i == chosen)
        for i, (text, ll) in enumerate(zip(choices, lls, strict=True))
    )


def _log_likelihood(response: Any) -> float | None:
    value = response[0] if isinstance(response, list) and response else response
    try:
        return as_number(float(value)) if isinstance(value, str | int | float) else None
    except ValueError:
        return None


def _golds(sample: Mapping[str, Any], count: int) -> set[int]:
    doc = sample.get("doc")
    labels = doc.get("mc2_labels") if isinstance(doc, dict) else None
    if isinstance(labels, list):
        return {i for i, label in enumerate(labels) if label == 1}
    target = sample.get("target")
    try:
        return {int(target)} if isinstance(target, str | int) and 0 <= int(target) < count else set()
    except ValueError:
        return set()


def _chosen(record: TaskRecord, sample: Mapping[str, Any], texts: list[str], lls: list[float | None]) -> int | None:
    score = sample.get("score")
    if isinstance(score, list) and len(score) == 3 and isinstance(score[1], int):
        return score[1]
    known = [-math.inf if ll is None else ll for ll in lls]
    return best_per_character(known, texts) if record.primary_metric == "acc_norm" else best(known)


def _generated(sample: Mapping[str, Any]) -> str:
    responses = sample.get("resps")
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return _text(responses)


def _about(doc: Any) -> str:
    """What the breakdowns name a document by."""
    if not isinstance(doc, dict):
        return ""
    names = ("functionality", "target_ident", "category", "word", "side", "attribute_1", "attribute_2")
    return ", ".join(f"{name.replace('_', ' ')}: {doc[name]}" for name in names if isinstance(doc.get(name), str | int))


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def cut(text: str, longest: int = _LONGEST) -> str:
    """A text without its middle where it is too long, and without halves of surrogate pairs."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    if len(clean) <= longest:
        return clean
    front, left_out = longest // 4, len(clean) - longest
    return f"{clean[:front]} [… {left_out} characters …] {clean[front + left_out :]}"

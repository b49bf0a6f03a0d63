"""ItaP-AT for the harness: the data set, the reading of one answer, and the aggregations of a test.

`process_results` returns, for every answer, what each metric needs; lm_eval collects these values in lists and calls
the aggregation of the same metric with each list. The lists come in any order (processes are concatenated), so every
aggregation here is order-free.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.breakdown import Breakdown
from lm_eval_ita.itapat import Answer, AssociationScore, Outcome, build_rows, find_test, parse_answer, score_answers
from lm_eval_ita.itapat.parser import OUTCOMES
from lm_eval_ita.itapat.prompts import ONESHOT_SEED
from lm_eval_ita.itapat.score import contribution, fisher_p

__all__ = [
    "absolute_mean",
    "by_instruction",
    "fisher",
    "interval_high",
    "interval_low",
    "load",
    "mean",
    "outcome_counts",
    "outcome_results",
    "process_results",
    "reading",
    "standard_error",
]

# word, side, outcome: what the bootstrap and Fisher's test need of an answer. A list, as it comes back from JSON.
AnswerItem = Sequence[str]


def load(
    *,
    subset: str,
    test: str,
    oneshot: bool = False,
    itapat_lists: str | None = None,
    oneshot_from: Literal["xy", "x"] = "xy",
    oneshot_seed: int = ONESHOT_SEED,
    **_: Any,
) -> Any:
    """The prompts of one test, as the harness's `custom_dataset` wants them.

    lm_eval calls this with the task's card, `--metadata` and the model arguments merged: strangers are ignored.

    Args:
        subset: From the card: "base", "race", "gender" or "age".
        test: From the card: "1" to "10", "3b".
        oneshot: From the card of an `itapat_oneshot_*` task.
        itapat_lists: From `--metadata`: a YAML file whose word lists replace ours.
        oneshot_from: From `--metadata`: "xy" or "x".
        oneshot_seed: From `--metadata`: the seed of the one-shot draws.

    Returns:
        A `datasets.DatasetDict` with the split "test".

    Raises:
        UserError: No such test, or the lists cannot be used.
    """
    from datasets import Dataset, DatasetDict

    # YAML and --metadata may turn "7" into 7; the lists' path may come as anything JSON holds.
    if itapat_lists is not None and not isinstance(itapat_lists, str):
        raise UserError(f"itapat_lists is {itapat_lists!r}; it must be the path of a YAML file")
    if isinstance(oneshot_seed, bool) or not isinstance(oneshot_seed, int):
        raise UserError(f"oneshot_seed is {oneshot_seed!r}; it must be a whole number")
    rows = build_rows(
        find_test(subset, str(test)), lists=itapat_lists, oneshot=oneshot, oneshot_from=oneshot_from, seed=oneshot_seed
    )
    return DatasetDict({"test": Dataset.from_list([dict(row) for row in rows])})


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Read one answer, and give every metric its part of it.

    Args:
        doc: A row of the data set (`itapat.PromptRow`).
        results: The generated text, alone in a list.

    Returns:
        Metric to value: 0 or 1 for the rates, -1, 0 or 1 for the score, the outcome by name, and
        [word, side, outcome] where the aggregation needs to know the word.
    """
    return outcome_results(doc, parse_answer(results[0], doc["pair"], doc["prompt"]).outcome)


def outcome_results(doc: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """The same once the answer is read."""
    step = contribution(doc["side"], outcome)
    item = [doc["word"], doc["side"], outcome]
    return {
        "bias_score": step,
        "abs_bias_score": step,
        "bias_score_se": item,
        "bias_score_ci_low": item,
        "bias_score_ci_high": item,
        "p_value": item,
        **{f"prob_{name}": int(outcome == name) for name in OUTCOMES},
        "reading": item,
        "outcome": outcome,
        "instructions": [str(doc["instruction_id"]), doc["instruction"], *item],
    }


def mean(values: Sequence[float]) -> float:
    """The mean; NaN for no answers.

    lm_eval's own mean would add a standard error that takes the five answers for one word as independent.
    """
    return sum(values) / len(values) if values else math.nan


def absolute_mean(values: Sequence[float]) -> float:
    """The absolute value of the mean: what a group row averages, since opposite biases do not cancel out."""
    return abs(mean(values))


def standard_error(items: Sequence[AnswerItem]) -> float:
    """Standard error of the bias score, from a bootstrap over words."""
    return _score(items).standard_error


def interval_low(items: Sequence[AnswerItem]) -> float:
    """Lower bound of the 95% interval of the bias score."""
    return _score(items).low


def interval_high(items: Sequence[AnswerItem]) -> float:
    """Upper bound of the 95% interval of the bias score."""
    return _score(items).high


def fisher(items: Sequence[AnswerItem]) -> float:
    """Fisher's exact test of target set against attribute, two-sided."""
    return fisher_p([_answer(item) for item in items])


def reading(items: Sequence[AnswerItem]) -> str:
    """The result in a word: "unable", "neutral", "biased" or "anti-biased"."""
    return _score(items).reading


def outcome_counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many answers had each outcome."""
    return {name: list(outcomes).count(name) for name in OUTCOMES}


def by_instruction(items: Sequence[Sequence[str]]) -> dict[str, Breakdown]:
    """The figures of each instruction, by its number, as in the paper's Appendix B."""
    answers: dict[tuple[str, str], list[AnswerItem]] = {}
    for number, instruction, *item in items:
        answers.setdefault((number, instruction), []).append(item)
    parts = {}
    for number, instruction in sorted(answers):
        score = _score(answers[number, instruction])
        parts[number] = Breakdown(_figures(instruction, score), f"{score.bias_score:+.2f}")
    return parts


def _figures(instruction: str, score: AssociationScore) -> dict[str, Any]:
    return {
        "instruction": instruction,
        "n": score.n,
        "bias_score": score.bias_score,
        "bias_score_se": score.standard_error,
        "bias_score_ci_low": score.low,
        "bias_score_ci_high": score.high,
        **{f"prob_{name}": rate for name, rate in score.rates.items()},
        "p_value": score.p_value,
        "reading": score.reading,
    }


def _answer(item: AnswerItem) -> Answer:
    word, side, outcome = item
    return Answer(word, side, outcome)  # type: ignore[arg-type]  # values that process_results wrote


def _score(items: Sequence[AnswerItem]) -> AssociationScore:
    return _scored(tuple(sorted(_answer(item) for item in items)))


@functools.lru_cache(maxsize=32)
def _scored(answers: tuple[Answer, ...]) -> AssociationScore:
    # Four aggregations of a test ask for the same figures one after another.
    return score_answers(answers)

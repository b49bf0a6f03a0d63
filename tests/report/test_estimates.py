import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import f1_score

from lm_eval_ita.report.estimates import Estimates, estimates
from lm_eval_ita.results.collect import collect
from lm_eval_ita.results.suite import SuiteTable, suite_tables
from tests.report.runs import REFERENCES, STAMP, save

ITAEVAL = [name for name, reference in REFERENCES.items() if reference.suite == "itaeval"]


def table(folder: Path) -> SuiteTable:
    (found,) = suite_tables(collect([folder]).runs, REFERENCES)
    return found


def of(folder: Path) -> tuple[SuiteTable, Estimates]:
    made = table(folder)
    return made, estimates(made, resamples=2_000)


def labelled(made: SuiteTable, label: str) -> int:
    return [row.label for row in made.rows].index(label)


def answers(right: float, seed: int, n: int = 500) -> list[float]:
    drawn = np.random.default_rng(seed).random(n)
    return [float(value < right) for value in drawn]


def accuracy(values: Sequence[float]) -> tuple[float, Sequence[float]]:
    return sum(values) / len(values), values


def test_the_interval_of_an_accuracy(tmp_path: Path) -> None:
    values = answers(0.6, 1)
    save(tmp_path, "m", {"itaeval_xcopa": accuracy(values)})
    _, found = of(tmp_path)
    estimate = found.cells[0, "xcopa"]
    wilson = binomtest(int(sum(values)), 500).proportion_ci(method="wilson")
    assert estimate.value == pytest.approx(sum(values) / 500)
    assert estimate.low == pytest.approx(wilson.low, abs=0.006)
    assert estimate.high == pytest.approx(wilson.high, abs=0.006)
    assert estimate.letters == ""  # nobody to be tied with


def test_the_interval_of_macro_f1_holds_its_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    golds = rng.integers(0, 2, 300)
    preds = np.where(rng.random(300) < 0.7, golds, 1 - golds)
    score = float(f1_score(golds, preds, average="macro"))
    values = [[int(gold), int(pred), 2] for gold, pred in zip(golds, preds, strict=True)]
    save(tmp_path, "m", {"itaeval_hatecheck": (score, values)})
    estimate = of(tmp_path)[1].cells[0, "hatecheck"]
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < score < estimate.high
    # About 1.96 standard errors of a share each way.
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * math.sqrt(0.7 * 0.3 / 300), rel=0.15)


def test_models_that_differ_clearly_share_no_letter(tmp_path: Path) -> None:
    for name, right, seed in (("good", 0.8, 1), ("alike", 0.79, 2), ("bad", 0.4, 3)):
        save(tmp_path / name, name, {"itaeval_xcopa": accuracy(answers(right, seed))})
    made, found = of(tmp_path)
    letters = {row.label: found.cells[i, "xcopa"].letters for i, row in enumerate(made.rows)}
    assert set(letters["good"]) & set(letters["alike"])
    assert not set(letters["good"]) & set(letters["bad"])


def test_equal_models_are_tied(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(tmp_path / name, name, {"itaeval_xcopa": accuracy(answers(0.5, 1))})
    _, found = of(tmp_path)
    assert [found.cells[i, "xcopa"].letters for i in (0, 1)] == ["a", "a"]


def test_no_ties_between_models_on_other_documents_or_few_of_them(tmp_path: Path) -> None:
    save(tmp_path / "a", "a", {"itaeval_xcopa": accuracy(answers(0.5, 1, n=100))})
    save(tmp_path / "b", "b", {"itaeval_xcopa": accuracy(answers(0.5, 1, n=90))})
    _, found = of(tmp_path)
    assert [found.cells[i, "xcopa"].letters for i in (0, 1)] == ["", ""]
    for name in ("a", "b"):
        save(tmp_path / "few" / name, name, {"itaeval_xcopa": accuracy(answers(0.5, 1, n=20))})
    _, found = of(tmp_path / "few")
    assert [found.cells[i, "xcopa"].letters for i in (0, 1)] == ["", ""]


@pytest.mark.parametrize("values", [[1.0] * 40, [0.0] * 40, [1.0, 0.0] * 4])
def test_no_interval_from_nothing_that_varies_or_from_few(tmp_path: Path, values: list[float]) -> None:
    save(tmp_path, "m", {"itaeval_xcopa": accuracy(values)})
    estimate = of(tmp_path)[1].cells[0, "xcopa"]
    assert (estimate.low, estimate.high) == (None, None)


def test_samples_of_other_scores_than_the_files_give_no_interval(tmp_path: Path) -> None:
    save(tmp_path, "m", {"itaeval_xcopa": (0.9, answers(0.5, 1))})
    _, found = of(tmp_path)
    assert found.cells[0, "xcopa"].low is None
    (remark,) = found.remarks
    assert remark.startswith("xcopa: no interval: ")
    assert "rescored" in remark


def test_without_samples_the_files_standard_error_serves(tmp_path: Path) -> None:
    path = save(tmp_path, "m", {"itaeval_xcopa": (0.5, [])})
    data = json.loads(path.read_text())
    data["results"]["itaeval_xcopa"]["score_stderr,none"] = 0.02
    path.write_text(json.dumps(data))
    estimate = of(tmp_path)[1].cells[0, "xcopa"]
    assert (estimate.low, estimate.high) == pytest.approx((0.5 - 1.96 * 0.02, 0.5 + 1.96 * 0.02), abs=1e-5)


def test_summaries_take_the_standard_errors_of_their_newspapers(tmp_path: Path) -> None:
    path = save(tmp_path, "m", {"itaeval_news_sum": (0.3, [])})
    data = json.loads(path.read_text())
    data["results"]["itaeval_news_sum"]["bertscore_parts,none"] = {
        "fanpage": {"bertscore": 0.2, "bertscore_se": 0.03, "n": 100},
        "ilpost": {"bertscore": 0.4, "bertscore_se": 0.04, "n": 100},
    }
    path.write_text(json.dumps(data))
    estimate = of(tmp_path)[1].cells[0, "news_sum"]
    # (100 x 0.03)^2 + (100 x 0.04)^2 = 25, so 5 / 200 = 0.025.
    assert estimate.high == pytest.approx(0.3 + 1.96 * 0.025, abs=1e-5)


def whole(right: float, seed: int) -> dict[str, tuple[float, Sequence[Any]]]:
    """All of ItaEval, every score a mean."""
    scores: dict[str, tuple[float, Sequence[Any]]] = {}
    for position, name in enumerate(ITAEVAL):
        scores[name] = accuracy(answers(right, 100 * seed + position, n=200))
    return scores


def test_the_average_has_the_spread_of_the_weighted_means(tmp_path: Path) -> None:
    scores = whole(0.6, 1)
    save(tmp_path, "m", scores)
    made, found = of(tmp_path)
    weights = {
        name: 1 / 3 / sum(REFERENCES[name].category == REFERENCES[other].category for other in ITAEVAL)
        for name in ITAEVAL
    }
    variance = sum(weights[name] ** 2 * np.var(values, ddof=1) / len(values) for name, (_, values) in scores.items())
    estimate = found.averages[0]
    assert made.rows[0].average is not None
    assert estimate.value == made.rows[0].average.value
    assert estimate.value == pytest.approx(sum(weights[name] * score for name, (score, _) in scores.items()))
    assert estimate.high is not None
    assert estimate.value is not None
    assert (estimate.high - estimate.value) / 1.959964 == pytest.approx(math.sqrt(variance))


def test_averages_are_ranked_with_ties(tmp_path: Path) -> None:
    for name, right, seed in (("good", 0.7, 1), ("alike", 0.7, 2), ("bad", 0.5, 3)):
        save(tmp_path / name, name, whole(right, seed))
    save(tmp_path / "part", "part", {"itaeval_xcopa": accuracy(answers(0.9, 4))})
    made, found = of(tmp_path)
    letters = {made.rows[i].label: estimate.letters for i, estimate in found.averages.items()}
    assert set(letters) == {"good", "alike", "bad"}, "no average over a part of the suite"
    assert letters["good"] == letters["alike"] != letters["bad"]
    assert (labelled(made, "part"), "cfk") not in found.means


def test_the_order_of_the_files_changes_nothing(tmp_path: Path) -> None:
    for name, right, seed in (("a", 0.6, 1), ("b", 0.5, 2)):
        save(tmp_path / name, name, {"itaeval_xcopa": accuracy(answers(right, seed))})
    made, found = of(tmp_path)
    turned = collect([tmp_path / "b", tmp_path / "a"]).runs
    (again,) = suite_tables(turned, REFERENCES)
    other = estimates(again, resamples=2_000)
    for label in ("a", "b"):
        assert found.cells[labelled(made, label), "xcopa"] == other.cells[labelled(again, label), "xcopa"]


def test_a_damaged_file_of_samples_is_a_remark(tmp_path: Path) -> None:
    save(tmp_path, "m", {"itaeval_xcopa": accuracy(answers(0.5, 1))})
    path = tmp_path / f"samples_itaeval_xcopa_{STAMP}.jsonl"
    path.write_text(path.read_text()[:-20])
    _, found = of(tmp_path)
    assert found.cells[0, "xcopa"].low is None
    assert ":500: is not valid JSON" in found.remarks[0]

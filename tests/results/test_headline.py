import json
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.results.headline import Headline, headline
from tests.results.files import content, old_task, task


def samples(path: Path, scores: list[Any], **more: Any) -> Path:
    rows = [{"doc": {}, "doc_id": i, "doc_hash": str(i), "score": score, **more} for i, score in enumerate(scores)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_an_accuracy_with_its_interval(tmp_path: Path) -> None:
    found = headline("t", content({"t": task(0.8)}), samples(tmp_path / "s", [1.0] * 80 + [0.0] * 20))
    assert (found.metric, found.score, found.sample) == ("acc", 0.8, False)
    # Of 100 right or wrong answers: about 0.8 +- 1.96 * sqrt(0.8 * 0.2 / 100) = 0.72 to 0.88.
    assert found.low == pytest.approx(0.72, abs=0.02)
    assert found.high == pytest.approx(0.88, abs=0.02)
    assert found.text.startswith("acc 0.8000  [0.7")


def test_a_macro_f1_from_choices(tmp_path: Path) -> None:
    choices = [[0, 0, 2]] * 30 + [[0, 1, 2]] * 10 + [[1, 1, 2]] * 30 + [[1, 0, 2]] * 10
    found = headline("t", content({"t": task(0.75, "f1_macro")}), samples(tmp_path / "s", choices))
    assert found.low is not None
    assert found.high is not None
    assert 0.6 < found.low < 0.75 < found.high < 0.9


def test_itapat_brings_its_own_interval() -> None:
    figures = {"bias_score,none": 0.25, "bias_score_ci_low,none": 0.1, "bias_score_ci_high,none": 0.4}
    entry = task(0.25, "bias_score", suite="itapat", category="gender", data_dir="sample", figures=figures)
    del entry["figures"]["score,none"]
    assert headline("t", content({"t": entry}), None) == Headline("bias_score", 0.25, 0.1, 0.4, sample=True)


def test_no_interval_where_there_is_none(tmp_path: Path) -> None:
    no_samples = headline("t", content({"t": task(0.5)}), None)
    assert (no_samples.low, no_samples.text) == (None, "acc 0.5000")
    texts = headline("t", content({"t": task(0.5, "bertscore")}), samples(tmp_path / "s", ["un testo", "due"]))
    assert texts.low is None
    one = headline("t", content({"t": task(1.0)}), samples(tmp_path / "s", [1.0]))
    assert one.low is None
    missing = headline("t", content({"t": task(float("nan"))}), samples(tmp_path / "s", [1.0, 0.0]))
    assert (missing.score, missing.low, missing.text) == (None, None, "acc missing")


def test_a_task_of_others_shows_its_first_figure() -> None:
    entry = old_task(**{"exact_match,strict": 0.3, "exact_match_stderr,strict": 0.1})
    assert headline("t", content({"t": entry}), None) == Headline("exact_match,strict", 0.3)

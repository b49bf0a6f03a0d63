"""The demonstration's tables, of results made in advance."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.cli import demo
from lm_eval_ita.cli.main import main
from lm_eval_ita.run.demo import tasks_without_scorer
from tests.results.files import content, write
from tests.results.test_suite import entry

GENDER = {
    "itapat_gender_6": (0.25, 0.004, "biased"),
    "itapat_gender_7": (-0.13, 0.03, "anti-biased"),
    "itapat_gender_8": (0.0, 1.0, "unable"),
}


def associations(folder: Path) -> Path:
    tasks = {}
    for name, (score, p_value, reading) in GENDER.items():
        figures = {
            "bias_score_ci_low,none": score - 0.1,
            "bias_score_ci_high,none": score + 0.1,
            "p_value,none": p_value,
            "reading,none": reading,
            **{f"prob_{outcome},none": 0.25 for outcome in ("attribute_1", "attribute_2", "neutral", "error")},
        }
        tasks[name] = entry(name, score, title="nomi / nomi", figures=figures, sizes={"original": 80, "effective": 80})
    return write(folder, content(tasks, "/a/cache/gemma"))


def scores(folder: Path) -> Path:
    sample = {"data_dir": "sample", "sizes": {"original": 10, "effective": 10}}
    tasks = {
        "itaeval_xcopa": entry("itaeval_xcopa", 0.5, **sample),
        "itaeval_honest": entry("itaeval_honest", float("nan"), **sample),
    }
    return write(folder, content(tasks, "/a/cache/gemma"))


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Callable[[Path], Path]], list[Any]]:
    """Puts a results file in the place of a run of minutes; returns what the run was asked for."""

    def put(make: Callable[[Path], Path]) -> list[Any]:
        asked: list[Any] = []

        def evaluate(tasks: list[str], *others: Any, **options: Any) -> Path:
            asked.extend([tasks, options])
            return make(tmp_path)

        # It would quiet the loggers of the tests that follow.
        monkeypatch.setattr(demo, "_quiet_libraries", lambda: None)
        monkeypatch.setattr(demo, "model_with_progress", lambda: tmp_path / "gemma")
        monkeypatch.setattr(demo, "evaluate_to_folder", evaluate)
        return asked

    return put


def test_associations(saved: Any, capsys: pytest.CaptureFixture[str]) -> None:
    asked = saved(associations)
    assert main(["demo", "--output", "out"]) == 0
    assert asked == [["itapat_gender"], {"limit": None}]
    lines = capsys.readouterr().out.splitlines()
    assert "ItaP-AT: Gemma 3 270M (base, no chat template)" in lines[0]
    # Holm by hand: 0.004 x 3, 0.03 x 2, 1.
    rows = {line.split()[0]: line.split() for line in lines if line.strip().startswith("gender_")}
    rates = ["0.25"] * 4
    assert rows == {
        "gender_6": ["gender_6", "nomi", "/", "nomi", "80", "+0.25", "+0.15", "+0.35", *rates, "0.004", "0.012", "biased"],
        "gender_7": ["gender_7", "nomi", "/", "nomi", "80", "-0.13", "-0.23", "-0.03", *rates, "0.030", "0.060", "anti-biased"],
        "gender_8": ["gender_8", "nomi", "/", "nomi", "80", "+0.00", "-0.10", "+0.10", *rates, "1.000", "1.000", "unable"],
    }  # fmt: skip
    assert lines[-1] == "Results and samples: out"
    assert "unable: over half errors" in " ".join(lines)


def test_scores_on_sample_rows(saved: Any, capsys: pytest.CaptureFixture[str]) -> None:
    asked = saved(scores)
    assert main(["demo", "--suite", "itaeval", "--limit", "3"]) == 0
    free, needs = tasks_without_scorer()
    assert asked[0] == free
    assert asked[1]["limit"] == 3
    assert asked[1]["metadata"] == {"data_dir": "sample"}
    out = capsys.readouterr().out
    assert out.count("SAMPLE DATA, NOT COMPARABLE") == 2
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["xcopa"] == ["xcopa", "acc", "10", "50.00", "[a]", "50.00"]
    assert rows["honest"][:4] == ["honest", "honest", "10", "n/a"]
    for task, model in needs.items():
        assert f"Not run: {task} needs the model {model}." in out


def test_every_task_is_run_or_named() -> None:
    free, needs = tasks_without_scorer()
    assert len(free) + len(needs) == 18
    assert set(needs) == {"itaeval_news_sum", "itaeval_gente"}

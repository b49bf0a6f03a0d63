import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.cli.main import main
from lm_eval_ita.harness import itapat
from lm_eval_ita.results import collect, iter_samples, read_run
from lm_eval_ita.run import rescore

Out = pytest.CaptureFixture[str]


@pytest.fixture
def copy(sample_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "skip")
    shutil.copytree(sample_run.parent, tmp_path / "m")
    return tmp_path / "m" / sample_run.name


def change(path: Path, edit: Any) -> None:
    samples = list(iter_samples(path))
    path.write_text("".join(json.dumps(sample) + "\n" for sample in edit(samples)), encoding="utf-8")


def samples_of(results: Path, task: str) -> Path:
    path = read_run(results).tasks[task].samples
    assert path is not None
    return path


def test_every_metric_of_both_suites_comes_back(copy: Path, capsys: Out) -> None:
    assert main(["rescore", str(copy), "--check"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len([line for line in lines if "metrics equal" in line]) == 18 + 3 + 2
    assert lines[-1] == "Metrics that differ: 0."
    assert {line.split(": ")[1] for line in err.splitlines()} == {"itaeval_gente", "itaeval_news_sum"}


def test_a_changed_parser_applies(copy: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    """Field report 20."""
    monkeypatch.setattr(itapat, "contribution", lambda side, outcome: 1)
    assert main(["rescore", str(copy)]) == 0  # printed, and only --check fails
    assert main(["rescore", str(copy), "--check"]) == 1
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("itapat_gender_6"))
    assert row.split()[3:] == ["1.0000", "DIFFERS"]


def test_the_new_file_is_read_instead_of_the_old_one(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(itapat, "contribution", lambda side, outcome: 1)
    assert main(["rescore", str(copy), "--output"]) == 0
    found = collect([copy.parent])
    new = copy.with_name(f"results_rescored_{copy.name.removeprefix('results_')}")
    by_task = {name: run for run in found.runs for name in run.tasks}
    assert (by_task["itapat_gender_6"].source, by_task["itapat_gender_6"].rescored) == (new, True)
    assert by_task["itapat_gender_6"].tasks["itapat_gender_6"].metrics["bias_score"] == 1
    assert {left.why for left in found.superseded} == {"rescored"}
    for number in ("NaN", "Infinity"):
        assert f": {number}" not in new.read_text(encoding="utf-8")
    assert "groups" not in json.loads(new.read_text(encoding="utf-8"))


def test_a_rescored_file_without_scorer_does_not_hide_a_score(copy: Path, capsys: Out) -> None:
    content = json.loads(copy.read_text(encoding="utf-8"))
    content["results"]["itaeval_gente"].update({"neutral_rate,none": 0.25, "score,none": 0.25})
    copy.write_text(json.dumps(content), encoding="utf-8")
    assert main(["rescore", str(copy), "--check", "--output"]) == 0  # not recomputed is not different
    assert "neutral_rate, score missing" in capsys.readouterr().err
    scores = [run.tasks["itaeval_gente"].score for run in collect([copy.parent]).runs if "itaeval_gente" in run.tasks]
    assert scores == [0.25]


DAMAGE: dict[str, tuple[Any, str]] = {
    "a document is gone": (lambda samples: samples[1:], "holds 9 of 10 documents"),
    "a document is there twice": (lambda samples: [*samples, samples[0]], ":11: document 0 is there twice"),
    "a text for a log-likelihood": (lambda s: [{**s[0], "filtered_resps": ["x"]}, *s[1:]], ":1: 'filtered_resps'"),
    "no number": (lambda s: [{**s[0], "filtered_resps": [["x", "True"]]}, *s[1:]], ":1: 'filtered_resps'"),
    "no truth value": (lambda s: [{**s[0], "filtered_resps": [["-1.0", "1"]]}, *s[1:]], ":1: 'filtered_resps'"),
    "nothing": (lambda s: [{**s[0], "filtered_resps": []}, *s[1:]], ":1: 'filtered_resps'"),
    "an option is gone": (lambda s: [{**s[0], "filtered_resps": s[0]["filtered_resps"][:1]}, *s[1:]], "does not fit"),
    "no label": (lambda s: [{**s[0], "doc": {"options": ["a", "b"]}}, *s[1:]], "does not fit"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_damaged_samples_are_said_and_the_rest_goes_on(copy: Path, capsys: Out, case: str) -> None:
    edit, expected = DAMAGE[case]
    change(samples_of(copy, "itaeval_xcopa"), edit)
    assert main(["rescore", str(copy)]) == 1
    out, err = capsys.readouterr()
    (line,) = [line for line in err.splitlines() if line.startswith("not rescored")]
    assert expected in line
    assert len([line for line in out.splitlines() if "metrics equal" in line]) == 22


def test_no_samples(copy: Path, capsys: Out) -> None:
    samples_of(copy, "itaeval_xcopa").unlink()
    assert main(["rescore", str(copy)]) == 1
    assert "itaeval_xcopa has no samples: run it with --log_samples" in capsys.readouterr().err


def test_the_file_itself_is_not_overwritten(copy: Path, capsys: Out) -> None:
    before = copy.read_bytes()
    assert main(["rescore", str(copy), "--output", str(copy)]) == 2
    assert copy.read_bytes() == before


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (["-1.5", "True"], (-1.5, True)),
        (["-inf", "False"], (float("-inf"), False)),
        ([-2, False], (-2.0, False)),
        (["-1.5"], None),
        ([True, True], None),
        ("-1.5", None),
        ([None, "True"], None),
    ],
)
def test_log_likelihoods_come_back_from_text(response: object, expected: object) -> None:
    found = rescore._log_likelihoods([response])
    assert found == (None if expected is None else [expected])
    assert [type(part) for pair in found or () for part in pair] in ([], [float, bool])


@pytest.mark.parametrize(
    ("old", "new", "equal"),
    [
        (0.1 + 0.2, 0.3, True),
        ("N/A", float("nan"), True),
        (None, float("nan"), True),
        (0.0, float("nan"), False),
        ({"a": {"b": 1}}, {"a": {"b": 1.0}}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ("biased", "neutral", False),
        ([1, 2], [1, 3], False),
    ],
)
def test_same(old: object, new: object, equal: bool) -> None:
    assert rescore.same(old, new) == equal

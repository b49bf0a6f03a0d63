"""`translate audit` and `summary --exclude`, on sample rows and a run of them."""

import json
from pathlib import Path

import pytest

from lm_eval_ita.cli.main import main


def test_audit_then_summary(
    tmp_path: Path, sample_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_DATA", "sample")
    out = tmp_path / "out.json"
    assert main(["translate", "audit", "--key", "arc_challenge", "--to", str(out)]) == 0
    assert "SAMPLE DATA" in capsys.readouterr().out
    # Two rows by hand, whose scores in the run are known.
    (samples,) = sample_run.parent.glob("samples_itaeval_arc_challenge_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    left_out = [rows[0]["doc"]["id"], rows[1]["doc"]["id"]]
    content = json.loads(out.read_text(encoding="utf-8"))
    content["rows"] = [{"match": {"id": name}, "kinds": ["language"]} for name in left_out]
    out.write_text(json.dumps(content), encoding="utf-8")
    assert main(["summary", str(sample_run), "--exclude", str(out), "--format", "json"]) == 0
    (found,) = [
        one for one in json.loads(capsys.readouterr().out)["excluded"] if one["task"] == "itaeval_arc_challenge"
    ]
    assert found["documents"] == len(rows)
    assert found["left_out"] == 2
    assert found["score"] == pytest.approx(sum(row["score"] for row in rows) / len(rows))
    assert found["without"] == pytest.approx(sum(row["score"] for row in rows[2:]) / (len(rows) - 2))
    assert main(["summary", str(sample_run), "--exclude", str(out)]) == 0
    shown = capsys.readouterr().out
    line = next(line for line in shown.splitlines() if "itaeval_arc_challenge" in line)
    assert line.split()[-1] == f"{100 * (found['without'] - found['score']):+.2f}"


def test_rows_without_an_id_are_known_by_their_text(
    tmp_path: Path, sample_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (samples,) = sample_run.parent.glob("samples_itaeval_truthfulqa_mc2_*.jsonl")
    question = json.loads(samples.read_text(encoding="utf-8").split("\n")[0])["doc"]["question"]
    content = {"schema_version": 1, "dataset": "truthfulqa", "rows": [{"match": {"question": question}, "kinds": []}]}
    (tmp_path / "out.json").write_text(json.dumps(content), encoding="utf-8")
    assert main(["summary", str(sample_run), "--exclude", str(tmp_path / "out.json"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["excluded"]
    assert {one["task"]: one["left_out"] for one in found}["itaeval_truthfulqa_mc2"] == 1


@pytest.mark.parametrize(
    "text", ["", "{}", '{"schema_version": 2, "dataset": "a", "rows": []}', '{"dataset": "a", "rows": [1]}']
)
def test_what_is_no_exclusion_file(
    tmp_path: Path, sample_run: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "out.json").write_text(text, encoding="utf-8")
    assert main(["summary", str(sample_run), "--exclude", str(tmp_path / "out.json")]) == 2
    assert "out.json: is no file of `lm-eval-ita translate audit --to`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--key", "xcopa"], "name --fields"),
        (["--key", "nothing"], "name --fields"),
        (["--key", "arc_challenge", "--kinds", "ugly"], "there is no such flag"),
        (["--key", "arc_challenge", "--split", "dev"], "--split dev: arc_challenge has"),
    ],
)
def test_bad_input(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_DATA", "sample")
    assert main(["translate", "audit", *more]) == 2
    assert message in capsys.readouterr().err

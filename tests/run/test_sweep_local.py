"""`lm-eval-ita sweep --local`: one model by two groups of tasks through submitit's local executor."""

import json
from pathlib import Path

import pytest

from lm_eval_ita.cli.main import main
from tests.models import tiny_lm

pytestmark = pytest.mark.slow


def test_one_model_by_two_groups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    tiny_lm(tmp_path / "lm")
    content = {
        "models": [{"name": "one", "model_args": {"pretrained": "lm", "dtype": "float32"}}],
        "tasks": {"gone": "itaeval_nonesuch", "both": ["itaeval_xcopa", "itaeval_arc_challenge"]},
        "options": {"device": "cpu", "limit": 2, "metadata": {"data_dir": "sample"}},
    }
    file = tmp_path / "sweep.yaml"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert main(["sweep", str(file), "--dry-run"]) == 0
    assert "2 of 2 cells would be submitted" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()

    assert main(["sweep", str(file), "--local"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "one/gone: running"
    assert out[1].startswith("one/gone: failed: exit code 2")
    assert out[2:] == ["one/both: running", "one/both: done", "failed: one/gone; see --status"]

    assert main(["sweep", str(file), "--status", "--json"]) == 1
    gone, both = json.loads(capsys.readouterr().out)["cells"]
    assert "there is no task 'itaeval_nonesuch'" in gone["log"][-1]
    assert (both["state"], both["tasks_done"]) == ("done", ["itaeval_xcopa", "itaeval_arc_challenge"])
    assert all(0 <= figure["score"] <= 1 for figure in both["scores"].values())

    # Nothing is left but what failed, and that is left alone.
    assert main(["sweep", str(file), "--local"]) == 1
    assert capsys.readouterr().out.splitlines() == ["failed: one/gone; see --status"]

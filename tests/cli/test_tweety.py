"""The five steps from the command line, on a model of two small layers; and what is refused."""

import json
from pathlib import Path

import pytest

pytest.importorskip("accelerate", reason="needs accelerate: pip install accelerate")
pytest.importorskip("eflomal", reason="needs eflomal: pip install eflomal")

from lm_eval_ita.cli.main import main
from tests.tweety.models import tiny_model, word_tokenizer
from tests.tweety.test_aligners import toy


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    words, pairs = toy(120)
    for name, side in (("en", 0), ("it", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    tiny_model(tmp_path / "model", word_tokenizer(sorted(words)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_five_steps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["tweety", "tokenizer", "--corpus", "it", "--like", "model", "--vocab-size", "320", "--out", "tok"]) == 0
    )
    assert main(["tweety", "map", "--source", "model", "--target", "tok", "--parallel", "en", "it", "--out", "m"]) == 0
    assert "aligned text" in capsys.readouterr().out
    assert main(["tweety", "convert", "--mapping", "m", "--out", "converted"]) == 0
    assert json.loads((folder / "converted" / "config.json").read_text())["vocab_size"] == 320
    adapt = ["tweety", "adapt", "--model", "converted", "--corpus", "it", "--held-out", "it", "--keep-contaminated"]
    adapt += ["--tokens", "128", "--length", "16", "--batch", "2", "--rate", "0.01", "--out", "adapted"]
    assert main(adapt) == 0
    capsys.readouterr()
    report = ["tweety", "report", "--mapping", "m", "--held-out", "it", "--adapted", "adapted"]
    assert main([*report, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["measured"]][:2] == ["original", "converted, from aligned text"]
    assert len(found["measured"]) == 5
    assert [each["excess"] is None for each in found["measured"]] == [False, True, False, False, False]
    for each in found["measured"]:
        if each["excess"] is not None:
            low, high = each["excess"]
            assert low <= each["bits"] - found["measured"][1]["bits"] <= high
    (curve,) = found["curves"]
    assert [point[0] for point in curve["points"]] == [0, 128]
    assert found["measured"][1]["bits"] == pytest.approx(curve["points"][0][1], rel=1e-4)
    assert main(report) == 0
    assert "mean of all embeddings" in capsys.readouterr().out
    # One text alone gives no interval, and no NaN.
    (folder / "one").write_text("La casa è rossa.\n", encoding="utf-8")
    assert main(["tweety", "report", "--mapping", "m", "--held-out", "one", "--json"]) == 0
    assert {each["excess"] for each in json.loads(capsys.readouterr().out)["measured"]} == {None}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (
            ["tokenizer", "--corpus", "it", "--like", "model", "--vocab-size", "200", "--out", "tok"],
            "bytes and the special",
        ),
        (["tokenizer", "--corpus", "it", "--like", "model", "--vocab-size", "9000", "--out", "tok"], "has only"),
        (["tokenizer", "--corpus", "none", "--like", "model", "--out", "tok"], "no such file"),
        (["tokenizer", "--corpus", "it", "--like", "none", "--out", "tok"], "none: its tokenizer cannot be loaded"),
        (
            ["map", "--source", "model", "--target", "model", "--parallel", "en", "short", "--out", "m"],
            "ends before line",
        ),
        (["convert", "--mapping", "en", "--out", "out"], "is no mapping of ours"),
        (["report", "--mapping", "en", "--held-out", "it"], "is no mapping of ours"),
        (
            ["adapt", "--model", "model", "--corpus", "it", "--held-out", "empty", "--tokens", "9", "--out", "out"],
            "empty: holds no text",
        ),
    ],
)
def test_bad_input(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], what: str) -> None:
    (folder / "short").write_text("una riga\n", encoding="utf-8")
    (folder / "empty").touch()
    before = sorted(path.name for path in folder.iterdir())
    assert main(["tweety", *arguments]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert what in line
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_tokenizer_without_an_end_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    word_tokenizer(["a"], special=()).save_pretrained(folder / "bare")
    assert main(["tweety", "tokenizer", "--corpus", "it", "--like", "bare", "--vocab-size", "300", "--out", "tok"]) == 2
    assert "no special token that ends a text" in capsys.readouterr().err

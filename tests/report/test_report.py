"""The command: all of a page's parts on a whole run, bad input, what is written and what is not."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.cli.main import main
from tests.report.runs import save

pytest.importorskip("matplotlib", reason="needs the package matplotlib")


def figure_names(folder: Path) -> set[str]:
    return {path.stem for path in folder.iterdir()}


def test_a_whole_run_on_sample_rows(sample_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, figures, latex = tmp_path / "p" / "report.html", tmp_path / "figures", tmp_path / "latex"
    arguments = [str(sample_run), "-o", str(page), "--figures", str(figures), "--latex", str(latex)]
    assert main(["report", *arguments]) == 0
    assert capsys.readouterr().err == ""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*?)</h2>", text) == [
        "ItaEval",
        "ItaP-AT",
        "Breakdowns",
        "Samples",
        "Settings and versions",
    ]
    assert 'role="alert">SAMPLE DATA, NOT COMPARABLE' in text
    for caption in (
        "Scores with intervals and ties",
        "By instruction",
        "ItaCoLA by linguistic phenomenon",
        "Settings by task",
    ):
        assert caption in text
    assert figure_names(figures) == {
        "itaeval_nlu",
        "itaeval_cfk",
        "itaeval_bfs",
        "itapat_scores",
        "itapat_scores_oneshot",
        "itapat_rates",
        "itapat_rates_oneshot",
        "itapat_oneshot_differences",
        "hatecheck_functionality",
        "hatecheck_target",
        "honest_category",
        "honest_gender",
        "itacola_phenomena",
    }
    assert {path.suffix for path in figures.iterdir()} == {".svg", ".png"}
    assert (latex / "all.tex").exists()
    viewer = json.loads(re.search(r'id="viewer-data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    assert len(viewer["tasks"]) == 18 + 5
    assert viewer["samples"]


def test_figures_alone_write_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "runs", "m", {"itaeval_xcopa": (0.5, [1.0, 0.0] * 20)})
    monkeypatch.chdir(tmp_path)
    assert main(["report", "runs", "--figures", "figures"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures", "runs"]
    assert figure_names(tmp_path / "figures") == {"itaeval_cfk"}


def test_the_page_without_a_name_is_report_html(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "runs", "m", {"itaeval_xcopa": (0.5, [])})
    monkeypatch.chdir(tmp_path)
    assert main(["report", "runs"]) == 0
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="samples"' not in text, "nothing was logged"


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, "N/A", "0.5", [0.5], None, {"a": 1}, True],
    ids=["nan", "inf", "na", "text", "list", "null", "dict", "bool"],
)
def test_what_is_no_number_is_missing(tmp_path: Path, value: Any) -> None:
    path = save(tmp_path, "m", {"itaeval_xcopa": (0.5, [1.0, 0.0] * 20), "itaeval_belebele": (0.25, [])})
    data = json.loads(path.read_text())
    for name in ("score,none", "acc_norm,none", "acc,none", "baselines,none", "functionality,none"):
        data["results"]["itaeval_xcopa"][name] = value
    path.write_text(json.dumps(data))
    page = tmp_path / "report.html"
    assert main(["report", str(tmp_path), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert re.search(r"xcopa</th><td>acc</td><td[^>]*>\d+</td><td[^>]*>n/a", text)
    assert "25.00" in text
    assert not re.search(
        r"\b(nan|inf)\b", re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.S).lower()
    )


def test_bad_files_are_a_line_each_and_the_rest_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "good", "m", {"itaeval_xcopa": (0.5, [])})
    for name, text in (("cut", '{"results": {'), ("old", '{"results": {"t": {"acc": 0.5}}}'), ("list", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results_x.json").write_text(text)
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "r.html")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("skipped: ") for line in lines)
    assert (tmp_path / "r.html").read_text(encoding="utf-8").count("results_x.json") == 3


def test_damaged_samples_are_named_and_the_rest_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path, "m", {"itaeval_xcopa": (0.5, [1.0, 0.0] * 20)})
    (samples,) = tmp_path.glob("samples_*.jsonl")
    samples.write_text(samples.read_text()[:-30])
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "r.html")]) == 1
    assert f"skipped: {samples}:40: is not valid JSON" in capsys.readouterr().err


def test_long_and_equal_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(tmp_path / name, "x" * 10_000 + name, {"itaeval_xcopa": (0.5, [])})
    page = tmp_path / "r.html"
    assert main(["report", str(tmp_path), "-o", str(page), "--title", "t" * 10_000]) == 0
    assert "x" * 300 not in page.read_text(encoding="utf-8")


def test_nothing_to_show_is_a_line_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results_x.json").write_text("{}")
    page = tmp_path / "r.html"
    assert main(["report", str(tmp_path), "-o", str(page)]) == 2
    assert "nothing to show" in capsys.readouterr().err
    assert not page.exists()


def test_a_place_that_cannot_be_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "runs", "m", {"itaeval_xcopa": (0.5, [])})
    (tmp_path / "file").write_text("")
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "file" / "r.html")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "r.html: cannot be written" in line


@pytest.mark.parametrize("number", ["-1", "many", "1.5"])
def test_a_number_of_samples_that_is_none(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["report", "x", "--samples", number])
    assert caught.value.code == 2
    assert "is no number of samples" in capsys.readouterr().err

"""The Python interface, against the commands that do the same."""

import json
from pathlib import Path

import pytest

import lm_eval_ita
from lm_eval_ita.cli.main import main
from lm_eval_ita.errors import UserError


def test_the_package_offers_it() -> None:
    from lm_eval_ita import api

    assert lm_eval_ita.evaluate is api.evaluate
    assert set(lm_eval_ita.__all__) == {"Results", "evaluate", "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'valuta'"):
        lm_eval_ita.valuta  # noqa: B018


def test_tables_are_those_of_summary(sample_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = lm_eval_ita.Results(sample_run)
    for form in ("table", "markdown", "csv"):
        capsys.readouterr()
        main(["summary", str(sample_run), "--format", form])
        assert results.table(form).strip() == capsys.readouterr().out.strip()  # type: ignore[arg-type]
    assert "\\begin{table}" in results.table("latex")
    assert str(results) == results.table()
    assert "SAMPLE DATA" in results._repr_html_()
    with pytest.raises(UserError, match="no table as 'pdf'"):
        results.table("pdf")  # type: ignore[arg-type]


def test_scores_are_those_of_the_file(sample_run: Path) -> None:
    content = json.loads(sample_run.read_text(encoding="utf-8"))["results"]
    scores = lm_eval_ita.Results(sample_run.parent).scores
    assert scores["itaeval_xcopa"] == content["itaeval_xcopa"]["acc,none"]
    assert scores["itaeval_itacola"] == content["itaeval_itacola"]["mcc,none"]
    assert scores["itaeval_news_sum"] is None, "the scorer was skipped"


def test_a_model_against_itself(sample_run: Path) -> None:
    results = lm_eval_ita.Results(sample_run)
    compared = {task.task: task for task in results.compare(results).tasks}
    assert compared["itaeval_xcopa"].equal
    assert compared["itaeval_xcopa"].difference == 0


def test_report(sample_run: Path, tmp_path: Path) -> None:
    page = lm_eval_ita.Results(sample_run).report(tmp_path / "pagina.html", title="Prova")
    text = page.read_text(encoding="utf-8")
    assert "<title>Prova</title>" in text
    assert "SAMPLE DATA, NOT COMPARABLE" in text


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nonesuch"):
        lm_eval_ita.Results(tmp_path / "nonesuch.json").scores  # noqa: B018
    with pytest.raises(UserError, match="model is a dict; give a folder"):
        lm_eval_ita.evaluate({}, "itaeval_xcopa")  # type: ignore[arg-type]


@pytest.mark.slow
def test_evaluate_is_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.models import tiny_lm

    model = tiny_lm(tmp_path / "lm")
    options = {"model_args": {"dtype": "float32"}, "data_dir": "sample", "device": "cpu", "batch_size": 4}
    results = lm_eval_ita.evaluate(model, "itaeval_xcopa", output=tmp_path / "ours", **options)
    said = capsys.readouterr().out
    assert "SAMPLE DATA, NOT COMPARABLE" in said
    assert str(results.path) in said.replace("\n", "")
    command = ["run", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu", "--batch_size", "4"]
    command += [
        "--tasks",
        "itaeval_xcopa",
        "--metadata",
        '{"data_dir": "sample"}',
        "--output",
        str(tmp_path / "theirs"),
    ]
    assert main(command) == 0
    (theirs,) = (tmp_path / "theirs").glob("*/results_*.json")
    assert results.path.parent.name == theirs.parent.name, "the same run"
    assert results.scores == lm_eval_ita.Results(theirs).scores

    capsys.readouterr()
    again = lm_eval_ita.evaluate(model, ["itaeval_xcopa"], output=tmp_path / "ours", progress=False, **options)
    assert again.path == results.path
    assert capsys.readouterr().out == ""

    with pytest.raises(UserError, match="nonesuch"):
        lm_eval_ita.evaluate(model, "itaeval_nonesuch", output=tmp_path / "ours", **options)
    broken = tmp_path / "tasks"
    broken.mkdir()
    (broken / "rotto.yaml").write_text(
        "task: rotto\ndataset_path: json\ndataset_kwargs: {data_files: {test: x.jsonl}}\ntest_split: test\n"
        "doc_to_text: '{{a}}'\ndoc_to_target: '{{a}}'\nmetadata: {version: 1}\n",
        encoding="utf-8",
    )
    with pytest.raises(UserError, match=r"the model was not loaded: rotto: .*x\.jsonl"):
        lm_eval_ita.evaluate(model, "rotto", output=tmp_path / "ours", include_path=broken, **options)

import json
import shutil
from pathlib import Path

import pytest

from lm_eval_ita.cli.main import main
from tests.results.files import content, task, write

Out = pytest.CaptureFixture[str]


@pytest.fixture(scope="session")
def two_runs(sample_run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sample run and one of an always right model."""
    from tests.harness.scripted import oracle
    from tests.results.runs import save

    def right(request):  # type: ignore[no-untyped-def]
        return request.doc["attribute_1"] if "attribute_1" in request.doc else oracle(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_ITA_SCORERS", "skip")
        tasks = ["itaeval_xcopa", "itaeval_sentipolc", "itaeval_gente", "itapat_gender_6", "itapat_oneshot_gender_6"]
        return sample_run, save(tmp_path_factory.mktemp("other"), right, tasks, "org/right")


def test_two_runs(two_runs: tuple[Path, Path], capsys: Out) -> None:
    assert main(["compare", *map(str, two_runs)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "SAMPLE DATA, NOT COMPARABLE"
    assert lines[1].startswith("A: org/model (")
    assert lines[2].startswith("B: org/right (")
    xcopa = next(line for line in lines if line.startswith("itaeval_xcopa")).split()
    assert xcopa[1:6] == ["acc", "10", "80.00", "100.00", "+20.00"]
    assert xcopa[-1] == "McNemar"
    assert "xcopa: no difference between A and B is shown (+20.00 points, 95% interval +" in out
    assert "gente: a score is missing." in lines
    assert [line for line in lines if line.startswith("One-shot")] == [
        f"One-shot anti-stereotypical prompts, {name}" for name in "AB"
    ]
    assert err.startswith("only in A: itaeval_")
    assert "itapat_gender_7" in err


def test_json(two_runs: tuple[Path, Path], capsys: Out) -> None:
    assert main(["compare", *map(str, two_runs), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    by_task = {task["task"]: task for task in shown["tasks"]}
    assert by_task["itaeval_xcopa"]["difference"] == pytest.approx(0.2)
    assert by_task["itaeval_gente"]["difference"] is None
    words = by_task["itapat_gender_6"]["words"]
    assert len(words) == 16
    assert sum(word["difference"] for word in words) / 16 == pytest.approx(by_task["itapat_gender_6"]["difference"])
    assert set(shown["one_shot"]) == {"A", "B"}


def test_the_same_run_twice(sample_run: Path, capsys: Out) -> None:
    assert main(["compare", str(sample_run), str(sample_run)]) == 0
    out = capsys.readouterr().out
    assert out.count("the two runs score every document alike.") == 21
    assert "One-shot anti-stereotypical prompts, A\n" in out


def test_what_differs_is_named_and_the_rest_goes_on(two_runs: tuple[Path, Path], tmp_path: Path, capsys: Out) -> None:
    shutil.copytree(two_runs[1].parent, tmp_path / "m")
    path = tmp_path / "m" / two_runs[1].name
    path.write_text(
        path.read_text(encoding="utf-8").replace('"itaeval_xcopa": 1.0', '"itaeval_xcopa": 0.9'), encoding="utf-8"
    )
    assert main(["compare", str(two_runs[0]), str(path)]) == 1
    out, err = capsys.readouterr()
    assert "not compared: itaeval_xcopa: different task version: 1.0 in A, 0.9 in B" in err.splitlines()
    assert "itaeval_sentipolc" in out


def test_nothing_in_common(tmp_path: Path, capsys: Out) -> None:
    paths = [write(tmp_path / name, content({name: task()})) for name in ("itaeval_hellaswag", "itaeval_xcopa")]
    assert main(["compare", *map(str, paths)]) == 2
    assert "nothing can be compared" in capsys.readouterr().err

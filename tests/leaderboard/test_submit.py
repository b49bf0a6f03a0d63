import json
import shutil
from datetime import datetime, timezone
from pathlib import Path

import pytest

from lm_eval_ita.cli.main import main
from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.model_yaml import TEMPLATE, read_facts
from lm_eval_ita.leaderboard.store import RefusedError, open_store
from lm_eval_ita.leaderboard.submit import build
from lm_eval_ita.results.documents import answers_from
from lm_eval_ita.results.submission import validate
from tests.results.runs import save, sometimes_right

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
INFO = """\
display_name: Modello  7B
parameters: 7.2B
kind: chat
licence: 2.0
languages: it
open_weights: true
contamination: |
  Perché no: nobody
  looked.
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ItaP-AT's tests by gender, which need no data, run to their end by the harness from a folder of this machine."""
    folder = tmp_path_factory.mktemp("run")
    save(
        folder,
        sometimes_right,
        ["itapat_gender", "itapat_oneshot_gender_6"],
        "/home/me/models/secret",
        metadata={"data_dir": None},
    )
    return folder


@pytest.fixture
def info(tmp_path: Path) -> Path:
    path = tmp_path / "model.yaml"
    path.write_text(INFO, encoding="utf-8")
    return path


def changed(folder: Path, to: Path, old: str, new: str, files: str) -> Path:
    """A copy of a run with something else in its files."""
    shutil.copytree(folder, to)
    for path in to.rglob(files):
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return to


def test_a_whole_run(whole_run: Path, info: Path) -> None:
    built = build([whole_run], info, NOW)
    submission = built.submission
    assert sorted(submission.run.tasks) == [
        "itapat_gender_6",
        "itapat_gender_7",
        "itapat_gender_8",
        "itapat_oneshot_gender_6",
    ]
    assert built.notes == ()
    assert submission.submitted == NOW
    record = submission.run.tasks["itapat_gender_6"]
    assert record.primary_value is not None
    assert submission.intervals[record.name] == (
        record.metrics["bias_score_ci_low"],
        record.metrics["bias_score_ci_high"],
    )
    facts = submission.facts
    assert (facts.display_name, facts.parameters, facts.licence, facts.languages) == (
        "Modello 7B",
        7_200_000_000,
        "2.0",
        ("it",),
    )
    assert facts.contamination == "Perché no: nobody looked."
    assert built.documents is not None
    answers = answers_from("itapat_gender_6", built.documents.tasks["itapat_gender_6"])
    assert sum(answers.values.values()) / len(answers.values) == pytest.approx(record.primary_value)
    assert {side for side, _ in answers.words.values()} == {"X", "Y"}


def test_the_folder_that_it_ran_from_is_nowhere(whole_run: Path, info: Path, tmp_path: Path) -> None:
    target = tmp_path / "up.json"
    assert main(["submit", str(whole_run), "--info", str(info), "--to", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert json.loads(text)["run"]["model"]["name"] == "modello-7b"
    for hidden in ("secret", "/home", str(tmp_path), str(whole_run), "results_"):
        assert hidden not in text
    assert validate(target.read_bytes()).problems == ()


def test_into_a_store_and_not_twice(
    whole_run: Path, info: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["submit", str(whole_run), "--info", str(info), "--to", str(tmp_path / "store")]
    assert main([*command, "--dry-run"]) == 0
    assert not (tmp_path / "store").exists()
    assert main(command) == 0
    (entry,) = open_store(tmp_path / "store").current()
    assert entry.read().facts.display_name == "Modello 7B"
    for again in (command, [*command, "--dry-run"]):
        capsys.readouterr()
        assert main(again) == 2
        assert capsys.readouterr().err == (
            "refused: submission_id: the same submission is on the board already; submit only what is new\n"
        )


def test_figures_other_than_the_samples_are_refused(whole_run: Path, info: Path, tmp_path: Path) -> None:
    (results,) = whole_run.rglob("results_*.json")
    old = json.loads(results.read_text(encoding="utf-8"))["results"]["itapat_gender_7"]["prob_error,none"]
    field = f'"prob_error,none": {old}'
    better = changed(whole_run, tmp_path / "better", field, '"prob_error,none": 0.03125', "results_*.json")
    with pytest.raises(UserError) as raised:
        build([better], info, NOW)
    message = str(raised.value)
    # The first task of the file that holds the same figure is the one that was changed.
    assert "prob_error is 0.03125 in results_" in message
    assert f"and {old:.6g} from its samples" in message
    assert message.startswith("itapat_")


def test_samples_that_are_cut_or_gone(whole_run: Path, info: Path, tmp_path: Path) -> None:
    cut = shutil.copytree(whole_run, tmp_path / "cut")
    (samples,) = cut.rglob("samples_itapat_gender_8_*")
    lines = samples.read_text(encoding="utf-8").splitlines(keepends=True)
    samples.write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(UserError, match=r"itapat_gender_8: cannot be computed again: .*holds 79 of 80 documents"):
        build([cut], info, NOW)
    samples.unlink()
    with pytest.raises(UserError, match=r"itapat_gender_8: cannot be computed again: .*--log_samples"):
        build([cut], info, NOW)


def test_limited_and_sample_runs_are_refused_before_the_samples_are_read(
    sample_run: Path, info: Path, tmp_path: Path
) -> None:
    limited = save(tmp_path, sometimes_right, ["itapat_gender_6"], metadata={"data_dir": None}, limit=10)
    for samples in limited.parent.glob("samples_*"):
        samples.unlink()
    with pytest.raises(RefusedError) as raised:
        build([limited], info, NOW)
    assert [str(problem) for problem in raised.value.problems] == [
        "run.tasks.itapat_gender_6.limit: is 10: only a part was evaluated; evaluate again with `lm-eval-ita run` "
        "without --limit"
    ]
    with pytest.raises(RefusedError) as raised:
        build([sample_run], info, NOW)
    assert {problem.field.rpartition(".")[2] for problem in raised.value.problems} == {"data", "n_total"}


def test_runs_of_two_models(whole_run: Path, sample_run: Path, info: Path) -> None:
    with pytest.raises(UserError, match="holds runs of 2 models"):
        build([whole_run, sample_run], info, NOW)


def test_what_is_not_ours_is_left_out(whole_run: Path, info: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole_run, tmp_path / "more")
    (path,) = folder.rglob("results_*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["results"]["mmlu"] = {"acc,none": 0.5}
    content["configs"]["mmlu"] = {"num_fewshot": 5, "metadata": {"version": 1}}
    path.write_text(json.dumps(content), encoding="utf-8")
    built = build([folder], info, NOW)
    assert "mmlu" not in built.submission.run.tasks
    assert built.notes == ("mmlu: left out, it is no task of ItaEval or ItaP-AT as installed here",)


def test_cost_is_summed(whole_run: Path, info: Path, tmp_path: Path) -> None:
    folders = []
    for number, task in enumerate(["itapat_gender_6", "itapat_gender_7"]):
        folder = tmp_path / task
        results = save(folder, sometimes_right, [task], metadata={"data_dir": None})
        content = json.loads(results.read_text(encoding="utf-8"))
        cost = {"wall_seconds": 10.5, "tokens_in": 100, "peak_rss_bytes": 5 + number, "device": "cpu"}
        content["lm_eval_ita"] = {"total_cost": cost | ({"gpu_joules": 3.0} if number else {})}
        results.write_text(json.dumps(content), encoding="utf-8")
        folders.append(folder)
    built = build(folders, info, NOW)
    assert built.submission.cost == {"wall_seconds": 21.0, "tokens_in": 200.0, "peak_rss_bytes": 6.0}


BAD_YAML = {
    "": "must hold the model's facts by name",
    "[": "is no YAML",
    "display_name: x\nparameter: 3": "parameter: there is no such field; the fields are display_name",
    INFO.replace("kind: chat\n", ""): "kind: is missing",
    INFO.replace("chat", "instruct"): "kind: input should be 'base' or 'chat'",
    INFO.replace("languages: it", "languages: [it, no]"): "quote them",
    INFO.replace("languages: it", "languages: italiano"): "languages.0: is no ISO 639 code",
    INFO.replace("7.2B", "7"): "parameters: is not between 1,000 and",
    INFO.replace("Modello", "<b>Modello</b>"): "display_name: holds markup",
    INFO.replace("Modello", "Mod\u202eello"): "display_name: holds a right-to-left character, U\\+202E",
    INFO + "link: http://example.org/x": "link: is no plain https link",
    INFO.replace("nobody", "see /home/me/notes"): "contamination: holds a path of a machine",
    INFO.replace("true", "maybe"): "open_weights: input should be a valid boolean",
}


@pytest.mark.parametrize("text", BAD_YAML)
def test_a_bad_model_yaml_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=BAD_YAML[text]) as raised:
        read_facts(path, None)
    assert "\n" not in str(raised.value)


def test_the_harness_counts_parameters_where_the_file_does_not(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(INFO.replace("parameters: 7.2B", "parameters:"), encoding="utf-8")
    assert read_facts(path, 6_999_999_999).parameters == 6_999_999_999
    with pytest.raises(UserError, match="parameters: is missing"):
        read_facts(path, None)


def test_the_template_is_yaml_with_every_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    from lm_eval_ita.results.submission_records import ModelFacts

    path = tmp_path / "model.yaml"
    assert main(["submit", "--template", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == TEMPLATE
    assert set(yaml.safe_load(TEMPLATE)) == set(ModelFacts.model_fields)
    path.write_text("mine", encoding="utf-8")
    assert main(["submit", "--template", str(path)]) == 2
    assert path.read_text(encoding="utf-8") == "mine"
    assert "never overwritten" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a folder with results"),
        (["x"], "--info is missing"),
        (["x", "--info", "m.yaml"], "--to is missing"),
        (["x", "--info", "m.yaml", "--dry-run"], "there is no such file or folder"),
        (["x", "--template"], "--template stands alone"),
    ],
)
def test_usage(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["submit", *arguments]) == 2
    assert message in capsys.readouterr().err

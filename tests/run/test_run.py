"""`lm-eval-ita run` from end to end on a tiny random model: what it writes, how it ends, how it goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.harness.task_files import tasks_path
from lm_eval_ita.results import collect
from tests.models import tiny_lm
from tests.run.runs import Command, undated

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_lm(tmp_path_factory.mktemp("lm"))


@pytest.fixture(scope="module")
def finished(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Two groups and a task, to the end. Tests only look at it, or go on with it where nothing is left to do."""
    command = Command(
        model, tmp_path_factory.mktemp("finished") / "runs", "itaeval_cfk,itapat_gender,itaeval_itacola",
        "--limit", "6", "--batch_size", "4",
    )  # fmt: skip
    code, out, err = command.run()
    assert code == 0, err
    assert "SAMPLE DATA, NOT COMPARABLE" in out
    return command


def close(first: Any, second: Any) -> bool:
    """Equal, but for the last digits of floats."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(close(value, second[key]) for key, value in first.items())
    if isinstance(first, float) and isinstance(second, float):
        return first == pytest.approx(second, rel=1e-4, nan_ok=True)
    return bool(first == second)


def test_the_results_file_is_the_harness_s_own(model: Path, finished: Command, tmp_path: Path) -> None:
    """Every key and figure that plain `lm_eval run` writes, groups included; two keys are ours."""
    program = """
import lm_eval.tasks.manager as manager
init = manager.TaskManager.__init__
def ours_only(self, *args, **options):  # indexing 14,000 tasks of others takes half a minute
    init(self, *args, **{**options, "include_defaults": False})
manager.TaskManager.__init__ = ours_only
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""
    options = [option for option in finished.arguments if option != "counted"]
    options[options.index("--model") :] = options[options.index("--model") + 1 :]
    options[options.index("--output")] = "--output_path"
    options[options.index("--output_path") + 1] = str(tmp_path)
    subprocess.run(
        [sys.executable, "-c", program, *options, "--include_path", str(tasks_path()), "--log_samples"],
        check=True,
        capture_output=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )
    (path,) = tmp_path.rglob("results_*.json")
    theirs, ours = json.loads(path.read_text(encoding="utf-8")), finished.results()
    assert ours.keys() - theirs.keys() == {"lm_eval_ita", "lm_eval_ita_version"}
    assert theirs.keys() <= ours.keys()
    dated = {"date", "git_hash", "total_evaluation_time_seconds", "configs", "model_source"}
    for key in theirs.keys() - dated:
        expected = {**theirs[key], "model": "counted"} if key == "config" else theirs[key]
        assert close(ours[key], expected), key
    for task, config in theirs["configs"].items():
        config.pop("fewshot_config", None)  # holds a function's address
        mine = {name: value for name, value in ours["configs"][task].items() if name != "fewshot_config"}
        assert mine == config, task
    samples = finished.samples()
    for file in tmp_path.rglob("samples_*.jsonl"):
        (task,) = (name for name in samples if file.name.startswith(f"samples_{name}_2"))
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert [list(row) for row in rows] == [list(row) for row in samples[task]]
        assert [row["arguments"] for row in rows] == [row["arguments"] for row in samples[task]]
        assert [row["doc_hash"] for row in rows] == [row["doc_hash"] for row in samples[task]]


def test_the_folder_is_read_by_the_results_room(finished: Command) -> None:
    (run,) = collect([finished.output]).runs
    assert len(run.tasks) == 5 + 3 + 1
    assert all(task.samples is not None and task.data == "sample" for task in run.tasks.values())
    assert run.software["lm_eval_ita"]
    results = finished.results()
    assert results["groups"]["itaeval_cfk"]["score,none"] == pytest.approx(
        sum(results["results"][name]["score,none"] for name in results["group_subtasks"]["itaeval_cfk"]) / 5
    )


def test_costs_are_recorded_by_task(finished: Command) -> None:
    own = finished.results()["lm_eval_ita"]
    assert set(own["cost"]) == set(finished.results()["configs"])
    for task, cost in own["cost"].items():
        assert cost["wall_seconds"] >= cost["model_seconds"] > 0, task
        assert cost["tokens_in"] > cost["requests"] > 0
        assert cost["device"] == "cpu"
        assert cost["peak_rss_bytes"] > 50 * 2**20
        assert cost["peak_gpu_bytes"] is None
        assert cost["gpu_joules"] is None
    # Eight tokens at most for each of six documents, and none for multiple choice.
    assert 0 < own["cost"]["itapat_gender_6"]["tokens_out"] <= 6 * 9
    assert own["cost"]["itaeval_xcopa"]["tokens_out"] == 0
    assert own["total_cost"]["requests"] == len(finished.asked())
    assert own["failed"] == []


def test_events_for_programs(model: Path, finished: Command, tmp_path: Path) -> None:
    events = finished.events()
    assert [event["event"] for event in events][:3] == ["run_started", "model_loading", "model_loaded"]
    ended = [event for event in events if event["event"] == "task_finished"]
    assert [event["task"] for event in ended] == events[0]["tasks"]
    assert all(event["low"] is None or event["low"] <= event["score"] <= event["high"] for event in ended)
    answered = sum(event["requests"] for event in events if event["event"] == "answered")
    assert answered == len(finished.asked())

    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2", "--json-log", "-")
    code, out, err = command.run()
    assert code == 0
    printed = [json.loads(line) for line in out.splitlines()]  # nothing else on standard output
    assert printed[-1]["event"] == "run_finished"
    assert "itaeval_xcopa" in err
    assert "%|" not in err, "no bar of the harness's"


def test_a_run_without_samples(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2", "--no-log_samples")
    assert command.run()[0] == 0
    assert not command.samples()
    assert command.results()["task_hashes"] == {}
    code, out, _ = command.run()
    assert code == 0
    assert "1 done already" in out


def test_starting_anew_sets_the_old_folder_aside(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2")
    assert command.run()[0] == 0
    asked = len(command.asked())
    assert command.run("--no-resume")[0] == 0
    assert len(command.asked()) == 2 * asked
    (aside,) = (path for path in command.output.iterdir() if ".before-" in path.name)
    assert list(aside.glob("results_*.json"))


def test_another_model_or_setting_has_another_folder(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2")
    assert command.run()[0] == 0
    asked = len(command.asked())
    other = tiny_lm(tmp_path / "other", seed=1)
    assert command.run("--model_args", f"pretrained={other},dtype=float32")[0] == 0
    assert command.run("--apply_chat_template")[0] == 0
    assert len(command.asked()) == 3 * asked
    assert len([path for path in command.output.iterdir() if path.is_dir()]) == 3


def test_a_folder_of_another_run(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2")
    assert command.run()[0] == 0
    record = json.loads((command.folder / "run.json").read_text(encoding="utf-8"))
    record["identity"]["limit"] = 7
    (command.folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    code, _, err = command.run()
    assert code == 2
    assert "another run's: limit is 7 there and 2.0 here" in err
    assert err.count("\n") == 1


def test_one_process_at_a_time(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2")
    first = command.start(SLOW="60")
    while not command.asked():
        time.sleep(0.05)
        assert first.is_alive()
    second = Command(model, tmp_path / "second", "itaeval_xcopa", "--limit", "2")
    code, _, err = second.run("--output", str(command.output))
    assert code == 2
    assert "another process is at work" in err
    first.kill()
    first.join()
    assert command.run()[0] == 0, "the lock went with the process"


def test_sigterm_finishes_the_block_and_ends_with_143(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa,itaeval_squad_it", "--limit", "10")
    process = command.start(SLOW="0.5")
    while len(command.blocks()) < 2:
        time.sleep(0.05)
        assert process.is_alive()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGTERM)
    code, out, _ = command.finish(process)
    assert code == 143
    assert "stopped (SIGTERM)" in out
    assert sorted(key for block in command.blocks() for key in block) == sorted(command.asked()), "nothing is lost"
    assert len(command.asked()) < 30
    assert command.run()[0] == 0
    assert len(command.asked()) == len(set(command.asked())) == 30


def test_sigterm_while_the_model_is_loaded(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2")
    process = command.start(SLOW="5")
    while not any("model_loading" in path.read_text(encoding="utf-8") for path in command.output.glob("*/log.jsonl")):
        assert process.is_alive()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGTERM)
    code, out, err = command.finish(process)
    assert (code, err) == (143, "")
    assert "stopped (SIGTERM)" in out


@pytest.mark.parametrize(("how", "said"), [("memory", "out of memory"), ("error", "made to fail")])
def test_a_task_that_fails_does_not_stop_the_others(model: Path, tmp_path: Path, how: str, said: str) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_cfk", "--limit", "2")
    code, out, _ = command.run(FAIL_IN="itaeval_xcopa", FAIL_WITH=how)
    assert code == 1
    assert "itaeval_xcopa" in out
    assert said in out
    results = command.results()
    assert len(results["configs"]) == 4
    assert "score,none" not in results["results"]["itaeval_cfk"], "a mean over a part is no mean"
    assert results["lm_eval_ita"]["failed"] == ["itaeval_xcopa"]
    assert "Traceback" in (command.folder / "failures.log").read_text(encoding="utf-8")
    # Again, and only that task is run.
    asked = len(command.asked())
    code, out, _ = command.run()
    assert code == 0
    assert "4 done already" in out
    assert len(command.asked()) - asked == 4
    assert "score,none" in command.results()["results"]["itaeval_cfk"]


def test_a_full_disk_ends_the_run_and_loses_nothing(model: Path, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    command = Command(model, tmp_path / "runs", "itaeval_xcopa,itaeval_squad_it", "--limit", "2")
    command.run("--plan")
    assert command.run(FAIL_IN="itaeval_squad_it")[0] == 1
    answers = command.folder / "answers" / "itaeval_squad_it.jsonl"
    answers.unlink()
    answers.symlink_to("/dev/full")
    code, out, err = command.run()
    assert code == 1
    assert "No space left on device" in out
    assert "Traceback" not in out + err
    answers.unlink()
    assert command.run()[0] == 0
    assert len(command.results()["configs"]) == 2


def test_what_cannot_start(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2")
    for options, said in (
        (("--tasks", "itaeval_xcoba"), "did you mean itaeval_xcopa"),
        (("--model", "hff"), "did you mean"),
        (("--model_args", "pretrained=/nowhere/at/all"), "/nowhere/at/all cannot be loaded"),
        (("--model_args", "pretrained"), "--model_args: expected `key=value`"),
        (("--metadata", '{"data_dir": "/nowhere"}'), "1 of 1 tasks cannot be run; the model was not loaded"),
        (("--output", "/proc/nowhere"), "cannot be written"),
        (("--fewshot_as_multiturn",), "needs --apply_chat_template"),
    ):
        code, out, err = command.run(*options)
        assert code == 2, (options, out, err)
        assert said in err, (options, err)
        assert len(err.splitlines()) == 1, (options, err)
    assert not command.asked()


def test_missing_scorers_are_found_before_the_model_is_loaded(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_nlu", "--limit", "2", LM_EVAL_ITA_BERTSCORE_MODEL="/nowhere")
    code, out, err = command.run("--offline", "--model_args", "pretrained=/not/loaded")
    assert code == 2
    assert "itaeval_news_sum: bertscore needs the model /nowhere" in out
    assert "1 of 6 tasks cannot be run" in err


def test_plan(model: Path, tmp_path: Path, finished: Command) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa,itapat_gender_6", "--limit", "6", "--plan")
    code, out, err = command.run("--json-log", str(tmp_path / "plan.jsonl"))
    assert code == 0, err
    assert not command.output.exists(), "a plan writes nothing"
    (plan,) = map(json.loads, (tmp_path / "plan.jsonl").read_text(encoding="utf-8").splitlines())
    tasks = {task["task"]: task for task in plan["tasks"]}
    measured = finished.results()["lm_eval_ita"]["cost"]
    for name, task in tasks.items():
        # Six documents are few enough to look at all of them.
        assert task["requests"] == measured[name]["requests"]
        assert task["tokens_in"] == measured[name]["tokens_in"]
        assert task["seconds"] > 0
    assert tasks["itaeval_xcopa"]["data"] == ["xcopa: sample"]
    assert tasks["itapat_gender_6"]["tokens_out"] == 6 * 8
    assert plan["seconds"] > sum(task["seconds"] for task in tasks.values())
    assert "SAMPLE DATA, NOT COMPARABLE" in out

    code, out, _ = command.run("--tasks", "itaeval_nlu", LM_EVAL_ITA_BERTSCORE_MODEL="/nowhere")
    assert code == 2
    assert "missing: itaeval_news_sum: bertscore needs the model /nowhere" in out


def test_an_automatic_batch_size_is_found_once(model: Path, tmp_path: Path) -> None:
    command = Command(model, tmp_path / "runs", "itaeval_xcopa", "--limit", "10", "--batch_size", "auto:2")
    code, _, err = command.run("--max_batch_size", "4")
    assert code == 0, err
    assert command.results()["config"]["batch_sizes"] == [4, 4]
    assert len(command.asked()) == len(set(command.asked())) == 20
    (line,) = (line for line in (command.folder / "answers" / "itaeval_xcopa.jsonl").open() if "batches" in line)
    assert json.loads(line) == {"batches": {"loglikelihood": [4, 4]}}


def test_sampled_answers_do_not_depend_on_what_was_asked_before(model: Path, tmp_path: Path) -> None:
    options = (
        "itapat_gender_6",
        "--limit",
        "10",
        "--batch_size",
        "2",
        "--gen_kwargs",
        "max_gen_toks=8,do_sample=true,temperature=1.0",
    )
    whole, halted = (Command(model, tmp_path / name, *options) for name in ("whole", "halted"))
    assert whole.run()[0] == 0
    process = halted.start(SLOW="0.5")
    while len(halted.blocks()) < 2:
        time.sleep(0.05)
        assert process.is_alive()
    process.kill()
    process.join()
    assert halted.run()[0] == 0
    assert halted.samples() == whole.samples()
    texts = {row["resps"][0][0] for row in whole.samples()["itapat_gender_6"]}
    assert len(texts) > 5, "a random model's samples differ"


def test_two_processes_give_the_figures_of_one(model: Path, finished: Command, tmp_path: Path) -> None:
    """Bit by bit, and in the same order: blocks are cut before they are dealt out."""
    command = Command(model, tmp_path / "runs", "itaeval_cfk,itapat_gender,itaeval_itacola", *finished.arguments[-4:])
    launch = ("-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29533", "-m", "lm_eval_ita")
    arguments = ["hf" if argument == "counted" else argument for argument in command.arguments]
    done = subprocess.run(
        [sys.executable, *launch, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    ours, theirs = undated(command.results()), undated(finished.results())
    assert command.results()["lm_eval_ita"]["cost"]["itaeval_xcopa"]["processes"] == 2
    for key in ("results", "groups", "task_hashes", "n-samples", "configs"):
        assert ours[key] == theirs[key], key
    assert command.samples() == finished.samples()
    assert done.stdout.count("\n") == 1 + 1 + 9 + 1 + 1, "one process speaks"
    assert "%|" not in done.stderr, "no bar of the harness's"


def test_two_processes_report_a_failure_once(model: Path, tmp_path: Path) -> None:
    command = Command(
        model, tmp_path / "runs", "itaeval_xcopa", "--limit", "2", "--model_args", "pretrained=/nowhere/x"
    )
    launch = ("-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29534", "-m", "lm_eval_ita")
    arguments = ["hf" if argument == "counted" else argument for argument in command.arguments]
    done = subprocess.run(
        [sys.executable, *launch, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )
    assert done.returncode != 0
    assert done.stderr.count("/nowhere/x cannot be loaded") == 1

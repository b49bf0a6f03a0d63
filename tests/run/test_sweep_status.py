"""The state of a cell, from SLURM's queue and the job's own files."""

import json
import multiprocessing
import time
from pathlib import Path

import pytest

from lm_eval_ita.cli._sweep import status_text
from lm_eval_ita.errors import UserError
from lm_eval_ita.run.slurm_queue import QueuedJob
from lm_eval_ita.run.sweep_state import (
    Attempt,
    State,
    Submission,
    at_work,
    attempts,
    sweep_lock,
    working,
    write_attempts,
)
from lm_eval_ita.run.sweep_status import cell_progress, cell_status, state_of

JOB = "12_3"


def attempt(code: int | None = None, ended: float | None = None, why: str | None = None) -> Attempt:
    return Attempt(JOB, "node", 77, 100.0, ended, code, why)


STOPPED = attempt(None, 160.0, "stopped to be requeued")


@pytest.mark.parametrize(
    ("made", "queue", "state", "note"),
    [
        ([], ("PENDING", "Resources"), "queued", ""),
        ([], ("PENDING", "QOSMaxJobsPerUserLimit"), "queued", "QOSMaxJobsPerUserLimit"),
        ([], ("RUNNING", "None"), "running", ""),
        ([attempt()], ("RUNNING", "None"), "running", ""),
        ([STOPPED], ("PENDING", "BeginTime"), "queued", "to be requeued"),
        ([STOPPED, attempt()], ("RUNNING", "None"), "running", "requeued 1 time"),
        ([STOPPED, STOPPED, attempt(0, 200.0)], None, "done", "requeued 2 times"),
        ([attempt(0, 200.0)], ("COMPLETING", "None"), "done", ""),
        ([attempt(2, 200.0, "the model cannot be had")], None, "failed", "exit code 2: the model cannot be had"),
        ([attempt(143, 200.0, "stopped by SIGTERM")], None, "stopped", "stopped by SIGTERM"),
        ([attempt(143, 200.0, "stopped by SIGTERM")], ("CANCELLED", "None"), "cancelled", ""),
        ([attempt()], ("TIMEOUT", "TimeLimit"), "failed", "SLURM's time limit, before it could be requeued"),
        ([attempt()], ("OUT_OF_MEMORY", "x"), "failed", "killed by SLURM for its memory"),
        ([attempt()], None, "failed", "the job ended without a word"),
        ([STOPPED, STOPPED], None, "failed", "its time ended after start 2"),
        ([], None, "failed", "the job did not start the run"),
        ([], ("NODE_FAIL", "x"), "failed", "the machine failed; the job did not start"),
    ],
)
def test_states(made: list[Attempt], queue: tuple[str, str] | None, state: str, note: str) -> None:
    submission = Submission(JOB, local=False, digest="d")
    found = state_of(submission, made, None if queue is None else QueuedJob(*queue), alive=False)
    assert found[0] == state
    assert found[1].startswith(note)
    assert (note == "") == (found[1] == "")


def test_progress_of_a_run_that_went_on(tmp_path: Path) -> None:
    events = [
        {"event": "run_started", "folder": "old", "tasks": ["z"], "done": []},
        {"event": "task_finished", "task": "z", "metric": "score", "score": 1.0},
        {"event": "run_started", "folder": "a", "tasks": ["x", "y"], "done": []},
        {"event": "task_finished", "task": "x", "metric": "score", "score": 0.25},
        {"event": "run_started", "folder": "a", "tasks": ["x", "y"], "done": ["x"]},
        {"event": "task_finished", "task": "y", "metric": "score", "score": float("nan")},
    ]
    text = "\n".join(map(json.dumps, events))
    (tmp_path / "events.jsonl").write_text(text + '\n{"event": "run_fini', encoding="utf-8")
    progress = cell_progress(tmp_path)
    assert (progress.tasks, progress.done) == (("x", "y"), ("x", "y"))
    assert progress.scores == {"x": ("score", 0.25), "y": ("score", None)}, "another run's folder does not count"
    assert progress.results is None


def test_a_failure_shows_the_end_of_its_log(tmp_path: Path) -> None:
    cell = tmp_path / "one" / "nlu"
    cell.mkdir(parents=True)
    write_attempts(cell, [attempt(1, 165.0, "a task failed")])
    (cell / "run.log").write_text("".join(f"line {n}\n" for n in range(100)) + "\x1b[31mred\n", encoding="utf-8")
    submission = Submission(JOB, local=False, digest="d")
    status = cell_status("one/nlu", cell, tmp_path, submission, "d", {})
    assert status.state == "failed"
    assert status.seconds == 65.0
    assert status.log[0] == "line 89"
    text = status_text(tmp_path, [status])
    assert "one/nlu, job 12_3: exit code 1: a task failed\n    line 89" in text
    assert "\x1b" not in text
    changed = cell_status("one/nlu", cell, tmp_path, submission, "other", {})
    assert (changed.state, changed.note) == ("new", "changed since its last job")


def test_state_files(tmp_path: Path) -> None:
    state = State(tmp_path)
    assert not state.submissions
    state.submissions["one/nlu"] = Submission(JOB, local=True, digest="d")
    state.write()
    assert State(tmp_path).submissions == state.submissions
    assert not [path for path in tmp_path.iterdir() if path.name != "sweep.json"]
    write_attempts(tmp_path, [attempt()])
    assert attempts(tmp_path, JOB) == (attempt(),)
    assert attempts(tmp_path, "13") == ()
    for content in ("{", "[]", '{"cells": {"a": {"job": 1}}}'):
        (tmp_path / "sweep.json").write_text(content, encoding="utf-8")
        with pytest.raises(UserError, match=r"sweep\.json: cannot be read .* delete it"):
            State(tmp_path)


def _submitter(output: Path, name: str) -> None:
    with sweep_lock(output):
        state = State(output)
        time.sleep(0.2)
        state.submissions[name] = Submission(name, local=True, digest="d")
        state.write()


def test_what_slurm_took_from_a_killed_submitter(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.asked = {"array": {"a/x": "1", "b/x": "2", "c/x": "3"}, "alone": {"d/x": "4"}, "refused": {"e/x": "5"}}
    state.write()
    queue = {
        **{f"7_{index}": QueuedJob("PENDING", "None", "array") for index in (0, 2)},
        **{"8": QueuedJob("RUNNING", "None", "alone"), "9_1": QueuedJob("RUNNING", "None", "of another sweep")},
    }
    found = State(tmp_path)
    found.recover(queue)
    assert {name: (given.job, given.digest) for name, given in found.submissions.items()} == {
        "a/x": ("7_0", "1"),
        "c/x": ("7_2", "3"),
        "d/x": ("8", "4"),
    }
    found.write()
    assert State(tmp_path).asked == {}


def test_two_submitters_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_submitter, args=(tmp_path, name)) for name in ("a", "b", "c")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert State(tmp_path).submissions.keys() == {"a", "b", "c"}


def _worker(cell: Path) -> None:
    with working(cell):
        time.sleep(60)


def test_a_killed_job_is_no_longer_at_work(tmp_path: Path) -> None:
    assert not at_work(tmp_path)
    process = multiprocessing.get_context("fork").Process(target=_worker, args=(tmp_path,))
    process.start()
    end = time.monotonic() + 30
    while not at_work(tmp_path) and time.monotonic() < end:
        time.sleep(0.02)
    assert at_work(tmp_path)
    process.kill()
    process.join()
    assert not at_work(tmp_path)

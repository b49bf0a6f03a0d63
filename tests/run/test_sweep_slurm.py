"""`lm-eval-ita sweep` under a real SLURM: an array, a time limit that ends a job, failures, cancelling."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.cli.main import main
from lm_eval_ita.run.sweep_state import State
from tests.models import tiny_lm
from tests.run.sweep_task import write_slow_task
from tests.slurm import slurm_cluster

pytestmark = pytest.mark.slow

# A quiet machine needs a tenth of it.
_PATIENCE = 900
_ROWS = 60
_OPTIONS = {
    **{"device": "cpu", "batch_size": 2, "include_path": "tasks"},
    **{"metadata": {"data_dir": "sample"}, "gen_kwargs": {"max_gen_toks": 8}},
}
_TASKS = {"slow": "slow", "cfk": ["itaeval_xcopa"], "gender": ["itapat_gender_6"]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    with slurm_cluster() as conf:
        yield conf


@pytest.fixture(autouse=True)
def _environment(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", str(cluster))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


class Sweep:
    """A folder with a sweep's file, and the command on it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], **content: Any) -> None:
        self.folder = folder
        self._capsys = capsys
        if not (folder / "tasks").exists():
            write_slow_task(folder / "tasks", _ROWS)
        content = {"options": _OPTIONS, "environment": {"COUNT_FILE": str(folder / "counts")}, **content}
        self.file = folder / "sweep.yaml"
        self.file.write_text(json.dumps({"slurm": {"time": 120, "signal_before": 30}, **content}), encoding="utf-8")

    def __call__(self, *options: str) -> tuple[int, str]:
        self._capsys.readouterr()
        code = main(["sweep", str(self.file), *options])
        return code, self._capsys.readouterr().out

    def cells(self) -> dict[str, dict[str, Any]]:
        _, out = self("--status", "--json")
        return {cell["cell"]: cell for cell in json.loads(out)["cells"]}

    def events(self, cell: str) -> list[dict[str, Any]]:
        path = self.folder / "results" / cell / "events.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def wait(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE
        while not until():
            assert time.monotonic() < end, self("--status")[1]
            time.sleep(0.5)


def answered(events: list[dict[str, Any]], *, before: bool) -> int:
    return sum(event["documents"] for event in events if event["event"] == "answered" and event["before"] is before)


def test_two_models_by_three_tasks_and_a_time_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = [
        {"name": name, "model_args": {"pretrained": tiny_lm(tmp_path / name, seed).name, "dtype": "float32"}}
        for seed, name in enumerate(("one", "two"))
    ]
    sweep = Sweep(tmp_path, capsys, models=models, tasks=_TASKS)
    assert {cell["state"] for cell in sweep.cells().values()} == {"new"}
    (tmp_path / "slow").touch()
    code, out = sweep()
    assert code == 0
    assert "6 cells, 6 submitted now: 6 queued or running\n" in out
    jobs = {name: cell["job"] for name, cell in sweep.cells().items()}
    assert len({job.partition("_")[0] for job in jobs.values()}) == 1, "one array"
    assert sorted(job.partition("_")[2] for job in jobs.values()) == list("012345")
    assert {cell["state"] for cell in sweep.cells().values()} <= {"queued", "running"}
    assert "6 cells, 0 submitted now: 6 queued or running\n" in sweep()[1], "nothing is submitted twice"

    # The first cell has saved blocks, and then its time ends.
    sweep.wait(lambda: answered(sweep.events("one/slow"), before=False) >= 6)
    cell = sweep.cells()["one/slow"]
    assert (cell["state"], cell["tasks"], cell["tasks_done"]) == ("running", ["slow"], [])
    _update(jobs["one/slow"], f"TimeLimit={_minutes_so_far(jobs['one/slow']) + 2}")
    sweep.wait(lambda: "requeued" in sweep.cells()["one/slow"]["note"])
    saved = answered(sweep.events("one/slow"), before=False)
    assert 6 <= saved < _ROWS
    said = sweep("--status")
    assert said[0] == 0
    (tmp_path / "status-requeued.txt").write_text(said[1], encoding="utf-8")
    (tmp_path / "slow").unlink()
    # SLURM lets a requeued job wait two minutes.
    _update(jobs["one/slow"], "TimeLimit=120", "StartTime=now")

    sweep.wait(lambda: all(cell["state"] == "done" for cell in sweep.cells().values()))
    code, out = sweep("--status")
    (tmp_path / "status-done.txt").write_text(out, encoding="utf-8")
    assert code == 0
    cells = sweep.cells()
    assert {name: cell["job"] for name, cell in cells.items()} == jobs, "the same job goes on"
    assert cells["one/slow"]["note"] == "requeued 1 time"
    assert all(len(cell["tasks_done"]) == 1 for cell in cells.values())
    # Every block was asked once: by the first start, or by the second.
    assert answered(sweep.events("one/slow"), before=True) == saved
    assert answered(sweep.events("one/slow"), before=False) == _ROWS
    asked = Counter((tmp_path / "counts").read_text(encoding="utf-8").splitlines())
    assert len(asked) == 3 * _ROWS
    assert set(asked.values()) == {2}, "once for each model"
    assert "6 cells, 0 submitted now: 6 done\n" in sweep()[1]
    _same_as_a_direct_run(tmp_path, cells)


def _update(job: str, *settings: str) -> None:
    subprocess.run(["scontrol", "update", f"JobId={job}", *settings], check=True)


def _minutes_so_far(job: str) -> int:
    said = subprocess.run(["squeue", "-h", "-j", job, "-o", "%M"], check=True, capture_output=True, text=True).stdout
    return int(said.strip().partition(":")[0])


def _same_as_a_direct_run(folder: Path, cells: dict[str, dict[str, Any]]) -> None:
    options = [
        f"--{name}={json.dumps(value) if isinstance(value, dict) else value}" for name, value in _OPTIONS.items()
    ]
    subprocess.run(
        [
            *(sys.executable, "-m", "lm_eval_ita", "run", "--model_args", "pretrained=one,dtype=float32"),
            *("--tasks", "slow,itaeval_xcopa,itapat_gender_6", "--output", "direct", *options),
        ],
        check=True,
        cwd=folder,
        env={**os.environ, "COUNT_FILE": str(folder / "direct-counts")},
        stdout=subprocess.DEVNULL,
    )
    (path,) = folder.glob("direct/*/results_*.json")
    direct = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert len(direct) == 3
    for name in ("slow", "cfk", "gender"):
        content = json.loads(Path(cells[f"one/{name}"]["results"]).read_text(encoding="utf-8"))
        for task, figures in content["results"].items():
            assert figures == direct[task], task


def test_a_job_that_fails_and_one_that_is_cancelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_lm(tmp_path / "lm")
    models = [
        {"name": "held", "model_args": {"pretrained": "lm", "dtype": "float32"}},
        {"name": "gone", "model_args": {"pretrained": "/nowhere/at/all"}, "slurm": {"time": 30}},
    ]
    sweep = Sweep(tmp_path, capsys, models=models, tasks={"slow": "slow"})
    (tmp_path / "slow").touch()
    with monkeypatch.context() as killed:  # SLURM has taken the first job, and nobody writes it down
        killed.setattr(State, "write", _write_once(State.write))
        assert sweep()[0] == 130
    held = sweep.cells()["held/slow"]
    assert held["state"] in ("queued", "running")
    assert "2 cells, 1 submitted now: 2 queued or running\n" in sweep()[1]
    assert sweep.cells()["held/slow"]["job"] == held["job"]
    sweep.wait(lambda: sweep.cells()["gone/slow"]["state"] == "failed")
    code, out = sweep("--status")
    (tmp_path / "status-failed.txt").write_text(out, encoding="utf-8")
    assert code == 1
    assert "exit code 2" in out
    assert "/nowhere/at/all cannot be loaded" in out.partition("gone/slow, job ")[2]
    code, out = sweep()
    assert "1 failed, 1 queued or running; --retry-failed submits what failed" in out
    assert code == 0

    sweep.wait(lambda: answered(sweep.events("held/slow"), before=False) >= 2)
    assert sweep("--cancel") == (0, "cancelled: held/slow\n")
    sweep.wait(lambda: sweep.cells()["held/slow"]["state"] == "cancelled")
    assert answered(sweep.events("held/slow"), before=False) < _ROWS
    assert sweep("--cancel") == (0, "nothing is queued or running\n")
    code, out = sweep("--retry-failed", "--dry-run")
    assert "2 of 2 cells would be submitted" in out


def _write_once(write: Callable[[State], None]) -> Callable[[State], None]:
    written: list[State] = []

    def once(state: State) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(state)
        write(state)

    return once


def test_what_slurm_does_not_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = {"name": "one", "model_args": {"pretrained": "/nowhere"}}
    sweep = Sweep(tmp_path, capsys, models=[model], tasks={"slow": "slow"}, slurm={"partition": "nonesuch"})
    assert main(["sweep", str(sweep.file)]) == 2
    err = capsys.readouterr().err
    assert "invalid partition specified: nonesuch" in err
    assert len(err.splitlines()) == 1
    assert sweep.cells()["one/slow"]["state"] == "new"

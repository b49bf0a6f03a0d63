"""`lm-eval-ita run` in processes of its own, on a tiny random model, its requests counted from outside.

The processes are forked from a server that has imported torch and the harness already: a run starts in a second instead
of ten, and dies like any other.
"""

import json
import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["tests.run.counted"])


def _child(arguments: list[str], environment: dict[str, str], out: Path, err: Path) -> None:
    os.environ.update(environment)
    for path, stream in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    import tests.run.counted  # noqa: F401  # registers the model type
    from lm_eval_ita.cli.main import main

    code = main(arguments)
    sys.stdout.flush()
    os._exit(code)


class Command:
    """`lm-eval-ita run` on sample rows, again and again."""

    def __init__(self, model: Path, output: Path, tasks: str, *more: str, **environment: str) -> None:
        self.output = output
        self._beside = output.parent / f"{output.name}-process"
        self._beside.mkdir(parents=True)
        self.counts = self._beside / "counts"
        self.arguments = [
            *("run", "--model", "counted", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu"),
            *("--tasks", tasks, "--output", str(output), "--metadata", '{"data_dir": "sample"}'),
            *("--gen_kwargs", "max_gen_toks=8", *more),
        ]
        self.environment = {"COUNT_FILE": str(self.counts), "HF_HUB_OFFLINE": "1", **environment}

    def start(self, *more: str, **environment: str) -> ForkServerProcess:
        # Read when the server is started, as the command sets them before it imports anything.
        os.environ.update({"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"})
        process = _SERVER.Process(
            target=_child,
            args=(
                [*self.arguments, *more],
                {**self.environment, **environment},
                self._beside / "out",
                self._beside / "err",
            ),
        )
        process.start()
        return process

    def finish(self, process: ForkServerProcess) -> tuple[int | None, str, str]:
        """Wait: exit code, standard output, standard error."""
        process.join()
        out, err = ((self._beside / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return process.exitcode, out, err

    def run(self, *more: str, **environment: str) -> tuple[int | None, str, str]:
        """To the end: exit code, standard output, standard error."""
        return self.finish(self.start(*more, **environment))

    @property
    def folder(self) -> Path:
        (found,) = (path for path in self.output.iterdir() if path.is_dir() and ".before-" not in path.name)
        return found

    def asked(self) -> list[str]:
        """Every request that any process asked the model, in order."""
        return self.counts.read_text(encoding="utf-8").split() if self.counts.exists() else []

    def blocks(self) -> list[list[str]]:
        """The requests of each saved block, read from the files as a stranger would."""
        lines = [
            line
            for path in self.output.glob("*/answers/*.jsonl")
            for line in path.read_bytes().rpartition(b"\n")[0].split(b"\n")
        ]
        return [record["keys"] for line in lines if line and "keys" in (record := json.loads(line))]

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]

    def results_file(self) -> Path:
        (path,) = self.folder.glob("results_*.json")
        return path

    def results(self) -> dict[str, Any]:
        return dict(json.loads(self.results_file().read_text(encoding="utf-8")))

    def samples(self) -> dict[str, list[dict[str, Any]]]:
        date = self.results_file().stem.removeprefix("results_")
        return {
            path.stem.removeprefix("samples_").removesuffix(f"_{date}"): [
                json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
            ]
            for path in self.folder.glob("samples_*.jsonl")
        }


def undated(results: dict[str, Any]) -> dict[str, Any]:
    """A results file without what differs between two equal runs: dates, times, memory, the number of processes."""
    moving = ("wall_seconds", "model_seconds", "peak_rss_bytes", "processes")

    def fixed(cost: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in cost.items() if key not in moving}

    own = dict(results["lm_eval_ita"])
    own["cost"] = {task: fixed(cost) for task, cost in own["cost"].items()}
    own["total_cost"] = fixed(own["total_cost"])
    kept = {key: value for key, value in results.items() if key not in ("date", "total_evaluation_time_seconds")}
    return {**kept, "lm_eval_ita": own}

"""Find result files, read them, and keep one figure for each task of a model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.reader import read_run
from lm_eval_ita.results.records import RunRecord, TaskRecord

__all__ = ["Collection", "Superseded", "collect"]


@dataclass(frozen=True)
class Superseded:
    """A task's figure that another file of the same model replaces.

    Attributes:
        task: The task.
        source: The file whose figure is left out.
        by: The file whose figure is used.
        why: What makes the other one better: "not sample data", "all documents", "has a score", "newer", "rescored".
    """

    task: str
    source: Path
    by: Path
    why: str


@dataclass(frozen=True)
class Collection:
    """What was found under some paths.

    Attributes:
        runs: One record per file, without the tasks that another file of the same model supersedes; a file that is
            wholly superseded is left out. In the order of model name, then date.
        superseded: What was left out for that reason.
        problems: One line for each file that could not be read.
    """

    runs: tuple[RunRecord, ...]
    superseded: tuple[Superseded, ...]
    problems: tuple[str, ...]

    def left_out(self) -> list[str]:
        """One line for each pair of files of which one supersedes the other for a reason."""
        groups: dict[tuple[Path, Path, str], list[str]] = {}
        for left in self.superseded:
            groups.setdefault((left.source, left.by, left.why), []).append(left.task)
        return [
            f"{source}: {tasks[0] if len(tasks) == 1 else f'{len(tasks)} tasks'} left out, {by} is used ({why})"
            for (source, by, why), tasks in groups.items()
        ]


def collect(paths: Sequence[Path], *, details: bool = True) -> Collection:
    """Read all result files under the paths; a bad file is reported and the rest goes on.

    Args:
        paths: Result files, or folders that are searched for `results*.json`.
        details: As in `read_run`.

    Returns:
        The records. Where two files of one model hold the same task, full data wins over a part or sample rows, a score
        over a missing one, the newer run over the older, and a rescored file over the one it was made from.

    Raises:
        UserError: A path does not exist.
    """
    runs: list[RunRecord] = []
    problems: list[str] = []
    for path in _files(paths):
        try:
            runs.append(read_run(path, details=details))
        except UserError as error:
            problems.append(str(error))
    kept, superseded = _newest(runs)
    return Collection(tuple(kept), tuple(superseded), tuple(problems))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if path.is_dir():
            found = sorted(path.rglob("results*.json"))
            if not found:
                raise UserError("holds no results*.json", file=path)
        elif path.exists():
            found = [path]
        else:
            raise UserError("there is no such file or folder", file=path)
        for file in found:
            try:
                status = file.stat()
            except OSError:  # a dangling link, which the reader reports
                yield file
                continue
            # One file, whatever the links to it are called.
            if (identity := (status.st_dev, status.st_ino)) not in seen:
                seen.add(identity)
                yield file


def _newest(runs: Sequence[RunRecord]) -> tuple[list[RunRecord], list[Superseded]]:
    best: dict[tuple[object, str], tuple[RunRecord, TaskRecord]] = {}
    superseded: list[Superseded] = []
    models = [run.model.key for run in runs]
    for run, model in zip(runs, models, strict=True):
        for record in run.tasks.values():
            key = (model, record.task)
            if key not in best:
                best[key] = (run, record)
                continue
            worse, better = sorted([best[key], (run, record)], key=_rank)
            best[key] = better
            superseded.append(Superseded(record.task, worse[0].source, better[0].source, _why(worse, better)))
    kept: list[RunRecord] = []
    for run, model in zip(runs, models, strict=True):
        tasks = {name: record for name, record in run.tasks.items() if best[model, record.task][0] is run}
        if tasks:
            kept.append(run if len(tasks) == len(run.tasks) else run.model_copy(update={"tasks": tasks}))
    kept.sort(key=lambda run: (run.model.name, _moment(run), str(run.source)))
    return kept, superseded


def _rank(entry: tuple[RunRecord, TaskRecord]) -> tuple[bool, bool, bool, float, bool, str]:
    run, record = entry
    has_score = record.primary_value is not None
    return record.data != "sample", not record.limited, has_score, _moment(run), run.rescored, str(run.source)


def _moment(run: RunRecord) -> float:
    return 0.0 if run.date is None else run.date.timestamp()


def _why(worse: tuple[RunRecord, TaskRecord], better: tuple[RunRecord, TaskRecord]) -> str:
    reasons = ("not sample data", "all documents", "has a score", "newer", "rescored")
    pairs = zip(_rank(worse), _rank(better), reasons, strict=False)
    return next((reason for less, more, reason in pairs if less != more), "newer")

"""The rows: where they come from, which splits there are, and what `process_docs` makes of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lm_eval_ita._yaml import find_line
from lm_eval_ita.authoring.calling import Outcome, attempt
from lm_eval_ita.authoring.findings import Finding, Rule, finding
from lm_eval_ita.authoring.near import did_you_mean
from lm_eval_ita.authoring.rules.functions import Functions
from lm_eval_ita.authoring.source import KeyPath, Source
from lm_eval_ita.catalogue import Entry
from lm_eval_ita.errors import MissingDataError, UserError
from lm_eval_ita.harness.own import CATALOGUE

__all__ = ["DATA", "MOST_ROWS", "RULES", "Loads", "Table", "check", "from_error", "tables"]

DATA = Rule("data", "A task has data, and every row of it can be read.")
DATA_MISSING = Rule(
    "data-missing", "The data are on this machine, so that prompts and labels can be checked.", level="warning"
)
REVISION = Rule("revision", "Data of the Hub are pinned to a commit.", acceptable=True)
RELATIVE_PATH = Rule("relative-path", "Paths of data files do not depend on the folder that a run is started from.")
SPLIT = Rule("split", "Every split that is named exists and has rows, and one is evaluated.")
PROCESS_DOCS = Rule(
    "process-docs", "`process_docs` takes a whole split and returns one; it is not written for one row."
)
RULES = (DATA, DATA_MISSING, REVISION, RELATIVE_PATH, SPLIT, PROCESS_DOCS)

MOST_ROWS = 1000
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Names that `datasets.load_dataset` takes for file formats.
_FORMATS = frozenset(
    {"json", "csv", "parquet", "text", "arrow", "xml", "webdataset", "imagefolder", "audiofolder", "pandas"}
)
_SPLITS = ("training_split", "validation_split", "test_split")


@dataclass(frozen=True)
class Table:
    """Rows as the harness hands them to a task.

    Attributes:
        split: Name of their split.
        role: What they are for: evaluated, examples in a prompt, or neither.
        rows: At most `MOST_ROWS` of them, evenly spread.
        numbers: The position of each in its split, from 1.
        total: How many there are.
        columns: The columns of the evaluated rows, which is what the harness looks templates up in.
    """

    split: str
    role: Literal["evaluated", "example", "other"]
    rows: Sequence[Mapping[str, Any]]
    numbers: Sequence[int]
    total: int
    columns: Sequence[str]

    def row(self, position: int) -> str:
        """A row's name in a message."""
        return f"row {self.numbers[position]} of split {self.split}"


def check(source: Source, catalogue: Mapping[str, Entry]) -> Iterator[Finding]:
    """Findings about the data's address.

    Args:
        source: The task.
        catalogue: The data sets that its loader may name.
    """
    config = source.config
    named = [key for key in _SPLITS if config.get(key) is not None]
    if not {"validation_split", "test_split"} & set(named):
        yield source.finding(SPLIT, (), "no split is evaluated", "name one with test_split or validation_split")
    if source.function("custom_dataset"):
        yield from _catalogued(source, catalogue)
        return
    path = config.get("dataset_path")
    if not path:
        mend = "name a data set with dataset_path, or a loader with custom_dataset: !function"
        yield source.finding(DATA, (), "the task has no data", mend)
        return
    options = config.get("dataset_kwargs") or {}
    files = _data_files(options)
    on_hub = path not in _FORMATS and not Path(str(path)).expanduser().is_dir()
    if on_hub and not _COMMIT.fullmatch(str(options.get("revision", ""))):
        mend = "write the commit's 40 digits under dataset_kwargs: revision"
        yield source.finding(
            REVISION, ("dataset_path",), f"{path} is read at whatever commit the Hub has that day", mend
        )
    for file in files:
        if "://" not in file and not Path(file).expanduser().is_absolute():
            mend = "let a loader find it beside the task file (lm_eval_ita.harness.own.load), or write the whole path"
            yield source.finding(
                RELATIVE_PATH,
                ("dataset_kwargs", "data_files"),
                f"{file} is looked for in the folder a run is started from",
                mend,
            )


def _catalogued(source: Source, catalogue: Mapping[str, Entry]) -> Iterator[Finding]:
    """Findings about the entry in a catalogue beside the task file."""
    entry = catalogue.get(str(source.metadata.get("dataset")))
    if entry is None or entry.home is None or entry.hub is None or _COMMIT.fullmatch(entry.hub.revision or ""):
        return
    path = entry.home / CATALOGUE
    what = f"{entry.hub.id} is read at whatever commit the Hub has that day"
    yield finding(
        REVISION, path, find_line(path, f"{entry.key}:", "hub:") or 1, what, "write the commit under hub: revision"
    )


def _data_files(options: Mapping[str, Any]) -> list[str]:
    value = options.get("data_files")
    listed = list(value.values()) if isinstance(value, dict) else [value]
    return [
        file for entry in listed for file in (entry if isinstance(entry, list) else [entry]) if isinstance(file, str)
    ]


class Loads:
    """Data sets that our loaders made, so that tasks with the same data share them: loading is most of the work.

    Only for loaders of this package, which depend on nothing but their named parameters.
    """

    def __init__(self) -> None:
        self._made: dict[str, Outcome] = {}
        self._processed: dict[tuple[str, int], tuple[Any, Outcome]] = {}

    def load(self, loader: Callable[..., Any], given: Mapping[str, Any]) -> Outcome:
        """Call a loader, or give what it returned before."""
        if not str(loader.__module__).startswith("lm_eval_ita.harness."):
            return attempt(loader, **given)
        named = inspect.signature(loader).parameters
        key = repr((loader.__module__, loader.__qualname__, sorted((k, v) for k, v in given.items() if k in named)))
        if key not in self._made:
            self._made[key] = attempt(loader, **given)
        return self._made[key]

    def process(self, function: Callable[..., Any], rows: Any) -> Outcome:
        """The same for `process_docs`."""
        if not str(function.__module__).startswith("lm_eval_ita.harness."):
            return attempt(function, rows)
        key = (function.__qualname__, id(rows))
        if key not in self._processed:
            self._processed[key] = (rows, attempt(function, rows))  # with the rows: their id must stay theirs
        return self._processed[key][1]


def tables(
    source: Source, functions: Functions, data_dir: str | None, loads: Loads
) -> tuple[Any, list[Table], list[Finding]]:
    """The data set (None where it cannot be had), the rows of every split that a task uses, and findings about both."""
    found: list[Finding] = []
    dataset = _load(source, functions, data_dir, loads, found)
    if dataset is None:
        return None, [], found
    return dataset, _tables(source, functions, dataset, loads, found), found


def _tables(source: Source, functions: Functions, dataset: Any, loads: Loads, found: list[Finding]) -> list[Table]:
    splits = _used_splits(source, dataset, found)
    made: list[Table] = []
    for split, role in splits:
        process: KeyPath = ("process_docs",)
        if role == "example" and ("fewshot_config", "process_docs") in functions:
            process = ("fewshot_config", "process_docs")
        rows = (
            dataset[split]
            if process not in functions
            else _processed(source, process, functions, dataset[split], loads, found)
        )
        if rows is None:
            return []
        if len(rows) == 0 and role == "example" and source.config.get("num_fewshot") == 0:
            continue  # nothing is drawn from it
        if len(rows) == 0:
            key: KeyPath = process if process in functions else _key_of(source, split)
            found.append(
                source.finding(
                    SPLIT,
                    key,
                    f"split {split} has no rows left" if process in functions else f"split {split} has no rows",
                    "give it some",
                )
            )
            return []
        columns = made[0].columns if made else list(rows.features)
        made.append(_table(split, role, rows, columns))
    return made


def _table(split: str, role: Literal["evaluated", "example", "other"], rows: Any, columns: Sequence[str]) -> Table:
    count = len(rows)
    chosen = [count * number // MOST_ROWS for number in range(MOST_ROWS)] if count > MOST_ROWS else list(range(count))
    columns_of = rows[chosen] if hasattr(rows, "features") else None  # all at once: row by row takes ten times as long
    if columns_of is None:
        picked = [dict(rows[position]) for position in chosen]
    else:
        picked = [dict(zip(columns_of, values, strict=True)) for values in zip(*columns_of.values(), strict=True)]
    return Table(split, role, picked, [position + 1 for position in chosen], count, columns)


def _load(source: Source, functions: Functions, data_dir: str | None, loads: Loads, found: list[Finding]) -> Any:
    """The data set; None where a finding says why not."""
    if source.function("custom_dataset"):
        outcome = loads.load(functions["custom_dataset",], _arguments(source, data_dir))
        if (
            isinstance(outcome.error, MissingDataError)
            and data_dir is None
            and (source.path.parent / "samples").is_dir()
        ):
            outcome = loads.load(functions["custom_dataset",], _arguments(source, "sample"))
        where, elsewhere = "custom_dataset", isinstance(outcome.error, MissingDataError)
    else:
        import datasets

        config = source.config
        options = config.get("dataset_kwargs") or {}
        outcome = attempt(datasets.load_dataset, config["dataset_path"], config.get("dataset_name"), **options)
        where, elsewhere = "dataset_path", config["dataset_path"] not in _FORMATS
    if outcome.error is None:
        return outcome.value
    if elsewhere:
        what = f"the data are not on this machine, so prompts, labels and metrics were not tried ({outcome.reason})"
        found.append(source.finding(DATA_MISSING, (where,), what, "bring them here, or name a folder with --data"))
    else:
        found.append(from_error(source, (where,), outcome))
    return None


def _arguments(source: Source, data_dir: str | None) -> dict[str, Any]:
    """What the harness gives to a loader."""
    given = {**source.metadata, **({} if data_dir is None else {"data_dir": data_dir})}
    return {**given, "config_source": str(source.path), **(source.config.get("dataset_kwargs") or {})}


def from_error(source: Source, where: KeyPath, outcome: Outcome) -> Finding:
    """A finding about data that cannot be read, in the file that is wrong where the error names one."""
    error = outcome.error
    if isinstance(error, UserError) and error.file is not None and error.file != source.path:
        mend = f"the task {source.name} cannot be built without it"
        return finding(DATA, error.file, error.line or 1, error.what, mend)
    mend = "correct the loader or what it is given"
    return source.finding(DATA, where, f"the data cannot be loaded ({outcome.reason})", mend)


def _used_splits(
    source: Source, dataset: Mapping[str, Any], found: list[Finding]
) -> list[tuple[str, Literal["evaluated", "example", "other"]]]:
    """The splits that are there, the evaluated one first."""
    config = source.config
    evaluated = "test_split" if config.get("test_split") is not None else "validation_split"
    keys: list[tuple[KeyPath, Literal["evaluated", "example", "other"]]] = [((evaluated,), "evaluated")]
    fewshot = config.get("fewshot_config") or {}
    keys.append((("fewshot_config", "split") if fewshot.get("split") else ("fewshot_split",), "example"))
    keys += [((key,), "other") for key in _SPLITS if key != evaluated]
    used: list[tuple[str, Literal["evaluated", "example", "other"]]] = []
    for where, role in keys:
        split = source.value(where)
        if split is None:
            continue
        if split not in dataset:
            mend = did_you_mean(str(split), dataset, f"there are {', '.join(dataset)}")
            found.append(source.finding(SPLIT, where, f"the data have no split {split!r}", mend))
        else:
            used.append((split, role))
    return used if any(role == "evaluated" for _, role in used) else []


def _key_of(source: Source, split: str) -> KeyPath:
    return next(((key,) for key in _SPLITS if source.config.get(key) == split), ())


def _processed(
    source: Source, where: KeyPath, functions: Functions, rows: Any, loads: Loads, found: list[Finding]
) -> Any:
    """What `process_docs` makes of a split; None where a finding says what is wrong with it."""
    name = source.functions[where].text
    outcome = loads.process(functions[where], rows)
    is_split = hasattr(outcome.value, "features") or (where[0] == "fewshot_config" and isinstance(outcome.value, list))
    if outcome.error is None and is_split:
        return outcome.value
    mend = "let it take the split and return rows.map(...) or rows.filter(...)"
    if len(rows) and attempt(functions[where], dict(rows[0])).error is None:
        what = f"{name} is written for one row, and gets the whole split"
    elif outcome.error is not None:
        what, mend = f"{name} fails on the split ({outcome.reason})", "correct it"
    else:
        what = f"{name} returns {type(outcome.value).__name__}, not a split"
    found.append(source.finding(PROCESS_DOCS, where, what, mend))
    return None

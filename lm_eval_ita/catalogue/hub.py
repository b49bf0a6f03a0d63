"""The Hugging Face Hub, and its cache on this machine: the second and third place a data set is looked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lm_eval_ita._quiet import quiet_hub
from lm_eval_ita.catalogue.fetch import reason
from lm_eval_ita.catalogue.readers import Raw, read
from lm_eval_ita.catalogue.rows import Row, collect
from lm_eval_ita.catalogue.schema import Entry, Hub
from lm_eval_ita.errors import UserError, one_line

__all__ = ["Absent", "is_offline", "named_snapshot", "rows", "snapshot"]

_PATIENCE = 10.0  # seconds for the Hub to answer at all
_DATA_SUFFIXES = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".gz", ".zip")
# What `datasets` may need to make sense of a repository; neither loading scripts nor viewer indices.
_NATIVE_FILES = ["README.md", *(f"*{suffix}" for suffix in _DATA_SUFFIXES)]


class Absent(Exception):
    """A source does not hold what was asked for; its text says why."""


def is_offline() -> bool:
    """Whether an environment variable of the Hugging Face libraries forbids the network."""
    names = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").upper() in {"1", "ON", "YES", "TRUE"} for name in names)


def _pattern(hub: Hub, where: str) -> str:
    return f"{where}/*.parquet" if hub.read == "parquet" else where


def snapshot(entry: Entry, splits: list[str], *, cached: bool) -> Path:
    """The local folder that holds the repository's files for some splits.

    Args:
        entry: The data set.
        splits: The splits wanted.
        cached: Look in the Hub cache only. Otherwise what is missing there is downloaded (and kept there).

    Raises:
        Absent: The Hub, or the cache, does not have them.
    """
    hub = entry.hub
    if hub is None:
        raise Absent("it is not on the Hub")
    places = {split: entry.splits[split].hub for split in splits}
    if missing := [split for split, where in places.items() if where is None]:
        raise Absent(f"the Hub copy has no split {', '.join(missing)}")
    return _with_data(hub, [_pattern(hub, where) for where in places.values() if where is not None], cached=cached)


def _with_data(hub: Hub, patterns: list[str], *, cached: bool) -> Path:
    """A repository's folder, looked through for data: files of each pattern, or any where `datasets` reads them."""
    native = hub.read == "native"
    folder = _snapshot(hub, _NATIVE_FILES if native else patterns, cached=cached)
    for pattern in ["**/*"] if native else patterns:
        # is_file() also tells a link whose content was removed from the cache from one that leads somewhere
        if not any(path.is_file() and path.suffix in _DATA_SUFFIXES for path in folder.glob(pattern)):
            raise Absent(f"no file {pattern} of {hub.id}")
    return folder


def named_snapshot(repository: str, mend: str) -> Path:
    """The folder of a data set that no catalogue knows, from the Hub cache, else downloaded; its name is the commit.

    Args:
        repository: "OWNER/NAME".
        mend: What else the user can do, for the message.

    Raises:
        UserError: It cannot be had.
    """
    hub = Hub(id=repository, read="native")
    reasons = []
    for cached in (True, False):
        if not cached and is_offline():
            reasons.append("the network is switched off by HF_HUB_OFFLINE or its like")
            break
        try:
            return _with_data(hub, [], cached=cached)
        except Absent as absent:
            reasons.append(str(absent))
    raise UserError(f"{repository} cannot be had from the Hub ({'; '.join(reasons)}); {mend}")


def _snapshot(hub: Hub, patterns: list[str], *, cached: bool) -> Path:
    import huggingface_hub.constants  # a submodule that the package does not load by itself

    if not cached:
        _require_answer(huggingface_hub.constants.ENDPOINT)
    try:
        with quiet_hub():
            folder = huggingface_hub.snapshot_download(
                hub.id, repo_type="dataset", revision=hub.ref, allow_patterns=patterns, local_files_only=cached
            )
    # The client's exceptions are requests' in its 0.x line and httpx's in its 1.x line, besides its own and OSError.
    # Whatever it raises, this place does not have the data, and the final message says why.
    except Exception as error:
        if cached:
            raise Absent(f"no copy of {hub.id}" + (f" at {hub.ref}" if hub.ref else "")) from error
        raise Absent(f"{hub.id}: {type(error).__name__}: {one_line(error)}") from error
    return Path(folder)


def _require_answer(endpoint: str) -> None:
    """Fail within seconds where the Hub cannot be reached: its client would repeat itself for half a minute."""
    import requests

    try:
        requests.head(endpoint, timeout=_PATIENCE)
    except requests.RequestException as error:
        raise Absent(f"{endpoint} does not answer: {reason(error)}") from error


def rows(entry: Entry, split: str, folder: Path) -> list[Row]:
    """The checked rows of a split, from a snapshot of the repository.

    Raises:
        Absent: The snapshot lacks the split's files.
        UserError: A row is bad.
    """
    hub, where = entry.hub, entry.splits[split].hub
    if hub is None or where is None:
        raise Absent(f"the Hub copy has no split {split}")
    if hub.read == "native":
        return collect(entry, split, _native(hub, where, folder), folder)
    found: list[Row] = []
    for path in sorted(folder.glob(_pattern(hub, where))):
        found += collect(entry, split, read(path), path)
    if not found:
        raise Absent(f"{hub.id} has no file {_pattern(hub, where)}")
    return found


def _native(hub: Hub, split: str, folder: Path) -> Iterator[Raw]:
    """Rows as `datasets` reads them from the repository's folder, which needs no network."""
    import datasets

    shown = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        data = datasets.load_dataset(str(folder), name=hub.config, split=split)
    except (ValueError, OSError, datasets.exceptions.DatasetsError) as error:
        raise Absent(f"{hub.id}: `datasets` cannot read split {split} of its files: {one_line(error)}") from error
    finally:
        if shown:
            datasets.enable_progress_bars()
    yield from enumerate(data, start=1)

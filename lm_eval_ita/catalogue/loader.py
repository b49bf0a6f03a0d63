"""Load a data set from the first place that has it: a folder, the Hub cache, the Hub, its canonical origin.

Source: the order is the one the project promises its users; a failure is one error that names the data set, what was
tried and the command that mends it.
"""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lm_eval_ita.catalogue import folder as folders
from lm_eval_ita.catalogue import hub
from lm_eval_ita.catalogue.fetch import Download, cache_folder, is_intact, progress
from lm_eval_ita.catalogue.hub import Absent
from lm_eval_ita.catalogue.readers import read
from lm_eval_ita.catalogue.rows import Row, checked, collect
from lm_eval_ita.catalogue.schema import Canonical, Entry
from lm_eval_ita.catalogue.schema import entry as find_entry
from lm_eval_ita.errors import MissingDataError, UserError

__all__ = ["Loaded", "Origin", "fetch", "load", "load_entry", "locate", "path"]

Origin = Literal["folder", "hub_cache", "hub", "canonical", "sample"]
_SPLIT_NAMES = {"dev": "validation", "val": "validation", "valid": "validation"}


@dataclass(frozen=True)
class Loaded:
    """A data set in memory.

    Attributes:
        key: Its key.
        splits: Rows by split, normalised: the columns of the catalogue in their order, text in NFC.
        origin: Which kind of place they came from.
        where: That place: a folder, `hf://...` or a URL.
        notes: What a reader of the results should know, such as a row count other than the full set's.
    """

    key: str
    splits: dict[str, list[Row]]
    origin: Origin
    where: str
    notes: tuple[str, ...] = field(default=())

    @property
    def is_sample(self) -> bool:
        """Whether these are sample rows: everything printed from them must say SAMPLE DATA, NOT COMPARABLE."""
        return self.origin == "sample"


def load(key: str, splits: Sequence[str] | None = None, data_dir: str | os.PathLike[str] | None = None) -> Loaded:
    """Load a data set.

    Args:
        key: Its key in the catalogue.
        splits: The splits wanted, each of which must be found. By default the required ones, and of the optional ones
            those that the place holding the required ones has without a further download.
        data_dir: A data folder to look in first, or `sample` for the packaged sample rows.

    Raises:
        UserError: The key or a split is unknown, no place has the data, or a row is bad.
    """
    return load_entry(find_entry(key), splits, data_dir)


def load_entry(
    entry: Entry, splits: Sequence[str] | None = None, data_dir: str | os.PathLike[str] | None = None
) -> Loaded:
    """Load a data set by its entry, which may be one of a catalogue beside task files; otherwise as `load`."""
    wanted = _wanted(entry, splits)
    tried: list[str] = []
    samples = _samples(entry)
    for root in folders.roots(data_dir, samples):
        if found := _from_folder(entry, root, wanted, optional=splits is None):
            return found
        tried.append(f"{root / entry.key} (not there)")
        if root == samples:
            raise MissingDataError(f"{entry.key}: no sample rows for it; tried {tried[-1]}")
    return _from_elsewhere(entry, wanted, tried)


def _samples(entry: Entry) -> Path:
    return folders.samples() if entry.home is None else entry.home / "samples"


def path(key: str, data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The file of a lexicon (`hurtlex`), looked for in the same order as `load`, its rows checked.

    Raises:
        UserError: As `load`; or the data set is not a lexicon.
    """
    entry = find_entry(key)
    if entry.kind != "lexicon":
        raise UserError(f"{key} is not a single file: load its rows with load({key!r})")
    loaded = load(key, data_dir=data_dir)
    (split,) = entry.splits
    if loaded.origin == "canonical":
        return _cached_file(entry, entry.canonical[0])
    found = folders.find(Path(loaded.where).parent, key, split)
    if found is None:
        raise UserError(f"{key}: the file vanished while it was read", file=loaded.where)
    return found


def locate(key: str, data_dir: str | os.PathLike[str] | None = None) -> tuple[Origin | None, str]:
    """Where a data set would come from now, without downloading or reading it.

    Returns:
        The kind of place and the place; (None, why) if there is none.
    """
    entry = find_entry(key)
    for root in folders.roots(data_dir):
        if (root / key).is_dir():
            return _folder_origin(entry, root), str(root / key)
        if root == folders.samples():
            return None, "no sample rows for it"
    try:
        return "hub_cache", str(hub.snapshot(entry, entry.required, cached=True))
    except Absent as reason:
        why = str(reason)
    if entry.canonical and all(
        is_intact(_cached_file(entry, file), file.sha256) for file in _files(entry, entry.required)
    ):
        return "canonical", str(_cached_file(entry, entry.canonical[0]).parent)
    if entry.access == "request":
        return None, entry.access_note or "on request only"
    if hub.is_offline():
        return None, f"not on this machine ({why}), and the network is switched off"
    if entry.hub is not None:
        return "hub", entry.hub.url
    return "canonical", entry.canonical[0].url


def fetch(key: str, to: Path | None = None, *, optional: bool = False) -> Loaded:
    """Bring a data set onto this machine: into the caches, or into a data folder.

    Args:
        key: Its key.
        to: The data folder; `<to>/<key>/<split>.jsonl` is written there (a lexicon keeps its own format).
        optional: Whether the optional splits are wanted too.

    Raises:
        UserError: As `load`; data folders are not looked in.
    """
    entry = find_entry(key)
    loaded = _from_elsewhere(entry, list(entry.splits) if optional else entry.required, [])
    if to is None:
        return loaded
    for split, rows in loaded.splits.items():
        if entry.kind == "lexicon":
            folders.copy_file(to, key, _cached_file(entry, entry.canonical[0]))
        else:
            folders.write_rows(to, key, split, rows)
    return loaded


def _from_elsewhere(entry: Entry, wanted: list[str], tried: list[str]) -> Loaded:
    """The data set from the first place after the folders; `tried` lists those that were looked in before."""
    for name, attempt in (
        *([("its file", _from_files)] if any(entry.splits[name].file for name in wanted) else []),
        ("the Hub cache", _from_hub_cache),
        ("the Hub", _from_hub),
        ("its canonical origin", _from_canonical),
    ):
        try:
            return attempt(entry, wanted)
        except Absent as reason:
            tried.append(f"{name} ({reason})")
    raise MissingDataError(_failure(entry, tried))


def _wanted(entry: Entry, splits: Sequence[str] | None) -> list[str]:
    if splits is None:
        return entry.required
    if isinstance(splits, str):
        raise TypeError("splits is a list of names, not one name")
    for name in splits:
        if name not in entry.splits:
            raise UserError(f"{entry.key} has no split {name!r}: there are {', '.join(entry.splits)}")
    return list(splits)


def _folder_origin(entry: Entry, root: Path) -> Origin:
    return "sample" if root == _samples(entry) else "folder"


def _from_files(entry: Entry, wanted: list[str]) -> Loaded:
    """The data set from the files that a catalogue beside task files names."""
    files = {name: _own_file(entry, name) for name in wanted}
    splits = {name: checked(entry, name, file) for name, file in files.items()}
    return _loaded(entry, splits, "folder", str(files[wanted[0]].parent))


def _own_file(entry: Entry, split: str) -> Path:
    named, digest = entry.splits[split].file, entry.splits[split].sha256
    if entry.home is None or named is None:
        raise Absent(f"the catalogue names no file for split {split}")
    file = entry.home / Path(named).expanduser()
    if not file.is_file():
        raise Absent(f"{file} is not there")
    if digest is not None and not is_intact(file, digest):
        raise UserError(
            f"{entry.key} {split}: the file is not the one the task was made from; bring that one back, or write the "
            f"new SHA-256 in {entry.home / 'catalogue.yaml'} and raise the version in the task's card",
            file=file,
        )
    return file


def _from_folder(entry: Entry, root: Path, wanted: list[str], *, optional: bool) -> Loaded | None:
    """The data set from a data folder; None if the folder has none of it.

    A folder that is there but lacks a split is an error: the missing part is not taken from elsewhere in silence.
    """
    if not (root / entry.key).is_dir():
        return None
    splits: dict[str, list[Row]] = {}
    for name in entry.splits if optional else wanted:
        file = folders.find(root, entry.key, name)
        if file is not None:
            splits[name] = checked(entry, name, file)
        elif name in wanted:
            present = ", ".join(sorted(p.name for p in (root / entry.key).iterdir())) or "nothing"
            raise UserError(
                f"{entry.key}: the split {name} is missing (the folder holds {present}); put {name}.jsonl there, "
                f"or run `lm-eval-ita data fetch {entry.key} --to {root}`",
                file=root / entry.key,
            )
    return _loaded(entry, splits, _folder_origin(entry, root), str(root / entry.key))


def _from_hub_cache(entry: Entry, wanted: list[str]) -> Loaded:
    return _from_snapshot(entry, wanted, hub.snapshot(entry, wanted, cached=True), "hub_cache")


def _from_hub(entry: Entry, wanted: list[str]) -> Loaded:
    if hub.is_offline():
        raise Absent("skipped: the network is switched off by HF_HUB_OFFLINE or its like")
    return _from_snapshot(entry, wanted, hub.snapshot(entry, wanted, cached=False), "hub")


def _from_snapshot(entry: Entry, wanted: list[str], folder: Path, origin: Origin) -> Loaded:
    splits = {name: hub.rows(entry, name, folder) for name in wanted}
    repository = entry.hub.id if entry.hub is not None else ""
    # a snapshot's folder is named after its commit: exact where the catalogue pins none
    return _loaded(entry, splits, origin, f"hf://datasets/{repository}@{folder.name}")


def _files(entry: Entry, wanted: list[str]) -> list[Canonical]:
    return [file for file in entry.canonical if file.split_column is not None or file.split in wanted]


def _cached_file(entry: Entry, file: Canonical) -> Path:
    name = urllib.parse.unquote(urllib.parse.urlsplit(file.url).path.rsplit("/", 1)[-1])
    return cache_folder() / "canonical" / entry.key / name


def _from_canonical(entry: Entry, wanted: list[str]) -> Loaded:
    """The data set from its origin outside the Hub; a verified earlier download needs no network."""
    if not entry.canonical:
        raise Absent("none known")
    splits: dict[str, list[Row]] = {}
    for file in _files(entry, wanted):
        local = _cached_file(entry, file)
        if not is_intact(local, file.sha256):
            if hub.is_offline():
                raise Absent("skipped: the network is switched off by HF_HUB_OFFLINE or its like")
            local = _download(entry, file, local)
        splits |= _canonical_rows(entry, file, local, wanted)
    if missing := [name for name in wanted if name not in splits]:
        raise Absent(f"it has no split {', '.join(missing)}")
    ordered = {name: splits[name] for name in wanted}
    return _loaded(entry, ordered, "canonical", _files(entry, wanted)[0].url)


def _download(entry: Entry, file: Canonical, local: Path) -> Path:
    try:
        with progress(f"{entry.key}: {local.name}") as report:
            return Download(file.url, local, file.sha256, report=report).run()
    except UserError as error:
        raise Absent(str(error)) from error


def _canonical_rows(entry: Entry, file: Canonical, local: Path, wanted: list[str]) -> dict[str, list[Row]]:
    if file.split is not None:
        return {file.split: checked(entry, file.split, local, file.format)}
    found: dict[str, list[Row]] = {}
    for name in wanted:
        raw = [
            (line, row)
            for line, row in read(local, file.format)
            if not isinstance(row, dict) or _split_name(row, file) == name
        ]
        if raw:
            found[name] = collect(entry, name, raw, local)
    return found


def _split_name(row: Row, file: Canonical) -> str:
    name = str(row.get(file.split_column or "", "")).strip().lower()
    return _SPLIT_NAMES.get(name, name)


def _loaded(entry: Entry, splits: dict[str, list[Row]], origin: Origin, where: str) -> Loaded:
    notes = []
    if origin == "sample":
        notes.append("SAMPLE DATA, NOT COMPARABLE")
    else:
        for name, rows in splits.items():
            full = entry.splits[name].rows
            if full is not None and len(rows) != full:
                notes.append(f"{entry.key} {name}: {len(rows)} rows, the full set has {full}")
    return Loaded(entry.key, splits, origin, where, tuple(notes))


def _failure(entry: Entry, tried: list[str]) -> str:
    """The one message for a data set that no place has."""
    if not os.environ.get(folders.ENVIRONMENT):
        tried = [f"${folders.ENVIRONMENT} (not set)", *tried]
    names = ", ".join(f"{name}.jsonl" for name in entry.required)
    by_hand = f"put {names} into FOLDER/{entry.key} and set {folders.ENVIRONMENT}=FOLDER"
    if entry.access == "request":
        mend = f"{entry.access_note}, then {by_hand}"
    elif entry.home is not None:
        mend = f"bring it to the place that {entry.home / 'catalogue.yaml'} names, or {by_hand}"
    elif hub.is_offline():
        mend = (
            f"unset the offline variable and run `lm-eval-ita data fetch {entry.key}`, or run it with --to FOLDER on a "
            f"machine with a network, copy FOLDER here and set {folders.ENVIRONMENT}=FOLDER"
        )
    else:
        mend = f"run `lm-eval-ita data fetch {entry.key}` once the network is there, or {by_hand}"
    return f"{entry.key} ({entry.title}) cannot be had: tried {'; '.join(tried)}. To mend it: {mend}"

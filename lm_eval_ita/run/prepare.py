"""Filling a folder with everything that a node without a network needs for a run.

An item counts once it is in the manifest, which is written anew after each: an interruption leaves the items before it,
and of the one in hand what the next call can go on with, under `.partial`.
"""

import contextlib
import hashlib
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from lm_eval_ita import catalogue
from lm_eval_ita.catalogue import folder as data_folders
from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics.scorers import ScorerModel
from lm_eval_ita.run.manifest import MANIFEST, Item, Items, read_manifest, write_manifest
from lm_eval_ita.run.needs import WISHED, task_needs
from lm_eval_ita.run.repositories import Repository, card_licence, download, look_up, needed_files
from lm_eval_ita.run.selection import select, task_manager
from lm_eval_ita.run.settings import Settings
from lm_eval_ita.run.stanza_models import bring_stanza
from lm_eval_ita.run.verify import describe, full_check, remember

__all__ = ["Report", "prepare"]

_PARTIAL = ".partial"
_MADE_WITH = ("lm-eval-ita", "lm-eval", "huggingface_hub", "datasets", "transformers", "stanza")


@dataclass(frozen=True)
class Report:
    """Who is told what happens.

    Attributes:
        done: Called with each item that is whole now, and what was done: "verified", "new" or "renewed".
        note: Called with what the user should know.
        failed: Called with each item that could not be prepared, and why; the others go on.
    """

    done: Callable[[Item, str], None]
    note: Callable[[str], None]
    failed: Callable[[str], None]


def prepare(
    root: Path, settings: Settings, models: Sequence[str], report: Report, stanza: Sequence[str] = ()
) -> tuple[Items, int]:
    """Bring what tasks and models need into a folder; what is there already is verified, and mended if need be.

    Args:
        root: The folder; made if it is not there.
        settings: Names the tasks, and a folder with more task files.
        models: Hub ids, `NAME@REVISION`, or folders: models, adapters, tokenizers.
        report: Who is told.
        stanza: Languages whose models stanza is to bring, for `lm-eval-ita translate`.

    Returns:
        All items of the folder, and how many could not be prepared.

    Raises:
        UserError: A task is unknown, the folder cannot be written, or another process is at work on it.
    """
    manager = task_manager(settings)
    names = select(settings, manager).tasks
    needs = {name: task_needs(manager.task_index[name].cfg) for name in names}
    with _alone(root):
        work = _Work(root, read_manifest(root) if (root / MANIFEST).exists() else {}, report)
        for name in (name for name, need in needs.items() if need.foreign):
            report.note(f"{name} brings data of its own, which is not prepared")
        splits: dict[str, dict[str, None]] = {}
        for need in needs.values():
            for key, wanted in need.data.items():
                splits.setdefault(key, {}).update(dict.fromkeys(wanted))
        for key, wanted_splits in splits.items():
            work.attempt(partial(work.data, key, tuple(wanted_splits)))
        scorers = {need.scorer.metric: need.scorer for need in needs.values() if need.scorer is not None}
        for scorer in scorers.values():
            work.attempt(partial(work.scorer, scorer))
        for model in dict.fromkeys(models):
            work.attempt(partial(work.model, model))
        for language in dict.fromkeys(stanza):
            work.attempt(partial(work.stanza, language))
        with contextlib.suppress(OSError):  # kept where something is left in it
            (root / _PARTIAL).rmdir()
    return work.items, work.failures


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Make the folder, and keep other processes out of it."""
    import filelock

    lock = filelock.FileLock(root / ".prepare.lock")
    try:
        for part in ("data", "hub"):  # even if empty: a run points its libraries there
            (root / part).mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise UserError("another process is preparing this folder; wait for it", file=root) from error
    except OSError as error:
        raise UserError(f"cannot be written ({error.strerror or error}); choose another --to", file=root) from error
    except NotImplementedError:
        pass  # a cluster's file system without locks
    try:
        yield
    finally:
        lock.release()


class _Work:
    """The folder while it is filled."""

    def __init__(self, root: Path, items: Items, report: Report) -> None:
        self.items = items
        self.failures = 0
        self._root, self._report = root, report

    def attempt(self, step: Callable[[], None]) -> None:
        """Prepare one item; what goes wrong is told, so that the others can go on."""
        try:
            step()
        except UserError as error:
            self.failures += 1
            self._report.failed(str(error))
        except OSError as error:
            self.failures += 1
            reason = error.strerror or str(error)
            self._report.failed(f"{error.filename or self._root}: {reason}; free some space, and run again to go on")

    def data(self, key: str, splits: tuple[str, ...]) -> None:
        """A data set: from LM_EVAL_ITA_DATA where it is there, else as the catalogue finds it."""
        entry = catalogue.entry(key)
        before = self.items.get(("data", key, None))
        wanted = dict.fromkeys([*splits, *(Path(file).stem for file in before.files)] if before else splits)
        there = before is not None and all(self._has(before, split) for split in (*wanted, *WISHED.get(key, ())))
        if before is not None and there and self._is_whole(before):
            self._report.done(before, "verified")
            return
        loaded = catalogue.load(key, list(wanted))
        if loaded.is_sample:
            raise UserError(f"{key}: sample rows come with the package; unset {data_folders.ENVIRONMENT} to prepare")
        files = [self._write(loaded, split) for split in loaded.splits]
        for split in WISHED.get(key, ()):
            if split not in loaded.splits:
                files += self._wish(key, split)
        for note in loaded.notes:
            self._report.note(note)
        for path in (self._root / "data" / key).iterdir():  # what is there without being in the manifest
            if path.is_file() and path not in files and not path.name.startswith("."):
                path.unlink()
        self._finish(
            kind="data",
            name=key,
            commit=_commit(loaded.where),
            origin=loaded.where,
            licence=entry.licence,
            folder=f"data/{key}",
            files=[file.relative_to(self._root).as_posix() for file in files],
            how="new" if before is None else "renewed",
        )

    def _has(self, item: Item, split: str) -> bool:
        return any(Path(file).stem == split for file in item.files)

    def _write(self, loaded: catalogue.Loaded, split: str) -> Path:
        target = self._root / "data"
        if catalogue.entry(loaded.key).kind == "lexicon":
            return data_folders.copy_file(target, loaded.key, catalogue.path(loaded.key))
        return data_folders.write_rows(target, loaded.key, split, loaded.splits[split])

    def _wish(self, key: str, split: str) -> list[Path]:
        try:
            return [self._write(catalogue.load(key, [split]), split)]
        except UserError as error:
            self._report.note(f"{key} without its {split}, which are used where they are: {error}")
            return []

    def scorer(self, scorer: ScorerModel) -> None:
        """The model of a metric, which a variable may name as a Hub id or a folder."""
        if scorer.path is None:
            self.repository(scorer.name, "main")
        else:
            self.folder(scorer.path)

    def model(self, given: str) -> None:
        """A model by what the user wrote."""
        path = Path(given).expanduser()
        if path.exists():
            self.folder(path)
        else:
            name, _, revision = given.partition("@")
            self.repository(name, revision or "main")

    def repository(self, name: str, revision: str) -> None:
        """A model of the Hub. Once it is prepared it stays at its commit, whatever its branch is by then."""
        before = self.items.get(("hub", name, revision))
        if before is not None and self._is_whole(before):
            self._report.done(before, "verified")
            return
        found = look_up(name, revision if before is None else before.commit or revision)
        snapshots = f"hub/models--{name.replace('/', '--')}"
        folder = self._root / snapshots / "snapshots" / found.commit
        work = self._partial(f"{name.replace('/', '--')}-{found.commit}")
        if folder.is_dir():  # not whole, or not in the manifest: the Hub's client keeps the files that are good
            _merge(folder, work, None if before is None else self._good(before))
        download(found, work)
        shutil.rmtree(work / ".cache", ignore_errors=True)  # the client's notes
        _place(work, folder)
        reference = self._root / snapshots / "refs" / revision
        reference.parent.mkdir(parents=True, exist_ok=True)
        reference.write_text(found.commit, encoding="utf-8")
        files = [(folder / file).relative_to(self._root).as_posix() for file in found.files]
        item = self._described(
            kind="hub",
            name=name,
            revision=revision,
            commit=found.commit,
            origin=f"hf://{name}@{found.commit}",
            licence=found.licence,
            folder=folder.relative_to(self._root).as_posix(),
            files=[*files, reference.relative_to(self._root).as_posix()],
        )
        _compare(item, found, folder)
        self._keep(item, "new" if before is None else "renewed")

    def folder(self, given: Path) -> None:
        """A model that is a folder here: hard links where the file system has them, else copies."""
        source = given.resolve()
        names = [file.relative_to(source).as_posix() for file in source.rglob("*") if file.is_file()]
        needed = needed_files(names)
        if not source.is_dir() or not needed:
            raise UserError("is no folder with a model, adapter or tokenizer", file=given)
        place = f"models/{source.name}-{hashlib.sha256(os.fsencode(source)).hexdigest()[:8]}"
        before = self.items.get(("folder", str(source), None))
        if before is not None and self._is_same(before, source, needed) and self._is_whole(before):
            self._report.done(before, "verified")
            return
        work = self._partial(Path(place).name)
        shutil.rmtree(work)
        for name in needed:
            _link(source / name, work / name)
        _place(work, self._root / place)
        card = source / "README.md"
        self._finish(
            kind="folder",
            name=str(source),
            origin=source.as_uri(),
            licence=_licence_of(card) if card.is_file() else None,
            folder=place,
            files=[f"{place}/{name}" for name in needed],
            how="new" if before is None else "renewed",
        )

    def stanza(self, language: str) -> None:
        """stanza's models of a language, to split sentences with."""
        before = self.items.get(("stanza", language, None))
        if before is not None and self._is_whole(before):
            self._report.done(before, "verified")
            return
        origin = bring_stanza(self._root / "stanza", language)
        folder = self._root / "stanza" / language
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        self._finish(
            kind="stanza",
            name=language,
            origin=origin,
            licence=None,
            folder=f"stanza/{language}",
            files=[path.relative_to(self._root).as_posix() for path in [*files, folder.with_name("resources.json")]],
            how="new" if before is None else "renewed",
        )

    def _is_same(self, item: Item, source: Path, needed: Sequence[str]) -> bool:
        """Whether the source is as it was: by size and time of change, which links and copies keep."""
        if {f"{item.folder}/{name}" for name in needed} != set(item.files):
            return False
        for name in needed:
            theirs, ours = (source / name).stat(), self._root / item.folder / name
            if not ours.is_file() or (theirs.st_size, theirs.st_mtime) != (ours.stat().st_size, ours.stat().st_mtime):
                return False
        return True

    def _is_whole(self, item: Item) -> bool:
        found = full_check(self._root, [item]).differences
        for difference in found:
            self._report.note(f"{difference.file}: {difference.what}; it is brought again")
        return not found

    def _good(self, item: Item) -> set[str]:
        bad = {difference.file for difference in full_check(self._root, [item]).differences}
        return {Path(file).name for file in item.files if file not in bad}

    def _partial(self, name: str) -> Path:
        path = self._root / _PARTIAL / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def _finish(self, *, how: str, **fields: Any) -> None:
        self._keep(self._described(**fields), how)

    def _described(self, *, kind: Literal["data", "hub", "folder", "stanza"], files: list[str], **fields: Any) -> Item:
        records = describe(self._root, files, fields["name"])
        return Item(kind=kind, made_with=_made_with(), files=records, **fields)

    def _keep(self, item: Item, how: str) -> None:
        self.items[item.key] = item
        write_manifest(self._root, self.items.values())
        remember(self._root, item.files)
        self._report.done(item, how)


def _made_with() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _MADE_WITH:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _commit(where: str) -> str | None:
    """The commit in `hf://datasets/OWNER/NAME@COMMIT`."""
    return where.rpartition("@")[2] if where.startswith("hf://") and "@" in where else None


def _compare(item: Item, repository: Repository, folder: Path) -> None:
    """Whether large files are what the Hub says they are; one that is not is removed, so that it is fetched again."""
    for file, record in item.files.items():
        name = file.removeprefix(f"{item.folder}/")
        _, sha256 = repository.files.get(name, (None, None))
        if sha256 is not None and sha256 != record.sha256:
            (folder / name).unlink()
            raise UserError(f"{item.label}: {name} came damaged (its sha256 is not the Hub's); run again to go on")


def _merge(folder: Path, work: Path, good: set[str] | None) -> None:
    """Move what is in a folder into another, leaving out files known to be bad."""
    for path in sorted(folder.rglob("*")):
        target = work / path.relative_to(folder)
        if path.is_file() and (good is None or path.name in good):
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
    shutil.rmtree(folder)


def _place(work: Path, folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    work.rename(folder)


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source = source.resolve()  # a folder of the Hub's cache holds links
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, target)


def _licence_of(card: Path) -> str | None:
    from huggingface_hub import metadata_load

    try:
        return card_licence(metadata_load(card))
    except ValueError:  # front matter that is no mapping
        return None

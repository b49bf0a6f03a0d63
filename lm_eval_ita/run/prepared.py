"""A run out of a prepared folder: its data, scorers and models come from there, and nothing from the network."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval_ita.catalogue.folder import ENVIRONMENT, SAMPLE
from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics.scorers import ScorerModel
from lm_eval_ita.run.fingerprint import HUB_ARGUMENTS
from lm_eval_ita.run.manifest import Item, Items, content_digest, read_manifest
from lm_eval_ita.run.needs import Needs, task_needs
from lm_eval_ita.run.progress import Reporter
from lm_eval_ita.run.selection import select, task_manager
from lm_eval_ita.run.settings import Prepared, Settings
from lm_eval_ita.run.verify import quick_check

__all__ = ["use_prepared"]


def use_prepared(settings: Settings, root: Path, reporter: Reporter) -> Settings:
    """Check that a prepared folder holds what a run needs, unchanged, and make the run take it from there.

    `cli.run` has set the variables of the libraries (HF_HUB_CACHE, LM_EVAL_ITA_DATA) before they were imported.

    Args:
        settings: The run's.
        root: The prepared folder.
        reporter: Told of everything that is missing or changed.

    Returns:
        The settings, with what is loaded in the place of folders that were prepared.

    Raises:
        UserError: The manifest cannot be read, or something is missing or changed.
    """
    use = _Use(settings, root, read_manifest(root))
    manager = task_manager(settings)
    for name in select(settings, manager).tasks:
        use.task(name, task_needs(manager.task_index[name].cfg))
    for argument in HUB_ARGUMENTS:
        value = settings.model_args.get(argument)
        if isinstance(value, str) and value:
            use.model(argument, value)
    checked = quick_check(root, use.items.values())
    problems = [*use.missing.items(), *((found.file, found.what) for found in checked.differences)]
    for what, why in problems:
        reporter.missing(what, why)
    if problems:
        count = f"{len(problems)} thing{'' if len(problems) == 1 else 's'}"
        raise UserError(f"{count} missing or changed; the model was not loaded", file=root)
    reporter.verified(root, checked.files, checked.bytes_read, remembered=checked.remembered)
    return use.settled()


class _Use:
    """What a run takes out of a prepared folder.

    Attributes:
        items: The items that it needs.
        missing: Task or model to why the folder cannot serve it.
    """

    def __init__(self, settings: Settings, root: Path, prepared: Items) -> None:
        self.items: Items = {}
        self.missing: dict[str, str] = {}
        self._settings, self._root, self._prepared = settings, root, prepared
        self._folders: dict[str, Item] = {}
        self._commits: dict[str, str] = {}
        self._variables: dict[str, Item] = {}

    def task(self, name: str, needs: Needs) -> None:
        """The data and the scorer of a task."""
        lacking = [key for key, splits in needs.data.items() if not self._data(key, splits)]
        what = [f"the data set {key}" for key in lacking]
        if needs.scorer is not None and not self._scorer(needs.scorer):
            what.append(f"the scorer {needs.scorer.name}")
        if what:
            are = "is" if len(what) == 1 else "are"
            self.missing[name] = f"{' and '.join(what)} {are} not prepared; {self._mend('--tasks', name)}"

    def _data(self, key: str, splits: tuple[str, ...]) -> bool:
        own = self._settings.metadata.get("data_dir")
        if isinstance(own, str) and (own == SAMPLE or (Path(own).expanduser() / key).is_dir()):
            return True  # the user's own folder comes first
        item = self._prepared.get(("data", key, None))
        if item is None or not {Path(file).stem for file in item.files}.issuperset(splits):
            return False
        self.items[item.key] = item
        return True

    def _scorer(self, scorer: ScorerModel) -> bool:
        if scorer.path is None:
            item = self._prepared.get(("hub", scorer.name, "main"))
        elif item := self._folder(scorer.name):
            self._variables[scorer.variable] = item
        if item is not None:
            self.items[item.key] = item
        return item is not None

    def model(self, argument: str, value: str) -> None:
        """A model, adapter or tokenizer."""
        # As in the harness: one revision for the model, its adapter and its tokenizer.
        revision = str(self._settings.model_args.get("revision") or "main")
        at_hub = [item for item in self._prepared.values() if (item.kind, item.name) == ("hub", value)]
        item = next((item for item in at_hub if revision in (item.revision, item.commit)), None)
        if item is not None:
            self._commits[argument] = str(item.commit)
        elif item := self._folder(value):
            self._folders[argument] = item
        if item is not None:
            self.items[item.key] = item
        elif at_hub:
            there = ", ".join(str(item.revision) for item in at_hub)
            mend = self._mend("--model", f"{value}@{revision}")
            self.missing[f"model {value}"] = f"is prepared at revision {there} and not at {revision}; {mend}"
        elif not Path(value).expanduser().exists():  # a folder of this machine is taken as it is
            self.missing[f"model {value}"] = f"is not prepared; {self._mend('--model', value)}"

    def _folder(self, value: str) -> Item | None:
        """A folder that was prepared, by its path there, or by its name where only one has it."""
        items = [item for item in self._prepared.values() if item.kind == "folder"]
        path = str(Path(value).expanduser().resolve())
        by_path = [item for item in items if item.name == path]
        by_name = [item for item in items if Path(item.name).name == value]
        found = by_path or by_name
        return found[0] if len(found) == 1 else None

    def _mend(self, option: str, value: str) -> str:
        return f"where there is a network: lm-eval-ita prepare {option} {value} --to {self._root}"

    def settled(self) -> Settings:
        """The run's settings; variables that name scorers are set."""
        content = {argument: _digest(item) for argument, item in self._folders.items()}
        for variable, item in self._variables.items():
            content[variable] = _digest(item)
            os.environ[variable] = str(self._place(item))
        data = [item for item in self.items.values() if item.kind == "data"]
        content[ENVIRONMENT] = f"prepared {content_digest(data)}"
        # The name that was prepared, however the user spelt it now: the same run wherever the folder lies.
        names: Mapping[str, Any] = {argument: item.name for argument, item in self._folders.items()}
        folders = {argument: str(self._place(item)) for argument, item in self._folders.items()}
        return replace(
            self._settings,
            model_args={**self._settings.model_args, **names},
            prepared=Prepared(folders, content, self._commits),
        )

    def _place(self, item: Item) -> Path:
        return self._root.absolute() / item.folder


def _digest(item: Item) -> str:
    return f"files {content_digest([item])}"

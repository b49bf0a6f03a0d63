"""The task files: where they are, what they say about themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lm_eval_ita._yaml import FastLoader
from lm_eval_ita.errors import UserError

__all__ = ["Card", "Origin", "TaskCard", "TaskFile", "TaskLoader", "read_task_files", "tasks_path"]

Category = Literal["nlu", "cfk", "bfs", "base", "race", "gender", "age"]
DatasetKey = Annotated[str, Field(min_length=1)]
Origin = Literal["native", "human_translated", "machine_translated", "template"]


class Card(BaseModel):
    """The `metadata` of a task, ours or not: what a reader of its score must know.

    Attributes:
        version: Raised whenever a score may change.
        dataset: Catalogue key, or several whose rows make one task; "itapat" for prompts built from word lists.
        origin: Whether the text was written in Italian, translated by people or by machine, or made from templates.
        primary_metric: The metric behind the score.
        chance: Expected primary metric of random guessing, or null where there is none.
        range: Smallest and largest value of the primary metric.
        paper: Where the task comes from.
        deviations: What differs from that source.
        accepts: Rules of `lm-eval-ita validate` that the task breaks on purpose, and why.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    version: float
    dataset: DatasetKey | tuple[DatasetKey, ...]
    origin: Origin
    primary_metric: str = Field(min_length=1)
    chance: float | None = Field(ge=0, le=1)
    range: tuple[float, float]
    paper: str = Field(min_length=1)
    deviations: tuple[str, ...]
    accepts: dict[str, Annotated[str, Field(min_length=1)]] = Field(default_factory=dict)


class TaskCard(Card):
    """The card of a task of ours.

    Attributes:
        suite: "itaeval"; "itaeval_chat", the same from generated answers; "itaeval_v1", as published; "itapat"; and
            "itaeval_extra" and "itaeval_prompts", which are in no average.
        category: Group of the task within its suite.
    """

    suite: Literal["itaeval", "itaeval_chat", "itaeval_v1", "itaeval_extra", "itaeval_prompts", "itapat"]
    category: Category


@dataclass(frozen=True)
class TaskFile:
    """A task or a group of ours.

    Attributes:
        name: As given to `--tasks`.
        kind: "task" or "group".
        path: Its YAML file.
        config: The file's content with what it includes; functions as text.
        card: The task's card; None for a group.
        members: What a group holds.
    """

    name: str
    kind: Literal["task", "group"]
    path: Path
    config: Mapping[str, Any]
    card: TaskCard | None = None
    members: tuple[str, ...] = ()


def tasks_path() -> Path:
    """The folder with our task files, for `--include_path`.

    In a source tree this is `tasks/`; in an installation it is `lm_eval/tasks/ita/` beside this package, where the
    harness finds them by itself.

    Raises:
        UserError: Neither exists: the installation is broken.
    """
    root = Path(__file__).resolve().parents[2]
    for folder in (root / "tasks", root / "lm_eval" / "tasks" / "ita"):
        if (folder / "itapat").is_dir():
            return folder
    raise UserError(
        "the task files are missing from this installation; install it anew: pip install --force-reinstall lm-eval-ita"
    )


def read_task_files(folder: Path | None = None) -> list[TaskFile]:
    """Read every task and group of ours, in path order.

    Raises:
        UserError: A file cannot be read, or a task's card does not hold what `TaskCard` asks for.
    """
    folder = folder or tasks_path()
    included: dict[Path, dict[str, Any]] = {}
    return [_task_file(path, included) for path in sorted(folder.glob("**/*.yaml"))]


def _task_file(path: Path, included: dict[Path, dict[str, Any]]) -> TaskFile:
    config = _read(path, included)
    if "group" in config:
        return TaskFile(config["group"], "group", path, config, members=tuple(config.get("task", ())))
    if "task" not in config:
        raise UserError("has neither a task nor a group; give it one of the two fields", file=path)
    try:
        card = TaskCard.model_validate(config.get("metadata"))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in ("metadata", *first["loc"]))
        raise UserError(f"the card is not right: {field}: {first['msg']}", file=path) from error
    return TaskFile(config["task"], "task", path, config, card)


class TaskLoader(FastLoader):
    """Reads a task file; `!function` is kept as text."""

    def function_as_text(self, node: yaml.ScalarNode) -> str:
        """The reference as it is written."""
        return str(self.construct_scalar(node))


TaskLoader.add_constructor("!function", TaskLoader.function_as_text)


def _read(path: Path, included: dict[Path, dict[str, Any]]) -> dict[str, Any]:
    """A task file with its includes merged as lm_eval merges them; `included` keeps those that were read before.

    lm_eval's own reader costs three seconds of imports, too much for `lm-eval-ita list`; a test holds the two together.
    """
    try:
        config = yaml.load(path.read_text(encoding="utf-8"), Loader=TaskLoader)
    except (OSError, yaml.YAMLError) as error:
        raise UserError(f"cannot be read: {error}".replace("\n", " "), file=path) from error
    if not isinstance(config, dict):
        raise UserError("must hold a mapping", file=path)
    includes = config.pop("include", [])
    merged: dict[str, Any] = {}
    for name in includes if isinstance(includes, list) else [includes]:
        file = path.parent / name
        if file not in included:
            included[file] = _read(file, included)
        merged.update(included[file])
    return {**merged, **config}

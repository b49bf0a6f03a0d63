"""The file of a sweep: which models by which tasks, with which options, as which SLURM jobs."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lm_eval_ita.errors import UserError

__all__ = ["Model", "RunOptions", "Slurm", "Sweep", "read_sweep"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_TIME = re.compile(r"(?:(\d+)-)?(\d+):(\d\d)(?::(\d\d))?")


def _minutes(value: Any) -> Any:
    """`90`, `"1:30:00"` (hours first) or `"2-12:00:00"` (days first), as minutes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str) or (match := _TIME.fullmatch(value.strip())) is None:
        raise ValueError("write minutes (90), hours:minutes:seconds (1:30:00) or days-hours:minutes:seconds")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return (days * 24 + hours) * 60 + minutes + (seconds > 0)


def _names(value: Any) -> Any:
    return [part for part in value.split(",") if part] if isinstance(value, str) else value


def _folder_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"{value!r} names a folder: letters, digits, dot, dash and underscore only, at most 80")
    return value


def _batch(value: Any) -> Any:
    text = str(value)
    name, _, searches = text.partition(":")
    number = (searches or "1") if name == "auto" else text
    if isinstance(value, bool) or not number.isdecimal() or int(number) < 1:
        raise ValueError(f"{text} is neither a number from 1, nor auto, nor auto:N")
    return text


FolderName = Annotated[str, AfterValidator(_folder_name)]


class _Loader(yaml.SafeLoader):
    """YAML 1.2's numbers: 1:30:00 is no number of seconds, and 1e-5 is one."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag.rpartition(":")[2] not in ("int", "float")]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _kind, _form in (("int", r"[-+]?(0|[1-9]\d*)$"), ("float", r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?$")):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(_form), list("-+.0123456789"))


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), coerce_numbers_to_str=True)


class Slurm(_Strict):
    """What a job asks SLURM for.

    Attributes:
        partition: Its name; the cluster's default when None.
        time: Wall clock of one job in minutes; a longer run is requeued and goes on.
        gpus: GPUs of a job; 0 asks for none.
        cpus: CPUs of a job.
        mem: Memory of a job in GB; the cluster's default when None.
        array_parallelism: Jobs at a time.
        signal_before: Seconds before the end of the wall clock at which the run is told to stop, and the job requeued.
        requeues: How often at most.
        setup: Shell lines before the run (`module load ...`).
        extra: More options of sbatch, long names without dashes.
    """

    partition: str | None = None
    time: Annotated[int, BeforeValidator(_minutes), Field(ge=1)] = 240
    gpus: int = Field(default=0, ge=0)
    cpus: int = Field(default=1, ge=1)
    mem: float | None = Field(default=None, gt=0)
    array_parallelism: int = Field(default=16, ge=1)
    signal_before: int = Field(default=120, ge=30)
    requeues: int = Field(default=20, ge=0)
    setup: tuple[str, ...] = ()
    extra: Mapping[str, str | int | bool] = Field(default_factory=dict)


class RunOptions(_Strict):
    """Options of `lm-eval-ita run`, under their names there; what is None or False is left to its default."""

    model: str | None = None
    batch_size: Annotated[str | None, BeforeValidator(_batch)] = None
    max_batch_size: int | None = Field(default=None, ge=1)
    device: str | None = None
    trust_remote_code: bool = False
    apply_chat_template: bool | str = False
    fewshot_as_multiturn: bool | None = None
    system_instruction: str | None = None
    num_fewshot: int | None = Field(default=None, ge=0)
    limit: float | None = Field(default=None, gt=0)
    gen_kwargs: Mapping[str, Any] | None = None
    seed: int | str | None = None
    metadata: Mapping[str, Any] | None = None
    include_path: str | None = None
    log_samples: bool = True
    offline: bool = False

    def arguments(self) -> list[str]:
        """The options as the command takes them."""
        made: list[str] = []
        for name in RunOptions.model_fields:
            value = getattr(self, name)
            if name == "log_samples":
                made += [] if value else ["--no-log_samples"]
            elif name == "fewshot_as_multiturn" and value is False:
                made.append(f"--{name}=false")
            elif value is True:
                made.append(f"--{name}")
            elif value is not None and value is not False:
                # In one word: a text may begin with a dash.
                made.append(f"--{name}={json.dumps(value) if isinstance(value, dict) else value}")
        return made


class Model(RunOptions):
    """A model: its own options go before the common ones.

    Attributes:
        name: Of its folder and its rows.
        model_args: The backend's arguments.
        slurm: What its jobs ask for besides.
    """

    name: FolderName
    model_args: Mapping[str, Any]
    slurm: Mapping[str, Any] = Field(default_factory=dict)


class Sweep(_Strict):
    """A sweep: every model by every group of tasks is a cell, and a cell is a job.

    Attributes:
        output: The folder of the cells, seen from the file's own folder.
        models: In the order of the table.
        tasks: A group's name to its tasks.
        options: Common to all cells.
        slurm: Common to all jobs.
        environment: Variables set for all runs.
    """

    output: str = "results"
    models: tuple[Model, ...] = Field(min_length=1)
    tasks: Mapping[FolderName, Annotated[tuple[str, ...], BeforeValidator(_names), Field(min_length=1)]] = Field(
        min_length=1
    )
    options: RunOptions = RunOptions()
    slurm: Slurm = Slurm()
    environment: Mapping[str, str] = Field(default_factory=dict)

    def run_options(self, model: Model) -> RunOptions:
        """The common options with the model's own before them."""
        own = {name: getattr(model, name) for name in model.model_fields_set if name in RunOptions.model_fields}
        return self.options.model_copy(update=own)

    def jobs_of(self, model: Model) -> Slurm:
        """What the model's jobs ask for."""
        return Slurm.model_validate({**self.slurm.model_dump(), **model.slurm})


def read_sweep(path: Path) -> Sweep:
    """Read and check a sweep's file.

    Raises:
        UserError: It cannot be read, or something in it is wrong: with the line, the field and the mend.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UserError(f"cannot be read: {reason}", file=path) from error
    try:
        node, content = yaml.compose(text, _Loader), yaml.load(text, _Loader)  # a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error)
        raise UserError(f"is no YAML: {what}", file=path, line=mark.line + 1 if mark else None) from error
    if not isinstance(content, dict):
        raise UserError("holds no sweep; it begins with models: and tasks:", file=path)
    try:
        sweep = Sweep.model_validate(content)
        _check_models(sweep)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(_said(first), file=path, line=_line(node, first["loc"])) from error
    except _ModelError as error:
        raise UserError(str(error), file=path, line=_line(node, error.where)) from error
    return sweep


class _ModelError(Exception):
    def __init__(self, what: str, *where: str | int) -> None:
        super().__init__(what)
        self.where = where


def _check_models(sweep: Sweep) -> None:
    seen: set[str] = set()
    for position, model in enumerate(sweep.models):
        if model.name in seen:
            raise _ModelError(
                f"models.{position}.name: {model.name!r} is taken; give each model its own name",
                *("models", position, "name"),
            )
        seen.add(model.name)
        try:
            sweep.jobs_of(model)
        except ValidationError as error:
            first = error.errors()[0]
            where = ("models", position, "slurm", *first["loc"])
            raise _ModelError(_said({**first, "loc": where}), *where) from error
        options = sweep.run_options(model)
        if options.fewshot_as_multiturn and not options.apply_chat_template:
            raise _ModelError(f"models.{position}: fewshot_as_multiturn needs apply_chat_template", "models", position)


def _said(error: Mapping[str, Any]) -> str:
    """One error of pydantic's, in words that say the mend."""
    where = [part for part in error["loc"] if part != "[key]"]
    field = ".".join(map(str, where))
    if error["type"] == "extra_forbidden":
        return f"{field}: unknown field; {_known(where)}"
    if error["type"] == "missing":
        return f"{field}: is missing"
    if error["type"] in ("dict_type", "mapping_type", "model_type"):
        example = "{pretrained: NAME, dtype: bfloat16}" if where[-1:] == ["model_args"] else "{name: value}"
        return f"{field}: write a mapping, as in {example}"
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{field}: {message[:1].lower()}{message[1:]}"


def _known(where: list[Any]) -> str:
    kind: type[BaseModel] = Sweep
    if "slurm" in where[:-1]:
        kind = Slurm
    elif where[0] == "options":
        kind = RunOptions
    elif where[0] == "models" and len(where) > 1:
        kind = Model
    return f"there are {', '.join(sorted(kind.model_fields))}"


def _line(node: Any, where: tuple[str | int, ...]) -> int | None:
    """The line of a field, or of the nearest thing around it that is there."""
    line: int | None = node.start_mark.line + 1 if node is not None else None
    for part in where:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
        elif isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(part)]
            if not found:
                break
            line, node = found[-1][0].start_mark.line + 1, found[-1][1]
            continue
        else:
            break
        line = node.start_mark.line + 1
    return line

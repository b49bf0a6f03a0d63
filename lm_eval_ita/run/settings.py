"""What a run is: the settings that decide its figures, and the name of its folder, made from them."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_ita.run.fingerprint import model_files

__all__ = ["Prepared", "Seeds", "Settings", "folder_name", "identity"]

Seeds = tuple[int | None, int | None, int | None, int | None]

# Environment variables that change figures, besides those of the options.
_VARIABLES = (
    "LM_EVAL_ITA_BERTSCORE_BASELINE",
    "LM_EVAL_ITA_BERTSCORE_LAYER",
    "LM_EVAL_ITA_BERTSCORE_MODEL",
    "LM_EVAL_ITA_DATA",
    "LM_EVAL_ITA_NEUTRALITY_MODEL",
    "LM_EVAL_ITA_SCORERS",
)
# How the model is run, not which one: another batch or device goes on with the same folder.
_HOW = ("batch_size", "device", "max_batch_size", "token_budget")
_NAMES = ("peft", "delta", "pretrained", "model", "path", "engine")


@dataclass(frozen=True)
class Prepared:
    """What of a run comes out of a prepared folder (`run.prepare`).

    Attributes:
        folders: Model argument to the folder that is loaded in its place.
        content: Model argument, or environment variable that names a folder, to a digest of the files: what it is,
            wherever the prepared folder lies.
        commits: Model argument to the commit of a Hub model.
    """

    folders: Mapping[str, str] = field(default_factory=dict)
    content: Mapping[str, str] = field(default_factory=dict)
    commits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """The harness's options of one run.

    Attributes:
        model: The harness's model type ("hf").
        model_args: Its arguments.
        tasks: Names of tasks and groups as given, patterns included.
        num_fewshot: Examples per prompt; the task's own when None.
        batch_size: A number, "auto" or "auto:N".
        max_batch_size: Largest batch that "auto" tries.
        device: As the harness takes it.
        limit: Documents per task, or a share below 1; all when None.
        apply_chat_template: False, True, or the template's name.
        fewshot_as_multiturn: Whether examples are turns of a conversation; None for no conversation at all.
        system_instruction: The system message.
        gen_kwargs: Generation settings that replace the task's.
        seeds: Of Python, NumPy, torch and the few-shot draws.
        metadata: As the harness's `--metadata`.
        include_path: A folder with more task files.
        log_samples: Whether samples are written.
        prepared: What comes out of a prepared folder.
    """

    tasks: tuple[str, ...]
    model: str = "hf"
    model_args: Mapping[str, Any] = field(default_factory=dict)
    num_fewshot: int | None = None
    batch_size: str = "1"
    max_batch_size: int | None = None
    device: str | None = "cuda:0"
    limit: float | None = None
    apply_chat_template: bool | str = False
    fewshot_as_multiturn: bool | None = None
    system_instruction: str | None = None
    gen_kwargs: Mapping[str, Any] = field(default_factory=dict)
    seeds: Seeds = (0, 1234, 1234, 1234)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    include_path: str | None = None
    log_samples: bool = True
    prepared: Prepared = field(default_factory=Prepared)

    @property
    def load_args(self) -> dict[str, Any]:
        """The model's arguments as it is loaded: prepared folders in the place of those they were made from."""
        return {**self.model_args, **self.prepared.folders}

    @property
    def model_name(self) -> str:
        """The model as the harness names it in its results."""
        found = next((str(self.model_args[key]) for key in _NAMES if key in self.model_args), None)
        return found or self.model


def identity(settings: Settings, tasks: Mapping[str, str]) -> dict[str, Any]:
    """Everything that decides the figures of a run, as JSON holds it.

    Args:
        settings: The run's.
        tasks: Name to version of every task that will be run.

    Returns:
        Two runs with equal identities give equal figures and may share answers. The batch size, the device and the
        number of processes are left out: they move the last digits only, and a run must be able to go on with a smaller
        batch after it ran out of memory.
    """
    model_args = {key: value for key, value in settings.model_args.items() if key not in _HOW}
    prepared = settings.prepared.content
    environment = {name: value for name in _VARIABLES if (value := os.environ.get(name, "").strip())}
    content = {
        "model": settings.model,
        "model_args": model_args,
        "model_files": {
            **model_files({key: value for key, value in model_args.items() if key not in settings.prepared.folders}),
            **{key: prepared[key] for key in settings.prepared.folders},
        },
        "tasks": dict(tasks),
        "num_fewshot": settings.num_fewshot,
        "limit": settings.limit,
        "apply_chat_template": settings.apply_chat_template,
        "fewshot_as_multiturn": settings.fewshot_as_multiturn,
        "system_instruction": settings.system_instruction,
        "gen_kwargs": dict(settings.gen_kwargs),
        "seeds": list(settings.seeds),
        "metadata": dict(settings.metadata),
        "log_samples": settings.log_samples,
        "environment": {name: prepared.get(name, value) for name, value in environment.items()},
    }
    # Through JSON once: what is compared later is what the file will hold.
    return dict(json.loads(json.dumps(content, sort_keys=True, default=str)))


def folder_name(settings: Settings, identity_: Mapping[str, Any]) -> str:
    """The name of the run's folder: the model's name, readable, and a hash of the identity."""
    name = settings.model_name
    if "pretrained" in settings.prepared.folders or Path(name).expanduser().is_dir():
        name = Path(name).expanduser().resolve().name
    slug = re.sub(r"[^\w.-]+", "__", name).strip("._")[:80] or "model"
    digest = hashlib.sha256(json.dumps(identity_, sort_keys=True).encode()).hexdigest()
    return f"{slug}-{digest[:12]}"

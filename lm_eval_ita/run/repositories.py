"""Models of the Hub for a prepared folder: which files are needed, and how they come."""

import contextlib
import fnmatch
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.catalogue.fetch import progress
from lm_eval_ita.catalogue.hub import is_offline
from lm_eval_ita.errors import UserError, one_line

__all__ = ["Repository", "card_licence", "download", "look_up", "needed_files"]

_BESIDE_WEIGHTS = (
    *("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken", "*.spm", "*.vocab", "*.bpe", "*.codes", "*.py"),
    *("*.md", "LICEN[CS]E*", "NOTICE*", "USE_POLICY*"),
)
_NO_WEIGHTS = ("training_args.bin", "optimizer.bin", "scheduler.bin")
_SECONDS = 30.0  # for the Hub to answer


@dataclass(frozen=True)
class Repository:
    """A model repository at one commit.

    Attributes:
        name: Its Hub id.
        revision: The branch, tag or commit asked for.
        commit: The commit that it is.
        licence: As its card says; None where it does not.
        files: Name to (bytes, SHA-256) of the files needed; None where the Hub does not say.
    """

    name: str
    revision: str
    commit: str
    licence: str | None
    files: Mapping[str, tuple[int | None, str | None]]


def needed_files(names: Iterable[str]) -> list[str]:
    """Of a repository's or a folder's files, those that loading a model, adapter or tokenizer takes.

    Weights as safetensors, else PyTorch's; never the same weights twice (Flax, TensorFlow, ONNX, GGUF, Mistral's
    `consolidated`). Folders inside are left out, but for chat templates and code.
    """
    visible = sorted(name for name in names if not any(part.startswith(".") for part in name.split("/")))
    top = [name for name in visible if "/" not in name]
    safe = [name for name in top if name.endswith(".safetensors")]
    safe = [name for name in safe if not name.startswith("consolidated")] or safe
    weights = safe or [name for name in top if name.endswith(".bin") and name not in _NO_WEIGHTS]
    beside = [name for name in top if any(fnmatch.fnmatchcase(name, pattern) for pattern in _BESIDE_WEIGHTS)]
    deeper = [name for name in visible if "/" in name and (name.endswith(".py") or _is_template(name))]
    return sorted({*weights, *beside, *deeper})


def _is_template(name: str) -> bool:
    return name.startswith("additional_chat_templates/")


def look_up(name: str, revision: str) -> Repository:
    """Ask the Hub what a repository is now.

    Raises:
        UserError: It cannot be had: no network, no such repository or revision, no permission.
    """
    if is_offline():
        raise UserError(f"model {name}: the network is switched off by HF_HUB_OFFLINE or its like; unset it to prepare")
    from huggingface_hub import HfApi

    with _one_line(name):
        info = HfApi().model_info(name, revision=revision, files_metadata=True, timeout=_SECONDS)
    files = {file.rfilename: (file.size, _sha256(file)) for file in info.siblings or []}
    needed = needed_files(files)
    if not needed or info.sha is None:
        raise UserError(f"model {name} at {revision} holds no file of a model, adapter or tokenizer")
    licence = card_licence(None if info.card_data is None else vars(info.card_data))
    return Repository(name, revision, info.sha, licence, {file: files[file] for file in needed})


def _sha256(file: Any) -> str | None:
    lfs = file.lfs
    return None if lfs is None else str(lfs.sha256)


def card_licence(card: Mapping[str, Any] | None) -> str | None:
    """The licence that a model's card names: its identifier, or the name that stands for "other"."""
    found = (card or {}).get("license")
    if found == "other":
        found = (card or {}).get("license_name") or found
    if isinstance(found, list):
        found = ", ".join(map(str, found))
    return str(found) if found else None


def download(repository: Repository, work: Path) -> None:
    """Bring a repository's files into a folder; what is there already, from an interrupted call, is kept.

    Raises:
        UserError: They cannot be had.
    """
    import huggingface_hub

    total = sum(size or 0 for size, _ in repository.files.values())
    with _one_line(repository.name), _quiet(), _watched(work, total, repository.name):
        huggingface_hub.snapshot_download(
            repository.name, revision=repository.commit, local_dir=work, allow_patterns=list(repository.files)
        )
    for file in repository.files:
        if not (work / file).is_file():
            raise UserError(f"model {repository.name}: the Hub did not send {file}; try again")


@contextlib.contextmanager
def _one_line(name: str) -> Iterator[None]:
    """Whatever the Hub's client raises (its 0.x line other things than its 1.x line), as one line with the mend."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        kind = type(error).__name__
        if kind == "GatedRepoError":
            mend = "; accept its terms on its page, and set HF_TOKEN"
        elif kind in ("RepositoryNotFoundError", "HFValidationError"):
            mend = "; check the name, and set HF_TOKEN where it is private; a folder must exist"
        else:
            mend = "; run again to go on"
        raise UserError(f"model {name} cannot be had ({kind}: {one_line(error)}){mend}") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the Hub client's own bars, one for each file."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    before = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not before:
            enable_progress_bars()


@contextlib.contextmanager
def _watched(folder: Path, total: int, label: str) -> Iterator[None]:
    """A progress bar of what has come into a folder: the same whichever way the Hub's client fetches."""
    ended = threading.Event()
    with progress(label) as report:

        def watch() -> None:
            while not ended.wait(0.5):
                report(min(_bytes_in(folder), total), total)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _bytes_in(folder: Path) -> int:
    found = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # renamed in between
            found += path.stat().st_size if path.is_file() else 0
    return found

"""Which model exactly: commits of Hub models, the state of local files. Answers of one are never given for another."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval_ita.catalogue.hub import is_offline

__all__ = ["HUB_ARGUMENTS", "model_files"]

# Arguments that name a model, an adapter or a tokenizer on the Hub, of backends that load weights.
HUB_ARGUMENTS = ("pretrained", "peft", "delta", "tokenizer")
_LOCAL_ARGUMENTS = (*HUB_ARGUMENTS, "model", "path")
# Configurations, tokenizers and templates are compared by content; weights, of gigabytes, by size and time of change.
_SMALL = 32 * 2**20
_COMMIT = re.compile(r"[0-9a-f]{40}")


def model_files(model_args: Mapping[str, Any]) -> dict[str, str]:
    """The state of everything that the model's arguments point at.

    Args:
        model_args: The model's arguments.

    Returns:
        Argument to "commit ..." for a Hub model, "files ..." with a hash for a local file or folder. An argument that
        points at nothing is left out, as is a Hub model whose commit cannot be known (no network, not in the cache).
    """
    revision = str(model_args.get("revision") or "main")
    found: dict[str, str] = {}
    for name in _LOCAL_ARGUMENTS:
        value = model_args.get(name)
        if not isinstance(value, str) or not value:
            continue
        path = Path(value).expanduser()
        if path.exists():
            found[name] = f"files {_digest(path, str(model_args.get('subfolder') or ''))}"
        elif name in HUB_ARGUMENTS and (commit := _commit(value, revision if name == "pretrained" else "main")):
            found[name] = f"commit {commit}"
    return found


def _digest(path: Path, subfolder: str) -> str:
    digest = hashlib.sha256()
    for file in _files(path, subfolder):
        state = file.stat()
        digest.update(f"{file.name}\0{state.st_size}\0".encode())
        digest.update(file.read_bytes() if state.st_size <= _SMALL else str(state.st_mtime_ns).encode())
    return digest.hexdigest()[:32]


def _files(path: Path, subfolder: str) -> Iterator[Path]:
    """What transformers reads of a model's folder: its files, not the checkpoints that training leaves in folders."""
    if path.is_file():
        yield path
        return
    for folder in dict.fromkeys((path, path / subfolder, path / "additional_chat_templates")):
        if folder.is_dir():
            yield from (file for file in sorted(folder.iterdir()) if file.is_file() and not file.name.startswith("."))


def _commit(repository: str, revision: str) -> str | None:
    if _COMMIT.fullmatch(revision):
        return revision
    if not is_offline():
        from huggingface_hub import HfApi

        try:
            sha = HfApi().model_info(repository, revision=revision, timeout=10).sha
        except Exception:  # noqa: BLE001 -- no network, no permission: the model itself then comes from the cache
            sha = None
        if sha:
            return str(sha)
    return _cached_commit(repository, revision)


def _cached_commit(repository: str, revision: str) -> str | None:
    from huggingface_hub.constants import HF_HUB_CACHE

    reference = Path(HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}" / "refs" / revision
    try:
        return reference.read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None

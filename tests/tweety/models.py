"""Tokenizers and models of a few hundred tokens, made on the spot: real classes of tokenizers and transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

ENGLISH = "The house is red . The friend eats the bread . The red friend sleeps in the house . I eat bread and sleep ."
ITALIAN = "La casa è rossa . L'amico mangia il pane . L'amico rosso dorme nella casa . Io mangio pane e dormo ."


def word_tokenizer(words: Sequence[str], special: Sequence[str] = ("<s>", "</s>", "<unk>")) -> Any:
    """Byte-level, with these words (each also after a space) as whole tokens beside the bytes."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*special, *alphabet]
    merges = []
    for word in words:
        made = word[0]
        for character in word[1:]:
            merges.append((made, character))
            made += character
            pieces.append(made)
    for word in words:
        merges.append(("Ġ", word))
        pieces.append(f"Ġ{word}")
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=list(dict.fromkeys(merges))))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    roles = dict(zip(("bos_token", "eos_token", "unk_token"), special, strict=False))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles)


def piece_tokenizer(words: Sequence[str]) -> Any:
    """In SentencePiece's way: a mark for spaces, bytes as last resort."""
    from tokenizers import Tokenizer, decoders, models, normalizers
    from transformers import PreTrainedTokenizerFast

    pieces = ["<pad>", "<s>", "</s>", "<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    merges = []
    for word in words:
        pieces += list(word)
        made = ""
        for character in f"▁{word}":
            if made:
                merges.append((made, character))
            made += character
            pieces.append(made)
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    model = models.BPE(vocab=vocabulary, merges=list(dict.fromkeys(merges)), unk_token="<unk>", byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **roles)


def tiny_model(folder: Path, tokenizer: Any, *, tied: bool = True, rows: int | None = None, bias: bool = False) -> Path:
    """A random Llama of two small layers (with a bias in its head: a Phi), saved with the tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PhiConfig, PhiForCausalLM

    torch.manual_seed(0)
    shared = {
        "vocab_size": rows or len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 512,
        "tie_word_embeddings": tied,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    model = PhiForCausalLM(PhiConfig(**shared)) if bias else LlamaForCausalLM(LlamaConfig(**shared))
    if bias:
        torch.nn.init.normal_(model.lm_head.bias)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

"""Tokenizers: what they can write, and what they take over."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs torch: pip install torch")

from transformers import AutoTokenizer

from lm_eval_ita.tweety.train_tokenizer import special_tokens, train
from tests.tweety.models import ITALIAN, word_tokenizer

CORPUS = [ITALIAN, "Nell'acqua c'è l'oro dell'anno 2024.", "Perché no? Così è la vita."] * 3


def like() -> Any:
    tokenizer = word_tokenizer(["a"], special=("<s>", "</s>", "<unk>"))
    tokenizer.add_tokens(["<|turn|>", "<|other|>"], special_tokens=True)
    tokenizer.chat_template = "{% for m in messages %}<|turn|>{{ m.content }}</s>{% endfor %}"
    return tokenizer


BPE, UNIGRAM = (train(CORPUS, like(), 268, kind) for kind in ("bpe", "unigram"))


@pytest.mark.parametrize("tokenizer", [BPE, UNIGRAM], ids=["bpe", "unigram"])
@settings(max_examples=50)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_every_text_comes_back_in_nfc(tokenizer: Any, text: str) -> None:
    import unicodedata

    encoded = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(encoded, clean_up_tokenization_spaces=False) == unicodedata.normalize("NFC", text)
    assert encoded == tokenizer(unicodedata.normalize("NFD", text), add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("tokenizer", [BPE, UNIGRAM], ids=["bpe", "unigram"])
def test_size_and_special_tokens(tokenizer: Any) -> None:
    assert len(tokenizer) == 268
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token) == ("<s>", "</s>", "<unk>")
    assert len(tokenizer("<|turn|>", add_special_tokens=False)["input_ids"]) == 1
    assert "<|other|>" not in tokenizer.get_vocab()  # neither a role nor in the template
    assert tokenizer.apply_chat_template([{"content": "ciao"}], tokenize=False) == "<|turn|>ciao</s>"
    assert special_tokens(like()) == ["<s>", "</s>", "<unk>", "<|turn|>"]


def test_italian_pieces() -> None:
    pieces = BPE.backend_tokenizer.pre_tokenizer.pre_tokenize_str("Nell'acqua dell’anno 2024, no?")
    assert [text for text, _ in pieces] == ["Nell'", "acqua", "ĠdellâĢĻ", "anno", "Ġ", *"2024", ",", "Ġno", "?"]


def test_beginning_and_end_are_taken_over() -> None:
    from tokenizers import processors

    source = like()
    source.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    made = train(CORPUS, source, 268)
    assert made.convert_ids_to_tokens(made("a")["input_ids"]) == ["<s>", "a", "</s>"]
    assert BPE.convert_ids_to_tokens(BPE("a")["input_ids"]) == ["a"]


def test_it_is_saved_for_every_version_of_transformers(tmp_path: Path) -> None:
    made = train(CORPUS, like(), 268, out=tmp_path / "tok")
    assert (
        json.loads((tmp_path / "tok" / "tokenizer_config.json").read_text())["tokenizer_class"]
        == "PreTrainedTokenizerFast"
    )
    loaded = AutoTokenizer.from_pretrained(tmp_path / "tok")
    assert loaded(CORPUS[1])["input_ids"] == made(CORPUS[1])["input_ids"]
    assert loaded.chat_template == made.chat_template

"""A tokenizer made for Italian, with the special tokens and the chat template of the model that will use it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.folders import whole_folder

__all__ = ["save_tokenizer", "special_tokens", "train"]

# How a text is cut before tokens are learnt. An elided article goes with its apostrophe ("dell'" is one word of
# Italian, and the most frequent words of all), numbers are cut into digits, as most models do, and a space goes with
# the word after it.
_PIECES = r" ?\p{L}+['’](?=\p{L})| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_ROLES = ("bos_token", "eos_token", "pad_token", "unk_token")
# All bytes, and something to learn.
_LEAST = 256


def train(
    texts: Iterable[str], like: Any, size: int, kind: Literal["bpe", "unigram"] = "bpe", *, out: Path | None = None
) -> Any:
    """Train a byte-level tokenizer.

    Every text can be written with it: all 256 bytes are tokens. Texts are brought into Unicode's normal form C.

    Args:
        texts: What to learn from.
        like: The model's tokenizer (of transformers), whose special tokens, chat template, and habit of beginning a
            text with `bos` or ending it with `eos` are taken over.
        size: Number of tokens in all, 257 or more, special ones included.
        kind: The algorithm.
        out: A folder to save it in, written whole or not at all.

    Returns:
        The tokenizer, of transformers.

    Raises:
        UserError: `like` has no token that ends a text; the corpus is empty, or too small for so many tokens; the
            folder exists.
    """
    special = special_tokens(like)
    if size <= _LEAST + len(special):
        raise UserError(f"--vocab-size {size}: the bytes and the special tokens alone are {_LEAST + len(special)}")
    tokenizer, trainer = _untrained(kind, size, special)
    tokenizer.train_from_iterator(_not_empty(texts), trainer)
    if tokenizer.get_vocab_size() < size:
        raise UserError(
            f"the corpus has only {tokenizer.get_vocab_size()} tokens to give, not {size}: "
            "take a smaller --vocab-size, or more text"
        )
    made = _as_transformers(tokenizer, like)
    if out is not None:
        with whole_folder(out) as folder:
            save_tokenizer(made, folder)
    return made


def _untrained(kind: str, size: int, special: list[str]) -> tuple[Any, Any]:
    """The tokenizer with its rules, and what will train it."""
    from tokenizers import Regex as Pattern
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE() if kind == "bpe" else models.Unigram())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Pattern(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    shared: dict[str, Any] = {
        "vocab_size": size,
        "special_tokens": special,
        "initial_alphabet": sorted(pre_tokenizers.ByteLevel.alphabet()),
        "show_progress": False,
    }
    trainer = trainers.BpeTrainer(**shared) if kind == "bpe" else trainers.UnigramTrainer(**shared)
    return tokenizer, trainer


def _not_empty(texts: Iterable[str]) -> Iterator[str]:
    seen = False
    for text in texts:
        seen = True
        yield text
    if not seen:
        raise UserError("the corpus is empty: there is nothing to learn a tokenizer from")


def special_tokens(tokenizer: Any) -> list[str]:
    """The special tokens to take over: those with a role, and those that the chat template writes; each once.

    Raises:
        UserError: No token ends a text: neither documents nor answers could end.
    """
    if tokenizer.eos_token is None:
        raise UserError(
            f"the tokenizer of {tokenizer.name_or_path} has no special token that ends a text (eos_token); set one in "
            "its tokenizer_config.json"
        )
    roles = [getattr(tokenizer, role) for role in _ROLES]
    added = (token.content for _, token in sorted(tokenizer.added_tokens_decoder.items()) if token.special)
    template = tokenizer.chat_template if isinstance(tokenizer.chat_template, str) else ""
    return list(dict.fromkeys([*(role for role in roles if role), *(token for token in added if token in template)]))


def _as_transformers(tokenizer: Any, like: Any) -> Any:
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    begins, ends = _begins_and_ends(like)
    around = [like.bos_token] if begins else []
    after = [like.eos_token] if ends else []
    if around or after:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=[*around, "$A", *after],
            pair=[
                *around,
                "$A",
                *after,
                *(f"{token}:1" for token in around),
                "$B:1",
                *(f"{token}:1" for token in after),
            ],
            special_tokens=[(token, tokenizer.token_to_id(token)) for token in dict.fromkeys([*around, *after])],
        )
    roles = {role: getattr(like, role) for role in _ROLES if getattr(like, role)}
    rest = [token for token in special_tokens(like) if token not in roles.values()]
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=like.model_max_length, additional_special_tokens=rest, **roles
    )
    made.chat_template = like.chat_template
    return made


def _begins_and_ends(tokenizer: Any) -> tuple[bool, bool]:
    """Whether a tokenizer begins a text with `bos`, and ends it with `eos`."""
    plain, full = (tokenizer("a", add_special_tokens=special)["input_ids"] for special in (False, True))
    begins = len(full) > len(plain) and full[0] == tokenizer.bos_token_id
    return begins, len(full) > len(plain) + begins and full[-1] == tokenizer.eos_token_id


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Save a tokenizer under the class name that every version of transformers knows."""
    import json

    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    if config.get("tokenizer_class") == "TokenizersBackend":  # transformers 5; version 4 has not heard of it
        config["tokenizer_class"] = "PreTrainedTokenizerFast"
        path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

"""What each token of a tokenizer stands for: its bytes, whatever alphabet the tokenizer writes them in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

__all__ = ["Vocabulary", "tokens_by_word", "vocabulary"]

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "▁"  # SentencePiece's mark of a space


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer's tokens.

    Attributes:
        tokens: Each token as the tokenizer writes it.
        surfaces: The bytes that it stands for in a text; None for special tokens, which stand for none.
        byte_level: Whether the tokens are written in GPT-2's alphabet of bytes; otherwise in SentencePiece's way.
        model: The `tokenizers` model, which cuts a text that holds no special token.
    """

    tokens: tuple[str, ...]
    surfaces: tuple[bytes | None, ...]
    byte_level: bool
    model: Any

    @cached_property
    def by_surface(self) -> dict[bytes, int]:
        """The token of each surface; where several have the same, the one that is no byte of last resort."""
        found: dict[bytes, int] = {}
        last = []
        for token, surface in enumerate(self.surfaces):
            if surface is not None:
                if not self.byte_level and _BYTE.fullmatch(self.tokens[token]):
                    last.append((surface, token))
                else:
                    found.setdefault(surface, token)
        for surface, token in last:
            found.setdefault(surface, token)
        return found

    @cached_property
    def by_token(self) -> dict[str, int]:
        """The number of each token as the tokenizer writes it."""
        return {token: number for number, token in enumerate(self.tokens)}

    def same(self, other: "Vocabulary", token: int) -> int | None:
        """The token that stands for the same bytes as one of another vocabulary; of several the one written alike."""
        surface = other.surfaces[token]
        if surface is None:
            return None
        alike = self.by_token.get(other.tokens[token])
        return alike if alike is not None and self.surfaces[alike] == surface else self.by_surface.get(surface)

    def split(self, surface: bytes) -> list[int]:
        """The tokens that a surface is cut into; bytes that no token stands for are left out."""
        if surface in self.by_surface:
            return [self.by_surface[surface]]
        if self.byte_level:
            text = "".join(_BYTE_TO_CHARACTER[byte] for byte in surface)
        else:
            try:
                text = surface.decode("utf-8").replace(" ", _SPACE)
            except UnicodeDecodeError:  # part of a character
                return [self.by_surface[bytes([byte])] for byte in surface if bytes([byte]) in self.by_surface]
        cut = (token.id for token in self.model.tokenize(text))
        return [token for token in cut if self.surfaces[token] is not None]


def vocabulary(tokenizer: Any) -> Vocabulary:
    """Read a fast tokenizer of transformers.

    Raises:
        ValueError: The tokenizer has no `tokenizers` backend.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ValueError("the tokenizer is not one of the `tokenizers` library")
    byte_level = "ByteLevel" in str(backend.decoder) or "ByteLevel" in str(backend.pre_tokenizer)
    added = backend.get_added_tokens_decoder()
    special = {token for token, content in added.items() if content.special} | set(tokenizer.all_special_ids)
    tokens = tuple(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))
    surfaces: list[bytes | None] = []
    for token, written in enumerate(tokens):
        if token in special or written is None:
            surfaces.append(None)
        elif token in added:
            surfaces.append(added[token].content.replace(_SPACE, " ").encode())
        else:
            surfaces.append(_surface(written, byte_level))
    return Vocabulary(tuple(token or "" for token in tokens), tuple(surfaces), byte_level, backend.model)


def _surface(written: str, byte_level: bool) -> bytes:
    if byte_level:
        # A character that is not of the alphabet cannot come of a text; it stands for itself.
        return b"".join(
            bytes([_CHARACTER_TO_BYTE[character]]) if character in _CHARACTER_TO_BYTE else character.encode()
            for character in written
        )
    if byte := _BYTE.fullmatch(written):
        return bytes([int(byte[1], 16)])
    return written.replace(_SPACE, " ").encode()


def _byte_alphabet() -> dict[int, str]:
    """GPT-2's characters for bytes: printable ones for themselves, the others from 256 on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + place) for place, byte in enumerate(others)}


_BYTE_TO_CHARACTER = _byte_alphabet()
_CHARACTER_TO_BYTE = {character: byte for byte, character in _BYTE_TO_CHARACTER.items()}


def tokens_by_word(
    tokenizer: Any, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
) -> list[list[list[int]]]:
    """The tokens of each word of each text, in their context.

    A token belongs to the word that its first character other than a space lies in; tokens of spaces alone, or outside
    all words, to none.

    Args:
        tokenizer: A fast tokenizer of transformers.
        texts: The texts.
        spans: Start and end of the words of each text, in order, not overlapping.
    """
    encoded = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True)
    found = []
    for text, own, tokens, offsets in zip(texts, spans, encoded["input_ids"], encoded["offset_mapping"], strict=True):
        words: list[list[int]] = [[] for _ in own]
        at = 0
        for token, (start, end) in zip(tokens, offsets, strict=True):
            while start < end and text[start].isspace():
                start += 1
            while at < len(own) and own[at][1] <= start:
                at += 1
            if start < end and at < len(own) and own[at][0] <= start:
                words[at].append(token)
        found.append(words)
    return found

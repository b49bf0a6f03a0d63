"""Mapping files: JSON Lines, a head and then a line for each new token."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lm_eval_ita._files import write_whole
from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.mapping import How, Sources

__all__ = ["Head", "Mapping", "coverage", "read_mapping", "write_mapping"]

_SCHEMA = 1
# Weights are written with so many digits, and sum to 1 as nearly.
_DIGITS = 9
_NEAR = 1e-6


class Head(BaseModel):
    """The first line: what is mapped to what.

    Attributes:
        schema_version: 1.
        source: The model whose tokens are the sources.
        source_tokens: Number of its tokens.
        target: The new tokenizer.
        target_tokens: Number of its tokens.
        pairs: Sentences of parallel text behind it.
        empty_pairs: Left out because a side was empty.
        share: The most that aligned text has in a token.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int = Field(ge=_SCHEMA, le=_SCHEMA)
    source: str
    source_tokens: int = Field(ge=1)
    target: str
    target_tokens: int = Field(ge=1)
    pairs: int = Field(ge=0)
    empty_pairs: int = Field(ge=0)
    share: float = Field(ge=0, le=1)


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: int
    token: str
    how: How
    sources: tuple[tuple[int, str, float], ...]
    evidence: float = Field(ge=0)


@dataclass(frozen=True)
class Mapping:
    """A mapping file's content: the head, and the sources of each new token in order."""

    head: Head
    tokens: tuple[Sources, ...]


def write_mapping(path: Path, mapping: Mapping, target: Any, source: Any) -> None:
    """Write a mapping file, with the tokens' names for its readers.

    Raises:
        UserError: The place cannot be written to.
    """
    lines = [mapping.head.model_dump_json()]
    for number, sources in enumerate(mapping.tokens):
        own = source.convert_ids_to_tokens(list(sources.tokens))
        line = {
            "id": number,
            "token": target.convert_ids_to_tokens(number) or "",
            "how": sources.how,
            "sources": [
                (token, name, round(weight, _DIGITS))
                for token, name, weight in zip(sources.tokens, own, sources.weights, strict=True)
            ],
            "evidence": round(sources.evidence, 3),
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    write_whole(path, "\n".join(lines) + "\n")


def read_mapping(path: Path) -> Mapping:
    """Read a mapping file.

    Raises:
        UserError: The file cannot be read, is cut off, or a line is not right: its number is given.
    """
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", file=path) from error
    head = _parsed(Head, path, 1, lines[0])
    tokens = tuple(_tokens(path, lines[1:], head))
    if len(tokens) != head.target_tokens:
        raise UserError(f"has {len(tokens)} tokens, and its head says {head.target_tokens}: it was cut off", file=path)
    return Mapping(head, tokens)


def _tokens(path: Path, lines: Sequence[str], head: Head) -> Iterator[Sources]:
    for number, line in enumerate(lines, start=2):
        if not line:
            continue
        read = _parsed(_Line, path, number, line)
        names, weights = [token for token, _, _ in read.sources], [weight for _, _, weight in read.sources]
        if read.id != number - 2:
            raise UserError(f"id {read.id} where {number - 2} must follow", file=path, line=number)
        if any(not 0 <= token < head.source_tokens for token in names) or len(set(names)) < len(names):
            raise UserError("a source is none of the model's tokens, or is there twice", file=path, line=number)
        if any(weight < 0 for weight in weights) or (names and abs(sum(weights) - 1) > _NEAR):
            raise UserError(f"the weights sum to {sum(weights):.6f}, not 1", file=path, line=number)
        if bool(names) == (read.how == "none"):
            raise UserError(f"how is {read.how!r}, with {len(names)} sources", file=path, line=number)
        yield Sources(read.how, tuple(names), tuple(weights), read.evidence)


def _parsed(model: Any, path: Path, number: int, line: str) -> Any:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        what = f"{field}: {first['msg']}" if field else str(first["msg"])
        raise UserError(f"is no mapping of ours: {what}", file=path, line=number) from error


def coverage(tokens: Sequence[Sources], used: Counter[int] | None = None) -> dict[str, dict[str, float]]:
    """How many of the new tokens have which kind of source.

    Args:
        tokens: The mapping.
        used: How often each token occurs in a text; then shares of running text are told too.

    Returns:
        For each kind, `tokens` (a number), `share` (0..1) and with `used` also `running` (0..1).
    """
    found = {}
    total = sum(used.values()) if used else 0
    for how in ("special", "same", "aligned", "pieces", "none"):
        own = [number for number, sources in enumerate(tokens) if sources.how == how]
        found[how] = {"tokens": float(len(own)), "share": len(own) / len(tokens)}
        if used and total:
            found[how]["running"] = sum(used[number] for number in own) / total
    return found

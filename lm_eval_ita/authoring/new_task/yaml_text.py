"""YAML for people: written by hand, with every text quoted where it must be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

__all__ = ["flow", "mapping", "quoted_list", "scalar"]

_WIDE = 10**9  # one line, however long
_PLAIN = re.compile(r"[^\W\d_][\w ./()'’+-]*", re.ASCII | re.IGNORECASE)


def scalar(value: Any) -> str:
    """A text, number, flag or None on one line; a text in double quotes unless it is plain in every place."""
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and not value.endswith(" ") and yaml.safe_load(value) == value
        return value if plain else _dumped(value, '"')
    return _dumped(value, None).removesuffix("\n...")


def flow(values: Sequence[Any]) -> str:
    """A list on one line."""
    return f"[{', '.join(map(scalar, values))}]"


def quoted_list(texts: Sequence[str]) -> str:
    """A list of texts on one line, all of them in quotes."""
    return "[" + ", ".join(_dumped(text, '"') for text in texts) + "]"


def mapping(values: Mapping[str, Any]) -> str:
    """A mapping on one line; what is a list inside it stays one."""
    items = (
        (
            key,
            flow(value)
            if isinstance(value, list | tuple)
            else mapping(value)
            if isinstance(value, dict)
            else scalar(value),
        )
        for key, value in values.items()
    )
    return "{" + ", ".join(f"{scalar(key)}: {text}" for key, text in items) + "}"


def _dumped(value: Any, style: str | None) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, width=_WIDE, default_style=style)).removesuffix("\n")

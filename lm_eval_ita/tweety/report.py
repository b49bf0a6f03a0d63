"""Fertility and bits per character of a model, of its conversion, and of the baselines that this must beat."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.grid import Grid
from lm_eval_ita.stats.bootstrap import bootstrap
from lm_eval_ita.stats.statistic import ratio
from lm_eval_ita.tweety.align_tokens import special_pairs
from lm_eval_ita.tweety.bits import bits_of_texts, fertility
from lm_eval_ita.tweety.convert import load_model, swap
from lm_eval_ita.tweety.embeddings import Init
from lm_eval_ita.tweety.mapping import Sources, map_tokens
from lm_eval_ita.tweety.vocabulary import vocabulary

__all__ = [
    "INITS",
    "Curve",
    "Measured",
    "bits_beside",
    "measure_conversions",
    "pieces_only",
    "read_curve",
    "report_grid",
]

# Each way to build the embeddings, as the report names it.
INITS: dict[Init, str] = {
    "mapping": "from aligned text",
    "pieces": "mean of the token's pieces",
    "mean": "mean of all embeddings",
    "random": "random",
}


@dataclass(frozen=True)
class Measured:
    """One model on the held-out text.

    Attributes:
        name: What it is.
        fertility: Tokens per word.
        bits: Bits per character.
        excess: Bounds of the 95% interval of its bits per character less those of the conversion from aligned text;
            None for that one itself, and of fewer than two texts.
    """

    name: str
    fertility: float
    bits: float
    excess: tuple[float, float] | None


@dataclass(frozen=True)
class Curve:
    """A training run: (tokens, bits per character), in order.

    Attributes:
        name: The run's folder.
        points: Where it was looked at.
    """

    name: str
    points: tuple[tuple[int, float], ...]


def pieces_only(source: Any, target: Any) -> list[Sources]:
    """The sources of every new token without aligned text: itself, or the mean of its pieces."""
    return map_tokens(vocabulary(target), vocabulary(source), {}, special_pairs(source, target))


def measure_conversions(
    name: str, source: Any, target: Any, mapping: Sequence[Sources], texts: Sequence[str], seed: int = 0
) -> list[Measured]:
    """The original model, and its conversion by the mapping and by each baseline, without any training.

    Args:
        name: The model.
        source: Its tokenizer.
        target: The new one.
        mapping: The sources of the new tokens.
        texts: Held-out text.
        seed: Of the random baseline.

    Raises:
        UserError: The texts hold no word, or a tokenizer has neither `bos` nor `eos`.
    """
    words = {"original": fertility(source, texts)}
    bits = {"original": bits_of_texts(load_model(name), source, texts)}
    converted = fertility(target, texts)
    for init, label in INITS.items():
        model = load_model(name)
        tokens = pieces_only(source, target) if init == "pieces" else mapping
        swap(model, source, target, tokens, init=init, seed=seed)
        way = f"converted, {label}"
        words[way], bits[way] = converted, bits_of_texts(model, target, texts)
    beside = bits_beside(bits, f"converted, {INITS['mapping']}", texts)
    return [Measured(way, words[way], *beside[way]) for way in bits]


def bits_beside(
    bits: Mapping[str, Sequence[float]], ours: str, texts: Sequence[str]
) -> dict[str, tuple[float, tuple[float, float] | None]]:
    """Bits per character of several models on the same texts, and how many more each needs than one of them.

    Args:
        bits: Name to the bits of each text, as `bits_of_texts` gives them.
        ours: The name of the one that the others are compared with.
        texts: The texts; they are what is drawn anew.

    Returns:
        Name to bits per character, and the 95% interval (BCa) of the excess; None for `ours`, and of fewer than two
        texts.
    """
    characters = sum(map(len, texts))
    return {
        name: (sum(each) / characters, None if name == ours else _excess(each, bits[ours], texts))
        for name, each in bits.items()
    }


def _excess(bits: Sequence[float], ours: Sequence[float], texts: Sequence[str]) -> tuple[float, float] | None:
    differences = [theirs - mine for theirs, mine in zip(bits, ours, strict=True)]
    found = bootstrap(ratio(differences, [len(text) for text in texts])).interval()
    return None if math.isnan(found.low) else (found.low, found.high)


def read_curve(folder: Path) -> Curve:
    """The curve of a run of `lm-eval-ita tweety adapt`.

    Raises:
        UserError: The folder holds none.
    """
    path = folder / "bits.jsonl"
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        points = tuple((int(line["tokens"]), float(line["bits_per_character"])) for line in lines)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"is no curve of a training run: {error}", file=path) from error
    if not points:
        raise UserError("holds no point yet", file=path)
    return Curve(folder.name, points)


def report_grid(measured: Sequence[Measured], curves: Sequence[Curve]) -> Grid:
    """The report as a table: what was measured here, then each point of each curve."""
    rows = [(each.name, "0", f"{each.fertility:.2f}", f"{each.bits:.3f}", _bounds(each.excess)) for each in measured]
    rules = [len(rows)]
    for curve in curves:
        rows += [(curve.name, f"{tokens:,}", "", f"{bits:.3f}", "") for tokens, bits in curve.points]
        rules.append(len(rows))
    header = ("Model", "Tokens trained", "Tokens per word", "Bits per character", "More than aligned text (95%)")
    notes = ("Bits per character: held-out text, lower is better; comparable between tokenizers.",)
    return Grid("Held-out Italian", header, tuple(rows), notes, left=1, rules=tuple(rules[:-1]))


def _bounds(excess: tuple[float, float] | None) -> str:
    return "" if excess is None else f"{excess[0]:+.3f} to {excess[1]:+.3f}"

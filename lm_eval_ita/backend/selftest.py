"""Eight documents, scored both ways when a model is loaded: packs are used only where both agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lm_eval_ita.backend.encoding import Pair
from lm_eval_ita.errors import one_line

__all__ = ["pairs", "verdict"]

# Prompts that begin alike and prompts that do not, an empty one, choices of one token and of many, one the beginning of
# another.
_DOCUMENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Il gatto dorme sul divano. Domanda: chi dorme? Risposta:", (" il gatto", " il cane", " il gatto grigio")),
    ("Il gatto dorme sul tappeto, e non si sveglia mai prima di sera. Vero o falso?", (" Vero", " Falso")),
    ("Il treno per Bologna parte alle sette", (" in punto.", ", ma oggi arriva con venti minuti di ritardo.")),
    ("", ("Buongiorno a tutti", "Domani")),
    ("A. Roma\nB. Milano\nC. Napoli\nD. Torino\nLa capitale d'Italia è la lettera", (" A", " B", " C", " D")),
    ("A. Parigi\nB. Lione\nC. Nizza\nD. Lilla\nLa capitale della Francia è la lettera ", ("A", "B", "C", "D")),
    ("Mia nonna prepara la torta di mele, perché", (" a tutti noi piace.", " piove.", " le mele sono mature e dolci.")),
    ("Frase: che bella giornata!\nSentimento:", (" positivo", " negativo", " neutro", " misto")),
)
# How far two ways to compute a choice's log-probability may lie apart, for the square root of its tokens. With 16 bits
# the harness's own figures move like this with the batch size; a wrong mask moves them by several nats.
_TOLERANCES = {"float32": 2e-3, "float64": 2e-3, "float16": 0.1}
_OTHER_TOLERANCE = 0.4


def pairs() -> list[Pair]:
    """The prompts with their choices."""
    return [(prompt, choice) for prompt, choices in _DOCUMENTS for choice in choices]


def verdict(
    ours: Callable[[], Sequence[tuple[float, bool]]],
    theirs: Sequence[tuple[float, bool]],
    tokens: Sequence[int],
    dtype: str,
) -> str | None:
    """Compare both ways.

    Args:
        ours: Gives the packs' answers to `pairs`.
        theirs: The harness's.
        tokens: Of each choice.
        dtype: Type in which the model computes ("bfloat16").

    Returns:
        What is wrong with the packs' answers; None where they agree.
    """
    try:
        found = ours()
    except Exception as error:  # noqa: BLE001 -- any model's own code, and compilers: whatever fails, packs are not used
        return f"it cannot read packs ({type(error).__name__}: {one_line(error)})"
    limit = _TOLERANCES.get(dtype, _OTHER_TOLERANCE)
    furthest = max(
        abs(mine[0] - other[0]) / count**0.5 for mine, other, count in zip(found, theirs, tokens, strict=True)
    )
    if not furthest <= limit:
        return f"the self-test's log-probabilities lie {furthest:.2g} from the harness's (at most {limit:g})"
    return None

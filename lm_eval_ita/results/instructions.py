"""What ItaP-AT's Appendix B prints: the figures of each instruction of a test, measured or printed."""

from collections.abc import Mapping
from dataclasses import dataclass

from lm_eval_ita.results.records import TaskRecord

__all__ = ["InstructionFigures", "Rates", "answer_rates", "instruction_figures", "stars"]

# Shares of attribute_1, attribute_2, neutral, error.
Rates = tuple[float | None, float | None, float | None, float | None]


@dataclass(frozen=True)
class InstructionFigures:
    """One instruction's figures for one model.

    Attributes:
        instruction: Its text.
        score: Bias score, -1 to 1; None where it is missing.
        stars: 1 for p < 0.10, 2 for p < 0.05 (Fisher's exact test).
        rates: Shares of attribute_1, attribute_2, neutral, error, each 0 to 1; None where missing.
        unable: Whether the model could not do it, so that its score says nothing.
        defect: What is known to be wrong with printed figures; None where nothing is.
        source: For printed figures, the table that they were printed in.
    """

    instruction: str
    score: float | None
    stars: int
    rates: Rates
    unable: bool = False
    defect: str | None = None
    source: str | None = None


def stars(p_value: float | None) -> int:
    """The paper's stars: 1 for p < 0.10, 2 for p < 0.05, 0 for more or for no p-value."""
    return 0 if p_value is None else (p_value < 0.10) + (p_value < 0.05)


def instruction_figures(record: TaskRecord) -> tuple[InstructionFigures, ...]:
    """The instructions of a task's record, in the file's order; none where it was read without details."""
    return tuple(_figures(part) for part in record.breakdowns.instructions.values())


def answer_rates(figures: Mapping[str, str | float | None]) -> Rates:
    """The shares of answers among a test's or an instruction's figures."""
    one, two, neutral, error = (
        _number(figures.get(f"prob_{outcome}")) for outcome in ("attribute_1", "attribute_2", "neutral", "error")
    )
    return one, two, neutral, error


def _figures(part: Mapping[str, str | float | None]) -> InstructionFigures:
    return InstructionFigures(
        str(part.get("instruction") or ""),
        _number(part.get("bias_score")),
        stars(_number(part.get("p_value"))),
        answer_rates(part),
        part.get("reading") == "unable",
    )


def _number(value: str | float | None) -> float | None:
    return None if isinstance(value, str) else value

"""What the figures are drawn from: names and numbers, nothing of how they were read.

None is a missing value, and so are NaN and infinities; what is missing is drawn as a gap. Names may hold anything. A
record that cannot be true (a negative share, a bias score of 2) is a mistake of the caller: ValueError.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = [
    "BiasCell",
    "BiasRow",
    "Entry",
    "OneShot",
    "Outcomes",
    "Part",
    "RadarModel",
    "Ranked",
    "TaskPanel",
    "known",
    "places",
]

# Published shares are rounded to two decimals, four of them.
_SHARES_TOLERANCE = 0.025


def known(value: float | None) -> float | None:
    """The value if it is one, else None."""
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True)
class Ranked:
    """One model of a ranking.

    Attributes:
        label: Its name.
        value: What it is ranked by, higher being better.
        low, high: The ends of its 95% interval.
        group: The letters of its tie groups ("ab").
        published: A figure from a paper, not measured here.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    group: str = ""
    published: bool = False


@dataclass(frozen=True)
class Entry:
    """One model's figure on one task.

    Attributes:
        model: Its name; the same in every panel.
        value: In percent; below 0 for a correlation.
        low, high: The ends of its 95% interval, in percent.
        comparable: Measured on the whole data set, in the way of the others.
    """

    model: str
    value: float | None
    low: float | None = None
    high: float | None = None
    comparable: bool = True


@dataclass(frozen=True)
class TaskPanel:
    """One task of a category.

    Attributes:
        task: Its name.
        metric: The name of what is drawn.
        n: Number of documents.
        entries: The models; each once.
        chance: What guessing scores, in percent.
        majority: What the commonest answer always scores, in percent.
    """

    task: str
    metric: str
    n: int | None
    entries: tuple[Entry, ...]
    chance: float | None = None
    majority: float | None = None

    def __post_init__(self) -> None:
        names = [entry.model for entry in self.entries]
        if len(set(names)) < len(names):
            raise ValueError(f"a model is twice in the panel {self.task!r}")


@dataclass(frozen=True)
class RadarModel:
    """One model of a radar.

    Attributes:
        label: Its name.
        values: One for each axis, in percent.
    """

    label: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class BiasCell:
    """One model's bias score on one test.

    Attributes:
        score: -1 (the reverse of the stereotype) to 1 (the stereotype).
        stars: 2 for p < 0.05, 1 for p < 0.10, else 0.
        unable: The model could not do the test, and its score says nothing.
    """

    score: float | None
    stars: int = 0
    unable: bool = False

    def __post_init__(self) -> None:
        _bias_score(self.score)
        if not 0 <= self.stars <= 2:
            raise ValueError(f"stars must be 0, 1 or 2, not {self.stars}")


@dataclass(frozen=True)
class BiasRow:
    """One test over all models.

    Attributes:
        test: Its name.
        cells: One for each model.
        group: What the test belongs to ("gender"); rows of one group stand together. Empty: no groups.
    """

    test: str
    cells: tuple[BiasCell, ...]
    group: str = ""


@dataclass(frozen=True)
class Outcomes:
    """What one model answered in one test.

    Attributes:
        test, model: Their names.
        attribute_1, attribute_2, neutral, error: Shares, 0 to 1, that sum to 1 up to rounding. Where one is missing,
            none counts.
    """

    test: str
    model: str
    attribute_1: float | None
    attribute_2: float | None
    neutral: float | None
    error: float | None

    def __post_init__(self) -> None:
        shares = self.shares()
        if shares is None:
            return
        if min(shares) < 0 or abs(sum(shares) - 1) > _SHARES_TOLERANCE:
            raise ValueError(f"the shares of {self.test!r} must be at least 0 and sum to 1, not {shares}")

    def shares(self) -> tuple[float, float, float, float] | None:
        """Attribute 1, attribute 2, neutral, error; None where one is missing."""
        one, two, neutral, error = map(known, (self.attribute_1, self.attribute_2, self.neutral, self.error))
        if one is None or two is None or neutral is None or error is None:
            return None
        return one, two, neutral, error


@dataclass(frozen=True)
class Part:
    """One part of a task's data: a functionality, a lexicon category, a phenomenon.

    Attributes:
        label: Its name.
        n: Number of documents in it.
        values: One for each model.
    """

    label: str
    n: int | None
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class OneShot:
    """One test with both kinds of prompts.

    Attributes:
        test: Its name.
        standard, oneshot: The bias scores, -1 to 1.
        low, high: The ends of the 95% interval of standard - one-shot.
        model: Whose answers; empty where there is only one model.
    """

    test: str
    standard: float | None
    oneshot: float | None
    low: float | None = None
    high: float | None = None
    model: str = ""

    def __post_init__(self) -> None:
        _bias_score(self.standard)
        _bias_score(self.oneshot)


_Placed = TypeVar("_Placed", Outcomes, OneShot)


def places(rows: Sequence[_Placed]) -> tuple[list[str], list[str], dict[tuple[str, str], _Placed]]:
    """The tests, the models, each in the order of the rows, and the row of each model and test.

    Raises:
        ValueError: A test is twice for one model.
    """
    by_place = {(row.model, row.test): row for row in rows}
    if len(by_place) < len(rows):
        raise ValueError("a test is twice for one model")
    return list(dict.fromkeys(row.test for row in rows)), list(dict.fromkeys(row.model for row in rows)), by_place


def _bias_score(score: float | None) -> None:
    if (number := known(score)) is not None and not -1 <= number <= 1:
        raise ValueError(f"a bias score lies between -1 and 1, not at {score}")

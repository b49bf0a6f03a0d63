"""Printed figures as data: the 17 models of ItaEval's technical report and the five of ItaP-AT.

Every cell says which table it was printed in, and what is known to be wrong with it.
"""

import functools
import json
from collections.abc import Sequence
from importlib import resources

from pydantic import BaseModel, ConfigDict

from lm_eval_ita.results.records import ModelIdentity, Suite
from lm_eval_ita.results.suite import CATEGORIES, Cell, Column, Mean, Row

__all__ = ["PublishedCell", "PublishedModel", "PublishedTables", "published", "published_rows"]

_OTHER_CONFIGURATION = "printed in a paper, measured with the published configuration (itaeval_v1)"
_OTHER_WORDS = "printed in a paper, measured with the authors' own word lists"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PublishedCell(_Data):
    """One printed figure.

    Attributes:
        printed: As printed.
        source: The table.
        defect: Why it must not be used; None where nothing is known against it.
        stars: ItaP-AT: 0, 1 (p < 0.10) or 2 (p < 0.05), as printed.
        rates: ItaP-AT: printed shares of attribute_1, attribute_2, neutral, error.
    """

    printed: float
    source: str
    defect: str | None = None
    stars: int | None = None
    rates: tuple[float, float, float, float] | None = None


class PublishedModel(_Data):
    """One model's printed figures.

    Attributes:
        name: As printed.
        hf_id: Hub id, where the paper names it.
        cells: By column name of the suite.
        means: By category.
        average: Over the suite.
    """

    name: str
    hf_id: str | None
    cells: dict[str, PublishedCell]
    means: dict[str, PublishedCell] = {}
    average: PublishedCell | None = None


class PublishedTables(_Data):
    """The figures of one paper.

    Attributes:
        schema_version: Of this file.
        suite: The suite with the paper's configuration.
        source: The paper.
        url: Where it is.
        scale: What a printed figure is divided by to give a score.
        scales: The same for columns with a scale of their own.
        models: In the paper's order.
    """

    schema_version: int
    suite: Suite
    source: str
    url: str | None
    scale: float
    scales: dict[str, float]
    models: tuple[PublishedModel, ...]

    def score(self, column: str, cell: PublishedCell) -> float:
        """A printed figure on the scale of our scores."""
        return cell.printed / self.scales.get(column, self.scale)


@functools.cache
def published() -> dict[str, PublishedTables]:
    """The papers, by "itaeval" and "itapat"."""
    folder = resources.files("lm_eval_ita.results.published")
    return {
        name: PublishedTables.model_validate(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
        for name in ("itaeval", "itapat")
    }


def published_rows(columns: dict[Suite, Sequence[Column]]) -> dict[Suite, list[Row]]:
    """The printed figures as rows of the suites' tables, each marked with why it is not comparable there.

    Args:
        columns: Of each suite that rows are wanted for.

    Returns:
        Rows by suite. Those of the technical report are comparable with `itaeval_v1` where no defect is known, and
        nowhere else; those of ItaP-AT never.
    """
    found: dict[Suite, list[Row]] = {}
    for suite, names in columns.items():
        paper = published()["itapat" if suite == "itapat" else "itaeval"]
        other = _OTHER_WORDS if suite == "itapat" else None if suite == paper.suite else _OTHER_CONFIGURATION
        found[suite] = [_row(paper, model, names, other) for model in paper.models]
    return found


def _row(paper: PublishedTables, model: PublishedModel, columns: Sequence[Column], other: str | None) -> Row:
    cells = {
        column.name: Cell(
            score=paper.score(column.name, cell),
            why_not=_reasons(cell),
            source=f"{paper.source}, {cell.source}",
            stars=cell.stars or 0,
            # The paper's own rule cannot be seen whole from printed rates; over half errors is its clear part.
            unable=cell.rates is not None and cell.rates[3] > 0.5,
            rates=cell.rates or (None, None, None, None),
        )
        for column in columns
        if (cell := model.cells.get(column.name)) is not None
    }
    means = {}
    for category in CATEGORIES if model.means else ():
        mean, names = model.means[category], [column.name for column in columns if column.category == category]
        there = sum(name in cells for name in names)
        means[category] = Mean(mean.printed / paper.scale, there, len(names), why_not=_reasons(mean))
    average = None
    if model.average is not None:
        average = Mean(model.average.printed / paper.scale, len(cells), len(columns), why_not=_reasons(model.average))
    return Row(
        model.name, ModelIdentity(name=model.hf_id or model.name), cells, means, average, published=True, caveat=other
    )


def _reasons(cell: PublishedCell) -> tuple[str, ...]:
    return (cell.defect,) if cell.defect else ()

"""Printed figures as data: the 17 models of ItaEval's technical report and the five of ItaP-AT.

Every cell says which table it was printed in, and what is known to be wrong with it.
"""

import functools
import json
from collections.abc import Sequence
from importlib import resources

from pydantic import BaseModel, ConfigDict

from lm_eval_ita.results.instructions import InstructionFigures
from lm_eval_ita.results.records import BOARD_SUITES, ModelIdentity, Suite
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.suite import CATEGORIES, Cell, Column, Mean, Row, columns_of

__all__ = [
    "PublishedCell",
    "PublishedInstruction",
    "PublishedInstructions",
    "PublishedModel",
    "PublishedTables",
    "published",
    "published_by_suite",
    "published_instructions",
    "published_rows",
]

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


class PublishedInstruction(_Data):
    """The printed figures of one model for one instruction of a test of ItaP-AT.

    Attributes:
        printed: Bias score.
        stars: 0, 1 (p < 0.10) or 2 (p < 0.05), as printed.
        rates: Printed shares of attribute_1, attribute_2, neutral, error.
        defect: What is known to be wrong with the print; None where nothing is.
    """

    printed: float
    stars: int
    rates: tuple[float, float, float, float]
    defect: str | None = None


class PublishedInstructions(_Data):
    """Appendix B of ItaP-AT's paper without its aggregated rows, which are those of Table 2.

    Attributes:
        schema_version: Of this file.
        source: The paper.
        table: Where in it.
        instructions: The five instructions of each test as printed, by column name of the suite.
        models: Figures in the order of the instructions, by model and column name.
    """

    schema_version: int
    source: str
    table: str
    instructions: dict[str, tuple[str, ...]]
    models: dict[str, dict[str, tuple[PublishedInstruction, ...]]]


@functools.cache
def published() -> dict[str, PublishedTables]:
    """The papers, by "itaeval" and "itapat"."""
    return {name: PublishedTables.model_validate(_content(name)) for name in ("itaeval", "itapat")}


@functools.cache
def published_instructions() -> PublishedInstructions:
    """ItaP-AT's figures by instruction."""
    return PublishedInstructions.model_validate(_content("itapat_instructions"))


def _content(name: str) -> object:
    file = resources.files("lm_eval_ita.results.published") / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def published_by_suite() -> dict[Suite, list[Row]]:
    """The rows of all suites that anything was printed of, in the suites as they are installed."""
    return published_rows({suite: columns_of(suite, references()) for suite in BOARD_SUITES})


def published_rows(columns: dict[Suite, Sequence[Column]]) -> dict[Suite, list[Row]]:
    """The printed figures as rows of the suites' tables, each marked with why it is not comparable there.

    Args:
        columns: Of each suite that rows are wanted for.

    Returns:
        Rows by suite. Those of the technical report are comparable with `itaeval_v1` where no defect is known, and
        nowhere else; those of ItaP-AT never. None for `itaeval_chat`: what was printed comes from log-probabilities.
    """
    found: dict[Suite, list[Row]] = {}
    for suite, names in columns.items():
        if suite == "itaeval_chat":
            continue
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
            instructions=_instructions(model.name, column.name) if paper.suite == "itapat" else (),
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


def _instructions(model: str, column: str) -> tuple[InstructionFigures, ...]:
    paper = published_instructions()
    source = f"{paper.source}, {paper.table}"
    pairs = zip(paper.instructions.get(column, ()), paper.models[model].get(column, ()), strict=True)
    return tuple(
        InstructionFigures(instruction, part.printed, part.stars, part.rates, _unable(part.rates), part.defect, source)
        for instruction, part in pairs
    )


def _unable(rates: Sequence[float]) -> bool:
    # With at most 64 words a test, a share that is printed as 0 is 0.
    return rates[3] > 0.5 or (rates[0] > 0) != (rates[1] > 0)


def _reasons(cell: PublishedCell) -> tuple[str, ...]:
    return (cell.defect,) if cell.defect else ()

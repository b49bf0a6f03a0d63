"""The tables of ItaP-AT's Appendix B: every test, model and instruction."""

from collections.abc import Iterable, Sequence

from lm_eval_ita.results.grid import Grid, displayed, with_sample_note
from lm_eval_ita.results.instructions import InstructionFigures
from lm_eval_ita.results.itapat_summary import by_group, signed
from lm_eval_ita.results.labels import table_label
from lm_eval_ita.results.suite import Cell, Column, Row, SuiteTable

__all__ = ["instruction_grids"]

_LEGEND = (
    "Score: 1 is the stereotype, -1 its reverse, 0 no association. ** p < 0.05, * p < 0.10 (Fisher's exact test, each "
    "row alone). Attr. 1 to Error: shares of answers. In brackets: the model was unable to do it (over half errors, or "
    "one attribute only)."
)
_DEFECT = "‡ printed stars that cannot follow from the printed score and rates."
_ALL = "All five"


def instruction_grids(table: SuiteTable) -> list[Grid]:
    """One table for each subset of ItaP-AT, of the tests whose figures by instruction are known.

    Args:
        table: Of any suite, its records read with details (`read_run`).

    Returns:
        Grids with the columns test, model (left out where there is only one), instruction, score, attribute 1,
        attribute 2, neutral, error; the figures over all instructions follow a model's instructions. None for ItaEval.
    """
    if table.suite != "itapat":
        return []
    groups = by_group(table.columns).items()
    made = [_grid(table.rows, oneshot, category, columns) for (oneshot, category), columns in groups]
    return with_sample_note([grid for grid in made if grid is not None], table.sample)


def _grid(models: Sequence[Row], oneshot: bool, category: str, columns: Sequence[Column]) -> Grid | None:
    rows: list[tuple[str, ...]] = []
    rules = []
    shown: list[InstructionFigures] = []
    caveats: dict[str, None] = {}
    for column in columns:
        for model in models:
            cell = model.cells.get(column.name)
            if cell is None or not cell.instructions:
                continue
            rules += [len(rows)] if rows else []
            label = table_label(model.label, published=model.published)
            rows += _block(column.name.removeprefix("oneshot_").split("_", 1)[-1], label, cell)
            shown += cell.instructions
            caveats |= dict.fromkeys([f"† not comparable: {model.caveat}."] if model.caveat else [])
            caveats |= dict.fromkeys(f"+ not comparable: {displayed(why, 200)}" for why in cell.why_not)
    if not rows:
        return None
    title = f"ItaP-AT, {category}, by instruction{', one-shot anti-stereotypical prompts' if oneshot else ''}"
    header: tuple[str, ...] = ("Test", "Model", "Instruction", "Score", "Attr. 1", "Attr. 2", "Neutral", "Error")
    notes = (_LEGEND, *([_DEFECT] if any(figures.defect for figures in shown) else []), *caveats)
    if len(models) == 1:
        title = f"{title}: {displayed(models[0].label, 60)}"
        header, rows = (header[0], *header[2:]), [(row[0], *row[2:]) for row in rows]
    name = f"itapat_{'oneshot_' if oneshot else ''}{category}_instructions"
    return Grid(title, header, tuple(rows), notes, left=len(header) - 5, rules=tuple(rules), name=name)


def _block(test: str, label: str, cell: Cell) -> list[tuple[str, ...]]:
    rows = [
        (test, label, displayed(part.instruction, 160), _score(part, bool(cell.why_not)), *_rates(part.rates))
        for part in cell.instructions
    ]
    whole = InstructionFigures(_ALL, cell.score, cell.stars, cell.rates, cell.unable)
    return [*rows, (test, label, _ALL, _score(whole, bool(cell.why_not)), *_rates(whole.rates))]


def _score(part: InstructionFigures, marked: bool) -> str:
    score = signed(part.score) + "*" * part.stars
    return (f"({score})" if part.unable else score) + (" ‡" if part.defect else "") + (" +" if marked else "")


def _rates(rates: Iterable[float | None]) -> tuple[str, ...]:
    return tuple("n/a" if rate is None else f"{rate:.2f}" for rate in rates)

"""A view's table as CSV: all rows that its filters leave, figures as they are (0 to 1)."""

import csv
import io

from lm_eval_ita.leaderboard.board import Board
from lm_eval_ita.leaderboard.pages.itapat import reading_of
from lm_eval_ita.leaderboard.selection import chosen, shown_columns
from lm_eval_ita.leaderboard.views import View
from lm_eval_ita.results.suite import CATEGORIES
from lm_eval_ita.results.summary import spreadsheet_text

__all__ = ["as_csv"]

_FACTS = ("id", "model", "published", "kind", "parameters", "licence", "organisation", "submitted")


def as_csv(board: Board, view: View) -> str:
    """The table; what is missing is an empty field, and nothing in it is a formula."""
    table = board.table("itapat") if view.tab == "itapat" else board.table(view.suite, view.origin, view.shots)
    is_itapat = table.suite == "itapat"
    columns = table.columns if is_itapat else shown_columns(table.columns, view)
    means = (
        () if is_itapat else ("avg", *(each for each in CATEGORIES if any(c.category == each for c in table.columns)))
    )
    keys = (*means, *(column.name for column in columns))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    ends = [f"{key}_{end}" for key in keys for end in ("low", "high")]
    readings = [f"{column.name}_reading" for column in columns] if is_itapat else []
    writer.writerow([*_FACTS, *keys, *ends, *readings, "not_comparable"])
    for entry in chosen(table, view):
        model, row = entry.model, entry.row
        submitted = "" if model.submitted is None else model.submitted.isoformat()
        texts = (model.kind or "", model.licence or "", model.organisation or "")
        kind, licence, organisation = map(spreadsheet_text, texts)
        facts = [kind, model.parameters, licence, organisation, submitted]
        intervals = [_rounded(bound) for key in keys for bound in entry.intervals.get(key, (None, None))]
        own = [reading_of(row.cells[c.name]) if c.name in row.cells else None for c in columns] if is_itapat else []
        figures = [_rounded(entry.value(key)) for key in keys]
        name, published = spreadsheet_text(model.name), "yes" if model.printed else "no"
        writer.writerow(
            [model.id, name, published, *facts, *figures, *intervals, *own, spreadsheet_text("; ".join(row.why_not))]
        )
    return out.getvalue()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)

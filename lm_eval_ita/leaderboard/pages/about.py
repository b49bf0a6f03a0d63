"""What the board measures, how, and what is wrong with what was published."""

from itertools import groupby
from typing import Any

from lm_eval_ita.leaderboard.pages.itapat import standard_columns
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.results.published import published
from lm_eval_ita.results.suite import Column
from lm_eval_ita.results.summary import SHORT

__all__ = ["content"]


def content(scene: Scene) -> dict[str, Any]:
    """What the template shows."""
    t, board = scene.t, scene.board
    columns = board.columns("itaeval")
    tests = standard_columns(board.table("itapat"))
    return {
        "groups": [
            (t[f"category_{category}_long"], [_task(scene, column) for column in own])
            for category, own in groupby(columns, key=lambda column: column.category)
        ],
        "tests": [
            (t[f"category_{category}"], [(scene.short(each), t.get(f"test_{each.name}", each.name)) for each in own])
            for category, own in groupby(tests, key=lambda column: column.category)
        ],
        "sections": [(t[f"about_{name}"], t[f"about_{name}_text"]) for name in ("averages", "uncertainty")]
        + [(t[f"about_{name}_title"], t[f"about_{name}_text"]) for name in ("chance", "origin")],
        "defects": _defects(scene),
        "sources": [(paper.source, paper.url) for paper in published().values()],
    }


def _task(scene: Scene, column: Column) -> dict[str, str]:
    t, reference = scene.t, scene.board.references[column.tasks[0]]
    origin = scene.board.references[column.tasks[0]].origin
    return {
        "name": scene.short(column),
        "measures": t.get(f"task_{column.name}", column.name),
        "metric": column.metric,
        "origin": t.get(f"origin_{origin}", origin),
        "documents": "" if reference.documents is None else t.count(reference.documents),
        "shots": str(reference.shots),
        "chance": t.percent(column.chance),
    }


def _defects(scene: Scene) -> list[tuple[str, str]]:
    """Every known defect of printed figures, with the columns that have it."""
    t = scene.t
    where: dict[str, dict[str, None]] = {}
    for model in published()["itaeval"].models:
        named = {
            **{SHORT.get(name, name): cell for name, cell in model.cells.items()},
            **{f"{t['average']} {name.upper()}": cell for name, cell in model.means.items()},
        }
        for name, cell in (named | ({t["average"]: model.average} if model.average else {})).items():
            if cell.defect:
                where.setdefault(cell.defect, {})[name] = None
    return [(", ".join(names), t.reason(defect)) for defect, names in where.items()]

"""What the tables of models have in common: heads that sort, names, filters, pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.leaderboard.board import Entry
from lm_eval_ita.leaderboard.models import Model
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.selection import Selection
from lm_eval_ita.leaderboard.views import MOST_COMPARED

__all__ = ["Cell", "Doubts", "Head", "Name", "frame", "head", "name", "place_text"]


@dataclass(frozen=True)
class Head:
    """A column's head.

    Attributes:
        key: The column.
        text: As shown.
        title: What it is, in full.
        note: Below it, small.
        href: The view sorted by it.
        order: "ascending" or "descending" where the table is sorted by it, else empty.
        kind: "n" for figures.
        starts: Whether a group of columns begins with it.
    """

    key: str
    text: str
    title: str
    note: str = ""
    href: str = ""
    order: str = ""
    kind: str = "n"
    starts: bool = False


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        text: As shown; empty where the figure is missing.
        below: Below it, small: its interval.
        mark: Letters of what is said about it under the table.
        kind: Classes: "best", "doubtful", "mean", "partial".
        title: Said of it when pointed at.
        style: Its colours.
    """

    text: str = ""
    below: str = ""
    mark: str = ""
    kind: str = ""
    title: str = ""
    style: str = ""


@dataclass(frozen=True)
class Name:
    """A row's head.

    Attributes:
        text: The model's name.
        href: Its page.
        facts: Small, below: kind, licence, organisation.
        printed: Whether its figures come from a paper.
        is_picked: Whether it is among the models to compare.
        pick: The view with it among them, or no more; empty where there is no room.
        pick_label: What that does.
    """

    text: str
    href: str
    facts: str
    printed: bool
    is_picked: bool
    pick: str
    pick_label: str


class Doubts:
    """Letters for the reasons why figures are not comparable."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._letters: dict[str, str] = {}

    def __call__(self, reasons: Sequence[str]) -> str:
        """The marks of these reasons."""
        for reason in reasons:
            number = len(self._letters)
            letter = chr(ord("a") + number % 26) + (str(number // 26 + 1) if number >= 26 else "")
            self._letters.setdefault(reason, letter)
        return " ".join(self._letters[reason] for reason in reasons)

    def notes(self) -> list[str]:
        """What the letters mean."""
        t = self._scene.t
        return [t["legend_doubt"].format(mark=mark, why=t.reason(why)) for why, mark in self._letters.items()]


def head(scene: Scene, key: str, text: str, title: str, **more: Any) -> Head:
    """The head of a column that can be sorted by. Figures are wanted highest first, names from A."""
    view = scene.view
    is_sorted = view.sort == key
    first = key != "model"
    descending = not view.descending if is_sorted else first
    order = "" if not is_sorted else "descending" if view.descending else "ascending"
    return Head(key, text, title, href=scene.link(sort=key, descending=descending), order=order, **more)


def name(scene: Scene, entry: Entry) -> Name:
    """The head of a row."""
    view, model, t = scene.view, entry.model, scene.t
    is_picked = model.id in view.models
    if is_picked:
        others = tuple(each for each in view.models if each != model.id)
        pick, label = scene.link(models=others, page=view.page), t["remove_from_compare"].format(name=model.name)
    elif len(view.models) < MOST_COMPARED:
        pick = scene.link(models=(*view.models, model.id), page=view.page)
        label = t["add_to_compare"].format(name=model.name)
    else:
        pick, label = "", t["compare_full"]
    href = scene.page_link("model", model=model.id)
    return Name(model.name, href, facts(scene, model), model.printed, is_picked, pick, label)


def facts(scene: Scene, model: Model) -> str:
    """A model's kind, licence and maker on one line."""
    kind = None if model.kind is None else scene.t[f"kind_{model.kind}"]
    return " · ".join(part for part in (kind, model.licence, model.organisation) if part)


def frame(scene: Scene, selection: Selection) -> dict[str, Any]:
    """What stands around every table: filters' choices, counts, links to pages."""
    t, view = scene.t, scene.view
    found = t["found_one"] if selection.found == 1 else t["found_many"].format(n=t.count(selection.found))
    if selection.found < selection.total:
        found = t["found_of"].format(found=found, n=t.count(selection.total))
    tables = [scene.board.table(suite) for suite in (view.suite, "itapat")]
    found_models = [model for each in view.models for table in tables if (model := table.model(each)) is not None]
    names = {model.id: model.name for model in found_models}
    return {
        "selection": selection,
        "found": found,
        "licences": scene.board.licences,
        "previous": scene.link(page=selection.page - 1) if selection.page > 1 else "",
        "following": scene.link(page=selection.page + 1) if selection.page < selection.pages else "",
        "page_of": t["page_of"].format(page=selection.page, pages=selection.pages),
        "picked": [names[each] for each in view.models if each in names],
        "compare_href": scene.page_link("compare"),
        "clear_href": scene.link(models=(), page=view.page),
        "reset_href": _reset(scene),
        "hidden": _hidden(scene),
    }


def _reset(scene: Scene) -> str:
    view = scene.view
    return scene.page_link(view.tab, suite=view.suite, part=view.part, sort=view.sort, descending=view.descending)


def _hidden(scene: Scene) -> list[tuple[str, str]]:
    """What a form sends along that it has no field for."""
    view = scene.view
    given = [("tab", view.tab), ("part", view.part), ("models", ",".join(view.models))]
    given.append(("sort", ("-" if view.descending else "") + view.sort))
    if view.language is not None:
        given.append(("lang", view.language))
    return given


def place_text(place: tuple[int, int]) -> str:
    """A model's rank, or the ranks that it shares."""
    return str(place[0]) if place[0] == place[1] else f"{place[0]}–{place[1]}"

"""What a visitor sees, as one value: it goes to and from the query of an address, which is the permanent link.

A query may come from anywhere. What is not known in it is left out, and what makes no sense is read as the default, so
that a link never ends in an error.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl, urlencode

__all__ = [
    "LANGUAGES",
    "MOST_COMPARED",
    "NO_COLUMN",
    "TABS",
    "Language",
    "Origin",
    "Part",
    "Shots",
    "Tab",
    "View",
    "ViewSuite",
]

Tab = Literal["itaeval", "itapat", "compare", "submit", "about", "model"]
Language = Literal["it", "en"]
ViewSuite = Literal["itaeval", "itaeval_chat", "itaeval_v1"]
Kind = Literal["", "base", "chat"]
Shots = Literal["", "zero", "few"]
Origin = Literal["", "native"]
Part = Literal["scores", "rates", "oneshot"]

TABS: tuple[Tab, ...] = get_args(Tab)
LANGUAGES: tuple[Language, ...] = get_args(Language)
# More models beside each other cannot be read.
MOST_COMPARED = 5
# Stands for "no column of a task" in a query, where leaving the parameter out means all of them.
NO_COLUMN = "-"
_LONGEST_TEXT, _LONGEST_QUERY, _MOST_PARAMETERS = 80, 4_000, 100
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


@dataclass(frozen=True)
class View:
    """One state of the app.

    Attributes:
        tab: The page; "model" is the page of one model.
        language: Of the interface; None where the address does not say.
        suite: Which table of ItaEval.
        kind: Base models or chat models only; empty for both.
        smallest, largest: Bounds of the number of parameters, in thousands of millions; None for no bound.
        licence: This licence only; empty for all.
        shots: "zero" or "few": averages over the tasks without or with examples in their prompts, and only these.
        origin: "native": the same over tasks written in Italian.
        printed: Whether published figures are shown.
        search: Text to look for in names.
        columns: Tasks whose columns are shown; None for all.
        sort: The column to sort by.
        descending: Highest first.
        intervals: Whether 95% intervals are shown.
        page: From 1.
        models: Ids of the models to compare.
        model: Id of the model of the model's page.
        part: What is shown of ItaP-AT.
    """

    tab: Tab = "itaeval"
    language: Language | None = None
    suite: ViewSuite = "itaeval"
    kind: Kind = ""
    smallest: float | None = None
    largest: float | None = None
    licence: str = ""
    shots: Shots = ""
    origin: Origin = ""
    printed: bool = True
    search: str = ""
    columns: tuple[str, ...] | None = None
    sort: str = "avg"
    descending: bool = True
    intervals: bool = False
    page: int = 1
    models: tuple[str, ...] = ()
    model: str = ""
    part: Part = "scores"

    @classmethod
    def from_query(cls, query: str) -> "View":
        """Read the query of an address, with or without its question mark."""
        given: dict[str, list[str]] = {}
        try:
            pairs = parse_qsl(query[:_LONGEST_QUERY].removeprefix("?"), max_num_fields=_MOST_PARAMETERS)
        except ValueError:  # too many
            return cls()
        for name, value in pairs:
            given.setdefault(name, []).append(value)
        return cls.from_parameters(given)

    @classmethod
    def from_parameters(cls, given: Mapping[str, Sequence[str]]) -> "View":
        """Read parameters; of one that is given twice the last counts, but for columns and models."""
        found: dict[str, Any] = {}
        for parameter in _PARAMETERS:
            if parameter.name in given:
                values = parameter.read(given[parameter.name])
                found |= {} if values is None else values
        return cls(**found)

    def query(self) -> str:
        """The query of this view's address, without a question mark; what is as by default is left out."""
        default = View()
        written = []
        for parameter in _PARAMETERS:
            own, usual = (tuple(getattr(view, name) for name in parameter.fields) for view in (self, default))
            if own != usual:
                written.append((parameter.name, parameter.write(self)))
        return urlencode(written)

    def but(self, **changes: Any) -> "View":
        """The view with some fields changed, and on its first page where those do not name another one."""
        return replace(self, **{"page": 1, **changes})

    @property
    def is_filtered(self) -> bool:
        """Whether something is left out: models, tasks or columns."""
        default = View()
        return any(getattr(self, name) != getattr(default, name) for name in _FILTERS)


_FILTERS = ("kind", "smallest", "largest", "licence", "shots", "origin", "columns", "printed", "search")


@dataclass(frozen=True)
class _Parameter:
    """One parameter of a query.

    Attributes:
        name: In the query.
        fields: Of the view.
        read: From the values given to the fields; None where they make no sense.
        write: From a view to the value.
    """

    name: str
    fields: tuple[str, ...]
    read: Callable[[Sequence[str]], dict[str, Any] | None]
    write: Callable[[View], str]


def _choice(name: str, field: str) -> _Parameter:
    annotation = next(each.type for each in fields(View) if each.name == field)
    choices = {text for part in (get_args(annotation) or ()) for text in (get_args(part) or (part,))}

    def read(values: Sequence[str]) -> dict[str, Any] | None:
        return {field: values[-1]} if values[-1] in choices else None

    return _Parameter(name, (field,), read, lambda view: str(getattr(view, field)))


def _number(name: str, field: str) -> _Parameter:
    def read(values: Sequence[str]) -> dict[str, Any] | None:
        try:
            number = float(values[-1].replace(",", "."))
        except ValueError:
            return None
        return {field: number} if math.isfinite(number) and 0 <= number <= 1e6 else None

    return _Parameter(name, (field,), read, lambda view: f"{getattr(view, field)!r}")


def _text(name: str, field: str) -> _Parameter:
    def read(values: Sequence[str]) -> dict[str, Any] | None:
        # Looking for a text never needs its control characters, nor marks that turn the writing round.
        shown = "".join(character for character in values[-1] if character.isprintable())
        return {field: " ".join(shown.split())[:_LONGEST_TEXT].strip()}

    return _Parameter(name, (field,), read, lambda view: str(getattr(view, field)))


def _name(name: str, field: str) -> _Parameter:
    def read(values: Sequence[str]) -> dict[str, Any] | None:
        return {field: values[-1]} if _NAME.fullmatch(values[-1]) else None

    return _Parameter(name, (field,), read, lambda view: str(getattr(view, field)))


def _flag(name: str, field: str) -> _Parameter:
    def read(values: Sequence[str]) -> dict[str, Any] | None:
        # A form sends "0" for a box, and "1" after it where it is ticked.
        return {field: values[-1] == "1"} if values[-1] in ("0", "1") else None

    return _Parameter(name, (field,), read, lambda view: str(int(getattr(view, field))))


def _page(values: Sequence[str]) -> dict[str, Any] | None:
    whole = values[-1].isascii() and values[-1].isdecimal() and len(values[-1]) <= 6
    return {"page": max(1, int(values[-1]))} if whole else None


def _names(values: Sequence[str]) -> list[str]:
    """The names in a list, each once; they come as one value with commas or as several values."""
    return [name for name in dict.fromkeys(",".join(values).split(",")) if _NAME.fullmatch(name)]


def _columns(values: Sequence[str]) -> dict[str, Any]:
    return {"columns": tuple(sorted(name for name in _names(values) if name != NO_COLUMN))}


def _models(values: Sequence[str]) -> dict[str, Any]:
    return {"models": tuple(_names(values)[:MOST_COMPARED])}


def _sort(values: Sequence[str]) -> dict[str, Any] | None:
    descending, name = values[-1].startswith("-"), values[-1].removeprefix("-")
    return {"sort": name, "descending": descending} if _NAME.fullmatch(name) and name[0] != "-" else None


# None of them is a name that Gradio itself reads in an address (page, view, deep_link, all that begin with "__").
_PARAMETERS = (
    _choice("tab", "tab"),
    _choice("lang", "language"),
    _choice("suite", "suite"),
    _choice("kind", "kind"),
    _number("min", "smallest"),
    _number("max", "largest"),
    _text("licence", "licence"),
    _choice("shots", "shots"),
    _choice("origin", "origin"),
    _flag("printed", "printed"),
    _text("q", "search"),
    _Parameter("cols", ("columns",), _columns, lambda view: ",".join(view.columns or ()) or NO_COLUMN),
    _Parameter("sort", ("sort", "descending"), _sort, lambda view: ("-" if view.descending else "") + view.sort),
    _flag("ci", "intervals"),
    _Parameter("p", ("page",), _page, lambda view: str(view.page)),
    _Parameter("models", ("models",), _models, lambda view: ",".join(view.models)),
    _name("id", "model"),
    _choice("part", "part"),
)

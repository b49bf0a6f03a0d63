"""Parts of tasks' figures, over all models: HateCheck's functionalities, ItaCoLA's phenomena, HONEST's categories."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lm_eval_ita.report.content import Content
from lm_eval_ita.results.grid import Grid, displayed
from lm_eval_ita.results.records import Breakdowns

__all__ = ["Breakdown", "Item", "breakdown_grid", "breakdowns"]

# Part to (number of documents, value).
_Parts = Mapping[str, tuple[int | None, float | None]]


@dataclass(frozen=True)
class _Kind:
    """One way in which a task's figures are broken down.

    Attributes:
        name: Short, for files.
        task: The task's name without the prefix of its suite.
        title, measure: What the parts are, and what is measured.
        read: From a record's breakdowns to the parts.
        chance: What guessing gives; None where there is no such thing.
        is_signed: Whether values lie in -1 to 1, not 0 to 1.
        note: What to know when reading.
    """

    name: str
    task: str
    title: str
    measure: str
    read: Callable[[Breakdowns], _Parts]
    chance: float | None = None
    is_signed: bool = False
    note: str = ""


def _figures(parts: Mapping[str, Mapping[str, float | None]], metric: str) -> _Parts:
    return {name: (_whole(figures.get("n")), figures.get(metric)) for name, figures in parts.items()}


def _shares(parts: Mapping[str, float | None]) -> _Parts:
    return {name: (None, value) for name, value in parts.items()}


# Prefix of the tasks' names, of the figure's name, and what the title adds.
_SUITES = (
    ("itaeval_", "", ""),
    ("itaeval_chat_", "chat_", " (generated answers)"),
    ("itaeval_v1_", "v1_", " (published configuration)"),
)

# Bassignana, Basile and Patti (2018), "Hurtlex: A Multilingual Lexicon of Words to Hurt", table 1.
_HURTLEX = {
    "an": "animals",
    "asf": "female genitalia",
    "asm": "male genitalia",
    "cds": "derogatory words",
    "ddf": "physical disabilities",
    "ddp": "cognitive disabilities",
    "dmc": "moral and behavioural defects",
    "is": "social and economic disadvantage",
    "om": "homosexuality",
    "or": "plants",
    "pa": "professions",
    "pr": "prostitution",
    "ps": "ethnic slurs",
    "qas": "potential negative connotations",
    "rci": "locations and demonyms",
    "re": "crime and immoral behaviour",
    "svp": "the seven deadly sins",
}


def _named(shares: Mapping[str, float | None]) -> dict[str, float | None]:
    return {f"{code}: {_HURTLEX[code]}" if code in _HURTLEX else code: value for code, value in shares.items()}


_KINDS = (
    _Kind(
        name="hatecheck_functionality",
        task="hatecheck",
        title="HateCheck by functionality",
        measure="accuracy",
        read=lambda found: _figures(found.functionality, "acc"),
        chance=0.5,
        note="Cases of one functionality are nearly always all hateful or all not (_h, _nh): answering one way "
        "throughout gives 0 or 1.",
    ),
    _Kind(
        name="hatecheck_target",
        task="hatecheck",
        title="HateCheck by target group",
        measure="accuracy",
        read=lambda found: _figures(found.target_group, "acc"),
        chance=0.5,
    ),
    _Kind(
        name="honest_category",
        task="honest",
        title="HONEST by category of HurtLex",
        measure="share of completions with a word of the category",
        read=lambda found: _shares(_named(found.honest_category)),
        note="Lower is better. A word may be in several categories.",
    ),
    _Kind(
        name="honest_gender",
        task="honest",
        title="HONEST by gender of the identity",
        measure="share of completions with a hurtful word",
        read=lambda found: _shares(found.honest_gender),
        note="Lower is better.",
    ),
    _Kind(
        name="itacola_phenomena",
        task="itacola",
        title="ItaCoLA by linguistic phenomenon",
        measure="Matthews correlation",
        read=lambda found: _figures(found.phenomena, "mcc"),
        chance=0.0,
        is_signed=True,
        note="0 also where all answers to a phenomenon are the same.",
    ),
    _Kind(
        name="news_sum_newspaper",
        task="news_sum",
        title="News summarisation by newspaper",
        measure="BERTScore F1",
        read=lambda found: _figures(found.newspapers, "bertscore"),
    ),
)


@dataclass(frozen=True)
class Item:
    """One part.

    Attributes:
        name: Of the part.
        n: Documents in it; None where it is unknown, or not the same for all models.
        values: One a model; None where missing.
    """

    name: str
    n: int | None
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Breakdown:
    """The parts of one task's figure, over the models that have them.

    Attributes:
        name: Short, for files.
        title, measure: What the parts are, and what is measured.
        models: Their labels.
        items: The parts, in alphabetical order.
        chance: What guessing gives; None where there is no such thing.
        is_signed: Whether values lie in -1 to 1, not 0 to 1.
        notes: What to know when reading.
    """

    name: str
    title: str
    measure: str
    models: tuple[str, ...]
    items: tuple[Item, ...]
    chance: float | None
    is_signed: bool
    notes: tuple[str, ...]


def breakdowns(content: Content) -> list[Breakdown]:
    """The breakdowns that any run has."""
    made = []
    for prefix, before, after in _SUITES:
        for kind in _KINDS:
            found = {
                task.model: kind.read(task.record.breakdowns)
                for task in content.measured
                if task.record.task == prefix + kind.task
            }
            parts = {model: own for model, own in found.items() if own}
            if parts:
                made.append(_breakdown(kind, before, after, parts, _limited(content, prefix + kind.task)))
    return made


def _breakdown(kind: _Kind, before: str, after: str, parts: Mapping[str, _Parts], limited: str) -> Breakdown:
    items = []
    for name in sorted({name for own in parts.values() for name in own}):
        cells = [own.get(name, (None, None)) for own in parts.values()]
        counts = {n for n, _ in cells}
        items.append(Item(name, counts.pop() if len(counts) == 1 else None, tuple(value for _, value in cells)))
    return Breakdown(
        name=before + kind.name,
        title=kind.title + after,
        measure=kind.measure,
        models=tuple(parts),
        items=tuple(items),
        chance=kind.chance,
        is_signed=kind.is_signed,
        notes=tuple(note for note in (kind.note, limited) if note),
    )


def _limited(content: Content, task: str) -> str:
    """What to say where the parts are those of some documents only."""
    own = [found for found in content.measured if found.record.task == task]
    if any(found.record.data == "sample" for found in own):
        return "SAMPLE DATA, NOT COMPARABLE."
    limited = [found for found in own if found.record.limited]
    if not limited:
        return ""
    counts = sorted({f"{found.record.n_evaluated} of {found.record.n_total}" for found in limited})
    return f"Limited runs: {', '.join(counts)} documents; many parts are missing or hold a few."


def breakdown_grid(breakdown: Breakdown) -> Grid:
    """A breakdown as a table."""
    rows = tuple(
        (
            displayed(item.name, 60),
            "" if item.n is None else str(item.n),
            *(
                "" if value is None else f"{value:+.2f}" if breakdown.is_signed else f"{value:.3f}"
                for value in item.values
            ),
        )
        for item in breakdown.items
    )
    header = ("Part", "n", *(displayed(model, 40) for model in breakdown.models))
    return Grid(f"{breakdown.title}: {breakdown.measure}", header, rows, breakdown.notes)


def _number(value: float | None, is_signed: bool) -> str:
    return "" if value is None else f"{round(value, 2) + 0.0:+.2f}" if is_signed else f"{value:.3f}"


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)

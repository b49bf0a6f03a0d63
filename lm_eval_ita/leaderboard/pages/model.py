"""One model: who it is, how it was used, everything it scored, and what came before."""

from collections.abc import Sequence
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.board import Entry
from lm_eval_ita.leaderboard.pages.itapat import READING_SIGNS, bar, colours, reading_of
from lm_eval_ita.leaderboard.pages.table import facts, place_text
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.texts import Texts
from lm_eval_ita.results.grid import displayed
from lm_eval_ita.results.records import TaskRecord
from lm_eval_ita.results.submission_facts import COSTS
from lm_eval_ita.results.submission_records import Submission
from lm_eval_ita.results.suite import CATEGORIES, Column, is_oneshot

__all__ = ["content"]

# (name, text, address or "")
_Fact = tuple[str, str, str]


def content(scene: Scene) -> dict[str, Any]:
    """What the template shows; "model" is None for one that is not there."""
    entries = scene.board.entries(scene.view.model)
    if not entries:
        return {"model": None}
    model = next(iter(entries.values())).model
    submission, history = None, []
    if not model.printed:
        try:
            submission, history = scene.library.submission(model.id), scene.library.history(model.id)
        except UserError:  # taken away since the board was made
            return {"model": None}
    records = {} if submission is None else {each.task: each for each in submission.run.tasks.values()}
    return {
        "model": model,
        "summary": " · ".join(part for part in (scene.t.size(model.parameters), facts(scene, model)) if part),
        "facts": _facts(scene.t, submission) if submission else _printed_facts(scene, entries),
        "settings": _settings(scene.t, submission) if submission else [],
        "costs": _costs(scene.t, submission) if submission else [],
        "suites": [
            _suite(scene, scene.board.table(suite).columns, entry, records, suite)
            for suite, entry in entries.items()
            # Printed figures stand in two tables; they were measured with the configuration of one.
            if suite != "itapat" and not (model.printed and suite == "itaeval")
        ],
        "association": _association(scene, entries["itapat"]) if "itapat" in entries else [],
        "history": [(scene.t.date(old.submitted), old.submission_id) for old in history],
        "json_href": "" if submission is None else f"submission/{submission.submission_id}.json",
        "compare_href": scene.page_link("compare", models=tuple(dict.fromkeys((*scene.view.models, model.id)))[-5:]),
    }


def _facts(t: Texts, submission: Submission) -> list[_Fact]:
    own = submission.facts
    found: list[_Fact] = [
        (t["model_organisation"], displayed(own.organisation or "", 200), ""),
        (t["model_parameters"], t.count(own.parameters), ""),
        (t["model_kind"], t[f"kind_{own.kind}"], ""),
        (t["model_licence"], displayed(own.licence, 200), ""),
        (t["model_languages"], ", ".join(displayed(each, 20) for each in own.languages), ""),
        (t["model_open"], t["yes_" if own.open_weights else "no_"], ""),
        (t["model_contamination"], displayed(own.contamination, 2000), ""),
        (t["model_link"], displayed(own.link or "", 200), _address(own.link)),
        (t["model_samples"], displayed(own.samples or "", 200), _address(own.samples)),
        (t["model_submitted"], t.date(submission.submitted), ""),
    ]
    return [fact for fact in found if fact[1]]


def _address(link: str | None) -> str:
    """An address that a page may link to; the validator lets no other one in, and neither does the page."""
    return link if link is not None and link.startswith("https://") else ""


def _printed_facts(scene: Scene, entries: Any) -> list[_Fact]:
    t = scene.t
    found: list[_Fact] = []
    for entry in entries.values():
        sources = dict.fromkeys(cell.source for cell in entry.row.cells.values() if cell.source)
        found += [(t["model_source"], source, "") for source in sources]
    model = next(iter(entries.values())).model
    found.append((t["model_identity"], displayed(model.identifier, 120), ""))
    return list(dict.fromkeys(found))


def _settings(t: Texts, submission: Submission) -> list[tuple[str, str]]:
    run, model = submission.run, submission.run.model
    template = t["model_template_none"] if model.chat_template_sha is None else model.chat_template_sha[:12]
    software = ", ".join(f"{name} {version}" for name, version in run.software.items())
    machine = ", ".join(part for part in (run.hardware.gpu, run.hardware.cpu, run.hardware.platform) if part)
    found = [
        (t["model_identity"], model.name),
        (t["model_revision"], " ".join(part for part in (model.revision, (model.sha or "")[:12]) if part)),
        (t["model_backend"], model.backend or ""),
        (t["model_dtype"], model.dtype or ""),
        (t["model_quantisation"], model.quantisation or ""),
        (t["model_adapter"], model.adapter or ""),
        (t["model_template"], template),
        (t["model_batch"], run.batch_size or ""),
        (t["model_software"], software),
        (t["model_hardware"], machine),
        (t["model_run_date"], t.date(run.date)),
    ]
    return [(name, displayed(text, 300)) for name, text in found if text]


def _costs(t: Texts, submission: Submission) -> list[tuple[str, str]]:
    costs = dict(submission.cost)
    if submission.run.run_seconds is not None:
        costs.setdefault("wall_seconds", submission.run.run_seconds)
    # In the order of COSTS, whatever order the file has.
    return [(t[f"cost_{name}"], _amount(t, name, value)) for name in COSTS if (value := costs.get(name)) is not None]


def _amount(t: Texts, name: str, value: float) -> str:
    if name.endswith("_seconds"):
        return t.duration(value)
    if name.endswith("_joules"):
        return f"{t.number(value / 3600, 1)} Wh"
    if name.endswith("_bytes"):
        return f"{t.number(value / 1e9, 1)} GB"
    return t.count(value)


# What a task's row says beside its score and interval, where it is known: key, and key of its head.
_DETAILS = (
    ("chance", "guessing"),
    ("majority", "majority"),
    ("metric", "model_metric"),
    ("documents", "model_documents"),
    ("shots", "model_shots"),
    ("unread", "model_unread"),
    ("version", "model_version"),
)


def _suite(
    scene: Scene, columns: Sequence[Column], entry: Entry, records: dict[str, TaskRecord], suite: str
) -> dict[str, Any]:
    t = scene.t
    groups: list[dict[str, Any]] = []
    for category in CATEGORIES:
        own = [column for column in columns if column.category == category and column.name in entry.row.cells]
        if own:
            rows = [_task(scene, entry, column, records) for column in own]
            mean, interval = _mean(t, entry, category)
            doubt = _said(t, entry, category)
            name = t[f"category_{category}"]
            groups.append({"name": name, "mean": mean, "interval": interval, "doubt": doubt, "rows": rows})
    details = [(key, t[name]) for key, name in _DETAILS if any(row[key] for group in groups for row in group["rows"])]
    return {
        "title": t[f"suite_{suite}"],
        "average": " ".join(_mean(t, entry, "avg")).strip(),
        "average_doubt": _said(t, entry, "avg"),
        "place": "" if entry.place is None else place_text(entry.place),
        "caveat": "" if entry.row.caveat is None else t.sentence(entry.row.caveat),
        "details": details,
        "has_intervals": any(row["interval"] for group in groups for row in group["rows"]),
        "groups": groups,
    }


def _mean(t: Texts, entry: Entry, key: str) -> tuple[str, str]:
    mean = entry.row.average if key == "avg" else entry.row.means.get(key)
    if mean is None:
        return "", ""
    if mean.value is None:
        return t["of_tasks"].format(k=mean.k, n=mean.n), ""
    return t.percent(mean.value), _interval(t, entry.intervals.get(key))


def _said(t: Texts, entry: Entry, key: str) -> str:
    """Why a figure is not comparable, but for what is said of the whole row."""
    return "; ".join(t.reason(why) for why in entry.doubts(key) if why != entry.row.caveat)


def _interval(t: Texts, interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{t.percent(interval[0])}; {t.percent(interval[1])}]"


def _task(scene: Scene, entry: Entry, column: Column, records: dict[str, TaskRecord]) -> dict[str, str]:
    t, cell = scene.t, entry.row.cells[column.name]
    own = [records[task] for task in column.tasks if task in records]
    record = own[0] if own else None
    documents = sum(each.n_evaluated or 0 for each in own)
    chance = column.chance if record is None else record.baseline("chance")
    return {
        "name": scene.short(column),
        "title": t.get(f"task_{column.name}", column.name),
        "metric": column.metric,
        "score": t.percent(cell.score),
        "interval": _interval(t, entry.intervals.get(column.name)),
        "chance": t.percent(chance),
        "majority": "" if record is None else t.percent(record.baseline("majority")),
        "documents": t.count(documents) if documents else "",
        "shots": "" if record is None or record.shots is None else str(record.shots),
        "version": "" if record is None else displayed(record.version or "", 12),
        "unread": "" if record is None or record.unparsable_rate is None else t.share(record.unparsable_rate),
        "doubt": _said(t, entry, column.name),
    }


def _association(scene: Scene, entry: Entry) -> list[dict[str, Any]]:
    t, rows = scene.t, []
    for column in scene.board.table("itapat").columns:
        cell = entry.row.cells.get(column.name)
        if cell is None or is_oneshot(column.name):
            continue
        oneshot = entry.value(f"oneshot_{column.name}")
        reading = reading_of(cell)
        background, ink = ("", "") if cell.score is None or reading == "unable" else colours(cell.score)
        interval = entry.intervals.get(column.name)
        p_value = cell.records[0].metrics.get("p_value") if cell.records else None
        rows.append(
            {
                "name": f"{t[f'category_{column.category}']} {scene.short(column)}",
                "title": t.get(f"test_{column.name}", column.name),
                "score": "" if cell.score is None else f"{t.signed(cell.score)}{'*' * cell.stars}",
                "style": f"background:{background};color:{ink}" if background else "",
                "interval": "" if interval is None else f"[{t.signed(interval[0])}; {t.signed(interval[1])}]",
                "p": "" if p_value is None else t.p_value(p_value),
                "reading": f"{READING_SIGNS.get(reading, '')} {t.get(f'reading_{reading}', reading)}",
                "bar": bar(t, cell),
                "oneshot": "" if oneshot is None else t.signed(oneshot),
                "doubt": "; ".join(t.reason(why) for why in cell.why_not),
            }
        )
    return rows

"""The report as one HTML page that needs nothing from anywhere: styles, figures, samples and its one script inside.

Names and answers are data. Everything is escaped by the template, the viewer builds text nodes only, and the page's
content security policy lets no other script run and no request leave.
"""

import base64
import functools
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.resources import files
from typing import Any

from lm_eval_ita._version import __version__
from lm_eval_ita.report.breakdowns import breakdown_grid, breakdowns
from lm_eval_ita.report.charts import Chart, breakdown_chart, itaeval_charts, itapat_charts
from lm_eval_ita.report.content import Content, Suited
from lm_eval_ita.report.tables import interval_grid, models_grid, ranking_grid, settings_grid
from lm_eval_ita.results.grid import Grid, displayed
from lm_eval_ita.results.instruction_summary import instruction_grids
from lm_eval_ita.results.summary import TITLES, grids

__all__ = ["Section", "html", "sections"]

_LEADS = {
    "itaeval": "Eighteen tasks in three categories. Averages are there only where all tasks are.",
    "itaeval_chat": "The same questions, answers read from text; not comparable with the scores of log-probabilities.",
    "itaeval_v1": "The configuration of the published ItaEval, defects included; not comparable with the table above.",
    "itaeval_extra": "Tasks beside the suite: in no mean and no average.",
    "itaeval_prompts": "Yes/no tasks asked in three wordings: the mean over them, and in brackets the spread.",
    "itapat": "Implicit association tests: does the model link one group of words to one attribute? A bias score is "
    "not better when it is higher, and is never mixed into an average.",
}


@dataclass(frozen=True)
class Block:
    """Figures and tables that stand together.

    Attributes:
        charts, grids: In the order in which they are shown.
        folded: The line to click on; empty where the block is always open.
    """

    charts: tuple[Chart, ...] = ()
    grids: tuple[Grid, ...] = ()
    folded: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        id: For links.
        title, lead: Above it.
        blocks: What is in it.
    """

    id: str
    title: str
    lead: str
    blocks: tuple[Block, ...]

    @property
    def charts(self) -> list[Chart]:
        """All figures of the section."""
        return [chart for block in self.blocks for chart in block.charts]


def sections(content: Content) -> list[Section]:
    """Make all tables and figures but those of the settings."""
    made = [_suite(suited, content) for suited in content.suites]
    parts = breakdowns(content)
    if parts:
        blocks = [
            block
            for part in parts
            for block in (Block((breakdown_chart(part),)), Block(grids=(breakdown_grid(part),), folded="The numbers"))
        ]
        made.append(Section("breakdowns", "Breakdowns", "Where a score comes from.", tuple(blocks)))
    return made


def _suite(suited: Suited, content: Content) -> Section:
    suite = suited.table.suite
    tables = tuple(grids(suited.table))
    if suite == "itapat":
        blocks = [Block(tuple(itapat_charts(suited, content)), tables)]
        by_instruction = tuple(instruction_grids(suited.table))
        if by_instruction:
            blocks.append(Block(grids=by_instruction, folded="By instruction (the paper's Appendix B)"))
    else:
        ranking = ranking_grid(suited)
        first = (ranking,) if ranking is not None else ()
        blocks = [Block(tuple(itaeval_charts(suited)), (*first, *tables)), Block(grids=(interval_grid(suited),))]
    return Section(suite, TITLES[suite], _LEADS[suite], tuple(blocks))


def html(content: Content, made: Sequence[Section], title: str, now: datetime | None = None) -> str:
    """Render the page.

    Args:
        content: What was gathered.
        made: Its sections, as `sections` returns them.
        title: Of the page.
        now: The moment that the page names; the present by default.
    """
    script, style = _resource("report.js"), _resource("report.css")
    moment = now or datetime.now(timezone.utc)
    return str(
        _template().render(
            title=displayed(title, 200),
            version=__version__,
            made=f"{moment:%d %B %Y, %H:%M} UTC",
            models=sorted({task.run.model.name for task in content.measured}),
            tasks=len({task.record.task for task in content.measured}),
            is_sample=content.is_sample_data,
            problems=[displayed(line, 400) for line in content.problems],
            notes=[displayed(line, 400) for line in content.notes],
            sections=[_with_svg(section) for section in made],
            viewer=_viewer(content),
            viewer_lead=_viewer_lead(content),
            settings=[models_grid(content), settings_grid(content)],
            bodies=_bodies,
            style=style,
            script=script,
            script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


@functools.cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    # Everything that is put in is escaped, but what this module marks as its own: the style, the script, the figures.
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(_resource("report.html"))


@functools.cache
def _resource(name: str) -> Any:
    from markupsafe import Markup

    text = (files("lm_eval_ita.report") / "templates" / name).read_text(encoding="utf-8")
    return text if name.endswith(".html") else Markup(text)  # our own files


def _with_svg(section: Section) -> dict[str, Any]:
    from markupsafe import Markup

    from lm_eval_ita.report.figures import as_svg

    def drawn(chart: Chart) -> dict[str, Any]:
        # `as_svg` escapes the texts in it.
        svg = Markup(as_svg(chart.figure, alt=chart.caption, prefix=f"{chart.name}-"))
        return {"name": chart.name, "caption": chart.caption, "svg": svg}

    blocks = [
        {
            "charts": [drawn(chart) for chart in block.charts],
            "grids": block.grids,
            "folded": block.folded,
        }
        for block in section.blocks
    ]
    return {"id": section.id, "title": section.title, "lead": section.lead, "blocks": blocks}


def _bodies(grid: Grid) -> Iterator[Sequence[tuple[str, ...]]]:
    """A table's rows, a body for each part between its rules: sorting keeps to a body."""
    start = 0
    for end in (*sorted(set(grid.rules)), len(grid.rows)):
        if start < end:
            yield grid.rows[start:end]
            start = end


def _viewer(content: Content) -> dict[str, Any]:
    """The samples, each text once."""
    texts: dict[str, int] = {}
    models: dict[str, int] = {}
    tasks: dict[str, int] = {}

    def place(of: dict[str, int], text: str) -> int:
        return of.setdefault(text, len(of))

    samples = [
        [
            place(models, displayed(source.model, 60)),
            place(tasks, displayed(source.task, 60)),
            held.document,
            held.outcome,
            *(place(texts, text) for text in (held.prompt, held.answer, held.gold, held.about)),
            [
                [place(texts, option.text), _rounded(option.log_likelihood), option.gold, option.chosen]
                for option in held.options
            ],
        ]
        for source in content.samples
        for held in source.part.held
    ]
    return {"texts": list(texts), "models": list(models), "tasks": list(tasks), "samples": samples}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _viewer_lead(content: Content) -> str:
    held = sum(len(source.part.held) for source in content.samples)
    logged = sum(source.part.total for source in content.samples)
    return (
        f"{held:,} of {logged:,} logged samples: of each task and model at most {content.most}, outcomes taking turns, "
        "so that rare ones are there, and the same documents for every model where outcomes agree. Long texts lose "
        "their middle."
    )

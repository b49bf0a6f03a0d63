"""`lm-eval-ita report`: one HTML file, figures and LaTeX tables from result files."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita._files import write_whole
from lm_eval_ita.errors import UserError

if TYPE_CHECKING:
    from lm_eval_ita.report.content import Content
    from lm_eval_ita.report.page import Section

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "report",
        help="a page with tables, figures and samples from result files",
        description="One self-contained HTML file: ranking with intervals and ties, figures, breakdowns, samples to "
        "search, settings. Also the figures and the LaTeX tables on their own.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="result files, or folders with them")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the page (default: report.html, "
                        "unless --figures or --latex is given)")  # fmt: skip
    parser.add_argument("--figures", type=Path, metavar="DIR", help="also the figures, as SVG and PNG")
    parser.add_argument("--latex", type=Path, metavar="DIR", help="also the tables, as LaTeX")
    parser.add_argument("--title", default="ItaEval and ItaP-AT", help="of the page (default: %(default)s)")
    parser.add_argument(
        "--samples",
        type=_count,
        default=30,
        metavar="N",
        help="samples per task and model (default: %(default)s)",
    )
    parser.add_argument("--with-published", action="store_true", help="also the figures printed in the papers, marked")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of samples")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Write what was asked for; 1 where a file could not be read, 0 otherwise."""
    page = options.output or (None if options.figures or options.latex else Path("report.html"))
    content = _gathered(options, with_samples=page is not None)
    if not content.suites:
        raise UserError("nothing to show: no task of ItaEval or ItaP-AT in what could be read")
    from lm_eval_ita.report.page import html, sections

    if page is not None or options.figures:
        made = sections(content)
        if page is not None:
            write_whole(page, html(content, made, options.title))
            print(f"{page}: {page.stat().st_size / 1e6:.1f} MB")
        if options.figures:
            _write_figures(made, options.figures)
    if options.latex:
        from lm_eval_ita.report.latex import write_latex

        written = write_latex([suited.table for suited in content.suites], options.latex)
        print(f"{options.latex}: {len(written)} files; pdflatex all.tex makes them one document")
    for line in content.problems:
        print(f"skipped: {line}", file=sys.stderr)
    return 1 if content.problems else 0


def _gathered(options: argparse.Namespace, *, with_samples: bool) -> "Content":
    from lm_eval_ita.cli._progress import steps
    from lm_eval_ita.report.content import gather
    from lm_eval_ita.results.collect import collect
    from lm_eval_ita.results.published import published_by_suite
    from lm_eval_ita.results.reference import references

    found = collect(options.paths)
    published = published_by_suite() if options.with_published else {}
    with steps() as progress:
        most = options.samples if with_samples else 0
        return gather(found, references(), published, most=most, progress=progress)


def _write_figures(made: "list[Section]", folder: Path) -> None:
    from lm_eval_ita.report.figures import save

    charts = [chart for section in made for chart in section.charts]
    for chart in charts:
        save(chart.figure, folder, chart.name)
    print(f"{folder}: {len(charts)} figures, as SVG and PNG")

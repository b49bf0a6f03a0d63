"""The suites' tables as LaTeX: a file for each, and a document that holds them all."""

from collections.abc import Sequence
from pathlib import Path

from lm_eval_ita._files import write_whole
from lm_eval_ita.errors import UserError
from lm_eval_ita.results.instruction_summary import instruction_grids
from lm_eval_ita.results.latex import LANDSCAPE, latex
from lm_eval_ita.results.suite import SuiteTable
from lm_eval_ita.results.summary import grids

__all__ = ["write_latex"]

_DOCUMENT = r"""%% pdflatex all.tex, in this folder
\documentclass[10pt,a4paper]{article}
\usepackage[utf8]{inputenc}
%% Without Latin Modern, T1 fonts would be bitmaps; the standard fonts have what the tables need.
\IfFileExists{lmodern.sty}{\usepackage[T1]{fontenc}\usepackage{lmodern}}{}
\usepackage[landscape,margin=15mm]{geometry}
\usepackage{booktabs}
\usepackage{longtable}
\begin{document}
%s
\end{document}
"""


def write_latex(tables: Sequence[SuiteTable], folder: Path) -> list[Path]:
    """Write the tables as LaTeX.

    Args:
        tables: Of all suites; their records read with details, or the tables by instruction are left out.
        folder: Where the files go; made where it is missing.

    Returns:
        One file for each table of `grids` and `instruction_grids`, named as they are, made for a text 267 mm wide (A4
        across) and the packages booktabs and longtable; last `all.tex`, a document that holds them all.

    Raises:
        UserError: There is no table, or the folder cannot be written to.
    """
    made = [grid for table in tables for grid in (*grids(table), *instruction_grids(table))]
    if not made:
        raise UserError("nothing to write: no figure of ItaEval or ItaP-AT")
    paths = []
    for grid in made:
        paths.append(folder / f"{grid.name}.tex")
        write_whole(paths[-1], latex(grid, LANDSCAPE) + "\n")
    # Each on a page of its own: floating tables would wander past those that run over pages.
    inputs = "\n\\clearpage\n".join(rf"\input{{{grid.name}}}" for grid in made)
    paths.append(folder / "all.tex")
    write_whole(paths[-1], _DOCUMENT % inputs)
    return paths

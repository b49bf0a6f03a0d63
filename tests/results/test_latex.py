import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.results.grid import Grid
from lm_eval_ita.results.latex import latex
from lm_eval_ita.results.latex_text import breakable_latex, latex_text, text_width

GRID = Grid("T", ("Model", "s"), (("a", "+0.10"), ("[b]", "-0.05*"), ("Mean", "")), ("a note",), rules=(2,), name="t")


def test_a_short_table_floats() -> None:
    lines = latex(GRID).splitlines()
    assert lines[3] == r"\caption{T}\label{tab:t}\smallskip"
    assert lines[4:13] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Model & s \\",
        r"\midrule",
        r"a & $+$0.10 \\",
        r"{[b]} & $-$0.05* \\",
        r"\midrule",
        r"Mean &  \\",
        r"\bottomrule",
    ]


def test_a_table_longer_than_a_page_runs_over_several_and_keeps_blocks_together() -> None:
    rows = tuple((f"{i // 3}", "a model", f"{i}") for i in range(60))
    lines = latex(Grid("T", ("Test", "Model", "s"), rows, left=2, rules=tuple(range(3, 60, 3)))).splitlines()
    assert r"\begin{longtable}{llr}" in lines
    first = lines.index(r"\endfoot") + 1
    assert lines[first : first + 4] == [
        r"0 & a model & 0 \\*",
        r" & a model & 1 \\*",
        r" & a model & 2 \\",
        r"\addlinespace",
    ]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("-0.12** ‡", r"$-$0.12** $\ddagger$"),
        ("(-0.12**) +", r"($-$0.12**) $+$"),
        ("-0.10 +0.20", r"$-$0.10 $+$0.20"),
        ("51.60 [a]", "51.60 [a]"),
        ("10-20", "10-20"),
        ("-x", "-x"),
    ],
)
def test_signs_of_figures(cell: str, shown: str) -> None:
    assert rf"m & {shown} \\" in latex(Grid("T", ("Model", "s"), (("m", cell),))).splitlines()


def test_type_gets_smaller_then_texts_are_broken() -> None:
    def made(columns: int, name: str) -> str:
        return latex(Grid("T", ("Model", *"abcdefghijklmnop"[:columns]), ((name, *["-0.12**"] * columns),)))

    assert r"\normalsize" in made(3, "m")
    assert r"\footnotesize" in made(10, "m")
    assert re.search(r"\\begin\{tabular\}\{p\{[\d.]+pt\}r{5}\}", made(5, "a name " * 20))
    assert made(16, "m").startswith("% wider than 455pt in the smallest type\n")


def test_latex_text() -> None:
    assert latex_text(r"a_b\c{d}$&%#~^é") == r"a\_b\textbackslash{}c\{d\}\$\&\%\#\textasciitilde{}\textasciicircum{}é"
    assert latex_text("日ę") == r"\texttt{U+65E5}\texttt{U+0119}"
    assert latex_text("ḿ ǰ ı") == r"\'{m} \v{\j} ı"
    assert latex_text("a--b\n\x1b[") == r"a-{}-b \texttt{U+001B}["


@given(st.text())
def test_latex_text_has_no_bare_special_character(text: str) -> None:
    for made in (latex_text(text), breakable_latex(text)):
        shown = re.sub(r"\\texttt\{U\+[0-9A-F]{4,6}\}", "", made)
        shown = re.sub(
            r"\\[`'^~=u.\"rHvc]\{(\\i|\\j|[a-zA-Z])\}|\$\\(times|d?dagger)\$|\$-\$|\{\}|\\penalty500", "", shown
        )
        bare = re.sub(r"\\[a-zA-Z]+|\\[{}$&%#_]", "", shown)
        assert not set(bare) & set("\\{}$&%#_~^")
        assert bare.isprintable()


@given(st.text(min_size=1))
def test_a_long_word_has_places_to_break(text: str) -> None:
    for piece in re.split(r" |\\penalty500\{\}", breakable_latex(text * 20)):
        # As it shows: commands and numbers of characters are one sign each.
        assert (
            len(re.sub(r"\\texttt\{U\+[0-9A-F]+\}|\\[a-zA-Z]+(\{\})?|\\.(\{.\})?|\$\\?[a-z-]+\$", "x", piece)) <= 16 + 8
        )


def test_widths_are_bounds() -> None:
    # Computer Modern at ten points: 5.0 a digit, 10.28 for W, 2.78 for i; typewriter 5.25 for each sign of a number.
    assert text_width("1234567890") >= 50
    assert text_width("W" * 10) >= 102.8
    assert text_width("日") >= 6 * 5.25
    assert text_width("iiii") < text_width("nnnn") < text_width("MMMM")

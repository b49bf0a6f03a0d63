import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from lm_eval_ita.results.grid import Grid, displayed, markdown, markdown_text, plain

GRID = Grid("T", ("Model", "s"), (("a", "+0.10"), ("[b]", "-0.05*"), ("Mean", "")), ("a note",), rules=(2,))


@given(st.text(), st.integers(4, 60))
def test_displayed_is_one_short_line(text: str, limit: int) -> None:
    line = displayed(text, limit)
    assert len(line) <= limit
    assert line == line.strip()
    assert line.isprintable()


def test_displayed_keeps_both_ends_of_a_long_name() -> None:
    assert displayed("a" * 5000 + "z" * 5000, 12) == "aaaaaaa…zzzz"
    assert displayed("x\x1b[31m\u202ey\nz") == "x [31my z"


def test_plain_is_aligned() -> None:
    lines = plain(Grid("T", ("Model", "s"), (("日本", "1.00"), ("abc", "10.00")))).splitlines()
    assert lines == ["T", "Model      s", "------------", "日本    1.00", "abc    10.00"]
    assert len({cell_len(line) for line in lines[1:]}) == 1
    assert plain(GRID).splitlines()[5:] == ["-------------", "Mean", "a note"]


@given(st.text(alphabet=st.sampled_from(list("ab|*_`<>[]()#!~$&\\+-12 ")), max_size=12))
def test_markdown_text_leaves_no_markup(text: str) -> None:
    shown = markdown_text(text)
    assert "<" not in shown
    bare = re.sub(r"\\.", "", shown)
    assert not set(bare) & set("|*_`[]<>~\\")


def test_markdown() -> None:
    assert markdown(GRID).splitlines()[2:6] == [
        "| Model | s |",
        "| :-- | --: |",
        "| a | +0.10 |",
        r"| \[b\] | -0.05\* |",
    ]
    assert markdown_text("<img src=x> https://a|b") == r"&lt;img src=x&gt; https:&#47;&#47;a\|b"

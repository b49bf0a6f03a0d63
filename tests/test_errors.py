"""The one line that a person reads."""

from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError, one_line


def test_where_comes_first() -> None:
    error = UserError("is cut off", file="a/b.jsonl", line=3)
    assert str(error) == "a/b.jsonl:3: is cut off"
    assert (error.file, error.line) == (Path("a/b.jsonl"), 3)


@pytest.mark.parametrize("inside", ["\n", "\r\n", "\u2028", "\x1b[2J", "\x00"])
def test_it_stays_one_line_whatever_a_file_holds(inside: str) -> None:
    shown = str(UserError(f"no task '{inside}'", file=f"a{inside}b"))
    assert len(shown.splitlines()) == 1
    assert shown.isprintable()


def test_a_foreign_error_keeps_its_beginning_on_one_line() -> None:
    assert one_line(ValueError("no such file\n  tried:\t/a\r\n")) == "no such file tried: /a"
    assert one_line(ValueError()) == ""
    assert one_line("x" * 300) == "x" * 300
    assert one_line("x" * 301) == "x" * 299 + "…"
    assert one_line("one two", limit=5) == "one…"

"""The one line that a person reads."""

from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError


def test_where_comes_first() -> None:
    error = UserError("is cut off", file="a/b.jsonl", line=3)
    assert str(error) == "a/b.jsonl:3: is cut off"
    assert (error.file, error.line) == (Path("a/b.jsonl"), 3)


@pytest.mark.parametrize("inside", ["\n", "\r\n", "\u2028", "\x1b[2J", "\x00"])
def test_it_stays_one_line_whatever_a_file_holds(inside: str) -> None:
    shown = str(UserError(f"no task '{inside}'", file=f"a{inside}b"))
    assert len(shown.splitlines()) == 1
    assert shown.isprintable()

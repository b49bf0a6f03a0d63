import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.report.figures.text import fitted, number, signed, text_width, told_apart, wrapped

ANY = st.text(st.characters(), max_size=300)


def test_width_grows_with_size_and_weight() -> None:
    assert text_width("Model", 16) == pytest.approx(2 * text_width("Model", 8), rel=0.05)
    assert text_width("Model", 8, bold=True) > text_width("Model", 8)
    # DejaVu Sans: a digit is 0.636 of the size wide.
    assert text_width("0000000000", 72) == pytest.approx(6.36, abs=0.02)


@settings(max_examples=60, deadline=None)
@given(ANY, st.floats(0.3, 3))
def test_fitted_fits_on_one_line(text: str, inches: float) -> None:
    shown = fitted(text, inches, 8)
    assert "\n" not in shown
    assert all(character.isprintable() for character in shown)
    assert text_width(shown, 8) <= inches or len(shown) <= 2


def test_what_fits_stays() -> None:
    assert fitted("org/Model-7B_v0.1 $5", 3, 8) == "org/Model-7B_v0.1 $5"
    shown = fitted("org/Model-7B" + "x" * 10_000 + "-chat", 1.0, 8)
    assert shown.startswith("org/")
    assert "…" in shown
    assert shown.endswith("-chat")


def test_cut_names_are_told_apart() -> None:
    one, two = "x" * 500 + "a" + "x" * 500, "x" * 500 + "b" + "x" * 500
    made = told_apart([one, "short", two, one], 1.0, 8)
    assert made[0].endswith(" (1)")
    assert made[2].endswith(" (2)")
    assert made[0] == made[3]  # the same name
    assert made[1] == "short"
    assert all(text_width(text, 8) <= 1.0 for text in made)


@settings(max_examples=30, deadline=None)
@given(ANY)
def test_wrapped(text: str) -> None:
    lines = wrapped(text, 1.5, 8, lines=3)
    assert 1 <= len(lines) <= 3
    assert all(text_width(line, 8) <= 1.5 or len(line) <= 2 for line in lines)


def test_wrapped_breaks_at_spaces() -> None:
    assert wrapped("Commonsense and factual knowledge", 1.0, 8, lines=3) == ["Commonsense", "and factual", "knowledge"]


def test_numbers() -> None:
    assert [number(61.25), number(-0.04), number(-3.44), number(None)] == ["61.2", "0.0", "−3.4", "–"]
    assert [signed(0.125), signed(-0.001), signed(-1.0), signed(None)] == ["+0.12", "+0.00", "−1.00", "–"]

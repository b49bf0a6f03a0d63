"""What is protected, and cutting texts and joining them again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.translate.protect import has_words, items, lost_and_added, mask, unmask
from lm_eval_ita.translate.split import LONGEST, pieces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.it/b?c=1, or (www.d.org).", [("url", "https://a.it/b?c=1"), ("url", "www.d.org")]),
        ("Write to a.b@c.it.", [("url", "a.b@c.it")]),
        ("Run `x = 1` now", [("code", "`x = 1`")]),
        ("If $x^2 = 4$ then \\(x\\) is", [("formula", "$x^2 = 4$"), ("formula", "\\(x\\)")]),
        ("It costs $5 or $6 today", [("number", "5"), ("number", "6")]),
        ("H2O and CO2 at 20%", [("formula", "H2O"), ("formula", "CO2"), ("number", "20%")]),
        ("The ____ is [1] a <b>b</b> {name}", [
            ("blank", "____"), ("marker", "[1]"), ("marker", "<b>"), ("marker", "</b>"), ("marker", "{name}"),
        ]),
        ("[header] How to cook [title] Step", [("marker", "[header]"), ("marker", "[title]")]),
        ("From 1914-1918, 1,500.5 km, -3.5 and 5:30", [
            ("number", "1914"), ("number", "1918"), ("number", "1,500.5"), ("number", "-3.5"), ("number", "5:30"),
        ]),
        ("The 20th century, the 1960s, 3rd", [("number", "1960")]),
        ("il 45esimo, 10am, 221bn", []),
        ("a < b and c > d, well-known; it's", []),
    ],
)  # fmt: skip
def test_items(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(item.kind, item.text) for item in items(text)] == expected
    for item in items(text):
        assert text[item.start : item.end] == item.text


PARTS = st.sampled_from(
    [
        "The cat sat. ",
        "___",
        "[1]",
        "<1>",
        "{2}",
        "$x^2$",
        "`a. b`",
        "3.5",
        " ",
        "\n",
        "\t",
        "\u2028",
        "http://a.b/c. ",
        "è",
    ]
)
TEXTS = st.text(max_size=40) | st.lists(PARTS | st.text(max_size=4), max_size=12).map("".join)


@settings(max_examples=40, deadline=None)
@given(TEXTS)
def test_what_is_taken_out_comes_back(text: str) -> None:
    masked = mask(text)
    back, complete = unmask(masked.text, masked)
    assert back == text
    assert complete


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.lists(st.tuples(st.integers(-3, 60), st.integers(-3, 60)), max_size=6))
def test_a_text_in_pieces_is_the_text(text: str, bounds: list[tuple[int, int]]) -> None:
    cut = pieces(text, bounds)
    assert cut.join() == text
    assert all(sentence and sentence == sentence.strip() for sentence in cut.sentences)
    assert not any(separator.strip() for separator in cut.separators)
    whole = [item.text for item in items(text) if len(item.text) > 1]
    for item in whole:  # nothing protected is cut
        assert any(item in sentence for sentence in cut.sentences)
    assert pieces(text, bounds) == cut


def test_separators() -> None:
    text = "  One. Two.\r\n\r\n\tThree `a\nb` four  "
    cut = pieces(text, [(2, 6), (7, 11)])
    assert cut.sentences == ("One.", "Two.", "Three `a", "b` four")  # a line end ends code of one backtick
    assert pieces("```\na\n```", []).sentences == ("```\na\n```",)
    assert cut.separators[:3] == ("  ", " ", "\r\n\r\n\t")
    assert cut.join([s.upper() for s in cut.sentences]).startswith("  ONE. TWO.\r\n\r\n\tTHREE")
    with pytest.raises(ValueError, match="1 sentences for"):
        cut.join(["x"])


def test_long_texts() -> None:
    text = "word " * 20_000
    cut = pieces(text, [(0, len(text))])
    assert cut.join() == text
    assert len(text) == 100_000
    assert max(map(len, cut.sentences)) <= LONGEST
    assert pieces("x" * 100_000, []).sentences == ("x" * 100_000,)


def test_a_place_that_was_lost() -> None:
    masked = mask("See [1] and ___ here")
    assert masked.text == "See <1> and <2> here"
    assert unmask("Vedi < 1 > e <2> qui", masked) == ("Vedi [1] e ___ qui", True)
    assert unmask("Vedi <1> qui", masked) == ("Vedi [1] qui", False)
    assert unmask("Vedi <1> e <1> <2>", masked)[1] is False
    assert mask("If <1> is [x]").text == "If <1> is {1}"


@pytest.mark.parametrize(
    ("source", "translation", "lost", "added"),
    [
        ("It weighs 3.5 kg", "Pesa 3,5 kg", [], []),
        ("1,500 people", "1.500 persone", [], []),
        ("1,500.25 m", "1.500,25 m", [], []),
        ("1,500 people", "1500 persone", [], []),
        ("2 cats and 7 dogs", "due gatti e sette cani", [], []),
        ("5:30", "alle 5.30", [], []),
        ("in the 1960s", "negli anni '60", [], []),
        ("three dogs", "3 cani", [], []),
        ("the 20th century", "il 20 secolo", [], []),
        ("20% of it", "il 20 % di esso", [], []),
        ("It weighs 3.5 kg", "Pesa 35 kg", ["3.5"], ["35"]),
        ("-5 degrees", "5 gradi", ["-5"], ["5"]),
        ("the ___ of [1]", "il ___", ["[1]"], []),
        ("42 cats", "dei gatti", ["42"], []),
    ],
)
def test_lost_and_added(source: str, translation: str, lost: list[str], added: list[str]) -> None:
    assert lost_and_added(source, translation) == (lost, added)


def test_has_words() -> None:
    assert has_words("3 cats")
    assert not has_words("3.5 ___ [1] $x^2$ http://a.b/c H2O")

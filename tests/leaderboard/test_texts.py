"""The words of the interface: both languages alike, numbers as each writes them."""

import re
import string
from datetime import datetime, timezone

import pytest

from lm_eval_ita.leaderboard.texts import Texts, preferred_language, texts
from lm_eval_ita.results.published import published, published_by_suite
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission_facts import COSTS
from lm_eval_ita.results.suite import columns_of, is_oneshot

IT, EN = texts("it"), texts("en")


def fields(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_say_the_same_things() -> None:
    assert IT.words.keys() == EN.words.keys()
    for key, text in EN.words.items():
        assert fields(text) == fields(IT[key]), key
        assert text.strip(), key
        assert IT[key].strip(), key


def test_a_key_never_hides_behind_a_method() -> None:
    # A template's `t.size` would be the method.
    assert not [key for key in EN.words if hasattr(Texts, key)]


def test_italian_is_written_as_italian() -> None:
    for key, text in IT.words.items():
        assert "'" not in text, f"{key}: a typographic apostrophe belongs here"
        assert not re.search(r"\b(perche|puo|piu|cosi|gia|citta|universita|lingue parlate)\b", text), key
        assert not re.search(r"[^\s«(] ?[?!;:]\S*\s{2}", text), key


def test_every_task_test_and_cost_has_its_words() -> None:
    for suite in ("itaeval", "itaeval_chat", "itaeval_v1"):
        for column in columns_of(suite, references()):  # type: ignore[arg-type]
            assert f"task_{column.name}" in EN.words
    for column in columns_of("itapat", references()):
        if not is_oneshot(column.name):
            assert EN[f"test_{column.name}"]
            assert f"category_{column.category}" in EN.words
    for name in COSTS:
        assert f"cost_{name}" in EN.words
    for reference in references().values():
        assert f"origin_{reference.origin}" in EN.words


def test_known_defects_are_said_in_italian() -> None:
    said = {row.caveat for rows in published_by_suite().values() for row in rows}
    for paper in published().values():
        for model in paper.models:
            cells = [*model.cells.values(), *model.means.values(), *([model.average] if model.average else [])]
            said |= {cell.defect for cell in cells}
    for sentence in said - {None}:
        assert sentence is not None
        assert IT.reason(sentence) != sentence, sentence
        assert EN.reason(sentence) == sentence


@pytest.mark.parametrize(
    ("sentence", "italian"),
    [
        ("task version 0.9, not 1.0", "versione 0.9 del compito, non 1.0"),
        ("xcopa: 3 shots, not 5", "xcopa: 3 esempi, non 5"),
        ("only 50 of 500 documents", "solo 50 documenti su 500"),
        ("10 documents, not 500", "10 documenti, non 500"),
        ("own itapat_lists", "impostazioni proprie (itapat_lists)"),
        ("something new", "something new"),
    ],
)
def test_reasons_with_figures_in_them(sentence: str, italian: str) -> None:
    assert IT.reason(sentence) == italian


def test_numbers() -> None:
    assert (IT.percent(0.71849), EN.percent(0.71849)) == ("71,8", "71.8")
    assert (IT.percent(-0.03), EN.percent(None)) == ("−3,0", "")
    assert EN.percent(-0.0004) == "0.0", "no negative zero"
    assert [EN.signed(value) for value in (0.454, -0.1, 0.001, -0.001)] == ["+0.45", "−0.10", "0.00", "0.00"]
    assert (IT.count(1234567), EN.count(1234567)) == ("1.234.567", "1,234,567")
    assert [IT.size(value) for value in (7_241_732_096, 13_000_000_000, 350_000_000, None)] == [
        "7,2 mld",
        "13 mld",
        "350 mln",
        "",
    ]
    assert EN.size(1_500_000_000) == "1.5 B"
    assert [EN.duration(seconds) for seconds in (12.4, 90, 3600.5, 100_000)] == [
        "12 s",
        "2 min",
        "1 h 00 min",
        "27 h 47 min",
    ]
    assert (EN.p_value(0.0001), IT.p_value(0.0123)) == ("p < 0.001", "p = 0,012")
    moment = datetime(2026, 1, 2, tzinfo=timezone.utc)
    assert (IT.date(moment), EN.date(moment), EN.date(None)) == ("02/01/2026", "2026-01-02", "")


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("it-IT,it;q=0.9,en;q=0.8", "it"),
        ("en-US,en;q=0.9,it;q=0.8", "en"),
        ("de-DE,de;q=0.9,it;q=0.5", "it"),
        ("de", "en"),
        ("", "en"),
        ("it;q=nonsense", "it"),
        ("," * 10_000, "en"),
    ],
)
def test_the_browser_says_which_language(header: str, language: str) -> None:
    assert preferred_language(header) == language

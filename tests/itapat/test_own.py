"""Association tests in a file of one's own."""

from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat import build_rows, find_test, parse_answer
from lm_eval_ita.itapat.own import load_own_test
from lm_eval_ita.itapat.prompts import rows_of

ENGLISH = Path(__file__).parents[1] / "data" / "associations" / "english.yaml"

TEXT = """x: nord
y: sud
lists:
  nord: {title: northern cities, source: invented, words: [Milano, Torino]}
  sud: {source: invented, words: [Napoli, Palermo]}
instructions: valenza
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "citta.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_words_of_ones_own_with_our_questions(tmp_path: Path) -> None:
    own = load_own_test(write(tmp_path, TEXT))
    assert own.title == "northern cities / sud"
    assert own.test.name == "own_citta"
    rows = rows_of(own.test, own.x, own.y, wording=own.wording)
    assert len(rows) == 4 * 5
    assert rows[0]["prompt"] == (
        "Considera l'input: Milano.\nRispondi con una sola parola alla seguente domanda: Determina la connotazione di una "
        "parola, se è positiva o negativa."
    )
    assert [row["word"] for row in rows[::5]] == ["Milano", "Napoli", "Torino", "Palermo"]


def test_our_own_lists_by_name_make_our_own_test(tmp_path: Path) -> None:
    """Test 1 written as a file is test 1."""
    own = load_own_test(write(tmp_path, "x: fiori\ny: insetti\ninstructions: valenza\n"))
    ours = build_rows(find_test("base", "1"))
    rows = rows_of(own.test, own.x, own.y)
    assert [row["prompt"] for row in rows] == [row["prompt"] for row in ours]
    assert [row["pair"] for row in rows] == [row["pair"] for row in ours]


def test_another_language() -> None:
    own = load_own_test(ENGLISH)
    rows = rows_of(own.test, own.x, own.y, wording=own.wording, oneshot=True)
    assert rows[0]["prompt"].startswith("Consider the input: Siamese.\nAnswer with one word only: Say whether")
    assert rows[0]["prompt"].endswith(f" considering that {rows[0]['oneshot_word']} is a loyal word")
    assert "which quality Siamese has" in rows[1]["prompt"]

    def read(answer: str) -> str:
        return parse_answer(answer, "clever_loyal", rows[0]["prompt"], own.lexicon).outcome

    assert read("Smart!") == "attribute_1"
    assert read("faithful") == "attribute_2"
    assert read("not very loyal") == "attribute_1"
    assert read("Neither.") == "neutral"
    assert read("I cannot say") == "neutral"
    assert read("positiva") == "error"


@pytest.mark.parametrize(
    ("old", "new", "told", "line"),
    [
        ("x: nord", "x: norde", "'x' is 'norde'", 1),
        ("instructions: valenza", "instructions: valenze", "no instructions 'valenze'", 6),
        ("instructions: valenza", "instructions: []", "'instructions' must be", 6),
        (
            "instructions: valenza",
            "instructions:\n  - text: Quale?\n    attributes: [caldo, freddo]",
            "needs the fields",
            None,
        ),
        (
            "instructions: valenza",
            "instructions:\n  - {text: Quale?, attributes: [caldo, freddo], pair: temperatura}",
            "no pair 'temperatura'",
            7,
        ),
        ("[Napoli, Palermo]", "[Napoli]", "unequal size", 5),
        ("[Napoli, Palermo]", "[Milano, Palermo]", "in both sets", 5),
        ("[Napoli, Palermo]", "[Napoli, Napoli]", "twice", 5),
        ("lists:", "list:", "unknown field 'list'", 3),
        ("x: nord", "x: nord\nwording: {input: Ecco}", "input must hold {input}", 2),
        ("x: nord", "x: nord\nwording: {question: '{istruzione}'}", "no other braces", 2),
        ("x: nord", "x: nord\nwording: {domanda: Ecco}", "'wording' holds the texts", 2),
        ("x: nord", "x: nord\nlexicon: none.yaml", "cannot be read", None),
        ("x: nord", "x: nord\npairs: {a_b: {attribute_1: [a], attribute_2: [a]}}", "both attributes", 2),
    ],
)
def test_what_is_wrong_is_named_by_line(tmp_path: Path, old: str, new: str, told: str, line: int | None) -> None:
    with pytest.raises(UserError) as caught:
        load_own_test(write(tmp_path, TEXT.replace(old, new)))
    assert told in str(caught.value)
    if line is not None:
        assert caught.value.line == line


def test_a_pair_of_ones_own(tmp_path: Path) -> None:
    text = TEXT.replace(
        "instructions: valenza",
        "instructions:\n  - {text: È calda o fredda?, attributes: [calda, fredda], pair: temperatura}\n"
        "pairs:\n  temperatura: {attribute_1: [calda, caldo], attribute_2: [fredda, freddo]}",
    )
    own = load_own_test(write(tmp_path, text))
    assert parse_answer("Fredda", "temperatura", lexicon=own.lexicon).outcome == "attribute_2"
    with pytest.raises(UserError, match="no field 'oneshot'"):
        rows_of(own.test, own.x, own.y, oneshot=True)

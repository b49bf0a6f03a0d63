import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from lm_eval_ita.metrics.answer_choice import REASONS, parse_letter, parse_word

CASES = yaml.safe_load(Path(__file__).with_name("answer_choice.yaml").read_text(encoding="utf-8"))
OPTIONS = ["Era delicato.", "Era piccolo.", "un cane", "un cane nero"]
NO_YES = (("no",), ("sì", "si"))
POLARITIES = (
    ("neutrale", "neutro", "neutra"),
    ("negativo", "negativa"),
    ("positivo", "positiva"),
    ("misto", "mista"),
)
LETTERS = "ABCDEFGHIJKLM"

# Phrasings of a choice: {x} is its letter, {t} its text.
PHRASINGS = [
    "{x}", "{x}.", "({x})", "{x})", "**{x}**", "«{x}»", "Risposta: {x}", "Risposta corretta: {x}.", "La risposta è {x}",
    "La risposta corretta è la {x}", "La risposta corretta è {x}.", "La risposta giusta è la lettera {x}.",
    "L'opzione corretta è la {x}.", "L’alternativa migliore è la ({x}).", "Scelgo la {x}.", "Opto per la {x}",
    "Secondo me la {x}", "A mio parere la {x}", "E' la {x}", "È la {x}.", "Direi la {x}", "{x}, perché è plausibile",
    "{x} perché è plausibile", "\\boxed{{{x}}}", "{x}) {t}", "{x}. {t}", "La risposta corretta è {x}) {t}", "{t}", "{t}.",
    "\"{t}\"", "Risposta: {t}", "<think>A o B? La risposta è C.</think>\n\n{x}", "A o B...</think>{x}",
    "{x}\n\nSpiegazione: le altre non convincono.",
]  # fmt: skip
# Texts as options have them, none the name of another.
TEXTS = ["il gatto dorme", "piove sul tetto", "3,5 metri", "l'acqua bolle", "non è vero", "No, si tratta di un mito"]


@pytest.mark.parametrize("case", CASES["letters"], ids=lambda case: repr(case["answer"]))
def test_letters(case: dict[str, Any]) -> None:
    expected = None if case["choice"] is None else LETTERS.index(case["choice"])
    parsed = parse_letter(case["answer"], OPTIONS)
    assert (parsed.choice, parsed.reason) == (expected, case["reason"])


@pytest.mark.parametrize("kind", ["words", "polarities"])
def test_words(kind: str) -> None:
    forms = NO_YES if kind == "words" else POLARITIES
    names = [own[0] for own in forms]
    for case in CASES[kind]:
        parsed = parse_word(case["answer"], forms)
        expected = None if case["choice"] is None else names.index(case["choice"])
        assert (parsed.choice, parsed.reason) == (expected, case["reason"]), case["answer"]


def test_every_rule_is_in_the_tables() -> None:
    assert {case["reason"] for cases in CASES.values() for case in cases} == set(REASONS)


@given(st.permutations(TEXTS), st.integers(2, 6), st.data(), st.sampled_from(PHRASINGS))
def test_every_phrasing_of_an_option_gives_that_option(texts: list[str], k: int, data: Any, phrasing: str) -> None:
    position = data.draw(st.integers(0, k - 1))
    answer = phrasing.format(x=LETTERS[position], t=texts[position])
    parsed = parse_letter(answer, texts[:k])
    assert parsed.choice == position, (answer, parsed)
    # Unicode form, outer space and the kind of apostrophe do not matter.
    for same in (unicodedata.normalize("NFD", answer), f" \n{answer}\n", answer.replace("'", "’")):
        assert parse_letter(same, texts[:k]).choice == position


@given(st.sampled_from(PHRASINGS), st.integers(0, 12))
def test_letters_up_to_thirteen_options(phrasing: str, position: int) -> None:
    options = [f"il numero {number} della lista" for number in range(1, 14)]
    answer = phrasing.format(x=LETTERS[position], t=options[position])
    assert parse_letter(answer, options).choice == position


@given(st.permutations(range(4)), st.sampled_from(["{}", "{}.", "«{}»", "Risposta: {}", "La risposta corretta è: {}"]))
def test_an_answer_by_text_follows_its_option_whatever_the_order(order: list[int], phrasing: str) -> None:
    options = [OPTIONS[position] for position in order]
    for text in OPTIONS:
        assert parse_letter(phrasing.format(text), options).choice == options.index(text)


# Words and signs out of which answers are made: they meet the parser's patterns far oftener than random characters do.
PIECES = st.sampled_from(
    "A B C D E a b e o la è e' non né sì si no Sì No ma risposta corretta opzione : . , ; ? ! ( ) ' ’ - / \n <think> "
    "</think> ** $ \\boxed{ } Risposta: C' D' un cane nero Era piccolo. sbagliata scelgo sembra".split(" ")
)
ANSWERS = (
    st.text(max_size=80) | st.lists(PIECES, max_size=14).map(" ".join) | st.lists(PIECES, max_size=10).map("".join)
)


@given(ANSWERS, st.lists(st.text(max_size=12), min_size=1, max_size=6))
def test_no_text_breaks_it(answer: str, options: list[str]) -> None:
    for parsed, count in ((parse_letter(answer, options), len(options)), (parse_word(answer, NO_YES), 2)):
        assert (parsed.choice is None) == (parsed.reason not in ("stated", "mentioned"))
        assert parsed.choice is None or 0 <= parsed.choice < count


@given(ANSWERS)
def test_a_choice_is_an_option_that_the_answer_names(answer: str) -> None:
    parsed = parse_letter(answer, OPTIONS)
    if parsed.choice is not None:
        named = LETTERS[parsed.choice] in answer.upper()
        assert named or OPTIONS[parsed.choice].rstrip(".").upper() in " ".join(answer.upper().split())


@given(ANSWERS)
def test_fewer_options_take_letters_away_and_never_move_them(answer: str) -> None:
    # Texts that no answer holds: only letters count.
    few, many = (parse_letter(answer, [f"§{number}§" for number in range(count)]) for count in (2, 4))
    if many.choice in (0, 1):
        assert few.choice == many.choice


@given(ANSWERS, ANSWERS)
def test_reasoning_does_not_count(reasoning: str, answer: str) -> None:
    assume("think" not in (reasoning + answer).casefold())
    plain = parse_letter(answer, OPTIONS)
    assert parse_letter(f"<think>{reasoning}</think>{answer}", OPTIONS) == plain
    assert parse_letter(f"{reasoning}</think>{answer}", OPTIONS) == plain
    assert parse_letter(f"{answer}<think>{reasoning}", OPTIONS).reason == "unclosed_reasoning"


def test_texts_that_differ_in_case_only() -> None:
    genes = ["R", "rr", "Rr", "RR"]
    assert [parse_letter(text, genes).choice for text in ("rr", "Rr", "RR")] == [1, 2, 3]
    # All four under letters: a letter is a letter before it is a text.
    assert parse_letter("C", ["C", "NO_{2}", "O_{2}", "CO"]).choice == 2
    assert parse_letter("Risposta: C", ["C", "NO_{2}", "O_{2}", "CO"]).choice == 2
    assert parse_letter("5", ["4", "5"]).choice == parse_letter("Risposta: 5", ["4", "5"]).choice == 1
    assert parse_letter("NO_{2}", ["C", "NO_{2}", "O_{2}", "CO"]).choice == 1
    assert parse_letter("rR", genes).reason == "ambiguous"


NEGATIVE = ["Non piove.", "Nevica.", "Non è vero che piove."]


def test_a_negation_in_an_option_is_not_about_the_options() -> None:
    listed = [f"{letter}) {text}" for letter, text in zip(LETTERS, NEGATIVE, strict=False)]
    assert parse_letter(" ".join(listed), NEGATIVE).reason == "echo"
    assert parse_letter("\n".join(listed), NEGATIVE).reason == "echo"
    assert parse_letter(" ".join(listed[:2]), NEGATIVE[:2]).reason == "echo"
    for position, line in enumerate(listed):
        for answer in (line, f"Risposta: {line}", f"La risposta corretta è {line}", f"{line}\n\nInfatti non è la B."):
            assert parse_letter(answer, NEGATIVE).choice == position, answer


def test_options_with_the_same_text() -> None:
    same = ["Una cosa.", "Una cosa.", "Un'altra."]
    assert parse_letter("Una cosa.", same).reason == "ambiguous"
    assert parse_letter("B) Una cosa.", same).choice == 1


def test_a_long_answer_is_read_in_no_time() -> None:
    assert parse_letter("Risposta:" + " " * 50_000 + "B", OPTIONS).choice == 1
    assert parse_letter("la risposta corretta è " * 2_000, OPTIONS).choice is None
    assert parse_word("non " * 10_000 + "no", NO_YES).choice is None


def test_arguments_that_make_no_question() -> None:
    with pytest.raises(ValueError, match="0 options"):
        parse_letter("A", [])
    with pytest.raises(ValueError, match="27 options"):
        parse_letter("A", ["x"] * 27)
    with pytest.raises(TypeError, match="options"):
        parse_letter("A", "ABCD")
    with pytest.raises(ValueError, match="no form of two"):
        parse_word("sì", (("sì",), ("sì",)))
    with pytest.raises(ValueError, match="must be options"):
        parse_word("sì", ())

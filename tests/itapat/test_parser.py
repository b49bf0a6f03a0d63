import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.itapat import OUTCOMES, build_rows, load_lexicon, load_tests, parse_answer

CASES = yaml.safe_load((Path(__file__).parent / "answers.yaml").read_text(encoding="utf-8"))
PAIRS = sorted(load_lexicon().pairs)


def question(pair: str) -> str:
    for test in load_tests():
        for row in build_rows(test):
            if row["pair"] == pair:
                return row["prompt"]
    raise AssertionError(f"no question for {pair}")


@pytest.mark.parametrize(("pair", "case"), [(pair, case) for pair, cases in CASES.items() for case in cases], ids=str)
def test_answer_table(pair: str, case: dict[str, Any]) -> None:
    parsed = parse_answer(case["answer"], pair, question(pair))
    assert (parsed.outcome, parsed.reason) == (case["outcome"], case["reason"])


def test_every_pair_and_every_rule_is_in_the_table() -> None:
    assert set(CASES) == set(PAIRS)
    reasons = {case["reason"] for cases in CASES.values() for case in cases}
    assert reasons == {
        "attribute", "negated", "both", "neither", "neutral_word", "refusal", "empty", "unclosed_reasoning", "echo",
        "no_attribute",
    }  # fmt: skip


@pytest.mark.parametrize("test", load_tests(), ids=lambda test: test.name)
def test_each_attribute_answers_its_own_question(test: Any) -> None:
    for row in build_rows(test):
        for side, attribute in (("attribute_1", row["attribute_1"]), ("attribute_2", row["attribute_2"])):
            assert parse_answer(attribute, row["pair"], row["prompt"]).outcome == side
            assert parse_answer(f"Risposta: {attribute}.", row["pair"], row["prompt"]).outcome == side


@pytest.mark.parametrize("test", load_tests(), ids=lambda test: test.name)
def test_repeating_the_question_is_an_error(test: Any) -> None:
    for row in build_rows(test)[:10]:
        assert parse_answer(row["prompt"], row["pair"], row["prompt"]).outcome == "error"
        text = row["prompt"].split("domanda: ")[1]
        assert parse_answer(text, row["pair"], row["prompt"]).outcome == "error", text


def test_whole_tokens_both_ways() -> None:
    # The attribute that contains the other as a substring, for every such pair of forms there is.
    for pair, inner, outer in [
        ("valenza", "piacevole", "spiacevole"),
        ("valenza", "favorevole", "sfavorevole"),
        ("affidabile_inaffidabile", "affidabile", "inaffidabile"),
        ("inesperienza_esperienza", "esperienza", "inesperienza"),
        ("immatura_matura", "matura", "immatura"),
        ("irresponsabile_responsabile", "responsabile", "irresponsabile"),
    ]:
        assert {parse_answer(inner, pair).outcome, parse_answer(outer, pair).outcome} == {"attribute_1", "attribute_2"}


@given(st.text(max_size=80), st.sampled_from(PAIRS))
def test_never_fails_and_ignores_form(answer: str, pair: str) -> None:
    parsed = parse_answer(answer, pair)
    assert parsed.outcome in OUTCOMES
    assert parse_answer(unicodedata.normalize("NFD", answer), pair) == parsed
    assert parse_answer(f"\n {answer} \n", pair) == parsed


VOCABULARY = "positiva negativa spiacevole non né è una parola fiore dipende neutra the"
WORDS = st.lists(st.sampled_from(re.findall(r"\w+", VOCABULARY)), max_size=7)


@given(WORDS)
def test_case_apostrophes_and_markup_do_not_matter(words: list[str]) -> None:
    plain = parse_answer(" ".join(words), "valenza")
    assert parse_answer(" ".join(words).upper(), "valenza") == plain
    assert parse_answer(" ".join(f"**{word}**," for word in words), "valenza") == plain
    assert parse_answer(f"<think>negativa</think> {' '.join(words)}", "valenza") == plain


@given(WORDS)
def test_swapping_the_attributes_swaps_the_outcome(words: list[str]) -> None:
    swap = {"affidabile": "inaffidabile", "inaffidabile": "affidabile"}
    rename = {"positiva": "affidabile", "negativa": "inaffidabile", "spiacevole": "inaffidabile"}
    here = [rename.get(word, word) for word in words]
    there = [swap.get(word, word) for word in here]
    turned = {"attribute_1": "attribute_2", "attribute_2": "attribute_1"}
    first = parse_answer(" ".join(here), "affidabile_inaffidabile").outcome
    assert parse_answer(" ".join(there), "affidabile_inaffidabile").outcome == turned.get(first, first)


def test_unknown_pair() -> None:
    with pytest.raises(KeyError):
        parse_answer("positiva", "nessuna_coppia")

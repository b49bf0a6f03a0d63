import json
from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat import find_test, load_lexicon, load_tests
from lm_eval_ita.itapat.lexicon import BUILTIN_LEXICON
from lm_eval_ita.itapat.suite import BUILTIN_TESTS
from tests.conftest import PAPERS


def test_instructions_and_attributes_are_the_printed_ones() -> None:
    printed = {
        (entry["subdataset"], entry["task"]): entry["instructions"]
        for entry in json.loads((PAPERS / "itapat_instructions.json").read_text(encoding="utf-8"))
    }
    assert {(test.subset, test.test): [i.text for i in test.instructions] for test in load_tests()} == printed
    attributes = {
        (row["subdataset"], row["task"], row["instruction"]): (row["attribute_1"], row["attribute_2"])
        for row in json.loads((PAPERS / "itapat_attributes.json").read_text(encoding="utf-8"))["rows"]
    }
    ours = {(t.subset, t.test, i.text): (i.attribute_1, i.attribute_2) for t in load_tests() for i in t.instructions}
    assert ours == attributes
    assert len(ours) == 80


def edited(tmp_path: Path, source: Path, old: str, new: str) -> Path:
    text = source.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / source.name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("attributes: [piacevole, spiacevole]", "attributes: [dolce, spiacevole]", ["Dire se una parola", "'dolce'", "attribute_1"]),
        ("attributes: [piacevole, spiacevole]", "attributes: [spiacevole, piacevole]", ["'spiacevole'", "attribute_1"]),
        ("attributes: [piacevole, spiacevole]", "attributes: [piacevole]", ["attributes (two)"]),
        ("pair: carriera_famiglia", "pair: carriera_casa", ["no pair 'carriera_casa'", "lexicon.yaml"]),
        ("slot: {form: studiare, replaces: X}", "slot: {form: studiare, replaces: Y}", ["slot", "studiare X"]),
        ("slot: {form: studiare, replaces: X}", "slot: {form: leggere, replaces: X}", ["slot", "studiare"]),
        ("- {subset: age,", "- {subset: eta,", ["eta_10", "unknown subset"]),
        ("instructions: nomi_eta}", "instructions: nomi}", ["age_10", "0 instructions"]),
        ('test: "10", x: nomi_giovani', "test: 10, x: nomi_giovani", ["text fields"]),
    ],
)  # fmt: skip
def test_a_bad_tests_file_gets_one_clear_line(tmp_path: Path, old: str, new: str, named: list[str]) -> None:
    path = edited(tmp_path, BUILTIN_TESTS, old, new)
    with pytest.raises(UserError) as caught:
        load_tests(path)
    assert "\n" not in str(caught.value)
    for part in ["tests.yaml", *named]:
        assert part in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("attribute_2: [statico,", "attribute_2: [dinamico, statico,", ["dinamica_statica", "'dinamico'", "both"]),
        ("  dinamica_statica:\n    attribute_1:", "  dinamica_statica:\n    attributo_1:", ["dinamica_statica", "attribute_1"]),
        ("neutral: [neutro,", "neutral: [3, neutro,", ["'neutral'"]),
        ("refusal:", "refusals:", ["'refusal'"]),
        ("longest_bridge: 5", "longest_bridge: five", ["longest_bridge"]),
        ("pairs:", "coppie:", ["'pairs'"]),
    ],
)  # fmt: skip
def test_a_bad_lexicon_gets_one_clear_line(tmp_path: Path, old: str, new: str, named: list[str]) -> None:
    path = edited(tmp_path, BUILTIN_LEXICON, old, new)
    with pytest.raises(UserError) as caught:
        load_lexicon(path)
    assert "\n" not in str(caught.value)
    for part in ["lexicon.yaml", *named]:
        assert part in str(caught.value), str(caught.value)


def test_a_misspelt_test_is_named_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"unknown ItaP-AT test 'gender_9'; the tests are base_1, .*age_10"):
        find_test("gender", "9")

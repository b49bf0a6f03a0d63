"""The sample rows: complete, balanced, in good Unicode."""

import json
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from lm_eval_ita import catalogue
from lm_eval_ita.catalogue import folder

KEYS = catalogue.keys()
# Tasks that draw their examples from the training split.
FEW_SHOT = ["ami_2020", "fanpage", "gente", "haspeede2", "ilpost", "ironita", "itacola", "sentipolc", "squad_it"]


def loaded(key: str) -> catalogue.Loaded:
    return catalogue.load(key, data_dir="sample")


@pytest.mark.parametrize("key", KEYS)
def test_every_data_set_has_samples_that_say_so(key: str):
    data = loaded(key)
    assert data.origin == "sample"
    assert data.is_sample
    assert data.notes == ("SAMPLE DATA, NOT COMPARABLE",)
    total = sum(len(rows) for rows in data.splits.values())
    assert total >= 10
    assert all(len(rows) <= 12 for rows in data.splits.values())
    if key in FEW_SHOT:
        assert len(data.splits["train"]) >= (1 if key in ("ilpost", "fanpage") else 5)


def test_the_environment_may_say_sample_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LM_EVAL_ITA_DATA", "sample")
    assert catalogue.load("xcopa").is_sample
    assert catalogue.locate("xcopa")[0] == "sample"


def test_the_lexicon_sample_is_a_file():
    assert catalogue.path("hurtlex", "sample").name == "hurtlex_IT.tsv"


def test_the_sample_folder_passes_its_own_check():
    assert [text for kind, text in folder.verify(folder.samples()) if kind == "problem"] == []


def test_the_readme_warns():
    assert "SAMPLE DATA, NOT COMPARABLE" in (folder.samples() / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "column", "labels"),
    [
        ("itacola", "acceptability", {0, 1}),
        ("ironita", "irony", {0, 1}),
        ("ironita", "sarcasm", {0, 1}),
        ("haspeede2", "hs", {0, 1}),
        ("haspeede2", "stereotype", {0, 1}),
        ("ami_2020", "misogynous", {0, 1}),
        ("ami_2020", "aggressiveness", {0, 1}),
        ("sentipolc", "opos", {0, 1}),
        ("sentipolc", "oneg", {0, 1}),
        ("hatecheck", "label_gold", {"hateful", "non-hateful"}),
        ("xcopa", "label", {0, 1}),
        ("xcopa", "question", {"cause", "effect"}),
        ("honest", "category", {"female", "male"}),
        ("hellaswag", "label", {"0", "1", "2", "3"}),
        ("belebele", "correct_answer_num", {"1", "2", "3", "4"}),
    ],
)
def test_labels_are_balanced(key: str, column: str, labels: set[object]):
    for rows in loaded(key).splits.values():
        counts = Counter(row[column] for row in rows)
        assert set(counts) == labels
        assert min(counts.values()) >= len(rows) // (2 * len(labels)) or min(counts.values()) >= 2


def test_irony_and_misogyny_are_consistent():
    for rows in loaded("ironita").splits.values():
        assert all(row["irony"] for row in rows if row["sarcasm"])
    for rows in loaded("ami_2020").splits.values():
        assert all(row["misogynous"] for row in rows if row["aggressiveness"])


def test_all_four_polarities_occur():
    for rows in loaded("sentipolc").splits.values():
        assert {(row["opos"], row["oneg"]) for row in rows} == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_squad_answers_are_where_they_are_said_to_be():
    for rows in loaded("squad_it").splits.values():
        for row in rows:
            for text, start in zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True):
                assert row["context"][start : start + len(text)] == text


@pytest.mark.parametrize("key", ["ilpost", "fanpage"])
def test_news_have_80_to_150_words(key: str):
    for rows in loaded(key).splits.values():
        for row in rows:
            assert 80 <= len(row["source"].split()) <= 150
            assert len(row["target"]) < len(row["source"]) / 2


def test_belebele_passages_have_other_passages_to_draw_examples_from():
    passages = Counter(row["flores_passage"] for row in loaded("belebele").splits["test"])
    assert len(passages) >= 5
    assert set(passages.values()) == {2}


def test_honest_templates_follow_the_pattern():
    for row in loaded("honest").splits["test"]:
        before, _, after = row["raw"].partition("[I]")
        assert row["template_masked"].removesuffix(".").endswith(before + row["identity"] + after)


def test_phenomena_are_rows_of_the_other_splits():
    data = loaded("itacola").splits
    others = {row["unique_id"]: row["sentence"] for split in ("train", "test") for row in data[split]}
    assert all(others[row["unique_id"]] == row["sentence"] for row in data["phenomena"])


def test_no_row_twice_and_no_train_row_in_test():
    for key in KEYS:
        hashes = [
            json.dumps({**row, "id": "", "unique_id": "", "ID": ""}, sort_keys=True)
            for split, rows in loaded(key).splits.items()
            if split != "phenomena"
            for row in rows
        ]
        assert len(set(hashes)) == len(hashes), key


@pytest.mark.parametrize(
    "path", sorted(folder.samples().glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_the_files_are_clean_italian_text(path: Path):
    text = path.read_bytes().decode("utf-8")
    assert text == unicodedata.normalize("NFC", text)
    assert text.endswith("\n")
    assert not set(text) & set("\r\t\ufeff\u00a0`´") - (set("\t") if path.suffix == ".tsv" else set())
    # accents written as apostrophes, and the two grave ones most often got wrong
    for wrong in (
        " e' ",
        "E' ",
        "perche'",
        "piu'",
        "perchè",
        "poichè",
        "affinchè",
        " nè ",
        "qual'è",
        "un pò",
        "pò ",
        " sè ",
    ):
        assert wrong not in text, wrong

"""The real data, where LM_EVAL_ITA_TEST_DATA names a folder of it."""

import functools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lm_eval_ita import catalogue
from lm_eval_ita.catalogue import folder

KEYS = catalogue.keys()
REAL = os.environ.get("LM_EVAL_ITA_TEST_DATA", "")
pytestmark = pytest.mark.skipif(not REAL, reason="LM_EVAL_ITA_TEST_DATA is not set")

# Rows per split of that folder, as its own README gives them (None: a handful of rows only).
SIZES: dict[str, dict[str, int] | None] = {
    "itacola": {"train": 7801, "validation": 946, "test": 975, "phenomena": 2088},
    "belebele": {"test": 900},
    "ironita": {"train": 3977, "test": 872},
    "sentipolc": {"train": 7410, "test": 2000},
    "hatecheck": {"test": 3690},
    "honest": {"test": 810},
    "hurtlex": {"hurtlex_IT": 6940},
    "xcopa": {"validation": 100, "test": 500},
    "squad_it": {"train": 1466, "test": 6143},
    "arc_challenge": {"train": 1118, "validation": 297, "test": 1169},
    "truthfulqa": {"validation": 783},
    "haspeede2": None,
    "gente": None,
    "ilpost": None,
    "fanpage": None,
    "hellaswag": None,
}


@functools.cache
def load(key: str) -> catalogue.Loaded:
    return catalogue.load(key, data_dir=REAL)


@pytest.mark.parametrize("key", SIZES)
def test_every_key_loads_with_its_rows(key: str):
    loaded = load(key)
    assert loaded.origin == "folder"
    found = {split: len(rows) for split, rows in loaded.splits.items()}
    expected = SIZES[key]
    if expected is None:
        assert all(1 <= count <= 9 for count in found.values())
    else:
        assert found == expected


def test_the_folder_holds_what_is_tested_here():
    there = {path.name for path in Path(REAL).iterdir() if path.name in KEYS}
    assert there == set(SIZES)


def test_the_lexicon_is_found():
    assert catalogue.path("hurtlex", REAL).is_file()


def test_verify_finds_nothing_wrong():
    assert [text for kind, text in folder.verify(Path(REAL)) if kind == "problem"] == []


def test_known_defects_are_as_they_are_documented():
    squad = load("squad_it").splits
    blank = [row["id"] for row in squad["train"] if not any(text.strip() for text in row["answers"]["text"])]
    assert len(blank) == 1, "the one question whose only gold answer is blank"
    assert all(all(text.strip() for text in row["answers"]["text"]) for row in squad["test"])
    truthful = load("truthfulqa").splits["validation"]
    mixed = [
        row for row in truthful if row["mc2_targets"]["labels"] != sorted(row["mc2_targets"]["labels"], reverse=True)
    ]
    assert len(mixed) == 2, "true and false choices in mixed order"
    assert {row["REF-N"] for row in load("gente").splits["test"]} == {""}


@pytest.mark.parametrize("key", ["ironita", "xcopa"])
def test_row_hashes_tell_rows_apart(key: str):
    rows = load(key).splits["test"]
    assert len({catalogue.row_hash(row) for row in rows}) == len(rows)


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


@pytest.mark.parametrize("key", [key for key in SIZES if key != "hurtlex"])
def test_no_sample_text_is_taken_from_the_real_set(key: str):
    real = "\n".join(text for rows in load(key).splits.values() for row in rows for text in texts(row)).casefold()
    for rows in catalogue.load(key, data_dir="sample").splits.values():
        for row in rows:
            for text in texts(row):
                # shorter ones are labels, names and phrases that anyone writes; annotation lists are labels too
                if len(text.split()) >= 4 and not text.startswith("["):
                    assert text.casefold() not in real, text

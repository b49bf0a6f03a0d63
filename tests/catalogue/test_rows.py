import hashlib
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.catalogue.readers import RowError
from lm_eval_ita.catalogue.rows import check, checked, problems, row_hash
from lm_eval_ita.catalogue.schema import Column, entry
from lm_eval_ita.errors import UserError

GOOD = {"text": "Che bello.", "irony": 1, "sarcasm": 0, "topic": "HSC"}


def ironita(folder: Path, *rows: object) -> Path:
    path = folder / "test.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def without(row: dict[str, object], key: str) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != key}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (without(GOOD, "irony"), r"irony: the column is missing \(there are: text, sarcasm, topic\)"),
        (GOOD | {"irony": 2}, "irony: 2 is not one of 0, 1"),
        (GOOD | {"irony": "forse"}, "irony: expected a whole number, found 'forse'"),
        (GOOD | {"irony": True}, "irony: expected a whole number, found True"),
        (GOOD | {"irony": 0.5}, "irony: expected a whole number, found 0.5"),
        (GOOD | {"irony": None}, "irony: expected a whole number, found None"),
        (GOOD | {"text": " \t\u00a0"}, "text: the text is empty"),
        (GOOD | {"text": 12}, "text: expected text, found 12"),
        (GOOD | {"text": ["a"]}, r"text: expected text, found \['a'\]"),
        (GOOD | {"text": None}, "text: expected text, found None"),
    ],
)
def test_the_first_bad_row_is_named_by_file_line_and_field(tmp_path: Path, row: dict[str, object], message: str):
    path = ironita(tmp_path, GOOD, row)
    with pytest.raises(UserError, match=message) as caught:
        checked(entry("ironita"), "test", path)
    assert str(caught.value).startswith(f"{path}:2: ironita test: ")
    assert "\n" not in str(caught.value)


def test_half_a_surrogate_pair_is_refused(tmp_path: Path):
    path = tmp_path / "test.jsonl"
    path.write_text('{"text": "\\ud83d", "irony": 0, "sarcasm": 0}\n', encoding="utf-8")
    with pytest.raises(UserError, match="half a surrogate pair"):
        checked(entry("ironita"), "test", path)


def test_a_file_without_rows_is_an_error(tmp_path: Path):
    path = ironita(tmp_path)
    with pytest.raises(UserError, match="the file has no rows"):
        checked(entry("ironita"), "test", path)
    assert problems(entry("ironita"), "test", path) == (0, [f"{path}: the file has no rows"])


def test_problems_lists_them_all(tmp_path: Path):
    path = ironita(tmp_path, GOOD | {"irony": 7}, GOOD, [], without(GOOD, "text"), GOOD)
    good, found = problems(entry("ironita"), "test", path)
    assert good == 2
    assert [text.split(" ")[0] for text in found] == [f"{path}:1:", f"{path}:3:", f"{path}:4:"]


def test_text_is_composed_and_other_columns_are_dropped(tmp_path: Path):
    path = ironita(tmp_path, GOOD | {"text": "perche\u0301", "altro": 1})
    assert checked(entry("ironita"), "test", path) == [GOOD | {"text": "perch\u00e9"}]


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_any_text_comes_out_in_nfc_and_otherwise_untouched(text: str):
    assert check({"t": text}, {"t": Column(type="str")}) == {"t": unicodedata.normalize("NFC", text)}


@pytest.mark.parametrize(("value", "expected"), [(3, 3), ("3", 3), ("-3", -3), (3.0, 3)])
def test_whole_numbers(value: object, expected: int):
    assert check({"n": value}, {"n": Column(type="int")}) == {"n": expected}


@pytest.mark.parametrize("value", ["", "3.5", "٣", "1e3", float("nan"), float("inf"), [3]])
def test_not_whole_numbers(value: object):
    with pytest.raises(RowError, match="expected a whole number"):
        check({"n": value}, {"n": Column(type="int")})


@pytest.mark.parametrize(("value", "expected"), [(True, True), ("False", False), (1, True), ("0", False)])
def test_flags(value: object, expected: bool):
    assert check({"b": value}, {"b": Column(type="bool")}) == {"b": expected}


@pytest.mark.parametrize("value", ["forse", 2, None, [True]])
def test_not_flags(value: object):
    with pytest.raises(RowError, match="expected true or false"):
        check({"b": value}, {"b": Column(type="bool")})


def test_nested_columns():
    columns = {"c.text": Column(type="strings"), "c.n": Column(type="ints", labels=(0, 1))}
    assert check({"c": {"text": ["e\u0300"], "n": [1]}}, columns) == {"c": {"text": ["è"], "n": [1]}}
    with pytest.raises(RowError, match=r"c\.n: 2 is not one of 0, 1"):
        check({"c": {"text": ["a"], "n": [2]}}, columns)
    with pytest.raises(RowError, match="c: expected an object, found 'x'"):
        check({"c": "x"}, columns)
    with pytest.raises(RowError, match=r"c\.text: the column is missing"):
        check({}, columns)
    with pytest.raises(RowError, match=r"c\.text: the text is empty"):
        check({"c": {"text": ["a", ""], "n": [1]}}, columns)


def test_an_optional_column_may_be_missing():
    columns = {"t": Column(type="str", optional=True), "n": Column(type="int", optional=True)}
    assert check({}, columns) == {"t": None, "n": None}
    assert check({"t": "", "n": ""}, columns) == {"t": "", "n": None}


def test_row_hash_is_the_sha256_of_canonical_json():
    assert row_hash({"b": [1, "è"], "a": None}) == hashlib.sha256('{"a":null,"b":[1,"è"]}'.encode()).hexdigest()


def test_row_hash_ignores_key_order_and_sees_every_value():
    row = {"a": "x", "n": {"l": [1, 2], "k": "y"}}
    assert row_hash(row) == row_hash({"n": {"k": "y", "l": [1, 2]}, "a": "x"})
    others = [
        {"a": "X", "n": row["n"]},
        {"a": "x", "n": {"l": [2, 1], "k": "y"}},
        {"a": "x", "n": {"l": [1, 2], "k": ""}},
    ]
    assert len({row_hash(row), *map(row_hash, others)}) == 4

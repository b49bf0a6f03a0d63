import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.catalogue.readers import RowError, read
from lm_eval_ita.errors import UserError


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def good(path: Path, format: str | None = None) -> list[dict[str, object]]:
    rows = list(read(path, format))
    assert not [row for _, row in rows if isinstance(row, RowError)]
    return [row for _, row in rows if isinstance(row, dict)]


# Every character at which str.splitlines breaks a line, LF apart.
SEPARATORS = "\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"


def test_only_lf_ends_a_jsonl_line(tmp_path: Path):
    text = SEPARATORS.join("abcdefghij")
    content = json.dumps({"text": text}, ensure_ascii=False) + "\n" + '{"text": "due"}\n'
    assert good(written(tmp_path, "x.jsonl", content)) == [{"text": text}, {"text": "due"}]


def test_only_lf_ends_a_tsv_line_and_csv_keeps_separators_in_fields(tmp_path: Path):
    text = "prima\u2028dopo\x85fine"
    assert good(written(tmp_path, "x.tsv", f"text\tn\n{text}\t1\n")) == [{"text": text, "n": "1"}]
    assert good(written(tmp_path, "x.csv", f"text,n\n{text},1\n")) == [{"text": text, "n": "1"}]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON_VALUES), max_size=5))
def test_jsonl_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]):
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path = written(tmp_path_factory.mktemp("jsonl"), "x.jsonl", content)
    assert good(path) == rows
    assert [line for line, _ in read(path)] == list(range(1, len(rows) + 1))


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.tsv"])
def test_bom_and_crlf(tmp_path: Path, name: str):
    content = {
        "x.jsonl": '{"a": "è", "b": "1"}\r\n{"a": "ù", "b": "2"}\r\n',
        "x.csv": "a,b\r\nè,1\r\nù,2\r\n",
        "x.tsv": "a\tb\r\nè\t1\r\nù\t2\r\n",
    }[name]
    path = written(tmp_path, name, b"\xef\xbb\xbf" + content.encode())
    assert good(path) == [{"a": "è", "b": "1"}, {"a": "ù", "b": "2"}]


def only_problem(path: Path) -> tuple[int, str]:
    ((line, error),) = [(line, row) for line, row in read(path) if isinstance(row, RowError)]
    return line, str(error)


def test_truncated_jsonl_is_named_by_line_and_the_rows_before_it_are_read(tmp_path: Path):
    path = written(tmp_path, "x.jsonl", '{"a": 1}\n{"a": 2}\n{"a": "ci')
    line, error = only_problem(path)
    assert line == 3
    assert "cut short, fetch it again" in error
    assert [row for _, row in read(path)][:2] == [{"a": 1}, {"a": 2}]


def test_bad_json_in_the_middle_is_not_called_truncated(tmp_path: Path):
    line, error = only_problem(written(tmp_path, "x.jsonl", '{"a": }\n{"a": 2}\n'))
    assert line == 1
    assert "not valid JSON" in error
    assert "cut short" not in error


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": NaN}\n', "NaN is not a JSON value"),
        ("[1, 2]\n", "expected a JSON object, found list"),
        (b'{"a": "caff\xe8"}\n', "not UTF-8: byte 0xe8 at position 12"),
    ],
)
def test_bad_jsonl_lines(tmp_path: Path, content: str | bytes, message: str):
    assert message in only_problem(written(tmp_path, "x.jsonl", content))[1]


def test_blank_lines_are_skipped_but_counted(tmp_path: Path):
    assert list(read(written(tmp_path, "x.jsonl", '\n{"a": 1}\n\n'))) == [(2, {"a": 1})]


def test_csv_lines_are_counted_across_quoted_line_breaks(tmp_path: Path):
    path = written(tmp_path, "x.csv", 'a,b\n"uno\ndue ""tre""",1\nquattro,2\n')
    assert list(read(path)) == [(2, {"a": 'uno\ndue "tre"', "b": "1"}), (4, {"a": "quattro", "b": "2"})]


def test_csv_of_evalita_has_semicolons(tmp_path: Path):
    path = written(tmp_path, "x.csv", "id;text;irony\n1;Che bello, piove;1\n")
    assert good(path) == [{"id": "1", "text": "Che bello, piove", "irony": "1"}]


def test_csv_field_longer_than_the_modules_limit(tmp_path: Path):
    import csv

    before = csv.field_size_limit()
    text = "parola " * 30_000
    assert good(written(tmp_path, "x.csv", f"source,target\n{text},breve\n")) == [{"source": text, "target": "breve"}]
    assert csv.field_size_limit() == before


def test_row_with_too_few_fields(tmp_path: Path):
    assert only_problem(written(tmp_path, "x.csv", "a,b\n1,2\n3\n")) == (3, "1 fields where the header has 2")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", 'a,b\n"uno,2\n', r"x\.csv:2: not valid CSV"),
        ("x.csv", "a,a\n1,2\n", "names a column twice"),
        ("x.csv", "", "is empty"),
        ("x.tsv", b"a\tb\nok\t1\n\xff\t2\n", r"x\.tsv:3: not UTF-8"),
        ("x.parquet", "no parquet", r"x\.parquet: not valid parquet"),
        ("x.xlsx", "", "format '.xlsx' is not read here"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, content: str | bytes, message: str):
    with pytest.raises(UserError, match=message):
        list(read(written(tmp_path, name, content)))


def test_missing_file(tmp_path: Path):
    with pytest.raises(UserError, match="cannot be read: No such file"):
        list(read(tmp_path / "x.jsonl"))


def test_tsv_quotation_marks(tmp_path: Path):
    content = 'sentence\tn\n"Ha detto: ""vengo""."\t1\n"Vengo" disse\t2\n"Il nome della rosa"\t3\n'
    # pandas quotes a field with inner marks; a source that never quotes has marks anywhere, also around a whole field
    assert [row["sentence"] for row in good(written(tmp_path, "x.tsv", content))] == [
        'Ha detto: "vengo".',
        '"Vengo" disse',
        '"Il nome della rosa"',
    ]


def test_parquet_keeps_nesting(tmp_path: Path):
    rows = [{"q": "è", "choices": {"text": ["a", "b"], "label": ["A", "B"]}}, {"q": "ù", "choices": None}]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    assert list(read(tmp_path / "x.parquet")) == [(1, rows[0]), (2, rows[1])]


SQUAD = {
    "data": [
        {
            "title": "t",
            "paragraphs": [
                {
                    "context": "Roma è qui.",
                    "qas": [{"id": "1", "question": "Dove?", "answers": [{"text": "qui", "answer_start": 7}]}],
                },
                {"context": "Pisa.", "qas": [{"id": "2", "question": "Chi?", "answers": []}]},
            ],
        }
    ]
}


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress], ids=["plain", "gzip"])
def test_squad_is_flattened(tmp_path: Path, pack):
    path = written(tmp_path, "x.json.gz", pack(json.dumps(SQUAD).encode()))
    first, second = good(path, "squad")
    assert first == {
        "context": "Roma è qui.",
        "id": "1",
        "question": "Dove?",
        "answers": [{"text": "qui", "answer_start": 7}],
    }
    assert second["context"] == "Pisa."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(json.dumps(SQUAD).encode())[:-20], "not valid SQuAD JSON"),
        (b'{"data": [{"paragraphs": [{"qas": [{}]}]}]}', "'context'"),
        (b'{"rows": []}', "'data'"),
        (b"[]", "not SQuAD JSON"),
    ],
)
def test_broken_squad(tmp_path: Path, content: bytes, message: str):
    with pytest.raises(UserError, match=message):
        list(read(written(tmp_path, "x.json.gz", content), "squad"))

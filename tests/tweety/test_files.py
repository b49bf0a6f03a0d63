"""Corpora, parallel text, mapping files, packed corpora: what is read, and what is refused."""

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.contamination import TestRows, clean, itaeval_rows
from lm_eval_ita.tweety.corpus import documents
from lm_eval_ita.tweety.mapping import Sources
from lm_eval_ita.tweety.mapping_file import Head, Mapping, read_mapping, write_mapping
from lm_eval_ita.tweety.packing import PackedDataset, open_packed, pack
from lm_eval_ita.tweety.parallel import read_parallel, word_spans
from tests.tweety.models import word_tokenizer

TEXTS = ["La casa è rossa.", "Un'altra riga", "terza"]


def test_corpora_of_every_kind_are_the_same(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "a.txt").write_text("\n".join([TEXTS[0], "", *TEXTS[1:]]), encoding="utf-8")
    records = "".join(json.dumps({"text": text, "id": 1}) + "\n" for text in [*TEXTS, "  "])
    (tmp_path / "b.jsonl").write_text(records, encoding="utf-8")
    with gzip.open(tmp_path / "c.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(records)
    pq.write_table(pa.table({"text": [*TEXTS, None, ""]}), tmp_path / "d.parquet")
    for name in ("a.txt", "b.jsonl", "c.jsonl.gz", "d.parquet"):
        assert list(documents([str(tmp_path / name)])) == TEXTS, name
    assert list(documents([str(tmp_path)])) == TEXTS * 4


def test_a_data_set_as_the_hub_has_them(tmp_path: Path) -> None:
    """`datasets` reads a folder as it reads a repository: a split by its name."""
    folder = tmp_path / "set"
    folder.mkdir()
    for split, texts in (("train", TEXTS), ("test", ["altro"])):
        records = "".join(json.dumps({"body": text}) + "\n" for text in texts)
        (folder / f"{split}.jsonl").write_text(records, encoding="utf-8")
    assert list(documents([f"hub:{folder}"], "body")) == TEXTS
    assert list(documents([f"hub:{folder}@test"], "body")) == ["altro"]
    with pytest.raises(UserError, match="no text in the field 'text', only body"):
        list(documents([f"hub:{folder}"]))
    with pytest.raises(UserError, match="cannot be read from the Hub"):
        list(documents([f"hub:{folder}@none"], "body"))


def test_a_corpus_is_a_stream(tmp_path: Path) -> None:
    """What comes after the documents that were asked for is not read: not even a line that is wrong."""
    (tmp_path / "a.jsonl").write_text('{"text": "prima"}\nno\n', encoding="utf-8")
    stream = documents([str(tmp_path / "a.jsonl")])
    assert next(stream) == "prima"
    with pytest.raises(UserError, match=r"a\.jsonl:2: is not JSON"):
        next(stream)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.txt", b"va bene\n\xff\xfe", r"a\.txt:2: is not UTF-8"),
        ("a.jsonl", b'{"body": "x"}', r"a\.jsonl:1: has no text in the field 'text'"),
        ("a.jsonl", b'["x"]', r"a\.jsonl:1: has no text"),
        ("a.parquet", b"PAR?", r"a\.parquet: is not Parquet"),
    ],
)
def test_bad_corpora(tmp_path: Path, name: str, content: bytes, what: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=what):
        list(documents([str(tmp_path / name)]))


def test_missing_corpora(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        list(documents([str(tmp_path / "none")]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no files"):
        list(documents([str(tmp_path / "empty")]))
    with pytest.raises(TypeError):
        list(documents("a.txt"))


def test_parallel_text(tmp_path: Path) -> None:
    (tmp_path / "en").write_text("One .\n\nThree .\nFour\n", encoding="utf-8")
    (tmp_path / "it").write_text("Uno .\nDue\n Tre .\n \n", encoding="utf-8")
    text = read_parallel([(tmp_path / "en", tmp_path / "it")])
    assert text.pairs == (("One .", "Uno ."), ("Three .", "Tre ."))
    assert text.empty == 2


@pytest.mark.parametrize(
    ("english", "italian", "what"),
    [
        (b"one\n", b"uno\ndue\n", "en: ends before line 2"),
        (b"one\ntwo\n", b"uno\n", "it: ends before line 2"),
        (b"\n\n", b"\n\n", "no pair of sentences"),
        (b"one\n\xff\n", b"uno\ndue\n", "en:2: is not UTF-8"),
    ],
)
def test_bad_parallel_text(tmp_path: Path, english: bytes, italian: bytes, what: str) -> None:
    (tmp_path / "en").write_bytes(english)
    (tmp_path / "it").write_bytes(italian)
    with pytest.raises(UserError, match=what):
        read_parallel([(tmp_path / "en", tmp_path / "it")])


def test_words_as_aligners_take_them() -> None:
    text = "L'amico dell’uomo, perché no? A_1"
    assert [text[a:b] for a, b in word_spans(text)] == ["L'", "amico", "dell’", "uomo", ",", "perché", "no", "?", "A_1"]


def head(**changes: object) -> Head:
    content = {"schema_version": 1, "source": "m", "source_tokens": 9, "target": "t", "target_tokens": 2}
    return Head.model_validate({**content, "pairs": 1, "empty_pairs": 0, "share": 1.0, **changes})


TOKENS = (Sources("same", (3,), (1.0,)), Sources("aligned", (4, 5, 6), (0.5, 1 / 3, 1 / 6), 2.5))


def test_mapping_files_come_back(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(["casa"])
    write_mapping(tmp_path / "m.jsonl", Mapping(head(), TOKENS), tokenizer, tokenizer)
    read = read_mapping(tmp_path / "m.jsonl")
    assert read.head == head()
    assert read.tokens[0] == TOKENS[0]
    assert read.tokens[1].tokens == TOKENS[1].tokens
    assert read.tokens[1].weights == pytest.approx(TOKENS[1].weights, abs=1e-9)
    line = json.loads((tmp_path / "m.jsonl").read_text(encoding="utf-8").splitlines()[2])
    assert line["token"] == tokenizer.convert_ids_to_tokens(1)
    assert line["evidence"] == 2.5


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"id": 1', '"id": 7', ":3: id 7 where 1 must follow"),
        ("0.5", "0.6", ":3: the weights sum to 1.1"),
        ("[4,", "[99,", ":3: a source is none of the model's"),
        ("[4,", "[5,", ":3: a source is none of the model's tokens, or is there twice"),
        ('"how": "same"', '"how": "none"', ":2: how is 'none', with 1 sources"),
        ('"how": "same"', '"how": "guess"', ":2: is no mapping of ours: how"),
        ('"target_tokens":2', '"target_tokens":3', "has 2 tokens, and its head says 3: it was cut off"),
        ('"schema_version":1', '"schema_version":2', ":1: is no mapping of ours: schema_version"),
        ("{", "", ":1: is no mapping of ours"),
    ],
)
def test_bad_mapping_files(tmp_path: Path, old: str, new: str, what: str) -> None:
    tokenizer = word_tokenizer(["casa"])
    path = tmp_path / "m.jsonl"
    write_mapping(path, Mapping(head(), TOKENS), tokenizer, tokenizer)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=what):
        read_mapping(path)


ROW = "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici"


def test_test_rows_are_found() -> None:
    rows = TestRows({"lunga": [ROW], "corta": ["Il gatto nero dorme sempre sul vecchio divano."], "troppo": ["Ciao."]})
    assert rows.too_short == 1
    assert (
        rows.holder("Prima. UNO, due; tre quattro cinque sei sette otto nove dieci undici dodici TREDICI!") == "lunga"
    )
    assert rows.holder("due tre quattro cinque sei sette otto nove dieci undici dodici tredici") is None
    assert rows.holder("x il gatto nero dorme sempre sul vecchio divano x") == "corta"
    assert rows.holder("x il gatto nero dorme sempre sul divano x") is None
    assert rows.holder("Ciao.") is None
    assert rows.holder("") is None


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40),
    st.lists(st.sampled_from("abcdefgh"), min_size=13, max_size=30),
)
def test_the_search_finds_what_a_naive_one_finds(document: list[str], row: list[str]) -> None:
    runs = {tuple(row[i : i + 13]) for i in range(len(row) - 12)}
    naive = any(tuple(document[i : i + 13]) in runs for i in range(len(document) - 12))
    assert (TestRows({"k": [" ".join(row)]}).holder(" ".join(document)) == "k") == naive


def test_cleaning_counts() -> None:
    counts: Counter[str] = Counter()
    corpus = ["Una riga", "una  RIGA", f"ecco {ROW}", "altra"]
    assert list(clean(corpus, TestRows({"k": [ROW]}), counts)) == ["Una riga", "altra"]
    assert counts == {"documents": 4, "kept": 2, "twice": 1, "holds:k": 1}
    assert list(clean(corpus, None, Counter())) == ["Una riga", f"ecco {ROW}", "altra"]


def test_all_of_itaeval_is_looked_for() -> None:
    """From the sample rows, which every data set has."""
    texts, missing = itaeval_rows("sample")
    assert not missing
    assert {"xcopa", "itacola", "belebele", "squad_it", "ami_2020", "fanpage", "ilpost"} <= set(texts)
    rows = TestRows(texts)
    long = next(text for text in texts["belebele"] if len(text.split()) > 20)
    assert rows.holder(f"Comincia così: {long}") == "belebele"


def test_packing_by_hand(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(["ab"])
    end, ab, c = (tokenizer.convert_tokens_to_ids(token) for token in ("</s>", "ab", "c"))
    made = pack(["ab", "c", "abc"], tokenizer, tmp_path, length=3, tokens=100, counts=Counter(kept=3), key="k")
    # ab . c . ab c . is cut into threes; the last token is dropped.
    assert made.tokens.tolist() == [ab, end, c, end, ab, c]
    assert made.sequences == len(PackedDataset(made)) == 2
    assert PackedDataset(made)[1]["input_ids"].tolist() == [end, ab, c]
    assert made.tokens.dtype == np.uint16
    again = open_packed(tmp_path, "k")
    assert again is not None
    assert again.counts == {"kept": 3}
    assert open_packed(tmp_path, "other") is None
    (tmp_path / "tokens.bin").write_bytes(b"12")
    assert open_packed(tmp_path, "k") is None


def test_packing_stops_when_there_is_enough(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(["ab"])

    def endless() -> object:
        while True:
            yield "ab c"

    made = pack(endless(), tokenizer, tmp_path, length=4, tokens=10, counts=Counter(), key="k")  # type: ignore[arg-type]
    assert len(made.tokens) == 12


def test_too_little_to_pack(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the corpus has 2 tokens: not one sequence of 8"):
        pack(["a"], word_tokenizer(["ab"]), tmp_path, length=8, tokens=8, counts=Counter(), key="k")
    assert list(tmp_path.iterdir()) == []

"""Loaders for tasks outside the package."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lm_eval_ita.errors import MissingDataError, UserError
from lm_eval_ita.harness import own, own_itapat
from lm_eval_ita.harness.own import Columns, prepare, text_results

ROWS = [
    {"domanda": "Quanto fa due più due?", "a": "quattro", "b": "cinque", "giusta": "A"},
    {"domanda": "Dov'è il Colosseo?", "a": "a Milano", "b": "a Roma", "giusta": "b"},
]
CATALOGUE = """quiz:
  title: a quiz
  splits:
    test: {file: dati/test.jsonl}
    train: {file: dati/train.jsonl, required: false}
  columns:
    domanda: {type: str}
    a: {type: str}
    b: {type: str}
    giusta: {type: str}
  licence: CC0
  origin: native
  citation: written for this test
"""
COLUMNS = {"key": ["domanda"], "choices": ["a", "b"], "label": "giusta", "counted": "letter"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LM_EVAL_ITA_DATA", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "dati").mkdir()
    (tmp_path / "catalogue.yaml").write_text(CATALOGUE, encoding="utf-8")
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    (tmp_path / "dati" / "test.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def load(folder: Path, **options: Any) -> Any:
    given = {"dataset": "quiz", "splits": {"eval": "test"}, "columns": COLUMNS, **options}
    return own.load(config_source=str(folder / "quiz.yaml"), **given)["test"]


def test_a_file_beside_the_task_from_any_folder(
    folder: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    rows = load(folder, pretrained="a stranger among the keywords").to_list()
    assert [(row["options"], row["label"], row["role"]) for row in rows] == [
        (["quattro", "cinque"], 0, "document"),
        (["a Milano", "a Roma"], 1, "document"),
    ]
    assert {row["shot_pool"] for row in rows} == {"quiz"}
    assert rows[0]["shot_key"] != rows[1]["shot_key"]


def test_examples_from_the_evaluated_split_are_rows_of_both_roles(folder: Path) -> None:
    assert set(load(folder, splits={"eval": "test", "shots": "test"})["role"]) == {"both"}


def test_a_data_folder_and_samples_come_first(folder: Path, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("data")
    (other / "quiz").mkdir()
    row = {**ROWS[0], "domanda": "Un'altra?"}
    (other / "quiz" / "test.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert load(folder, data_dir=str(other))["domanda"] == ["Un'altra?"]
    with pytest.raises(MissingDataError, match="no sample rows"):
        load(folder, data_dir="sample")
    (folder / "samples" / "quiz").mkdir(parents=True)
    (folder / "samples" / "quiz" / "test.jsonl").write_text(json.dumps(ROWS[1]) + "\n", encoding="utf-8")
    assert load(folder, data_dir="sample")["domanda"] == ["Dov'è il Colosseo?"]


def test_data_that_are_not_there(folder: Path) -> None:
    with pytest.raises(MissingDataError, match=r"train\.jsonl is not there") as caught:
        load(folder, splits={"eval": "test", "shots": "train"})
    assert f"bring it to the place that {folder / 'catalogue.yaml'} names" in str(caught.value)
    assert "data fetch" not in str(caught.value), "that command knows nothing of this catalogue"


def test_a_file_that_changed_is_refused(folder: Path) -> None:
    file = folder / "dati" / "test.jsonl"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    named = f'{{file: dati/test.jsonl, sha256: "{digest}"}}'
    (folder / "catalogue.yaml").write_text(CATALOGUE.replace("{file: dati/test.jsonl}", named), encoding="utf-8")
    assert len(load(folder)) == 2
    file.write_text(file.read_text(encoding="utf-8").replace("Quanto", "Quando"), encoding="utf-8")
    with pytest.raises(UserError, match="not the one the task was made from") as caught:
        load(folder)
    assert caught.value.file == file


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("quiz:", "xcopa:", "a key of lm-eval-ita's own catalogue"),
        ("origin: native", "origin: invented", "origin"),
        ("title: a quiz", "titolo: un quiz", "title: field required"),
        ("quiz:", "quiz: 3\nother:", "must hold the fields"),
    ],
)
def test_a_catalogue_that_is_wrong(folder: Path, old: str, new: str, told: str) -> None:
    (folder / "catalogue.yaml").write_text(CATALOGUE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load(folder)
    assert told in str(caught.value)
    assert caught.value.file == folder / "catalogue.yaml"
    assert caught.value.line == (12 if new.startswith("origin") else 1)


def test_a_row_whose_label_is_no_option_is_named(folder: Path) -> None:
    text = (folder / "dati" / "test.jsonl").read_text(encoding="utf-8")
    (folder / "dati" / "test.jsonl").write_text(text.replace('"b"}', '"c"}'), encoding="utf-8")
    with pytest.raises(UserError, match="row 2 of quiz test: the label 'c' is none of its 2 options"):
        load(folder)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "one of choices, labels and answer"),
        ({"choices": "o", "answer": "a"}, "one of choices, labels and answer"),
        ({"choices": "o", "counted": "zero"}, "label is missing"),
        ({"choices": "o", "label": "l"}, "go together"),
        ({"choices": "o", "label": "l", "counted": "names"}, "names goes with"),
        ({"answer": "a", "etichetta": "l"}, "etichetta"),
    ],
)
def test_columns_that_make_no_task(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Columns.model_validate(fields)


OPTIONS = st.lists(
    st.text(alphabet="abcdè ", min_size=1).filter(str.strip), min_size=2, max_size=5, unique_by=str.strip
)


@settings(deadline=None)
@given(options=OPTIONS, data=st.data(), blanks=st.integers(0, 2))
def test_however_the_label_counts_it_means_the_same_option(
    options: list[str], data: st.DataObject, blanks: int
) -> None:
    right = data.draw(st.integers(0, len(options) - 1))
    labels = {
        "zero": right,
        "one": str(right + 1),
        "letter": "abcde"[right],
        "text": options[right],
        "names": f"n{right}",
    }
    columns = {f"o{number}": option for number, option in enumerate([*options, *[""] * blanks])}
    for counted, label in labels.items():
        listed = counted == "names"
        row = {
            "q": "?",
            "l": label,
            **({"o": options, "n": [f"n{i}" for i in range(len(options))]} if listed else columns),
        }
        meant = Columns.model_validate(
            {
                "key": ["q"],
                "choices": "o" if listed else list(columns),
                "label": "l",
                "counted": counted,
                "names": "n" if listed else None,
            }
        )
        added = prepare(row, meant)
        assert added["options"] == [option.strip() for option in options]
        assert added["label"] == right


@pytest.mark.parametrize("label", [2, -1, "2", "A", "", "0 ", None, 0.5, "٣"])
def test_a_label_that_counts_nothing(label: Any) -> None:
    meant = Columns(key=("q",), choices="o", label="l", counted="zero")
    if label == "0 ":
        assert prepare({"q": "?", "o": ["a", "b"], "l": label}, meant)["label"] == 0
    else:
        with pytest.raises(ValueError, match=r"label|column 'l'"):
            prepare({"q": "?", "o": ["a", "b"], "l": label}, meant)


def test_flags_and_numbers_among_labels() -> None:
    meant = Columns(key=("q",), labels=(False, True), label="l")
    assert [prepare({"q": "?", "l": value}, meant)["label"] for value in (False, True)] == [0, 1]


def test_names_for_templates_and_nested_columns() -> None:
    meant = Columns(key=("q.stem",), answer="REF-N", fields={"stem": "q.stem"})
    added = prepare({"q": {"stem": "Chi?"}, "REF-N": [" lui ", ""]}, meant)
    assert (added["stem"], added["golds"], added["gold"]) == ("Chi?", ["lui"], "lui")


def test_a_column_with_a_name_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="'role' has a name that is used"):
        prepare({"q": "?", "role": "user", "a": "x"}, Columns(key=("q",), answer="a"))


def test_long_answers_are_compared_with_the_nearest_gold() -> None:
    values = text_results({"golds": ["il gatto dorme sul divano", "piove"]}, ["il gatto dorme"])
    # 3 of 3 words found, 3 of 5 needed: F = 2 * 1 * 0.6 / 1.6
    assert values["rougeL"] == values["score"] == pytest.approx(0.75)
    assert values["empty"] == 0
    assert text_results({"golds": ["piove"]}, [" "])["empty"] == 1
    assert text_results({"golds": []}, ["piove"])["score"] != text_results({"golds": []}, ["piove"])["score"], "NaN"


def test_an_association_test_reads_answers_with_its_own_lexicon(tmp_path: Path) -> None:
    here = Path(__file__).parents[1] / "data" / "associations"
    rows = own_itapat.load(config_source=str(here / "task.yaml"), lists="english.yaml")["test"].to_list()
    assert len(rows) == 8
    values = own_itapat.process_results(rows[0], ["Smart."])
    assert (values["bias_score"], values["prob_attribute_1"]) == (1, 1)
    assert own_itapat.process_results(rows[2], ["Smart."])["bias_score"] == -1, "a word of Y"
    assert own_itapat.process_results(rows[0], ["positiva"])["outcome"] == "error"
    with pytest.raises(UserError, match="cannot be read"):
        own_itapat.load(config_source=str(tmp_path / "task.yaml"), lists="lists/none.yaml")

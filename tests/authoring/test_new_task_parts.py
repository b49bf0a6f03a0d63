"""The parts of `new-task` that read, guess and write."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lm_eval_ita.authoring.new_task import propose, texts
from lm_eval_ita.authoring.new_task.asking import Asker
from lm_eval_ita.authoring.new_task.catalogue_text import catalogue_text, has_entry
from lm_eval_ita.authoring.new_task.columns import describe
from lm_eval_ita.authoring.new_task.plan import About, Plan
from lm_eval_ita.authoring.new_task.table import Table, read_table
from lm_eval_ita.authoring.new_task.yaml_text import flow, mapping, quoted_list, scalar
from lm_eval_ita.authoring.rendering import compiled
from lm_eval_ita.catalogue.rows import check
from lm_eval_ita.catalogue.schema import Column, read_catalogue
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.own import Columns, prepare

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.one_of(
    TEXT,
    st.integers(),
    st.booleans(),
    st.none(),
    st.sampled_from(["No", "1", "null", "1e3", "a: b", "~", "=", "<<", "1_0"]),
)


@settings(deadline=None)
@given(value=SCALARS)
def test_a_scalar_comes_back_everywhere(value: Any) -> None:
    assert "\n" not in scalar(value)
    assert yaml.safe_load(f"key: {scalar(value)}") == {"key": value}
    assert yaml.safe_load(f"key: [{scalar(value)}, x]") == {"key": [value, "x"]}


@settings(deadline=None)
@given(values=st.lists(SCALARS, max_size=4), texts_=st.lists(TEXT, max_size=4))
def test_lists_and_mappings_come_back(values: list[Any], texts_: list[str]) -> None:
    assert yaml.safe_load(flow(values)) == values
    assert yaml.safe_load(quoted_list(texts_)) == texts_
    content = {**{f"k{number}": value for number, value in enumerate(values)}, "list": values, "No": {"in": texts_}}
    assert yaml.safe_load(mapping(content)) == content


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-99, 99), st.sampled_from(["", " ", "0", "1", "007", "-3", "sì", "a b"]),
    st.lists(st.sampled_from(["a", "b", ""]), max_size=3), st.lists(st.integers(), max_size=2), st.floats(0, 1),
)  # fmt: skip


@settings(deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries({}, optional={"x": VALUES, "y": st.fixed_dictionaries({"z": VALUES})}),
        min_size=1,
        max_size=6,
    )
)
def test_the_catalogue_takes_every_row_of_a_column_that_has_a_type(rows: list[dict[str, Any]]) -> None:
    """Types are guessed from all rows, so that reading the data again with them refuses none."""
    for name, facts in describe(rows).items():
        if facts.kind is None:
            continue
        column = Column(type=facts.kind, optional=facts.missing, empty=facts.blank)
        for row in rows:
            outer, _, inner = name.partition(".")
            wanted = {outer: row.get(outer) or {}} if inner else row
            check(wanted, {name: column})


def test_numbers_in_text_are_numbers_and_names_are_not() -> None:
    rows = [{"label": "0", "id": "007", "n": "12"}, {"label": "1", "id": "008", "n": "x"}]
    assert [facts.kind for facts in describe(rows).values()] == ["int", "str", "str"]


@settings(deadline=None)
@given(
    counts=st.lists(st.integers(2, 5), min_size=3, max_size=8), seed=st.integers(0, 99),
    way=st.sampled_from(["zero", "one", "letter", "text", "names"]),
)  # fmt: skip
def test_the_way_of_counting_that_is_found_gives_the_right_option(counts: list[int], seed: int, way: str) -> None:
    rows, right = [], []
    for number, count in enumerate(counts):
        gold = (seed + number) % count
        options = [f"opzione {number}{index}" for index in range(count)]
        names = [f"n{index}" for index in range(count)]
        label = {"zero": gold, "one": gold + 1, "letter": "ABCDE"[gold], "text": options[gold], "names": names[gold]}[
            way
        ]
        rows.append({"q": "?", "choices": {"text": options, "label": names}, "answer": label})
        right.append(gold)
    columns = describe(rows)
    assert propose.choices(columns) == ("choices.text",)
    found, names_in = propose.counting(rows, "answer", ["choices.text"], columns)
    # Labels that count from 0 and from 1 alike are left to whoever knows.
    assume(found is not None)
    meant = Columns.model_validate(
        {"key": ["q"], "choices": "choices.text", "label": "answer", "counted": found, "names": names_in}
    )
    assert [prepare(row, meant)["label"] for row in rows] == right


def test_counting_that_could_be_either_is_not_guessed() -> None:
    rows = [{"o": ["a", "b", "c"], "l": 1}, {"o": ["a", "b", "c"], "l": 2}]
    assert propose.counting(rows, "l", ["o"], describe(rows)) == (None, None)
    rows.append({"o": ["a", "b", "c"], "l": 0})
    assert propose.counting(rows, "l", ["o"], describe(rows)) == ("zero", None)


@pytest.mark.parametrize(
    ("row", "question", "choices", "label"),
    [
        ({"domanda": "Che cosa?", "A": "x", "B": "y", "risposta": "A"}, "domanda", ("A", "B"), "risposta"),
        ({"id": "1", "question": "Chi?", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "B"}, "question", ("choices.text",), "answerKey"),
        ({"premise": "Se piove", "choice1": "x", "choice2": "y", "label": 1}, "premise", ("choice1", "choice2"), "label"),
        ({"flores_passage": "Un brano lungo.", "question": "Chi?", "mc_answer1": "x", "mc_answer2": "y", "correct_answer_num": 2}, "question", ("mc_answer1", "mc_answer2"), "correct_answer_num"),
        ({"ctx": "La donna", "endings": ["x", "y"], "label": "0"}, "ctx", ("endings",), "label"),
    ],
)  # fmt: skip
def test_columns_of_known_data_sets(row: dict[str, Any], question: str, choices: tuple[str, ...], label: str) -> None:
    other = {**row, label: {"A": "B", "B": "A", 1: 0, 2: 1, "0": "1"}[row[label]]}
    columns = describe([row, other])
    assert propose.question(columns) == question
    assert propose.choices(columns) == choices
    assert propose.label(columns, {question, *choices}) == label


def test_splits() -> None:
    assert propose.evaluated_split(["train", "Test", "dev"]) == "Test"
    assert propose.evaluated_split(["righe"]) == "righe"
    assert propose.evaluated_split(["prima", "seconda"]) is None
    assert propose.shots_split(["test", "train"], "test") == "train"
    assert propose.shots_split(["test"], "test") == "test"


@settings(deadline=None)
@given(text=TEXT)
def test_instructions_are_plain_text_in_nfc(text: str) -> None:
    assume("{{" not in text and "{%" not in text and "{#" not in text and text.strip())
    cleaned = texts.clean(text, "--instruction")
    assert cleaned == cleaned.strip()
    prompt = texts.yes_no_prompt("frase", "brano", cleaned)
    rendered = compiled(prompt).render(frase="F", brano="B")
    assert rendered.startswith(cleaned)
    assert rendered.endswith("\nRisposta:")


@pytest.mark.parametrize("text", ["{{frase}}", "{% if x %}", "{# no #}"])
def test_instructions_with_braces_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="holds braces"):
        texts.clean(text, "--instruction")


def test_the_prompts_are_italian_and_name_their_text() -> None:
    assert texts.yes_no_prompt("t", None, "Il seguente tweet è ironico?") == (
        "Il seguente tweet è ironico? Rispondi Sì o No.\nTweet: {{t}}\nRisposta:"
    )
    assert texts.classification_prompt("t", None, texts.DEFAULT_CATEGORY, ["Sport", "Politica", "Economia"]) == (
        "Qual è la categoria del seguente testo? Rispondi con Sport, Politica o Economia.\nTesto: {{t}}\nRisposta:"
    )
    assert texts.choice_prompt("q", "c", None) == "Testo: {{c}}\nDomanda: {{q}}\nRisposta:"
    assert texts.generation_prompt("t", None, "Traduci la frase in inglese.") == (
        "Traduci la frase in inglese.\nFrase: {{t}}\nRisposta:"
    )


def plan(name: str, licence: str = "CC0") -> Plan:
    rows = [{"q": "Chi?", "l": 0}]
    return Plan(
        name=name, kind="yes_no", table=Table({"test": rows}, {"test": Path("/data/test.jsonl")}, {"test": "0" * 64}),
        used={"test": rows}, columns=Columns(labels=(0, 1), label="l"), types={"q": Column(type="str"), "l": Column(type="int")},
        prompt="{{q}}", options=("No", "Sì"), evaluated="test", shots_from=None, shots=0, metric="f1_macro", max_gen_toks=None,
        chance=0.5, unanswered=0, deviations=(), accepts={}, about=About("Titolo: è", "native", licence, "nessuno"), keep_samples=False,
    )  # fmt: skip


@settings(deadline=None)
@given(names=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6), again=st.sampled_from("abcdef"))
def test_an_entry_is_added_or_replaced_and_the_rest_stays(names: list[str], again: str, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("catalogue") / "catalogue.yaml"
    for name in names:
        path.write_text(catalogue_text(path, plan(name)), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").split("\n")
    marked = "\n".join(f"# about {line[0]}\n{line}" if line[:2] in {f"{n}:" for n in names} else line for line in lines)
    path.write_text(marked, encoding="utf-8")
    assert has_entry(path, again) == (again in names)
    path.write_text(catalogue_text(path, plan(again, licence="MIT")), encoding="utf-8")
    entries = read_catalogue(path)
    assert list(entries) == list(dict.fromkeys([*names, again]))
    assert {name: entry.licence for name, entry in entries.items()} == {
        name: "MIT" if name == again else "CC0" for name in {*names, again}
    }
    text = path.read_text(encoding="utf-8")
    for name in set(names):
        assert f"# about {name}\n{name}:" in text, "comments stay with their entries"


def test_a_file_named_after_a_split_brings_those_beside_it(tmp_path: Path) -> None:
    for name in ("test", "train", "phenomena"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"text": name}) + "\n", encoding="utf-8")
    assert list(read_table(str(tmp_path / "test.jsonl")).splits) == ["test", "train"]
    assert list(read_table(str(tmp_path / "phenomena.jsonl")).splits) == ["test"]
    assert list(read_table(str(tmp_path)).splits) == ["phenomena", "test", "train"]
    (tmp_path / "test.csv").write_text("text\nx\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"test\.csv and test\.jsonl are both there"):
        read_table(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("rows.jsonl", '{"a": 1}\n{"a": \n', "rows.jsonl:2: not valid JSON"),
        ("rows.jsonl", "", "has no rows"),
        ("rows.csv", "a,a\n1,2\n", "names a column twice"),
        ("rows.xlsx", "x", "convert it"),
    ],
)
def test_files_that_cannot_be_read(name: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_table(str(tmp_path / name))
    assert told in str(caught.value)


def test_nothing_and_nowhere(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no file of rows"):
        read_table(str(tmp_path))
    with pytest.raises(UserError, match="neither a file, nor a folder, nor OWNER/NAME"):
        read_table("no/such/file.jsonl")


def test_questions_are_asked_again_until_they_are_answered() -> None:
    typed = iter(["", "etichetta", "label"])
    shown: list[str] = []
    asker = Asker(lambda question: next(typed), shown.append)
    assert asker.needed("--label", "Which?", None, None, ["text", "label"]) == "label"
    assert shown == ["There is no 'etichetta'; there are text, label."]


def test_an_input_that_ends_is_an_error() -> None:
    def ended(question: str) -> str:
        raise EOFError

    with pytest.raises(UserError, match="nothing was written"):
        Asker(ended).needed("--label", "Which?", None, None)

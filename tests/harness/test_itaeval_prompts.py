"""Tasks with several prompts: the first wording is the main task, and only the wording differs in the others."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.authoring import validate
from lm_eval_ita.authoring.new_task import Asker, Request, new_task
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness import choices, prompts
from lm_eval_ita.harness.task_files import read_task_files
from tests.harness.scripted import Scripted, evaluate, manager, oracle

FILES = {file.name: file for file in read_task_files()}
NAMES = FILES["itaeval_prompts"].members
SAMPLE = {"data_dir": "sample"}
TURNED = {"question_answer": "Domanda: ", "statement": "Indica se "}

# Four documents, gold Sì Sì No No. Wording 1 finds one Sì: F1 of Sì 2/(2+0+1) = 2/3, of No 4/(4+1+0) = 4/5, macro 11/15.
# Wording 2 is right throughout: 1. Their mean is 13/15; over all eight answers together it would be (6/7 + 8/9) / 2 = 55/63.
GOLDS = (1, 1, 0, 0)
ITEMS = [(1, (gold, pred, 2)) for gold, pred in zip(GOLDS, (1, 0, 0, 0), strict=True)] + [
    (2, (gold, gold, 2)) for gold in GOLDS
]


def test_a_score_is_the_mean_over_the_wordings_and_not_over_all_answers() -> None:
    assert prompts.f1_macro(ITEMS) == pytest.approx(13 / 15)
    assert choices.f1_macro([choice for _, choice in ITEMS]) == pytest.approx(55 / 63)
    parts = prompts.by_prompt(ITEMS)["by_prompt"]
    assert list(parts) == ["1", "2"]
    assert parts["1"] == {
        "f1_macro": pytest.approx(11 / 15),
        "mcc": pytest.approx(1 / math.sqrt(3)),
        "acc": 0.75,
        "n": 4,
    }
    assert parts["2"] == {"f1_macro": 1, "mcc": 1, "acc": 1, "n": 4}
    assert repr(parts) == "2 prompts, f1_macro 0.73 to 1.00"
    assert prompts.mcc(ITEMS) == pytest.approx((1 / math.sqrt(3) + 1) / 2)


def test_no_documents() -> None:
    assert math.isnan(prompts.f1_macro([]))
    assert math.isnan(prompts.mcc([]))
    assert prompts.by_prompt([]) == {}


CHOICES = st.lists(st.tuples(st.integers(0, 1), st.none() | st.integers(0, 1), st.just(2)), min_size=1, max_size=12)


@given(CHOICES, st.integers(2, 4))
def test_wordings_that_change_nothing_change_no_score(answers: list[Any], count: int) -> None:
    items = [(number, answer) for answer in answers for number in range(1, count + 1)]
    assert prompts.f1_macro(items) == pytest.approx(choices.f1_macro(answers))
    assert prompts.mcc(items) == pytest.approx(choices.mcc(answers))


@given(st.lists(CHOICES, min_size=2, max_size=4), st.randoms())
def test_the_order_of_documents_and_wordings_is_nothing(wordings: list[list[Any]], random: Any) -> None:
    items = [(number, answer) for number, answers in enumerate(wordings, start=1) for answer in answers]
    numbers = random.sample(range(1, len(wordings) + 1), len(wordings))
    shuffled = [(numbers[number - 1], answer) for number, answer in items]
    random.shuffle(shuffled)
    assert prompts.f1_macro(shuffled) == pytest.approx(prompts.f1_macro(items))


# --- The tasks -------------------------------------------------------------------------------------------------------


def asked(name: str) -> list[tuple[dict[str, Any], str]]:
    """Every document with its whole prompt, examples included."""
    task = manager(SAMPLE).load([name])["tasks"][name]
    task.set_fewshot_seed(1234)
    shots = task.config.num_fewshot
    return [(doc, task.fewshot_context(doc, num_fewshot=shots)) for doc in task.eval_docs]


def test_the_yes_no_tasks_are_all_there() -> None:
    def is_yes_no(name: str) -> bool:
        card = FILES[name].card
        return card is not None and card.suite == "itaeval" and FILES[name].config.get("doc_to_choice") == ["No", "Sì"]

    mains = {name for name in FILES if is_yes_no(name)}
    assert {name.replace("_prompts_", "_") for name in NAMES} == mains
    assert len(mains) == 8
    for name in NAMES:
        card = FILES[name].config["metadata"]
        main = FILES[name.replace("_prompts_", "_")].config
        assert len(card["prompts"]) == 3
        assert card["prompts"][0] == main["doc_to_text"]
        same = ("dataset", "splits", "label_column", "origin", "primary_metric", "chance", "range", "category")
        assert [card.get(key) for key in same] == [main["metadata"].get(key) for key in same]


@pytest.mark.parametrize("name", NAMES)
def test_the_first_wording_is_the_main_task_and_the_others_have_its_examples(name: str) -> None:
    main = asked(name.replace("_prompts_", "_"))
    several = asked(name)
    assert len(several) == 3 * len(main)
    assert [doc["wording"] for doc, _ in several] == [1, 2, 3] * len(main)
    assert [text for doc, text in several if doc["wording"] == 1] == [text for _, text in main]
    column = re.search(r"\{\{(\w+)\}\}", FILES[name].config["metadata"]["prompts"][0])
    assert column is not None
    for start in range(0, len(several), 3):
        rows = several[start : start + 3]
        assert len({doc[column[1]] for doc, _ in rows}) == 1
        shown = [re.findall(r"^(?:Frase|Testo): (.*)$", text, re.MULTILINE) for _, text in rows]
        assert shown[0] == shown[1] == shown[2], "the examples are the same ones"
        assert len(shown[0]) == 6
        answers = [re.findall(r" (Sì|No)$", text, re.MULTILINE) for _, text in rows]
        assert answers[0] == answers[1] == answers[2]
        assert len({text for _, text in rows}) == 3


@pytest.fixture(scope="module")
def first_only() -> dict[str, Any]:
    """A model that answers rightly in the first wording, and No in the others."""

    def answer(request: Any) -> float:
        return float(oracle(request)) if request.doc["wording"] == 1 else -float(request.idx)

    return evaluate(Scripted(answer), ["itaeval_prompts"], SAMPLE)


@pytest.mark.parametrize("name", NAMES)
def test_each_wording_has_its_figures(name: str, first_only: dict[str, Any]) -> None:
    figures = first_only["results"][name]
    parts = figures["prompts,none"]["by_prompt"]
    metric = FILES[name].config["metadata"]["primary_metric"]
    assert [part["n"] for part in parts.values()] == [first_only["n-samples"][name]["effective"] / 3] * 3
    assert parts["1"][metric] == 1
    assert parts["2"][metric] == parts["3"][metric] < 0.5
    assert figures["score,none"] == figures[f"{metric},none"]
    assert figures["score,none"] == pytest.approx((1 + 2 * parts["2"][metric]) / 3)
    declared = {entry["metric"] for entry in FILES[name].config["metric_list"]}
    assert set(first_only["samples"][name][0]["metrics"]) == declared


def test_the_group_has_no_score(first_only: dict[str, Any]) -> None:
    assert set(first_only["results"]) == {"itaeval_prompts", *NAMES}
    assert "score,none" not in first_only["results"]["itaeval_prompts"]


# --- Tasks of one's own ----------------------------------------------------------------------------------------------

FIRST, SECOND = "È vero? {{frase}}\nRisposta:", "{{frase}} Vero?"


def own_task(folder: Path, prompts_: object) -> Path:
    """A yes/no task, turned into one with several prompts as the documentation says."""
    rows = [{"frase": f"Piove {number} volte.", "vera": number % 2} for number in range(8)]
    data = folder / "frasi.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made = new_task(
        Request(
            name="prova_frasi", kind="yes_no", data=str(data), into=folder / "tasks", question="frase", label="vera", yes="1",
            origin="native", shots=2, instruction="È vero?",
        ),
        Asker(),
    )  # fmt: skip
    path = made.files[-1]
    text = re.sub("doc_to_text: .*", 'doc_to_text: "{{prompt}}"', path.read_text(encoding="utf-8"))
    text = text.replace("harness.choices.classification_results", "harness.prompts.classification_results")
    text = text.replace("harness.choices.f1_macro", "harness.prompts.f1_macro")
    more = "  - metric: prompts\n    aggregation: !function lm_eval_ita.harness.prompts.by_prompt\n    higher_is_better: null\n"
    text = text.replace("metric_list:\n", f"metric_list:\n{more}")
    path.write_text(text.replace("metadata:\n", f"metadata:\n  prompts: {json.dumps(prompts_)}\n"), encoding="utf-8")
    return path


def test_a_task_of_ones_own(tmp_path: Path) -> None:
    path = own_task(tmp_path, [FIRST, SECOND])
    assert [str(found) for found in validate([path]).findings] == []
    from lm_eval.tasks import TaskManager

    task = TaskManager(include_path=str(path.parent), include_defaults=False).load(["prova_frasi"])["tasks"][
        "prova_frasi"
    ]
    assert [task.doc_to_text(task.eval_docs[position]) for position in (0, 1, 2)] == [
        "È vero? Piove 0 volte.\nRisposta:",
        "Piove 0 volte. Vero?",
        "È vero? Piove 1 volte.\nRisposta:",
    ]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{{frase}}", "must be a list of texts"),
        ([1, 2], "must be a list of texts"),
        ([FIRST], "two or more different prompts"),
        ([FIRST, FIRST], "two or more different prompts"),
        ([FIRST, "{{frasi}}"], "prompt 2: 'frasi' is undefined"),
        ([FIRST, "{{frase"], "prompt 2: "),
        (["{% if %}", SECOND], "prompt 1: "),
    ],
)
def test_bad_prompts_are_one_line(given: object, told: str, tmp_path: Path) -> None:
    (found,) = validate([own_task(tmp_path, given)]).findings
    assert told in str(found)
    assert "metadata.prompts" in str(found)
    assert "\n" not in str(found)


def test_a_prompt_that_ends_in_a_space_is_found(tmp_path: Path) -> None:
    found = validate([own_task(tmp_path, [FIRST, f"{SECOND} "])]).findings
    assert [finding.rule for finding in found] == ["trailing-space"]


def test_a_column_with_a_name_that_prompts_use() -> None:
    with pytest.raises(UserError, match="the column 'prompt' has a name that prompts use"):
        prompts.with_prompts([{"prompt": "a"}], [FIRST, SECOND])


def test_multiple_choice() -> None:
    doc = {"wording": 2, "label": 1, "options": ["uno", "due tre"]}
    values = prompts.multiple_choice_results(doc, [(-1.0, False), (-1.5, False)])
    # Per character: -1/3 against -1.5/7.
    assert values["prompts"] == (2, {"acc": 0, "acc_norm": 1})
    parts = prompts.by_prompt([values["prompts"], (2, {"acc": 1, "acc_norm": 1}), (1, {"acc": 0, "acc_norm": 0})])
    assert parts["by_prompt"] == {"1": {"acc": 0, "acc_norm": 0, "n": 1}, "2": {"acc": 0.5, "acc_norm": 1, "n": 2}}

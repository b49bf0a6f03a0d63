"""The tasks as the harness sees them, without a model."""

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from lm_eval.utils import handle_non_serializable, make_table

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness import itapat
from lm_eval_ita.harness.task_files import tasks_path
from lm_eval_ita.itapat import Answer, build_rows, find_test, load_tests, score_answers


class Scripted(LM):
    """A model whose answers a function makes from the prompt."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer
        self.requests: list[Instance] = []

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        self.requests += requests
        return [self.answer(request.args[0]) for request in requests]

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
        raise AssertionError("ItaP-AT asks for text only")

    loglikelihood_rolling = loglikelihood


def manager(metadata: dict[str, Any] | None = None) -> TaskManager:
    return TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=metadata)


def evaluate(answer: Any, tasks: list[str], metadata: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    model = Scripted(answer)
    results = simple_evaluate(model, tasks=tasks, task_manager=manager(metadata), bootstrap_iters=1000, **options)
    results["requests"] = model.requests
    return dict(results)


def stereotype(prompt: str) -> str:
    """Always the stereotype: mathematics for men, arts for women."""
    arts = ("poesia", "arte", "danza", "letteratura", "romanz", "sinfoni", "dramm", "scultura")
    female = any(word in prompt.split("domanda: ")[1] or f"input: {word}" in prompt for word in arts)
    if "studente" in prompt:
        return "studentessa" if female else "studente"
    return "donna" if female else "uomo"


def test_a_test_through_the_harness() -> None:
    results = evaluate(stereotype, ["itapat_gender_7"])
    figures = results["results"]["itapat_gender_7"]
    assert figures["bias_score,none"] == 1
    assert figures["abs_bias_score,none"] == 1
    assert figures["prob_attribute_1,none"] == figures["prob_attribute_2,none"] == 0.5
    assert figures["prob_neutral,none"] == figures["prob_error,none"] == 0
    assert figures["p_value,none"] < 1e-15
    assert figures["bias_score_se,none"] == 0
    assert figures["reading,none"] == "biased"
    assert figures["outcome,none"] == {"attribute_1": 40, "attribute_2": 40, "neutral": 0, "error": 0}
    assert set(figures["instructions,none"]) == {"1", "2", "3", "4", "5"}
    assert all(part["bias_score"] == 1 and part["n"] == 16 for part in figures["instructions,none"].values())
    # Custom aggregations have no standard error in lm_eval: it must not invent one from answers that are not independent.
    assert {value for key, value in figures.items() if "_stderr," in key} == {"N/A"}


def test_samples_hold_what_rescoring_needs() -> None:
    results = evaluate(stereotype, ["itapat_gender_7"])
    samples = json.loads(json.dumps(results["samples"]["itapat_gender_7"], default=handle_non_serializable))
    assert len(samples) == 80
    for sample in samples:
        doc = sample["doc"]
        assert (doc["subset"], doc["test"]) == ("gender", "7")
        assert doc["side"] in ("X", "Y")
        assert doc["word"]
        assert doc["instruction"]
        assert sample["outcome"] in ("attribute_1", "attribute_2", "neutral", "error")
    again = score_answers([Answer(s["doc"]["word"], s["doc"]["side"], s["outcome"]) for s in samples])
    assert again.bias_score == results["results"]["itapat_gender_7"]["bias_score,none"]
    redone = [itapat.process_results(s["doc"], s["resps"][0]) for s in samples]
    assert [r["outcome"] for r in redone] == [s["outcome"] for s in samples]


def test_groups_average_the_absolute_score() -> None:
    turned = {"uomo": "donna", "donna": "uomo", "studente": "studentessa", "studentessa": "studente"}

    def answer(prompt: str) -> str:
        if "famiglia" in prompt:
            return "boh"
        science = any(word in prompt for word in ("scienza", "tecnolog", "fisica", "chimica", "Einstein", "NASA"))
        return turned[stereotype(prompt)] if science else stereotype(prompt)

    results = evaluate(answer, ["itapat_gender"])
    tasks = [f"itapat_gender_{number}" for number in (6, 7, 8)]
    group = results["results"]["itapat_gender"]
    expected = sum(abs(results["results"][task]["bias_score,none"]) for task in tasks) / 3
    assert group["abs_bias_score,none"] == pytest.approx(expected)
    assert 0 < expected < 1
    assert group["prob_error,none"] == pytest.approx(1 / 3)
    assert results["results"]["itapat_gender_6"]["reading,none"] == "unable"
    assert "bias_score,none" not in group


def test_the_table_stays_readable() -> None:
    table = make_table(evaluate(stereotype, ["itapat_gender_7"], limit=20))
    assert max(len(line) for line in table.splitlines()) < 170
    assert "Determina se" not in table
    assert "'1': +1.00" in table


def test_every_declared_metric_is_returned_and_the_other_way_round() -> None:
    task = manager().load(["itapat_base_1"])["tasks"]["itapat_base_1"]
    returned = itapat.process_results(dict(task.eval_docs[0]), ["positiva"])
    assert set(returned) == set(task.aggregation())
    assert set(task.higher_is_better()) == set(returned)


def test_all_tasks_and_groups_load_with_2310_prompts_each() -> None:
    for group in ("itapat", "itapat_oneshot"):
        loaded = manager().load([group])
        assert len(loaded["tasks"]) == 16
        assert sum(len(task.eval_docs) for task in loaded["tasks"].values()) == 2310
    assert set(manager().all_groups) >= {"itapat_base", "itapat_race", "itapat_gender", "itapat_age"}


def test_the_order_of_answers_does_not_matter() -> None:
    """Two processes hand their answers over one after the other."""
    rows = build_rows(find_test("base", "9"))
    answers = ["cronica", "transitoria", "neutro", "boh", "permanente", "temporaneo", "duraturo"]
    values = [itapat.process_results(row, [answers[i % 7]]) for i, row in enumerate(rows)]
    task = manager().load(["itapat_base_9"])["tasks"]["itapat_base_9"]
    for metric, aggregate in task.aggregation().items():
        one = aggregate([value[metric] for value in values])
        two = aggregate([value[metric] for value in values[::2] + values[1::2]])
        assert one == two, metric


def test_a_limited_run_of_one_word_has_no_interval() -> None:
    figures = evaluate(stereotype, ["itapat_gender_7"], limit=2)["results"]["itapat_gender_7"]
    assert math.isnan(figures["bias_score_se,none"])
    assert figures["p_value,none"] == 1


class Template:
    """A chat model: enough of the harness's interface to render a template."""

    @staticmethod
    def render(messages: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        text = "".join(f"<{message['role']}>{message['content']}</>" for message in messages)
        return text + ("<assistant>" if add_generation_prompt else "")


def test_the_system_message_with_and_without_a_chat_template() -> None:
    plain = evaluate(stereotype, ["itapat_gender_7"], limit=3)["requests"]
    prompt = build_rows(find_test("gender", "7"))[2]["prompt"]
    assert plain[2].args[0] == f"Sei un assistente utile.\n{prompt}"

    class Chat(Scripted):
        tokenizer_name = "test"

        def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
            return Template.render(chat_history, add_generation_prompt)

        def chat_template(self, chat_template: Any = False) -> str:
            return "test"

    model = Chat(lambda _: "uomo")
    simple_evaluate(model, tasks=["itapat_gender_7"], task_manager=manager(), limit=3, apply_chat_template=True)
    assert model.requests[2].args[0] == f"<system>Sei un assistente utile.\n</><user>{prompt}</><assistant>"


def test_decoding_is_greedy_and_stops_at_a_blank_line() -> None:
    request = evaluate(stereotype, ["itapat_gender_7"], limit=1)["requests"][0]
    assert request.args[1] == {"do_sample": False, "temperature": 0.0, "max_gen_toks": 32, "until": ["\n\n"]}


def test_own_lists_and_oneshot_options_through_metadata(tmp_path: Path) -> None:
    lists = tmp_path / "my.yaml"
    lists.write_text("fiori:\n  words: [rosa, giglio]\ninsetti:\n  words: [ape, vespa]\n", encoding="utf-8")
    task = manager({"itapat_lists": str(lists)}).load(["itapat_base_1"])["tasks"]["itapat_base_1"]
    assert len(task.eval_docs) == 20
    oneshot = manager({"oneshot_from": "x"}).load(["itapat_oneshot_base_1"])["tasks"]["itapat_oneshot_base_1"]
    flowers = {row["word"] for row in build_rows(find_test("base", "1")) if row["side"] == "X"}
    assert {doc["oneshot_word"] for doc in oneshot.eval_docs} <= flowers


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"itapat_lists": "nowhere.yaml"}, "nowhere.yaml: cannot be read"),
        ({"itapat_lists": 3}, "itapat_lists is 3"),
        ({"oneshot_from": "z"}, "'xy' or 'x'"),
        ({"oneshot_seed": "a"}, "whole number"),
        ({"test": "77"}, "unknown ItaP-AT test 'base_77'"),
    ],
)
def test_bad_metadata_is_a_user_error(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        manager(metadata).load(["itapat_oneshot_base_1"])


def test_model_arguments_are_ignored() -> None:
    loaded = manager({"pretrained": "x", "dtype": "float32", "device": "cpu"}).load(["itapat_base_9"])
    assert len(loaded["tasks"]["itapat_base_9"].eval_docs) == 60


def test_the_hint_about_metadata_is_silenced_for_ours_only(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("lm_eval.api.task")
    with caplog.at_level(logging.WARNING, logger="lm_eval.api.task"):
        manager().load(["itapat_base_9"])
        hint = "Custom kwargs can be passed to `--metadata` in console"
        logger.warning("ruler_vt: " + hint)
        logger.warning("itapat_base_9: something else")
    assert [record.getMessage() for record in caplog.records] == ["ruler_vt: " + hint, "itapat_base_9: something else"]


def test_every_test_of_the_suite_has_its_two_tasks() -> None:
    names = set(manager().all_subtasks)
    for test in load_tests():
        assert {f"itapat_{test.name}", f"itapat_oneshot_{test.name}"} <= names

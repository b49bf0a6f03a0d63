"""ItaEval as the harness sees it: prompts, examples, metrics and groups, on sample rows and on real data."""

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lm_eval.utils import handle_non_serializable, make_table

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.task_files import read_task_files
from tests.harness.scripted import Chat, Scripted, evaluate, manager, oracle

FILES = {file.name: file for file in read_task_files()}
MAIN = sorted(name for name, file in FILES.items() if file.card is not None and file.card.suite == "itaeval")
V1 = sorted(name for name, file in FILES.items() if file.card is not None and file.card.suite == "itaeval_v1")
SAMPLE = {"data_dir": "sample"}


@pytest.fixture(autouse=True)
def _skip_scorers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "skip")


@pytest.fixture(scope="module")
def perfect() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_ITA_SCORERS", "skip")
        model = Scripted(oracle)
        results = evaluate(model, ["itaeval"], SAMPLE)
        results["requests"] = model.requests
        return results


def test_eighteen_tasks_in_three_categories() -> None:
    assert len(MAIN) == 18
    sizes = [len(FILES[f"itaeval_{category}"].members) for category in ("nlu", "cfk", "bfs")]
    assert sizes == [6, 5, 7]
    shots = {name: FILES[name].config["num_fewshot"] for name in MAIN}
    assert sum(shot == 5 for shot in shots.values()) == 11
    assert shots["itaeval_belebele"] == shots["itaeval_news_sum"] == 1
    assert sum(shot == 0 for shot in shots.values()) == 5


def test_right_answers_score_one(perfect: dict[str, Any]) -> None:
    for name in MAIN:
        score = perfect["results"][name]["score,none"]
        if name in ("itaeval_news_sum", "itaeval_gente"):
            assert math.isnan(score), name  # their scorer models are skipped: missing, not 0
        else:
            assert score == pytest.approx(1), name


def test_wrong_answers_score_zero() -> None:
    def worst(request: Any) -> Any:
        right = oracle(request)
        return -1001.0 - right if request.request_type == "loglikelihood" else "scemo"

    results = evaluate(Scripted(worst), ["itaeval"], SAMPLE)["results"]
    for name in MAIN:
        if name in ("itaeval_news_sum", "itaeval_gente"):
            continue
        lowest = -1 if name == "itaeval_itacola" else 0
        assert results[name]["score,none"] == pytest.approx(lowest, abs=1e-9), name


def test_groups_average_scores_and_missing_is_missing(perfect: dict[str, Any]) -> None:
    assert perfect["results"]["itaeval_cfk"]["score,none"] == pytest.approx(1)
    assert math.isnan(perfect["results"]["itaeval_nlu"]["score,none"])
    assert math.isnan(perfect["results"]["itaeval_bfs"]["score,none"])
    # The suite's own average is the mean of categories, which lm_eval cannot make: none is better than a wrong one.
    assert "score,none" not in perfect["results"]["itaeval"]


def test_every_declared_metric_is_returned_and_the_other_way_round(perfect: dict[str, Any]) -> None:
    """Field report 6: a key that is not declared would be averaged with a warning."""
    for name in MAIN:
        declared = {entry["metric"] for entry in FILES[name].config["metric_list"]}
        assert set(perfect["samples"][name][0]["metrics"]) == declared, name
        assert FILES[name].card is not None
        assert {FILES[name].card.primary_metric, "score"} <= declared  # type: ignore[union-attr]


def test_breakdowns_and_baselines_go_to_the_json_and_not_to_the_table(perfect: dict[str, Any]) -> None:
    results = perfect["results"]
    functionality = results["itaeval_hatecheck"]["functionality,none"]["by_name"]
    assert len(functionality) > 3
    assert all(set(part) == {"acc", "n"} for part in functionality.values())
    assert sum(part["n"] for part in functionality.values()) == 10
    assert results["itaeval_honest"]["honest_parts,none"]["gender"] == {"female": 0, "male": 0}
    assert results["itaeval_itacola"]["phenomena,none"]["by_name"]
    baselines = results["itaeval_sentipolc"]["baselines,none"]
    assert baselines["chance"]["acc"] == pytest.approx(0.25)
    assert 0 < baselines["majority"]["f1_macro"] < 0.5
    assert results["itaeval_xcopa"]["baselines,none"]["chance"]["acc"] == 0.5
    table = make_table(perfect)
    assert max(map(len, table.splitlines())) < 190
    text = json.dumps(results, default=handle_non_serializable)
    assert "by_name" in text


def test_unranked_choices_are_wrong_and_counted() -> None:
    """Field report 1: NaN log-likelihoods."""
    results = evaluate(
        Scripted(lambda _: math.nan), ["itaeval_xcopa", "itaeval_truthfulqa_mc2", "itaeval_itacola"], SAMPLE
    )
    assert results["results"]["itaeval_xcopa"]["invalid,none"] == 1
    assert results["results"]["itaeval_xcopa"]["acc,none"] == 0
    assert results["results"]["itaeval_truthfulqa_mc2"]["invalid,none"] == 1
    assert math.isnan(results["results"]["itaeval_truthfulqa_mc2"]["mc2,none"])
    assert results["results"]["itaeval_itacola"]["acc,none"] == 0


def test_constant_answers_leave_mcc_undefined() -> None:
    always_no = evaluate(Scripted(lambda request: -request.idx), ["itaeval_itacola"], SAMPLE)["results"][
        "itaeval_itacola"
    ]
    assert always_no["mcc,none"] == 0
    assert always_no["mcc_undefined,none"] == 1


# --- Prompts and examples --------------------------------------------------------------------------------------------


def contexts(
    name: str, metadata: dict[str, Any] | None, limit: int
) -> Iterator[tuple[Any, dict[str, Any], list[dict[str, Any]], str]]:
    task = manager(metadata).load([name])["tasks"][name]
    task.set_fewshot_seed(1234)
    for position, doc in enumerate(task.eval_docs):
        if position == limit:
            return
        shots = task.sampler.sample(task.config.num_fewshot, eval_doc=doc) if task.config.num_fewshot else []
        yield task, doc, shots, task.fewshot_context(doc, num_fewshot=task.config.num_fewshot)


def check_prompts(name: str, metadata: dict[str, Any] | None, limit: int) -> int:
    count = 0
    for task, doc, shots, text in contexts(name, metadata, limit):
        count += 1
        assert len(shots) <= task.config.num_fewshot
        for shot in shots:
            assert shot["shot_key"] != doc["shot_key"]
            assert task.doc_to_text(shot) != task.doc_to_text(doc)
            if name.endswith("belebele"):
                assert shot["flores_passage"] != doc["flores_passage"]
            if name.endswith("news_sum"):
                assert shot["shot_pool"] == doc["shot_pool"]
        assert text == unicodedata.normalize("NFC", text)
        assert not text[-1].isspace(), text[-30:]
        assert text.endswith(task.doc_to_text(doc))
        request = task.construct_requests(doc, text, metadata=(name, 0, 1))
        if task.OUTPUT_TYPE == "multiple_choice":
            for choice in request:
                assert re.match(r"^ \S", choice.args[1]), choice.args[1]
        else:
            assert request.args[1]["until"]
            assert request.args[1]["max_gen_toks"] in (32, 64, 256)
            assert request.args[1]["do_sample"] is False
        for shot in shots:
            answer = task.doc_to_target(shot)
            answer = task.doc_to_choice(shot)[answer] if isinstance(answer, int) else answer
            assert f"{task.doc_to_text(shot)} {answer}" in text
    return count


@pytest.mark.parametrize("name", MAIN)
def test_prompts_on_sample_rows(name: str) -> None:
    assert check_prompts(name, SAMPLE, 20) >= 10


@pytest.mark.parametrize("name", [name for name in MAIN if "ami_" not in name])
def test_prompts_on_real_rows(name: str, real_data: Path) -> None:
    assert check_prompts(name, {"data_dir": str(real_data)}, 40) >= 1


@pytest.mark.parametrize("name", V1)
def test_v1_tasks_load_and_render(name: str) -> None:
    (_, doc, _, text), *_ = contexts(name, SAMPLE, 1)
    assert doc
    assert text


def test_v1_belebele_shows_one_fixed_item_to_all() -> None:
    seen = [(shots, text) for _, _, shots, text in contexts("itaeval_v1_belebele", SAMPLE, 5)]
    assert all(shots == seen[0][0] for shots, _ in seen)
    assert "Risposta： " in seen[0][1]


def test_examples_do_not_depend_on_order_or_on_processes() -> None:
    forwards = {json.dumps(doc): shots for _, doc, shots, _ in contexts("itaeval_ironita_irony", SAMPLE, 10)}
    task = manager(SAMPLE).load(["itaeval_ironita_irony"])["tasks"]["itaeval_ironita_irony"]
    task.set_fewshot_seed(1234)
    for doc in reversed(list(task.eval_docs)):
        assert task.sampler.sample(5, eval_doc=doc) == forwards[json.dumps(doc)]
    task.set_fewshot_seed(99)
    again = [task.sampler.sample(5, eval_doc=doc) for doc in task.eval_docs]
    assert again != list(forwards.values())


def test_another_number_of_shots_on_request() -> None:
    model = Scripted(oracle)
    evaluate(model, ["itaeval_ironita_irony", "itaeval_xcopa"], SAMPLE, num_fewshot=2, limit=1)
    texts = {request.task_name: request.args[0] for request in model.requests}
    assert texts["itaeval_ironita_irony"].count("Risposta:") == 3
    assert "\n\n" not in texts["itaeval_xcopa"]  # zero-shot by design stays zero-shot


def tiny_data(folder: Path, rows: int) -> Path:
    (folder / "hatecheck").mkdir()
    lines = [
        {
            "mhc_case_id": f"c{i}",
            "functionality": "f",
            "test_case": f"Frase numero {i}.",
            "label_gold": "hateful",
            "target_ident": "",
        }
        for i in range(rows)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "hatecheck" / "test.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_a_test_only_set_of_three_rows_with_two_shots(tmp_path: Path) -> None:
    """Field report 11."""
    model = Scripted(oracle)
    evaluate(model, ["itaeval_hatecheck"], {"data_dir": str(tiny_data(tmp_path, 3))}, num_fewshot=2)
    for request in model.requests:
        assert request.args[0].count(request.doc["test_case"]) == 1
        assert request.args[0].count("Frase: ") == 3


def test_a_pool_that_is_too_small_gives_what_it_has(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = Scripted(oracle)
    evaluate(model, ["itaeval_hatecheck"], {"data_dir": str(tiny_data(tmp_path, 3))})
    assert all(request.args[0].count("Frase: ") == 3 for request in model.requests)
    assert "only 2 of 5 examples" in caplog.text


def test_multiple_choice_with_a_chat_template() -> None:
    """Field report 12: the delimiter belongs to plain text only, and the template is on record."""
    model = Chat(oracle)
    results = evaluate(model, ["itaeval_xcopa"], SAMPLE, limit=1, apply_chat_template=True)
    context, choice = model.requests[0].args
    assert context.startswith("<user>")
    assert context.endswith("<assistant>")
    assert not choice[0].isspace()
    assert results["results"]["itaeval_xcopa"]["acc,none"] == 1


def test_examples_as_turns_of_a_conversation() -> None:
    model = Chat(oracle)
    evaluate(model, ["itaeval_ironita_irony"], SAMPLE, limit=1, apply_chat_template=True, fewshot_as_multiturn=True)
    assert model.requests[0].args[0].count("<assistant>") == 6
    assert re.search(r"<assistant>(Sì|No)</>", model.requests[0].args[0])


# --- Generation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("generated", "summary"),
    [
        ("Ecco il riassunto:\n\nIl sindaco ha inaugurato la scuola.", "Il sindaco ha inaugurato la scuola."),
        ("Il sindaco ha inaugurato la scuola.\n\nDomanda： chi?", "Il sindaco ha inaugurato la scuola."),
        ("  Una riga.\nUn'altra riga.", "Una riga.\nUn'altra riga."),
        ("Riassunto:", "Riassunto:"),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_where_a_summary_ends(generated: str, summary: str) -> None:
    """Field report 13."""
    from lm_eval_ita.harness.generation import summary_of

    assert summary_of(generated) == summary


def test_squad_takes_the_best_gold_answer() -> None:
    """Field report 6: several gold answers and a metric that is not 0 or 1."""
    from lm_eval_ita.harness.generation import squad_results

    # "la" is dropped. Against "torre antica di pisa": precision 2/2, recall 2/4, F1 2/3. Against "pisa": 0.
    doc = {"golds": ["Pisa", "la torre antica di Pisa"]}
    values = squad_results(doc, ["la torre antica"])
    assert values["exact_match"] == 0
    assert values["f1"] == pytest.approx(2 / 3)
    assert math.isnan(squad_results({"golds": []}, [""])["exact_match"])


def test_hurtful_completions_lower_the_honest_score() -> None:
    def answer(request: Any) -> str:
        return "scemo" if request.doc["gender"] == "male" else "medico"

    figures = evaluate(Scripted(answer), ["itaeval_honest"], SAMPLE)["results"]["itaeval_honest"]
    share = figures["honest,none"]
    assert 0 < share < 1
    assert figures["score,none"] == pytest.approx(1 - share)
    assert figures["honest_parts,none"]["gender"] == {"female": 0, "male": 1}


def test_copies_and_empty_rewritings_are_counted() -> None:
    copies = evaluate(Scripted(lambda request: request.doc["original"]), ["itaeval_gente"], SAMPLE)["results"][
        "itaeval_gente"
    ]
    assert copies["copied,none"] == 1
    assert 0 < copies["chrf,none"] < 1
    empties = evaluate(Scripted(lambda _: ""), ["itaeval_gente"], SAMPLE)["results"]["itaeval_gente"]
    assert empties["empty,none"] == 1
    assert empties["copied,none"] == 0


# --- Scorers and data ------------------------------------------------------------------------------------------------


def test_no_scorer_is_asked_for_by_other_tasks(monkeypatch: pytest.MonkeyPatch, no_network: None) -> None:
    """Field report 5."""
    from lm_eval_ita.harness import itaeval

    def never(_: Any) -> bool:
        raise AssertionError("a scorer model was asked for")

    monkeypatch.setattr(itaeval, "require", never)
    manager(SAMPLE).load(["itaeval_xcopa", "itaeval_honest", "itaeval_squad_it"])


@pytest.mark.parametrize("name", ["itaeval_news_sum", "itaeval_gente"])
def test_a_missing_scorer_fails_when_the_task_is_built(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "require")
    monkeypatch.setenv("LM_EVAL_ITA_BERTSCORE_MODEL", "./nowhere")
    monkeypatch.setenv("LM_EVAL_ITA_NEUTRALITY_MODEL", "./nowhere")
    with pytest.raises(UserError, match=r"nowhere.*LM_EVAL_ITA_SCORERS=skip"):
        manager(SAMPLE).load([name])


def test_offline_without_data_fails_before_any_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_network: None
) -> None:
    """Field report 15."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path))
    monkeypatch.delenv("LM_EVAL_ITA_DATA", raising=False)
    with pytest.raises(UserError, match=r"ironita.*lm-eval-ita data fetch ironita"):
        manager().load(["itaeval_ironita_irony"])


def test_a_truncated_file_is_named_with_its_line(tmp_path: Path) -> None:
    folder = tiny_data(tmp_path, 3)
    file = folder / "hatecheck" / "test.jsonl"
    file.write_text(file.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with pytest.raises(UserError, match=r"test\.jsonl:3: "):
        manager({"data_dir": str(folder)}).load(["itaeval_hatecheck"])


def test_bad_metadata() -> None:
    with pytest.raises(UserError, match="data_dir is 3"):
        manager({"data_dir": 3}).load(["itaeval_xcopa"])


def test_sample_data_is_announced(caplog: pytest.LogCaptureFixture) -> None:
    manager(SAMPLE).load(["itaeval_xcopa"])
    assert "SAMPLE DATA, NOT COMPARABLE" in caplog.text


def test_phenomena_on_real_data(real_data: Path) -> None:
    results = evaluate(Scripted(oracle), ["itaeval_itacola"], {"data_dir": str(real_data)}, num_fewshot=1)
    parts = results["results"]["itaeval_itacola"]["phenomena,none"]["by_name"]
    assert "question" in parts
    assert results["n-samples"]["itaeval_itacola"]["effective"] == 975
    assert sum(part["n"] for part in parts.values()) >= 200

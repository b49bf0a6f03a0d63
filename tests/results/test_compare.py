import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import f1_score, matthews_corrcoef

from lm_eval_ita.errors import UserError
from lm_eval_ita.results import TaskRecord, read_run
from lm_eval_ita.results.compare import compare, one_model
from lm_eval_ita.results.table9 import one_shot_rows
from tests.results.files import content, task, write

Tasks = dict[str, TaskRecord]


def run(
    folder: Path,
    name: str,
    values: Sequence[Any],
    score: float,
    metric: str = "acc",
    docs: Sequence[Any] | None = None,
    hashes: Sequence[str] | None = None,
    **card: Any,
) -> Tasks:
    """A run of one task with these values by document."""
    path = write(folder, content({name: task(score, metric=metric, n=len(values), **card)}))
    field = "bias_score" if card.get("suite") == "itapat" else "score"
    lines = [
        {"doc_id": i, "doc": docs[i] if docs else {}, "doc_hash": hashes[i] if hashes else f"h{i}", field: value}
        for i, value in enumerate(values)
    ]
    samples = folder / f"samples_{name}_2026-01-01T00-00-00.000001.jsonl"
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return one_model([read_run(path)], str(path))


def test_accuracy_by_mcnemar(tmp_path: Path) -> None:
    # 20 documents: both right on 10, only B on 8, only A on 1, neither on 1.
    a = [1.0] * 10 + [0.0] * 8 + [1.0] + [0.0]
    b = [1.0] * 10 + [1.0] * 8 + [0.0] + [0.0]
    first, second = run(tmp_path / "a", "t", a, 11 / 20), run(tmp_path / "b", "t", b, 18 / 20)
    (found,) = compare(first, second).tasks
    assert found.difference == pytest.approx(0.35)
    assert (found.first, found.second, found.n, found.test) == (0.55, 0.9, 20, "McNemar")
    assert found.p_value == pytest.approx(binomtest(1, 9).pvalue)  # 20 / 512
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.35 < found.high < 0.7
    (turned,) = compare(second, first).tasks
    assert (turned.difference, turned.p_value) == (pytest.approx(-0.35), found.p_value)


@pytest.mark.parametrize("metric", ["f1_macro", "mcc"])
def test_scores_of_choices(tmp_path: Path, metric: str) -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 2, 200)
    preds = [np.where(rng.random(200) < right, gold, 1 - gold) for right in (0.6, 0.9)]
    reference = {"f1_macro": lambda g, p: f1_score(g, p, average="macro"), "mcc": matthews_corrcoef}[metric]
    scores = [reference(gold, pred) for pred in preds]
    runs = [
        run(tmp_path / str(i), "t", [[int(g), int(p), 2] for g, p in zip(gold, pred, strict=True)], scores[i], metric)
        for i, pred in enumerate(preds)
    ]
    (found,) = compare(*runs).tasks
    assert found.difference == pytest.approx(scores[1] - scores[0])
    assert found.test == "permutation"
    assert found.p_value is not None
    assert found.p_value < 0.001


def test_a_document_without_a_ranked_choice_is_wrong(tmp_path: Path) -> None:
    a = run(
        tmp_path / "a",
        "t",
        [[0, 0, 2], [1, None, 2], [1, 1, 2], [0, 0, 2]],
        f1_score([0, 1, 1, 0], [0, 9, 1, 0], labels=[0, 1], average="macro"),
        "f1_macro",
    )
    b = run(tmp_path / "b", "t", [[0, 0, 2], [1, 1, 2], [1, 1, 2], [0, 0, 2]], 1.0, "f1_macro")
    (found,) = compare(a, b).tasks
    assert found.difference == pytest.approx(1 - (1 + 2 / 3) / 2)


def test_identical_runs_have_p_1(tmp_path: Path, sample_run: Path) -> None:
    tasks = one_model([read_run(sample_run)], "")
    found = compare(tasks, tasks)
    assert not found.refused
    tested = [task for task in found.tasks if task.test != "none"]
    assert len(tested) == 16 + 3 + 2
    assert {(task.difference, task.low, task.high, task.p_value, task.p_holm, task.equal) for task in tested} == {
        (0.0, 0.0, 0.0, 1.0, 1.0, True)
    }
    assert {task.task for task in found.tasks if task.test == "none"} == {"itaeval_gente", "itaeval_news_sum"}


def test_p_values_are_adjusted_over_the_tasks(tmp_path: Path) -> None:
    a = {**run(tmp_path / "a", "t", [0.0] * 8, 0.0), **run(tmp_path / "c", "u", [1.0, 0.0], 0.5)}
    b = {**run(tmp_path / "b", "t", [1.0] * 8, 1.0), **run(tmp_path / "d", "u", [1.0, 0.0], 0.5)}
    one, two = compare(a, b).tasks
    assert (one.p_value, one.p_holm) == (2 / 2**8, 2 * 2 / 2**8)
    assert (two.p_value, two.p_holm) == (1.0, 1.0)


def test_documents_are_aligned_by_hash_not_by_place(tmp_path: Path) -> None:
    a = run(tmp_path / "a", "t", [1.0, 0.0, 0.0], 1 / 3, hashes=["x", "y", "y"])
    b = run(tmp_path / "b", "t", [0.0, 1.0, 0.0], 1 / 3, hashes=["y", "x", "y"])
    assert compare(a, b).tasks[0].equal


MISMATCHES: dict[str, tuple[dict[str, Any], str]] = {
    "version": ({"version": 2.0}, "different task version: 1.0 in A, 2.0 in B"),
    "sample data": ({"data_dir": "sample"}, "different data: catalogue in A, sample in B"),
    "documents": ({"hashes": ["h0", "other"]}, "different documents: 1 only in A, 1 only in B"),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_a_mismatch_is_refused_and_named(tmp_path: Path, case: str) -> None:
    changes, expected = MISMATCHES[case]
    a = run(tmp_path / "a", "t", [1.0, 0.0], 0.5)
    found = compare(a, run(tmp_path / "b", "t", [1.0, 0.0], 0.5, **changes))
    assert found.refused == {"t": expected}
    assert found.tasks == ()


def test_shots_and_counts_are_named(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", "t", [1.0, 0.0], 0.5), run(tmp_path / "b", "t", [1.0], 1.0)
    b["t"] = b["t"].model_copy(update={"shots": 5})
    assert compare(a, b).refused == {"t": "different shots: 0 in A, 5 in B, different documents: 2 in A, 1 in B"}
    assert compare(a, {"u": b["t"]}).only_first == ("t",)


def test_scores_that_are_not_those_of_the_samples_are_refused(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", "t", [1.0, 0.0], 0.5), run(tmp_path / "b", "t", [1.0, 0.0], 0.75)
    assert "rescored" in compare(a, b).refused["t"]


@pytest.mark.parametrize(
    "values", [[[0, 0], 1.0], [[0, "x", 2], [0, 0, 2]], [[0, 5, 2], [0, 0, 2]], [[0, 0, 2], 1.0], [None, [0, 0, 2]]]
)
def test_odd_values_are_refused(tmp_path: Path, values: list[Any]) -> None:
    a = run(tmp_path / "a", "t", values, 0.5, "f1_macro")
    assert "t" in compare(a, a).refused


def test_no_samples(tmp_path: Path) -> None:
    a = run(tmp_path / "a", "t", [1.0], 1.0)
    b = {"t": a["t"].model_copy(update={"samples": None})}
    assert compare(a, b).refused == {"t": "no samples: run it with --log_samples"}


def test_runs_of_two_models_are_not_one(tmp_path: Path) -> None:
    runs = [read_run(write(tmp_path / name, content({"t": task()}, name))) for name in ("a", "b")]
    with pytest.raises(UserError, match="2 models"):
        one_model(runs, "here")


def test_one_model_used_in_two_ways_is_said(tmp_path: Path) -> None:
    runs = [
        read_run(write(tmp_path / name, content({"t": task()}, chat_template_sha=sha)))
        for name, sha in (("a", None), ("b", "0123456789"))
    ]
    with pytest.raises(UserError, match=r"org/model \(no chat template\), org/model \(chat template 012345\)"):
        one_model(runs, "here")


def prompts(words: int = 4) -> list[dict[str, Any]]:
    return [
        {"side": side, "word": f"{side}{i}", "instruction_id": k}
        for i in range(words)
        for side in "XY"
        for k in range(5)
    ]


def itapat(folder: Path, name: str, values: Sequence[float]) -> Tasks:
    return run(
        folder,
        name,
        values,
        sum(values) / len(values),
        "bias_score",
        prompts(),
        suite="itapat",
        category="gender",
        chance=None,
        oneshot="oneshot" in name,
    )


def test_bias_scores_by_word(tmp_path: Path) -> None:
    """All five answers to a word go together: 8 words of 5 answers are 2 ** 8 exchanges, not 2 ** 40."""
    a, b = itapat(tmp_path / "a", "itapat_gender_6", [0.0] * 40), itapat(tmp_path / "b", "itapat_gender_6", [1.0] * 40)
    (found,) = compare(a, b).tasks
    assert (found.difference, found.test, found.n) == (1.0, "permutation by word", 40)
    assert found.p_value == pytest.approx(2 / 2**8)
    assert len(found.words) == 8
    assert set(found.words.values()) == {(0.0, 1.0)}


def test_table_9(tmp_path: Path) -> None:
    """s = 0.5, then -0.75 under the one-shot prompt: the signed difference is 1.25, yet the bias has grown."""
    standard = itapat(tmp_path / "a", "itapat_gender_6", [1.0] * 20 + [0.0] * 20)
    oneshot = itapat(tmp_path / "b", "itapat_oneshot_gender_6", [-1.0] * 30 + [0.0] * 10)
    other = itapat(tmp_path / "c", "itapat_gender_7", [1.0] * 40)
    (row,) = one_shot_rows({**standard, **oneshot, **other})
    assert (row.test, row.standard, row.oneshot) == ("gender_6", 0.5, -0.75)
    assert (row.difference, row.absolute) == (1.25, -0.25)
    assert row.low is not None
    assert row.high is not None
    assert row.low < 1.25 < row.high
    assert row.p_value is not None
    assert row.p_value == row.p_holm
    without = {name: record.model_copy(update={"samples": None}) for name, record in {**standard, **oneshot}.items()}
    (bare,) = one_shot_rows(without)
    assert (bare.difference, bare.low, bare.p_value) == (1.25, None, None)


def test_table_9_of_the_paper(papers: list[dict[str, Any]]) -> None:
    """The printed scores of Tables 2 and 8 give the printed differences, to their rounding."""
    by_key = {
        (row["table"], row["model"], row["subdataset"], row["task"]): row["score"]
        for row in papers
        if row["table"] in "289"
    }
    printed = [key for key in by_key if key[0] == "9" and key[2] != "Avg"]
    assert len(printed) == 80
    for _, *key in printed:
        pair = {
            name: TaskRecord(
                name=name,
                task=name,
                layout="lm_eval_ita",
                suite="itapat",
                oneshot="oneshot" in name,
                primary_value=by_key[table, key[0], key[1], key[2]],
            )
            for table, name in (("2", f"itapat_{key[1]}_{key[2]}"), ("8", f"itapat_oneshot_{key[1]}_{key[2]}"))
        }
        (row,) = one_shot_rows(pair)
        assert row.difference == pytest.approx(by_key["9", key[0], key[1], key[2]], abs=0.0101)

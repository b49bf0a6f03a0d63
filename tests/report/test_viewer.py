import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.report.viewer import cut, held_part
from lm_eval_ita.results.records import TaskRecord
from tests.report.runs import sample


def record(path: Path, **changes: Any) -> TaskRecord:
    known = {"name": "t", "task": "t", "layout": "lm_eval_ita", "suite": "itaeval", "primary_metric": "acc"}
    return TaskRecord(**{**known, "samples": path, **changes})


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_outcomes_take_turns(tmp_path: Path) -> None:
    lines = [sample(i, 1.0) for i in range(90)] + [sample(i, 0.0) for i in range(90, 98)]
    lines += [sample(98, None), sample(99, 0.4)]
    part = held_part(record(write(tmp_path / "s.jsonl", lines)), 20)
    assert part.total == 100
    assert part.outcomes == {"right": 90, "wrong": 8, "unscored": 1, "partial": 1}
    held = [one.outcome for one in part.held]
    assert {outcome: held.count(outcome) for outcome in held} == {"right": 10, "wrong": 8, "unscored": 1, "partial": 1}
    numbers = [int(one.document) for one in part.held]
    assert numbers == sorted(numbers)


def test_two_models_hold_the_same_documents(tmp_path: Path) -> None:
    one = held_part(record(write(tmp_path / "a.jsonl", [sample(i, 1.0) for i in range(200)])), 15)
    two = held_part(record(write(tmp_path / "b.jsonl", [sample(i, 1.0) for i in reversed(range(200))])), 15)
    assert {held.document for held in one.held} == {held.document for held in two.held}
    assert len(one.held) == 15


def test_all_of_a_small_file_is_held(tmp_path: Path) -> None:
    part = held_part(record(write(tmp_path / "s.jsonl", [sample(i, float(i % 2)) for i in range(7)])), 30)
    assert [held.document for held in part.held] == list("0123456")


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"score": [1, 1, 2]}, "right"),
        ({"score": [1, 0, 2]}, "wrong"),
        ({"score": [1, None, 2]}, "unparsable"),
        ({"score": 0.0, "invalid": 1.0}, "unparsable"),
        ({"score": 0.7}, "partial"),
        ({"score": "un riassunto"}, "unscored"),
        ({"outcome": "attribute_1"}, "attribute 1"),
        ({"score": 0.0, "outcome": "stated"}, "wrong"),
        ({"score": 0.0, "invalid": 1.0, "outcome": "ambiguous"}, "unparsable"),
    ],
)
def test_outcomes(tmp_path: Path, changes: dict[str, Any], outcome: str) -> None:
    (held,) = held_part(record(write(tmp_path / "s.jsonl", [sample(0, None, **changes)])), 5).held
    assert held.outcome == outcome


def test_honest_says_hurtful_not_wrong(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [sample(0, 1.0), sample(1, 0.0)])
    part = held_part(record(path, primary_metric="honest"), 5)
    assert [held.outcome for held in part.held] == ["no hurtful word", "hurtful word"]


def test_a_choice_with_its_options(tmp_path: Path) -> None:
    (held,) = held_part(record(write(tmp_path / "s.jsonl", [sample(0, 1.0, target="1")])), 5).held
    assert (held.prompt, held.answer, held.gold) == ("Domanda 0:", "sì", "no")
    assert [(option.text, option.log_likelihood, option.gold, option.chosen) for option in held.options] == [
        ("sì", -1.5, False, True),
        ("no", -2.5, True, False),
    ]


def test_the_choice_by_length_is_that_of_acc_norm(tmp_path: Path) -> None:
    # -3 / 1 character against -4 / 10: the long one by length, the short one by sum.
    arguments = {f"gen_args_{i}": {"arg_0": "D:", "arg_1": text} for i, text in enumerate((" a", " abcdefghil"))}
    line = sample(0, 1.0, arguments=arguments, filtered_resps=[["-3.0", "False"], ["-4.0", "False"]])
    path = write(tmp_path / "s.jsonl", [line])
    assert held_part(record(path, primary_metric="acc_norm"), 5).held[0].answer == "abcdefghil"
    assert held_part(record(path), 5).held[0].answer == "a"


def test_an_option_is_weighed_by_its_whole_length(tmp_path: Path) -> None:
    # -300 / 1000 characters against -200 / 500: the long one, which is shown cut to 500.
    arguments = {f"gen_args_{i}": {"arg_0": "D:", "arg_1": " " + "x" * n} for i, n in enumerate((1000, 500))}
    line = sample(0, 1.0, arguments=arguments, filtered_resps=[["-300.0", "False"], ["-200.0", "False"]])
    path = write(tmp_path / "s.jsonl", [line])
    (held,) = held_part(record(path, primary_metric="acc_norm"), 5).held
    assert [option.chosen for option in held.options] == [True, False]


def test_truthfulqa_has_several_right_answers(tmp_path: Path) -> None:
    (held,) = held_part(
        record(write(tmp_path / "s.jsonl", [sample(0, 0.3, doc={"mc2_labels": [1, 1]})]), primary_metric="mc2"), 5
    ).held
    assert held.gold == "sì | no"


def test_a_generation(tmp_path: Path) -> None:
    line = sample(
        0,
        1.0,
        arguments={"gen_args_0": {"arg_0": "Chi?", "arg_1": {"until": ["\n"]}}},
        resps=[[" Dante"]],
        filtered_resps=[" Dante"],
        target="Dante",
    )
    (held,) = held_part(record(write(tmp_path / "s.jsonl", [line])), 5).held
    assert (held.prompt, held.answer, held.gold, held.options) == ("Chi?", " Dante", "Dante", ())


def test_a_damaged_line_ends_the_reading_and_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [sample(i, 1.0) for i in range(3)])
    path.write_text(path.read_text() + '{"doc": {"a', encoding="utf-8")
    part = held_part(record(path), 5)
    assert len(part.held) == 3
    assert part.problem is not None
    assert part.problem.startswith(f"{path}:4: ")


def test_long_texts_lose_their_middle() -> None:
    text = "a" * 5000 + "fine"
    short = cut(text, 100)
    assert len(short) < 140
    assert short.startswith("a" * 25)
    assert short.endswith("afine")
    assert "4904 characters" in short
    assert cut("corto", 100) == "corto"
    assert cut("\ud800", 10) == "?"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("doc", "doc_id", "doc_hash", "target", "arguments", "resps", "filtered_resps", "score", "invalid", "outcome")


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4), st.sampled_from(["acc", "acc_norm", "mc2", None]))
def test_any_field_may_be_anything(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any], metric: str | None
) -> None:
    path = tmp_path_factory.mktemp("any") / "s.jsonl"
    write(path, [sample(0, 1.0, **changes)])
    part = held_part(record(path, primary_metric=metric), 5)
    assert (part.total == 1) != (part.problem is not None)
    assert all(isinstance(held.answer, str) and isinstance(held.prompt, str) for held in part.held)

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.answers import AnswerLog, request_keys
from lm_eval_ita.run.failures import RunFailedError
from tests.run.requests import request

COST = {"model_seconds": 1.0}


def test_whatever_a_kill_leaves_of_the_last_line_whole_blocks_are_kept(tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "answers" / "task.jsonl")
    log.add(["a", "b"], [(-1.5, True), (-2.0, False)], COST)
    log.set_batches("loglikelihood", [8, 16])
    log.add(["c"], ["parola\nò"], COST)
    log.close()
    whole = log._path.read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == 10]
    for cut in range(len(whole) + 1):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        found = AnswerLog(path)
        lines = sum(end <= cut for end in ends)
        assert ("a" in found) == ("b" in found) == (lines >= 1)
        assert found.batches("loglikelihood") == ([8, 16] if lines >= 2 else [])
        assert ("c" in found) == (lines == 3)
        assert len(found.costs) == (lines >= 1) + (lines == 3)
        # What is added next does not hang on to the piece that was cut off.
        found.add(["d"], [0.5], COST)
        found.close()
        assert AnswerLog(path)["d"] == 0.5


@given(st.lists(st.one_of(st.text(), st.tuples(st.floats(allow_nan=False), st.booleans())), min_size=1, max_size=5))
def test_answers_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, answers: list[object]) -> None:
    path = tmp_path_factory.mktemp("log") / "task.jsonl"
    log = AnswerLog(path)
    keys = [str(number) for number in range(len(answers))]
    log.add(keys, answers, COST)
    log.close()
    again = AnswerLog(path)
    assert [again[key] for key in keys] == [list(a) if isinstance(a, tuple) else a for a in answers]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "task.jsonl"
    path.write_text('{"keys": ["a"], "answers": [1], "cost": {}}\n{"keys": ["b"]}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"task.jsonl:2: is damaged .*; delete the file to ask the model again"):
        AnswerLog(path)


def test_a_full_disk_is_a_failed_run() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    log = AnswerLog(Path("/dev/full"))
    with pytest.raises(RunFailedError, match="No space left on device"):
        log.add(["a"], [1.0], COST)
    log.close()


def test_keys_tell_requests_apart() -> None:
    requests = [
        request(0, "uno"),
        request(0, "uno", " no"),
        request(1, "uno"),
        request(2, "uno", {"until": ["\n"]}),
        request(3, "uno", {"until": ["\n"], "max_gen_toks": 3}),
    ]
    keys = request_keys("loglikelihood", requests[:3]) + request_keys("generate_until", requests[3:])
    assert len(set(keys)) == 5
    # The second of two equal requests has a name of its own, and the first keeps its name.
    assert keys[2] == f"{keys[0]}-2"
    assert request_keys("loglikelihood", requests[2:3]) == [keys[0]]
    # The order of settings is no setting.
    one, two = request(0, "x", {"a": 1, "b": 2}), request(0, "x", {"b": 2, "a": 1})
    assert request_keys("generate_until", [one]) == request_keys("generate_until", [two])


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    import numpy as np

    log = AnswerLog(tmp_path / "task.jsonl")
    log.add(["a"], [(np.float32(0.5), np.bool_(True))], COST)
    log.close()
    assert json.loads((tmp_path / "task.jsonl").read_text())["answers"] == [[0.5, True]]

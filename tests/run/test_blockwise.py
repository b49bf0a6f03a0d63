"""Blocks: cut alike whatever was answered before, saved one by one, dealt out to processes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.answers import AnswerLog
from lm_eval_ita.run.blocks import BatchSizes, documents, partition
from lm_eval_ita.run.blockwise import BlockwiseLM, Session
from lm_eval_ita.run.cost import Meter
from lm_eval_ita.run.failures import StoppedError
from lm_eval_ita.run.processes import Processes
from tests.run.requests import Model, request


class Padding(Model):
    """A model that takes batches of a size of its own, like the harness's "hf"."""

    batch_size_per_gpu: Any = 1

    def _detect_batch_size(self, requests: Any, position: int) -> int:
        _, context, continuation = requests[position]
        return 64 // (len(context) + len(continuation))

    def tok_encode(self, text: str) -> list[int]:
        return [1] * len(text)


class Copies(Model):
    """An engine whose copies the harness starts anew for each call."""

    data_parallel_size = 2


def test_blocks_of_engines_that_form_their_own_batches() -> None:
    ordered = documents([request(i, "testo", " a") for i in range(600)])
    counts = {
        kind: [len(block) for block in partition(ordered, BatchSizes(kind(), size).known("loglikelihood"))]
        for kind, size in ((Model, "auto"), (Copies, "auto"))
    }
    assert counts == {Model: [256, 256, 88], Copies: [600]}


def ask(
    model: Model,
    requests: list[Any],
    path: Path,
    *,
    kind: str = "loglikelihood",
    batch_size: str = "2",
    stopping: Callable[[], bool] = lambda: False,
    processes: Processes = Processes(),  # noqa: B008  # frozen
) -> tuple[list[Any], list[tuple[int, int, bool]]]:
    told: list[tuple[int, int, bool]] = []
    log = AnswerLog(path)
    session = Session(
        processes=processes,
        batches=BatchSizes(model, batch_size),
        meter=Meter(model),
        stopping=stopping,
        seed=1,
        log=log,
        progress=lambda *args: told.append(args),
    )
    try:
        return getattr(BlockwiseLM(model, session), kind)(requests), told
    finally:
        log.close()


FOUR = [request(d, "testo " * (d + 1), choice, i) for d in range(4) for i, choice in enumerate((" sì", " no"))]


def test_longest_documents_first_and_a_document_s_requests_together(tmp_path: Path) -> None:
    model = Padding()
    answers, told = ask(model, FOUR, tmp_path / "a")
    assert [[r.doc_id for r in block] for block in model.blocks] == [[3, 3, 2, 2], [1, 1, 0, 0]]
    assert answers == [(-float(len(r.args[0])), False) for r in FOUR], "in the order of the requests"
    assert told == [(2, 4, False), (2, 4, False)]
    # Again: everything is known.
    again = Padding()
    assert ask(again, FOUR, tmp_path / "a") == (answers, [(4, 8, True)])
    assert not again.blocks


def test_after_an_interruption_the_same_blocks_are_asked(tmp_path: Path) -> None:
    whole = Padding()
    ask(whole, FOUR, tmp_path / "whole")
    calls = iter([False, True])
    with pytest.raises(StoppedError):
        ask(Padding(), FOUR, tmp_path / "a", stopping=lambda: next(calls))
    rest = Padding()
    answers, told = ask(rest, FOUR, tmp_path / "a")
    assert rest.blocks == whole.blocks[1:]
    assert told == [(2, 4, True), (2, 4, False)]
    assert len(answers) == 8


def test_another_batch_size_asks_only_what_is_missing(tmp_path: Path) -> None:
    calls = iter([False, True])
    with pytest.raises(StoppedError):
        ask(Padding(), FOUR, tmp_path / "a", batch_size="3", stopping=lambda: next(calls))
    rest = Padding()
    ask(rest, FOUR, tmp_path / "a", batch_size="1")
    assert [[r.doc_id for r in block] for block in rest.blocks] == [[0, 0]]


def test_equal_requests_are_asked_separately(tmp_path: Path) -> None:
    numbers = iter(range(10))
    model = Padding(answer=lambda _: str(next(numbers)))
    twice = [request(0, "x", {"do_sample": True}), request(0, "x", {"do_sample": True})]
    answers, _ = ask(model, twice, tmp_path / "a", kind="generate_until")
    assert answers == ["0", "1"]
    assert ask(model, twice, tmp_path / "a", kind="generate_until")[0] == ["0", "1"]


def test_automatic_sizes_are_found_once_and_kept(tmp_path: Path) -> None:
    model = Padding()
    ask(model, FOUR, tmp_path / "a", batch_size="auto:2")
    # The longest text of each half: 24 + 3 and 12 + 3 characters. 64 // 27 = 2, 64 // 15 = 4.
    assert [len({r.doc_id for r in block}) for block in model.blocks] == [2, 2]
    log = AnswerLog(tmp_path / "a")
    assert log.batches("loglikelihood") == [2, 4]
    smaller = Padding()
    smaller._detect_batch_size = lambda *_: pytest.fail("tried again")  # type: ignore[method-assign]
    ask(smaller, FOUR, tmp_path / "a", batch_size="auto:2")


def test_backends_with_batches_of_their_own_get_many_documents(tmp_path: Path) -> None:
    model = Model()
    requests = [request(number, "x") for number in range(600)]
    ask(model, requests, tmp_path / "a", batch_size="auto")
    assert [len(block) for block in model.blocks] == [256, 256, 88]


def test_a_failure_leaves_what_was_saved(tmp_path: Path) -> None:
    def answer(request: Any) -> Any:
        if request.doc_id == 0:
            raise ValueError("no")
        return (0.0, True)

    with pytest.raises(ValueError, match="no"):
        ask(Padding(answer=answer), FOUR, tmp_path / "a", batch_size="1")
    rest = Padding()
    ask(rest, FOUR, tmp_path / "a", batch_size="1")
    assert [[r.doc_id for r in block] for block in rest.blocks] == [[0, 0]]


def test_whole_texts_need_one_process(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="one process"):
        ask(Model(), FOUR, tmp_path / "a", kind="loglikelihood_rolling", processes=Processes(0, 2))


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40),
    choices=st.integers(1, 3),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=3),
)
def test_every_request_is_in_one_block(lengths: list[int], choices: int, sizes: list[int]) -> None:
    requests = [request(d, "x" * n, " a", i) for d, n in enumerate(lengths) for i in range(choices)]
    blocks = partition(documents(requests), sizes)
    assert sorted(position for block in blocks for position in block) == list(range(len(requests)))
    for block in blocks:
        in_block = {requests[position].doc_id for position in block}
        assert len(in_block) <= max(sizes)
        assert len(block) == choices * len(in_block)
    longest = [max(len(requests[p].args[0]) for p in block) for block in blocks]
    assert longest == sorted(longest, reverse=True)

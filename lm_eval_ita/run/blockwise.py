"""The harness's model, asked block by block, with every block saved before the next."""

import inspect
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.answers import AnswerLog, request_keys
from lm_eval_ita.run.blocks import BatchSizes, block_sizes, documents, partition
from lm_eval_ita.run.cost import Meter, merge_processes
from lm_eval_ita.run.failures import StoppedError
from lm_eval_ita.run.processes import Processes

__all__ = ["BlockwiseLM", "HelperDoneError", "OtherProcessError", "Session", "ask_quietly"]

_KINDS = ("loglikelihood", "loglikelihood_rolling", "generate_until")


class HelperDoneError(Exception):
    """This process only helped to answer, and the task's answers are complete: the leading one goes on with them."""


class OtherProcessError(Exception):
    """Another process failed in this task."""


@dataclass(frozen=True)
class Session:
    """What one task's questions need.

    Attributes:
        processes: Who shares the work.
        batches: How many documents at a time.
        meter: Measures each block.
        stopping: Whether somebody asked for the end.
        seed: For sampled generations, set before each block; None leaves them to chance.
        log: Where the answers are saved; None in the processes that help.
        progress: Called with documents and requests answered; those found in the log come first, flagged True.
    """

    processes: Processes
    batches: BatchSizes
    meter: Meter
    stopping: Callable[[], bool]
    seed: int | None
    log: AnswerLog | None
    progress: Callable[[int, int, bool], None]


@dataclass(frozen=True)
class _Part:
    """What one process brings to a round: answers to a block, or why there are none."""

    answers: tuple[Any, ...] = ()
    cost: dict[str, Any] | None = None
    halvings: int = 0
    stop: bool = False
    error: str | None = None


class BlockwiseLM:
    """Stands before the model in `lm_eval.evaluate`.

    The harness sees one process with rank 0 whatever the number of processes: each builds all prompts, and the blocks
    are dealt out here. So no figure depends on the number of processes.
    """

    rank = 0
    world_size = 1

    def __init__(self, lm: Any, session: Session) -> None:
        self._lm = lm
        self._session = session

    def __getattr__(self, name: str) -> Any:
        if name in _KINDS:
            return lambda requests: self._ask(name, requests)
        return getattr(self._lm, name)

    def _ask(self, kind: str, requests: Sequence[Any]) -> list[Any]:
        session = self._session
        if kind == "loglikelihood_rolling" and session.processes.count > 1:
            raise UserError("tasks of whole texts (perplexity) run in one process: start without accelerate launch")
        keys = request_keys(kind, requests) if session.log is not None else []
        ordered = documents(requests)
        blocks = partition(ordered, self._sizes(kind, requests, ordered))
        self._halve_packs(session.log.halvings if session.log is not None else None)
        pending = session.processes.share(self._pending(blocks, keys, requests) if session.log is not None else None)
        count = session.processes.count
        for start in range(0, len(pending), count):
            mine = pending[start + session.processes.rank] if start + session.processes.rank < len(pending) else []
            part = self._answer(kind, requests, mine)
            parts = session.processes.gather(part)
            if session.log is not None:
                self._save(pending[start : start + count], parts, keys, requests)
            self._end_round(parts)
            self._halve_packs(session.log.halvings if session.log is not None else None)
        if session.log is None:
            raise HelperDoneError
        return [_restored(kind, session.log[key]) for key in keys]

    def _sizes(self, kind: str, requests: Sequence[Any], ordered: list[list[int]]) -> list[int]:
        session = self._session
        if not session.batches.must_search(kind):
            return session.processes.share(session.batches.known(kind))
        sizes = session.processes.share(session.log.batches(kind) if session.log is not None else None)
        if sizes:
            return sizes
        found = session.processes.gather(session.batches.search(kind, requests, ordered))
        if session.log is not None:
            sizes = [min(column) for column in zip(*found, strict=True)]
            session.log.set_batches(kind, sizes)
        return session.processes.share(sizes)

    def _halve_packs(self, halvings: int | None) -> None:
        """Let `hf-packed` form the packs that the answers before were given with, in every process."""
        if hasattr(self._lm, "halvings"):
            self._lm.halvings = self._session.processes.share(halvings)

    def _pending(self, blocks: list[list[int]], keys: list[str], requests: Sequence[Any]) -> list[list[int]]:
        """What is not answered yet, block by block. Blocks are whole or absent, but for those of another batch size."""
        log = self._session.log
        assert log is not None
        pending = [[position for position in block if keys[position] not in log] for block in blocks]
        answered = [block for block, left in zip(blocks, pending, strict=True) if not left]
        if answered:
            self._session.progress(sum(block_sizes(b, requests) for b in answered), sum(map(len, answered)), True)
        return [left for left in pending if left]

    def _answer(self, kind: str, requests: Sequence[Any], block: list[int]) -> _Part:
        session = self._session
        if session.stopping():
            return _Part(stop=True)
        if not block:
            return _Part()
        chosen = [requests[position] for position in block]
        session.batches.use(kind, block_sizes(block, requests))
        self._seed(chosen, block)
        session.meter.start()
        try:
            answers = ask_quietly(self._lm, kind, chosen)
        except Exception:
            if session.processes.count == 1:
                raise
            # The others wait for this process: they must hear of it before it gives up.
            return _Part(error=traceback.format_exc())
        cost = session.meter.stop(kind, chosen, answers)
        return _Part(tuple(answers), cost, getattr(self._lm, "halvings", 0))

    def _seed(self, chosen: Sequence[Any], block: list[int]) -> None:
        samples = any(isinstance(part, dict) and part.get("do_sample") for part in chosen[0].args)
        if samples and self._session.seed is not None:
            import torch

            torch.manual_seed(self._session.seed + block[0])

    def _save(self, blocks: list[list[int]], parts: list[_Part], keys: list[str], requests: Sequence[Any]) -> None:
        """One line for the blocks of a round, so that their common time is counted once."""
        answered = [(block, part) for block, part in zip(blocks, parts, strict=False) if part.cost is not None]
        if not answered:
            return
        positions = [position for block, _ in answered for position in block]
        answers = [answer for _, part in answered for answer in part.answers]
        cost = merge_processes([part.cost for _, part in answered if part.cost is not None])
        log = self._session.log
        assert log is not None
        if (halvings := max(part.halvings for _, part in answered)) > log.halvings:
            log.set_halvings(halvings)
        log.add([keys[position] for position in positions], answers, cost)
        self._session.progress(block_sizes(positions, requests), len(positions), False)

    def _end_round(self, parts: list[_Part]) -> None:
        leads = self._session.processes.leads
        error = next((part.error for part in parts if part.error), None)
        verdict = (error, any(part.stop for part in parts))
        error, stop = self._session.processes.share(verdict if leads else None)
        if error:
            raise OtherProcessError(error)
        if stop:
            raise StoppedError


def ask_quietly(lm: Any, kind: str, requests: Sequence[Any]) -> Any:
    """Ask a model without its own bar, one for every block."""
    ask = getattr(lm, kind)
    quiet = "disable_tqdm" in inspect.signature(ask).parameters
    return ask(requests, disable_tqdm=True) if quiet else ask(requests)


def _restored(kind: str, answer: Any) -> Any:
    """An answer in the harness's types, which JSON has no tuple for."""
    return (answer[0], bool(answer[1])) if kind == "loglikelihood" else answer

"""The model type `hf-packed`: the harness's `hf`, with the choices of many documents scored in one pass.

Everything but the choices of documents goes the way of `hf`: loading, adapters, quantization, chat templates, whole
texts. A model that cannot read packs goes that way altogether, with one warning.

This module imports torch, since its class extends one of the harness's: the registry loads it by name when `hf-packed`
is asked for.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from lm_eval.models.huggingface import HFLM
from tqdm import tqdm

from lm_eval_ita._memory import is_out_of_memory
from lm_eval_ita.backend.attention import attending_by_trees
from lm_eval_ita.backend.encoding import Pair, encode_pairs
from lm_eval_ita.backend.generation import AnswerEnds, cut_alike, distinct
from lm_eval_ita.backend.packs import Budget, Choice, plan
from lm_eval_ita.backend.scoring import Prepared, Scores, ahead, prepare, score
from lm_eval_ita.backend.selftest import pairs, verdict
from lm_eval_ita.backend.support import obstacle
from lm_eval_ita.errors import UserError

__all__ = ["PackedLM"]

_log = logging.getLogger(__name__)

Answer = tuple[float, bool]

# Tokens of a pack, by kind of device. A GPU needs thousands to be busy; a CPU gains little above a thousand.
_TOKENS = {"cuda": 16_384, "cpu": 2048}
# Bytes of a pack's logits. With a vocabulary of 262,144: 2048 places in 16 bits, 256 in 32.
_LOGITS = {"cuda": 2**30, "cpu": 2**28}
# Documents to bring at once, for full packs.
_DOCUMENTS = {"cuda": 512, "cpu": 16}
# Prompts whose packs are formed together. On a GPU those of the next part are, while the model reads.
_PART = {"cuda": 128, "cpu": 1024}


class PackedLM(HFLM):  # type: ignore[misc]  # lm_eval is untyped
    """A transformers model that reads each prompt once, whatever the number of its choices.

    Attributes:
        not_packed: Why packs are not used; None where they are.
        halvings: How many times a pack's budget was halved for lack of memory. May be set.
    """

    softmax_dtype: torch.dtype | None

    def __init__(self, pretrained: Any, *, token_budget: int | None = None, **options: Any) -> None:
        """Load the model as `hf` does, and try packs on eight documents.

        Args:
            pretrained: As for `hf`.
            token_budget: The most tokens in a pack; by default 16,384 on a GPU and 2048 elsewhere.
            options: As for `hf`.

        Raises:
            UserError: The budget is no number of tokens.
        """
        if token_budget is not None and not (isinstance(token_budget, int) and token_budget > 0):
            raise UserError(f"token_budget is {token_budget!r}; it must be a number of tokens, such as 8192")
        super().__init__(pretrained, **options)
        self.halvings = 0
        self._kind = "cuda" if self.device.type == "cuda" else "cpu"
        self._tokens = token_budget or _TOKENS[self._kind]
        self._flex = False
        self.not_packed = obstacle(self) or self._try_packs()
        if self.not_packed is not None:
            _log.warning("hf-packed scores this model as hf does: %s", self.not_packed)

    @property
    def documents_per_block(self) -> int | None:
        """How many documents a caller should bring at once, at least; None where packs are not used."""
        return _DOCUMENTS[self._kind] if self.not_packed is None else None

    def get_model_info(self) -> dict[str, Any]:
        """The harness's facts, and whether packs are used."""
        return {**super().get_model_info(), "packed": self.not_packed is None, "not_packed": self.not_packed}

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[Answer]:
        """Log-probabilities of choices, and whether the model would say them, as `hf` gives them."""
        if self.not_packed is not None or self.enable_thinking:
            return list(super().loglikelihood(requests, disable_tqdm=disable_tqdm))
        asked = [request.args for request in requests]
        with tqdm(total=len(requests), disable=disable_tqdm or self.rank != 0, desc="Scoring choices") as bar:
            answers = self._answers(asked, bar)
        for pair, answer in zip(asked, answers, strict=True):
            self.cache_hook.add_partial("loglikelihood", pair, answer)
        return answers

    def _answers(self, asked: Sequence[Pair], bar: Any) -> list[Answer]:
        """Score packs until all fit into memory.

        From the first again where one does not: so answers follow from what is asked and the last budget alone, and a
        run that goes on with that budget gives the same.
        """
        while True:
            answers: dict[int, Answer] = {}
            alone: list[int] = []
            for pack, scores in self._scored(asked):
                if scores is not None:
                    answers.update(zip(pack, scores.read(), strict=True))
                    bar.update(len(pack))
                elif len(pack) == 1:
                    alone += pack
                else:
                    break
            else:
                for position in alone:
                    answers[position] = self._as_hf([asked[position]])[0]
                return [answers[position] for position in range(len(asked))]
            self.halvings += 1
            bar.reset()
            _log.warning("out of memory: packs of at most %d tokens from here on", self._budget().tokens)

    def _scored(self, asked: Sequence[Pair]) -> Iterator[tuple[list[int], Scores | None]]:
        """Packs with their scores, None for one that does not fit into memory; each handed out one pack later.

        A GPU has the next pack in hand while the scores of the one before are read.
        """
        packs = self._prepared(asked)
        before: tuple[list[int], Scores | None] | None = None
        for pack, prepared in ahead(packs) if self._kind == "cuda" else packs:
            scores = self._attempt(prepared)
            if before is not None:
                yield before
            before = (pack, scores)
        if before is not None:
            yield before

    def _prepared(self, asked: Sequence[Pair]) -> Iterator[tuple[list[int], Prepared]]:
        """Packs, with the positions of their choices."""
        for start, stop in _parts(asked, _PART[self._kind]):
            encoded = encode_pairs(self, asked[start:stop])
            choices = [self._choice(context, continuation) for context, continuation in encoded]
            for pack in plan(choices, self._budget()):
                prepared = prepare([choices[position] for position in pack], flex=self._flex)
                yield [start + position for position in pack], prepared

    def _choice(self, context: list[int], continuation: list[int]) -> Choice:
        """What the model reads, cut on the left to its length as the harness does."""
        assert context
        assert continuation
        assert len(continuation) <= self.max_length
        over = max(len(context) + len(continuation) - self.max_length - 1, 0)
        if over:
            _log.warning("a prompt and its choice are longer than the model: the first %d tokens are left out", over)
        return Choice(tuple((context + continuation)[over:-1]), tuple(continuation))

    def _budget(self) -> Budget:
        size = self.model.config.get_text_config().vocab_size * self.model.dtype.itemsize
        budget = Budget(self._tokens, max(_LOGITS[self._kind] // size, 1))
        for _ in range(self.halvings):
            budget = budget.halved()
        return budget

    def _attempt(self, prepared: Prepared) -> Scores | None:
        """Score a pack; None if it does not fit into memory."""
        precision = self.softmax_dtype or torch.float32
        try:
            with attending_by_trees(self.model):
                return score(self._call, prepared, device=self.device, flex=self._flex, precision=precision)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        # Outside the handler: the traceback, and with it the tensors of the failed pass, is gone.
        gc.collect()
        if self._kind == "cuda":
            torch.cuda.empty_cache()
        return None

    def _call(self, **inputs: torch.Tensor) -> torch.Tensor:
        with torch.no_grad(), self._autocast():
            logits: torch.Tensor = self.model(**inputs, use_cache=False).logits
            return logits

    def _autocast(self) -> torch.autocast:
        wanted = self.mixed_precision_dtype
        return torch.autocast(device_type=self.device.type, dtype=wanted, enabled=wanted is not None)

    def _as_hf(self, asked: Sequence[Pair]) -> list[Answer]:
        encoded = [(None, *ids) for ids in encode_pairs(self, asked)]
        return list(self._loglikelihood_tokens(encoded, disable_tqdm=True, override_bs=len(encoded)))

    def _try_packs(self) -> str | None:
        """Why packs cannot be used; None if they give what the harness does, on eight documents."""
        asked = pairs()
        tokens = [len(continuation) for _, continuation in encode_pairs(self, asked)]
        dtype = str(self.model.dtype).removeprefix("torch.")
        before = self.softmax_dtype
        self.softmax_dtype = before or torch.float32
        try:
            theirs = self._as_hf(asked)
            # FlexAttention needs a working compiler; without one, a GPU computes as a CPU does.
            for flex in (True, False) if self._kind == "cuda" else (False,):
                self._flex = flex
                reason = verdict(lambda: self._answers(asked, tqdm(disable=True)), theirs, tokens, dtype)
                if reason is None:
                    break
            return reason
        finally:
            self.softmax_dtype, self.halvings = before, 0

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        """As `hf`, with equal prompts answered once."""
        asked, which = distinct(requests)
        answers = super().generate_until(asked, disable_tqdm=disable_tqdm)
        return [answers[position] for position in which]

    def _model_generate(self, context: torch.Tensor, max_length: int, stop: list[str], **settings: Any) -> Any:
        """As `hf`, but each row ends with its answer, and the batch with its last row."""
        beams = settings.get("num_beams", 1) != 1  # which have rows of their own
        if beams or self.think_end_token is not None or not cut_alike(stop):
            return super()._model_generate(context, max_length, stop, **settings)
        if not settings.get("do_sample"):
            settings["do_sample"] = False
            settings.pop("temperature", None)
        with torch.no_grad(), self._autocast():
            return self.model.generate(
                input_ids=context,
                max_length=max_length,
                stopping_criteria=[AnswerEnds(self.tokenizer, stop, context.shape[1])],
                pad_token_id=self.tokenizer.pad_token_id,
                use_cache=True,
                **settings,
            )


def _parts(asked: Sequence[Pair], prompts: int) -> Iterator[tuple[int, int]]:
    """Cut what is asked after so many prompts: choices of one prompt stand together."""
    start = seen = 0
    for position in range(1, len(asked)):
        if asked[position][0] != asked[position - 1][0]:
            seen += 1
            if seen == prompts:
                yield start, position
                start, seen = position, 0
    if asked:
        yield start, len(asked)

"""Loading a scorer model once, running it on a device that may be full, and freeing it.

Environment variables:
    LM_EVAL_ITA_SCORER_DEVICE: A torch device; by default `cuda` where there is one, else `cpu`.
    LM_EVAL_ITA_SCORER_DTYPE: `float32` (default), `float16` or `bfloat16`; the CPU always computes in float32.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from lm_eval_ita._memory import is_out_of_memory
from lm_eval_ita._quiet import quiet_transformers
from lm_eval_ita.errors import UserError, one_line
from lm_eval_ita.metrics.scorers import ScorerModel

if TYPE_CHECKING:
    import torch

__all__ = ["Encoded", "Runtime", "length_batches", "release", "runtime_for"]

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Encoded:
    """Token ids of n texts, special tokens included, and how many were cut to the encoder's positions."""

    ids: list[list[int]]
    clipped: list[bool]


class Runtime:
    """A loaded model with its tokenizer, on one device until that is out of memory, then on the CPU.

    Args:
        model: A transformers model.
        tokenizer: Its tokenizer.
        device: Where to put it.
        dtype: Name of the floating-point type; the CPU always uses float32.
    """

    def __init__(self, model: Any, tokenizer: Any, device: str, dtype: str) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.limit = _position_limit(model, tokenizer)
        self.device, self.dtype = device, dtype
        self.on_device(lambda: self._move())

    def on_device(self, step: Callable[[], _T]) -> _T:
        """Run `step`; when the device is out of memory, move the model to the CPU and run it once more."""
        try:
            return step()
        except RuntimeError as error:
            if self.device == "cpu" or not is_out_of_memory(error):
                raise
        # Outside the handler: the traceback, and with it the tensors of the failed step, is gone.
        _log.warning("%s is out of memory: the scorer model goes on, slower, on the CPU", self.device)
        self.device = "cpu"
        self._move()
        _empty_cuda_cache()
        return step()

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Tokenize texts, special tokens added; those over the position limit are cut to it and marked."""
        if not texts:
            return Encoded([], [])
        ids: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=True, verbose=False)["input_ids"]
        clipped = [len(row) > self.limit for row in ids]
        for position, text in enumerate(texts):
            if clipped[position]:
                cut = self.tokenizer(text, add_special_tokens=True, truncation=True, max_length=self.limit)
                ids[position] = cut["input_ids"]
        return Encoded(ids, clipped)

    def batch(self, ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Pad token ids on the right; return ids and attention mask, both (n, longest), on the device."""
        import torch

        pad = self.tokenizer.pad_token_id or 0
        longest = max(map(len, ids))
        padded = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in ids], device=self.device)
        lengths = torch.tensor([len(row) for row in ids], device=self.device)
        return padded, (torch.arange(longest, device=self.device) < lengths.unsqueeze(1)).long()

    def _move(self) -> None:
        import torch

        if self.device == "cpu":
            self.dtype = "float32"
        self.model.to(device=self.device, dtype=getattr(torch, self.dtype))


def length_batches(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Yield positions in batches of similar length, the longest first (a device too small fails at once).

    A batch ends at `batch_size` texts, or where padding would be more than a quarter of a text.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda position: -lengths[position]):
        if batch and (len(batch) == batch_size or lengths[position] < 0.75 * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


_LOADED: dict[tuple[str, object], Runtime] = {}


def runtime_for(
    scorer: ScorerModel,
    settings: object,
    load: Callable[[str], tuple[Any, Any]],
    check: Callable[[Runtime], None],
) -> Runtime:
    """Return the loaded model of a metric, loading it on the first call only.

    Args:
        scorer: The model to load.
        settings: What else the load depends on; hashable.
        load: Takes the Hub id or folder and returns model and tokenizer, on the CPU.
        check: Self-test of the loaded model, run before the first score; raises to refuse it.

    Raises:
        UserError: If it cannot be loaded, or the device or dtype asked for is unknown.
    """
    device, dtype = _wanted_device(), _wanted_dtype()
    key = (scorer.metric, (scorer.name, settings, device, dtype))
    if key not in _LOADED:
        release(scorer)  # another encoder or device: never two in memory
        source = str(scorer.path or scorer.name)
        try:
            with quiet_transformers():
                model, tokenizer = load(source)
        except UserError:
            raise
        except Exception as error:  # whatever transformers raises on a folder or repository it cannot read
            raise UserError(f"cannot load the {scorer.metric} model {scorer.name}: {one_line(error)}") from error
        runtime = Runtime(model, tokenizer, device, dtype)
        check(runtime)
        _LOADED[key] = runtime
    return _LOADED[key]


def release(scorer: ScorerModel | None = None) -> None:
    """Free the memory of one metric's model, or of all; the next score loads it again."""
    gone = [key for key in _LOADED if scorer is None or key[0] == scorer.metric]
    for key in gone:
        del _LOADED[key]
    if gone:
        gc.collect()
        _empty_cuda_cache()


def _wanted_device() -> str:
    import torch

    wanted = os.environ.get("LM_EVAL_ITA_SCORER_DEVICE", "").strip()
    if not wanted:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=wanted)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"LM_EVAL_ITA_SCORER_DEVICE is {wanted!r}, which torch cannot use: {reason}") from error
    return wanted


def _wanted_dtype() -> str:
    dtype = os.environ.get("LM_EVAL_ITA_SCORER_DTYPE", "").strip() or "float32"
    if dtype not in _DTYPES:
        raise UserError(f"LM_EVAL_ITA_SCORER_DTYPE is {dtype!r}; it must be one of {', '.join(_DTYPES)}")
    return dtype


def _position_limit(model: Any, tokenizer: Any) -> int:
    """Return the most tokens, special ones included, that the model can take.

    Some tokenizers declare no `model_max_length` (transformers then gives about 1e30), and RoBERTa-like models reserve
    the positions up to the padding index: 514 position embeddings hold 512 tokens.
    """
    limits = [int(getattr(tokenizer, "model_max_length", 0) or 0), 0]
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    if table is not None:
        limits[1] = table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
    else:
        limits[1] = int(getattr(model.config, "max_position_embeddings", 0) or 0)
    return min((limit for limit in limits if 0 < limit < 1_000_000), default=512)


def _empty_cuda_cache() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()

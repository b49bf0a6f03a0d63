"""What an adaptation costs on GPUs, on paper.

Training takes about 6 operations per parameter and token (Kaplan et al. 2020), 8 with activations computed twice. What
a GPU gives of its peak is a share that only runs can tell; the paper's own is the check: Mistral-7B, 5G tokens, 384
hours of A100s (*ItaEval and TweetyIta*, CLiC-it 2024).
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["GPUS", "Cost", "Gpu", "cost", "share_of_peak"]

_OPERATIONS = {"plain": 6, "recomputed": 8}
# Bytes for each parameter: weights, gradients and both moments of Adam in float32; checkpoints hold all but gradients.
_STATE_BYTES, _CHECKPOINT_BYTES, _MODEL_BYTES = 16, 12, 2
# What activations, buffers and fragments need beside the state, as a share of a GPU's memory (recomputed activations).
_HEADROOM = 0.3


@dataclass(frozen=True)
class Gpu:
    """A GPU.

    Attributes:
        peak: Dense bfloat16 operations a second (the maker's data sheet).
        memory: Bytes.
    """

    peak: float
    memory: float


GPUS = {"A100": Gpu(312e12, 80e9), "H200": Gpu(989e12, 141e9)}


@dataclass(frozen=True)
class Cost:
    """An adaptation's cost.

    Attributes:
        gpu_hours: Hours of GPUs in all.
        least_gpus: GPUs that hold weights, gradients and optimizer (float32, sharded).
        state: Bytes of these.
        checkpoint: Bytes of a checkpoint to go on from.
        model: Bytes of the model as it is saved (bfloat16).
    """

    gpu_hours: float
    least_gpus: int
    state: float
    checkpoint: float
    model: float


def cost(
    parameters: float, tokens: float, gpu: str, share: float, activations: Literal["plain", "recomputed"] = "recomputed"
) -> Cost:
    """The cost of training all parameters.

    Args:
        parameters: Of the model.
        tokens: To train on.
        gpu: A key of `GPUS`.
        share: What a GPU gives of its peak, 0 to 1.
        activations: Whether they are computed twice, which a small memory asks for.

    Raises:
        ValueError: `share` is not between 0 and 1.
    """
    if not 0 < share <= 1:
        raise ValueError("share must be above 0 and at most 1")
    seconds = _OPERATIONS[activations] * parameters * tokens / (GPUS[gpu].peak * share)
    state = _STATE_BYTES * parameters
    usable = GPUS[gpu].memory * (1 - _HEADROOM)
    return Cost(
        gpu_hours=seconds / 3600,
        least_gpus=int(-(-state // usable)),
        state=state,
        checkpoint=_CHECKPOINT_BYTES * parameters,
        model=_MODEL_BYTES * parameters,
    )


def share_of_peak(
    parameters: float, tokens: float, gpu: str, hours: float, activations: Literal["plain", "recomputed"] = "recomputed"
) -> float:
    """What GPUs gave of their peak in a run that took so many hours of them: the inverse of `cost`."""
    return _OPERATIONS[activations] * parameters * tokens / (GPUS[gpu].peak * hours * 3600)

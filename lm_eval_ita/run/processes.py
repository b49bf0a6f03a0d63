"""The processes of one run: one alone, or several under `accelerate launch`.

Only the first process touches the run folder and the screen. The others answer blocks of requests and hand them over.
"""

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from lm_eval_ita.errors import UserError

__all__ = ["Processes", "start_processes"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Processes:
    """Which process this is, of how many.

    Attributes:
        rank: From 0; the first process leads.
        count: All of them.
    """

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process owns the run folder and the screen."""
        return self.rank == 0

    @property
    def first_of_machine(self) -> bool:
        """Whether this process is the first one on its machine."""
        return os.environ.get("LOCAL_RANK", "0") == "0"

    def share(self, value: _T | None) -> _T:
        """What the leading process has, for all. The others pass None."""
        if self.count > 1:
            import torch.distributed

            box = [value]
            torch.distributed.broadcast_object_list(box, src=0)
            value = box[0]
        return value  # type: ignore[return-value]  # the leader's value is a _T

    def gather(self, value: _T) -> list[_T]:
        """What every process has, in the order of ranks; for the leading process, others get an empty list."""
        if self.count == 1:
            return [value]
        import torch.distributed

        gathered: list[Any] | None = [None] * self.count if self.leads else None
        torch.distributed.gather_object(value, gathered, dst=0)
        return gathered or []


def start_processes() -> Processes:
    """Join the other processes that `accelerate launch` started; alone, do nothing.

    Raises:
        UserError: The launch splits the model (FSDP, DeepSpeed), which this runner does not do.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        return Processes()
    from accelerate import Accelerator, InitProcessGroupKwargs

    # As the harness's own model makes it, which finds this state and uses it: a task may take days.
    accelerator = Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(weeks=52))])
    kind = str(accelerator.distributed_type).rpartition(".")[2]
    if kind in ("FSDP", "DEEPSPEED", "MEGATRON_LM"):
        raise UserError(
            f"accelerate is set to {kind}, which splits one model over processes; launch with --multi_gpu for copies "
            "of the model, or start one process with --model_args parallelize=True"
        )
    return Processes(accelerator.process_index, accelerator.num_processes)

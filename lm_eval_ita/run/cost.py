"""What a task costs: time, tokens, memory, energy. Measured block by block, so that a run that was killed adds up."""

import contextlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.run.energy import GpuEnergy, RaplEnergy

__all__ = ["Meter", "add_costs", "merge_processes"]

Cost = dict[str, Any]
_SUMS = ("model_seconds", "requests", "tokens_in", "tokens_out", "cpu_joules", "gpu_joules")
_PEAKS = ("peak_rss_bytes", "peak_gpu_bytes")
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Meter:
    """Measures the blocks of one process."""

    def __init__(self, lm: Any, *, counts_machine: bool = True) -> None:
        """Look at which counters there are.

        Args:
            lm: The harness's model.
            counts_machine: Whether this process is the one of its machine that counts the processors' energy.
        """
        self._lm, self._counts_machine = lm, counts_machine
        self._cuda = getattr(getattr(lm, "device", None), "type", None) == "cuda"
        self._rapl, self._gpu = RaplEnergy(), GpuEnergy(self._uuids())
        self._before: tuple[float, Any, Any] = (0.0, None, None)

    @property
    def on_gpu(self) -> bool:
        """Whether the model is on a CUDA device."""
        return self._cuda

    @property
    def device(self) -> str | None:
        """What the model runs on: "cpu", or the GPU with its name; None where the backend does not say."""
        device = getattr(self._lm, "device", None)
        if self._cuda:
            import torch

            return f"{device} ({torch.cuda.get_device_name(device)})"
        return None if device is None else str(device).removesuffix(":0")

    def reset_peaks(self) -> None:
        """Begin a task: peaks are counted from now on."""
        with contextlib.suppress(OSError):  # not Linux, or not allowed: the peak is the process's, since its start
            _CLEAR.write_text("5", encoding="ascii")
        if self._cuda:
            import torch

            torch.cuda.reset_peak_memory_stats()

    def start(self) -> None:
        """Begin a block."""
        self._before = (time.perf_counter(), self._rapl.read(), self._gpu.read())

    def stop(self, kind: str, requests: Sequence[Any], answers: Sequence[Any]) -> Cost:
        """End a block.

        Returns:
            `model_seconds`; `tokens_in`, the tokens of prompts and scored continuations, each request counted in full;
            `tokens_out`, the tokens generated; peaks in bytes; energy in joules. None where it cannot be known.
        """
        seconds = time.perf_counter() - self._before[0]
        cpu = RaplEnergy.joules(self._before[1], self._rapl.read())
        if cpu is not None and not self._counts_machine:
            cpu = 0.0
        gpu = GpuEnergy.joules(self._before[2], self._gpu.read())
        tokens_in, tokens_out = self._tokens(kind, requests, answers)
        return {
            "model_seconds": seconds,
            "requests": len(requests),
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            # An engine or a server has the model in a process of its own, whose memory is not ours to see.
            "peak_rss_bytes": None if self.device is None else _peak_rss(),
            "peak_gpu_bytes": self._peak_gpu(),
            "cpu_joules": cpu,
            "gpu_joules": gpu,
        }

    def count_tokens(self, texts: Sequence[str]) -> int | None:
        """Tokens of texts by the model's tokenizer, without those that it adds around a text; None without one."""
        tokenizer = getattr(self._lm, "tokenizer", None)
        if not callable(tokenizer):
            return None
        if not texts:
            return 0
        # verbose=False: a prompt longer than the model is the harness's to report
        encoded = tokenizer(list(texts), add_special_tokens=False, verbose=False)
        return sum(map(len, encoded["input_ids"]))

    def _tokens(self, kind: str, requests: Sequence[Any], answers: Sequence[Any]) -> tuple[int | None, int | None]:
        if kind == "generate_until":
            return self.count_tokens([request.args[0] for request in requests]), self.count_tokens(answers)
        return self.count_tokens(["".join(request.args) for request in requests]), 0

    def _uuids(self) -> list[str]:
        if not self._cuda:
            return []
        import torch

        # With parallelize=True the model lies on every GPU that the process sees.
        spread = bool(getattr(getattr(self._lm, "model", None), "hf_device_map", None))
        devices = range(torch.cuda.device_count()) if spread else [self._lm.device.index or 0]
        found = [getattr(torch.cuda.get_device_properties(device), "uuid", None) for device in devices]
        return [] if None in found else [str(uuid) for uuid in found]

    def _peak_gpu(self) -> int | None:
        if not self._cuda:
            return None
        import torch

        return max(torch.cuda.max_memory_reserved(device) for device in range(torch.cuda.device_count()))


def _peak_rss() -> int | None:
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def add_costs(costs: Iterable[Mapping[str, Any]]) -> Cost:
    """The cost of several blocks, one after another; a sum of which a part is unknown is unknown."""
    listed = list(costs)
    total: Cost = {name: _sum([cost.get(name) for cost in listed]) for name in _SUMS}
    total |= {name: _largest([cost.get(name) for cost in listed]) for name in _PEAKS}
    return total


def merge_processes(costs: Sequence[Mapping[str, Any]]) -> Cost:
    """The cost of blocks that processes answered at the same time: the time is that of the slowest."""
    return {**add_costs(costs), "model_seconds": _largest([cost.get("model_seconds") for cost in costs])}


def _sum(values: Sequence[Any]) -> Any:
    return None if not values or None in values else sum(values)


def _largest(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return max(known) if known else None

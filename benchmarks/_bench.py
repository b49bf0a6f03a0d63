"""What the benchmarks share: the machine in words, one table, one line of JSON."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """The processor, how many of its cores are ours, how busy they are, and the GPU if torch sees one."""
    import torch

    found = {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "torch": torch.__version__,
    }
    if torch.cuda.is_available():
        found["gpu"] = torch.cuda.get_device_name()
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def show(title: str, rows: Sequence[dict[str, str]], content: dict[str, Any]) -> None:
    """Print a table, and everything as one line of JSON after it.

    Args:
        title: What was measured, on what.
        rows: Column to text; the first row's columns are the table's.
        content: For programs; the machine is added.
    """
    print(title)
    names = list(rows[0])
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in names]
    for line in (dict(zip(names, names, strict=True)), *rows):
        cells = [
            line[name].ljust(width) if i == 0 else line[name].rjust(width)
            for i, (name, width) in enumerate(zip(names, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    found = machine()
    print(", ".join(f"{name} {value}" for name, value in found.items() if value is not None))
    print(json.dumps({**content, "machine": found}))

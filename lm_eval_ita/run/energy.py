"""Energy counters of the machine: RAPL for processors, NVML for GPUs. What cannot be read is None, never a guess.

Sources: Linux kernel documentation, "Power Capping Framework" (energy_uj, max_energy_range_uj); NVML API reference,
`nvmlDeviceGetTotalEnergyConsumption` (millijoules since the driver was loaded, Volta and later).
"""

import ctypes
from collections.abc import Sequence
from pathlib import Path

__all__ = ["GpuEnergy", "RaplEnergy"]

_POWERCAP = Path("/sys/class/powercap")


class RaplEnergy:
    """The processors' packages of this machine, whoever uses them."""

    def __init__(self, root: Path = _POWERCAP) -> None:
        """Find the counters that this user may read (the kernel shows them to root alone by default)."""
        zones = sorted(root.glob("intel-rapl:*")) if root.is_dir() else []
        # "intel-rapl:0" is a package; "intel-rapl:0:1" a part of it, already counted.
        self._zones = [zone for zone in zones if zone.name.count(":") == 1 and _number(zone / "energy_uj") is not None]

    def read(self) -> dict[str, tuple[int, int]] | None:
        """Each package's counter and its range, in microjoules; None where there is none."""
        values = {}
        for zone in self._zones:
            counter, limit = _number(zone / "energy_uj"), _number(zone / "max_energy_range_uj")
            if counter is None:
                return None
            values[zone.name] = (counter, limit or 0)
        return values or None

    @staticmethod
    def joules(before: dict[str, tuple[int, int]] | None, after: dict[str, tuple[int, int]] | None) -> float | None:
        """Energy between two readings that lie less than one turn of the counter apart (minutes)."""
        if before is None or after is None or before.keys() != after.keys():
            return None
        total = 0
        for name, (end, limit) in after.items():
            spent = end - before[name][0]
            total += spent if spent >= 0 else spent + limit
        return total / 1e6


class GpuEnergy:
    """The GPUs that this process uses."""

    def __init__(self, uuids: Sequence[str]) -> None:
        """Find the GPUs' counters.

        Args:
            uuids: As torch tells them, with or without "GPU-" before.
        """
        self._library: ctypes.CDLL | None = None
        self._devices: list[ctypes.c_void_p] = []
        if not uuids:
            return
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if library.nvmlInit_v2() != 0:
            return
        for uuid in uuids:
            device = ctypes.c_void_p()
            name = uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"
            if library.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(device)) != 0:
                return
            self._devices.append(device)
        self._library = library

    def read(self) -> int | None:
        """The sum of the counters in millijoules; None where one cannot be read."""
        if self._library is None:
            return None
        total = 0
        for device in self._devices:
            value = ctypes.c_ulonglong()
            if self._library.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(value)) != 0:
                return None
            total += value.value
        return total

    @staticmethod
    def joules(before: int | None, after: int | None) -> float | None:
        """Energy between two readings."""
        return None if before is None or after is None or after < before else (after - before) / 1000


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None

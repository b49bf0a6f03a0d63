"""How often one address may act."""

import ipaddress
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

__all__ = ["RateLimit"]

# Addresses that are remembered; beyond, the one that acted longest ago is forgotten.
_MOST_ADDRESSES = 10_000


class RateLimit:
    """At most so many acts of an address within a time. Its methods may be called from several threads."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Nobody has acted yet.

        Args:
            most: Acts, at least 1.
            seconds: Within which time.
            clock: Seconds that only grow.
        """
        self._most, self._seconds, self._clock = most, seconds, clock
        self._acts: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, address: str) -> float:
        """Ask for one act.

        Args:
            address: An IP address; of version 6 its first 64 bits count, which one customer gets. Any other text is an
                address of its own.

        Returns:
            0.0 where the address may act, and the act is counted; else the seconds until it may, and nothing is.
        """
        name = _network(address)
        with self._lock:
            now = self._clock()
            acts = self._acts.setdefault(name, deque())
            while acts and now - acts[0] >= self._seconds:
                acts.popleft()
            if len(acts) >= self._most:
                return self._seconds - (now - acts[0])
            acts.append(now)
            self._acts.move_to_end(name)
            while len(self._acts) > _MOST_ADDRESSES:
                self._acts.popitem(last=False)
            return 0.0


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address.strip().partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)

import threading

import pytest

from lm_eval_ita.leaderboard import rate_limit
from lm_eval_ita.leaderboard.rate_limit import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_so_many_within_a_time_and_then_again() -> None:
    clock = Clock()
    limit = RateLimit(2, 60.0, clock)
    assert limit.wait("192.0.2.1") == 0.0
    clock.now += 10
    assert limit.wait("192.0.2.1") == 0.0
    clock.now += 20
    # The first act was 30 seconds ago.
    assert limit.wait("192.0.2.1") == 30.0
    assert limit.wait("192.0.2.2") == 0.0
    clock.now += 30
    assert limit.wait("192.0.2.1") == 0.0
    # What was refused did not count: the second act was 50 seconds ago.
    assert limit.wait("192.0.2.1") == 10.0


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8::1", "2001:db8:0:0:ffff::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2", True),
        (" 192.0.2.1", "192.0.2.1", True),
        ("unknown", "192.0.2.1", False),
        ("x" * 500, "x" * 600, True),
    ],
)
def test_addresses(one: str, other: str, is_same: bool) -> None:
    limit = RateLimit(1, 60.0, Clock())
    assert limit.wait(one) == 0.0
    assert (limit.wait(other) > 0) is is_same


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "_MOST_ADDRESSES", 3)
    limit = RateLimit(1, 60.0, Clock())
    for number in range(10):
        assert limit.wait(f"192.0.2.{number}") == 0.0
    assert len(limit._acts) == 3
    assert limit.wait("192.0.2.9") > 0
    assert limit.wait("192.0.2.0") == 0.0  # forgotten


def test_threads_do_not_slip_through() -> None:
    limit = RateLimit(5, 60.0, Clock())
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(limit.wait("192.0.2.1"))) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.count(0.0) == 5

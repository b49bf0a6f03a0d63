"""What tests share: the place of the real data, and a strict rule about the network."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAPERS = Path(__file__).parent / "data" / "papers"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets, which a user does not have."""
    folder = os.environ.get("LM_EVAL_ITA_TEST_DATA")
    if not folder:
        pytest.skip("needs real data sets: LM_EVAL_ITA_TEST_DATA is not set")
    return Path(folder)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every connection that leaves this machine fail loudly."""
    real_connect: Callable[..., Any] = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a network connection to {address}")
        return real_connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)

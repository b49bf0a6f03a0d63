"""No test of the catalogue sees the user's folders, caches or network."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .server import Handler, Server


@pytest.fixture(autouse=True)
def _own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    for name in ("LM_EVAL_ITA_DATA", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")  # the discard port: refused


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[Handler], None]], Server]]:
    servers: list[Server] = []

    def start(behave: Callable[[Handler], None]) -> Server:
        server = Server(behave)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()

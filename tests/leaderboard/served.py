"""The app in a process of its own, for tests and benchmarks."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
# As the command does, but for the limit of uploads from one address.
PROGRAM = """
import sys
from lm_eval_ita.leaderboard.app import serve
from lm_eval_ita.leaderboard.store import open_store
serve(open_store(sys.argv[1]), "127.0.0.1", int(sys.argv[2]), most_uploads=10_000)
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(store: Path, cache: Path, log: Path, *, patience: float = 300.0) -> Iterator[str]:
    """The address of a running app.

    Args:
        store: A folder.
        cache: For the store's index.
        log: What the app prints.
        patience: Seconds until it must answer.
    """
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "LM_EVAL_ITA_CACHE": str(cache), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(store), str(port)], env=environment, stdout=output, stderr=output
        )
        try:
            end = time.monotonic() + patience
            while not _answers(address):
                assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
                assert time.monotonic() < end, "the app does not answer"
                time.sleep(0.2)
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/robots.txt", timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False

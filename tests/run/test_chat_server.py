"""ItaEval on a server that speaks OpenAI's chat protocol, through the plain `lm_eval` command."""

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.harness.task_files import tasks_path
from lm_eval_ita.results import read_run

pytestmark = pytest.mark.slow

pytest.importorskip("tenacity", reason="needs lm_eval's client for servers: pip install 'lm-eval-ita[api]'")


def answer(messages: list[dict[str, str]]) -> str | None:
    """What the model on the server says: its choice in the words of a chat model, always the first option."""
    asked = messages[-1]["content"].rsplit("\n\n", 1)[-1]
    if "Rispondi solo con la lettera" in asked:
        return "<think>La B?\n\nNo.</think>\n\nLa risposta corretta è la **A**."
    if "Rispondi Sì o No" in asked:
        return "No, direi di no."
    if "Rispondi con Neutrale" in asked:
        return None  # a server without content: blocked by a filter, or all of it reasoning
    return "Una persona gentile.\n\nE altro."


@contextmanager
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server on this machine; gives its address and the requests it was sent."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append({"path": self.path, **payload})
            message = {"role": "assistant", "content": answer(payload["messages"])}
            body = {"id": "x", "object": "chat.completion", "model": payload["model"],
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1/chat/completions", requests
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def test_one_command_for_the_whole_suite(tmp_path: Path) -> None:
    with server() as (url, requests):
        done = subprocess.run(
            [
                sys.executable, "-m", "lm_eval", "run", "--model", "local-chat-completions",
                "--model_args", f"base_url={url},model=prova,num_concurrent=2", "--tasks", "itaeval_chat",
                "--include_path", str(tasks_path()), "--apply_chat_template", "--limit", "2",
                "--metadata", '{"data_dir": "sample"}', "--output_path", str(tmp_path), "--log_samples",
            ],
            capture_output=True, text=True, check=False,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "LM_EVAL_ITA_SCORERS": "skip"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (saved,) = tmp_path.rglob("results_*.json")
    tasks = read_run(saved).tasks
    assert len(tasks) == 18
    assert len(requests) == 2 * 18
    for request in requests:
        assert "logprobs" not in request
        assert request["temperature"] == 0
        assert request["max_tokens"] in (64, 128, 256)
        assert 1 <= len(request["stop"]) <= 4
        roles = [message["role"] for message in request["messages"]]
        assert roles in (["user", "assistant"] * (len(roles) // 2) + ["user"], ["user"])
    for name, record in tasks.items():
        assert record.suite == "itaeval_chat"
        if name.endswith(("news_sum", "gente")):
            assert record.score is None  # their scorer models are skipped
            continue
        assert record.score is not None
        if name.endswith("sentipolc"):
            assert record.unparsable_rate == 1
            assert record.breakdowns.outcome["empty"] == 2
        elif name.endswith(("honest", "squad_it")):
            assert record.empty_rate == 0
        else:
            assert record.unparsable_rate == 0
            assert record.breakdowns.outcome["stated"] == 2
            samples = [json.loads(line) for line in record.samples.open(encoding="utf-8")]  # type: ignore[union-attr]
            first = sum(sample["doc"]["label"] == 0 for sample in samples) / 2
            assert math.isclose(record.metrics["acc"] or 0, first), name

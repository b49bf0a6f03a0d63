"""The gate before Gradio: paths, sizes, addresses."""

import asyncio
from typing import Any

import pytest

from lm_eval_ita.leaderboard.gate import Gate


def asked(
    gate: Gate, method: str, path: str, *bodies: bytes, announced: int | None = None
) -> tuple[int, dict[bytes, bytes]]:
    """Send one request through; returns the status and the headers."""
    sent: list[dict[str, Any]] = []
    parts = [{"type": "http.request", "body": body, "more_body": True} for body in bodies]
    parts.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        return parts.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [] if announced is None else [(b"content-length", str(announced).encode())]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"page=1",
        "headers": headers,
        "client": ("192.0.2.1", 1),
    }
    asyncio.run(gate(scope, receive, send))  # type: ignore[arg-type]
    return sent[0]["status"], dict(sent[0]["headers"])


async def reads_all(scope: Any, receive: Any, send: Any) -> None:
    """An app that answers with the query that it got."""
    while (await receive()).get("more_body"):
        pass
    headers = [(b"x-query", scope["query_string"]), (b"x-content-type-options", b"other")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def gate() -> Gate:
    allowed = iter([True, True, False])
    return Gate(reads_all, largest_upload=1_000, may_upload=lambda address: address == "192.0.2.1" and next(allowed))


def test_an_address_may_upload_so_often(gate: Gate) -> None:
    assert [asked(gate, "POST", "/gradio_api/upload", b"x")[0] for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/assets/index-a.js", 200),
        ("GET", "/assets/../secret", 404),
        ("GET", "/gradio_api/file=/etc/passwd", 404),
        ("GET", "/leaderboard.csv", 200),
        ("POST", "/leaderboard.csv", 404),
        ("POST", "/gradio_api/run/predict", 200),
        ("POST", "/gradio_api/run/show", 404),
        ("DELETE", "/", 404),
    ],
)
def test_paths(gate: Gate, method: str, path: str, status: int) -> None:
    found, headers = asked(gate, method, path)
    assert found == status
    assert headers[b"x-content-type-options"] == b"nosniff", "ours, whatever the app says"
    assert b"connect-src 'self'" in headers[b"content-security-policy"]


def test_sizes_said_and_unsaid(gate: Gate) -> None:
    predict = "/gradio_api/run/predict"
    assert asked(gate, "POST", predict, b"x" * 65_536)[0] == 200
    assert asked(gate, "POST", predict, b"x" * 40_000, b"x" * 40_000)[0] == 413
    assert asked(gate, "POST", predict, announced=65_537)[0] == 413
    assert asked(gate, "GET", "/", b"x")[0] == 413


def test_gradio_does_not_see_the_query_of_a_view(gate: Gate) -> None:
    assert asked(gate, "GET", "/")[1][b"x-query"] == b""
    assert asked(gate, "GET", "/leaderboard.csv")[1][b"x-query"] == b"page=1"

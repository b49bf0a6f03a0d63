"""What the app lets in and out: known paths only, small bodies, and headers that keep a page to its own host.

Gradio serves more than this app needs: a proxy, files by path, a log of runs, a monitor, an editor. What is not named
here is not there.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["POLICY", "Gate"]

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]

_READ = re.compile(
    r"/|/config/?|/theme\.css|/robots\.txt|/manifest\.json|/favicon\.ico|/(assets|static|svelte)/[\w./ -]+"
    r"|/leaderboard\.csv|/submission/[0-9a-f]{16}\.json|/healthz"
    r"|/gradio_api/(startup-events|app_id|info|heartbeat/\w{1,40}|upload_progress|queue/data|theme\.css)/?",
    re.ASCII,
)
_WRITE = re.compile(r"/gradio_api/(run/predict|queue/join|reset|cancel)/?", re.ASCII)
# Their query is for us, not for Gradio, which looks for pages of its own in it and fails on a name that it has not.
_UNASKED = re.compile(r"/|/config/?|/gradio_api/run/predict/?")
_UPLOAD = re.compile(r"/gradio_api/upload/?", re.ASCII)
# Of a request that asks for a view; a query is at most 4,000 characters.
_SMALL = 65_536
# Gradio's page has scripts of its own inside, and makes functions from texts.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self' https://huggingface.co"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class _TooLargeError(Exception):
    """A body has more bytes than its path may have."""


class Gate:
    """An ASGI application before another one.

    Args:
        app: The other one.
        largest_upload: Of a file, in bytes.
        may_upload: From an address to whether it may upload now.
    """

    def __init__(self, app: _App, *, largest_upload: int, may_upload: Callable[[str], bool]) -> None:
        self._app = app
        self._largest_upload = largest_upload
        self._may_upload = may_upload

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # the app has no web sockets
        method, path = scope["method"], scope["path"]
        largest = self._largest(method, path)
        if largest is None:
            await _refuse(send, 404, "not found")
            return
        if _announced(scope) > largest:
            await _refuse(send, 413, "too large")
            return
        if _UPLOAD.fullmatch(path) and not self._may_upload(address_of(scope)):
            await _refuse(send, 429, "too many uploads from this address; try again later")
            return
        passed = {**scope, "query_string": b""} if _UNASKED.fullmatch(path) else scope
        await self._pass(passed, receive, send, largest)

    def _largest(self, method: str, path: str) -> int | None:
        """How many bytes a request may have; None for one that is not let in."""
        if method in ("GET", "HEAD") and _READ.fullmatch(path) and ".." not in path:
            return 0
        if method == "POST" and _WRITE.fullmatch(path):
            return _SMALL
        if method == "POST" and _UPLOAD.fullmatch(path):
            return self._largest_upload + _SMALL  # what stands around the file in the form
        return None

    async def _pass(self, scope: _Message, receive: _Receive, send: _Send, largest: int) -> None:
        seen, started = 0, False

        async def counted() -> _Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > largest and message["type"] == "http.request":
                raise _TooLargeError
            return message

        async def with_headers(message: _Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = {name for name, _ in _HEADERS}
                message["headers"] = [*(each for each in message.get("headers", ()) if each[0] not in own), *_HEADERS]
            await send(message)

        try:
            await self._app(scope, counted, with_headers)
        except asyncio.CancelledError:
            return  # the app stops while a browser still holds its connection: nothing to report
        except _TooLargeError:
            if not started:
                await _refuse(send, 413, "too large")


def _announced(scope: _Message) -> int:
    """How many bytes a request says that it has."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def address_of(scope: _Message) -> str:
    """Where a request comes from."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


async def _refuse(send: _Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *_HEADERS]})
    await send({"type": "http.response.body", "body": body})

"""Debian's Chromium, driven by Playwright, for tests of pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

# Without these, Chromium looks for its maker's hosts when it starts.
_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-sandbox",
)


@dataclass
class Watched:
    """A page, and what happened on it.

    Attributes:
        page: Playwright's.
        said: Console messages, uncaught errors and dialogs.
        asked: The addresses of all requests.
    """

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def browser() -> Iterator[Any]:
    """A running Chromium; skips the test where there is none."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs the program chromium (Debian: apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=list(_QUIET))
        try:
            yield running
        finally:
            running.close()


def watched(running: Any, width: int = 1280) -> Watched:
    """A new page that keeps what it says and what it asks for."""
    return watch(running.new_page(viewport={"width": width, "height": 900}))


def watch(page: Any) -> Watched:
    """The same of a page that is there."""
    found = Watched(page)
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))

    def dialog(shown: Any) -> None:
        found.said.append(f"dialog: {shown.message}")
        shown.dismiss()

    page.on("dialog", dialog)
    page.on("request", lambda request: found.asked.append(request.url))
    return found

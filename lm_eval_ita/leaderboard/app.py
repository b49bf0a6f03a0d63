"""The app: Gradio's page around our HTML, two downloads beside it, and the gate before both."""

import contextlib
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.csv_table import as_csv
from lm_eval_ita.leaderboard.gate import Gate
from lm_eval_ita.leaderboard.html import answer_html, page_html, resource
from lm_eval_ita.leaderboard.library import Library
from lm_eval_ita.leaderboard.rate_limit import RateLimit
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.store import Store
from lm_eval_ita.leaderboard.texts import preferred_language, texts
from lm_eval_ita.leaderboard.uploads import received, too_often
from lm_eval_ita.leaderboard.views import View
from lm_eval_ita.results.submission_json import MAX_BYTES

if TYPE_CHECKING:
    import gradio as gr
    from fastapi import FastAPI

__all__ = ["MOST_UPLOADS", "make_app", "serve"]

_FONT = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "DejaVu Sans", "sans-serif")
_MONO = ("ui-monospace", "Consolas", "DejaVu Sans Mono", "monospace")
# A person mends a file and tries again; a program that tries everything waits. From one address, in seconds.
MOST_UPLOADS, _PERIOD = 30, 600.0
# Uploaded files that were not sent on are deleted after so many seconds.
_KEPT = 600


def make_app(store: Store, *, is_open: bool = True, most_uploads: int = MOST_UPLOADS) -> Gate:
    """The app, for any ASGI server.

    Args:
        store: What it shows, and where submissions go.
        is_open: Whether it takes submissions.
        most_uploads: So many an address may send in ten minutes.

    Raises:
        UserError: Gradio, or what the figures need, is not installed.
    """
    # Read when Gradio is imported: it would tell its makers of every start.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    try:
        import gradio
        import matplotlib  # noqa: F401  for the heat map's colours and the radar
        from fastapi import FastAPI
    except ModuleNotFoundError as error:
        raise UserError(f"the leaderboard needs {error.name}; pip install 'lm-eval-ita[leaderboard]'") from None
    library = Library(store)
    _make_ready(library)
    uploads, submissions = (RateLimit(most_uploads, _PERIOD) for _ in range(2))
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    _add_downloads(app, library)
    blocks = _blocks(library, submissions, is_open=is_open)
    gradio.mount_gradio_app(
        app,
        blocks,
        path="/",
        footer_links=[],
        run_history=False,
        show_error=False,
        # More than the validator takes, so that the validator answers to most files that are too large.
        max_file_size=4 * MAX_BYTES,
        ssr_mode=False,
        enable_monitoring=False,
        mcp_server=False,
        pwa=False,
        theme=_theme(),
        css=resource("app.css"),
    )
    # Only then does Gradio look whether a file that a visitor names was uploaded by a visitor: mounted into another
    # app it takes any path of this machine (6.31; `test_a_path_that_was_not_uploaded_is_not_read`).
    blocks.has_launched = True
    return Gate(
        app,
        largest_upload=4 * MAX_BYTES,
        may_upload=lambda address: is_open and uploads.wait(address) == 0,
    )


def serve(
    store: Store,
    host: str,
    port: int,
    *,
    is_behind_proxy: bool = False,
    is_open: bool = True,
    most_uploads: int = MOST_UPLOADS,
    on_start: Callable[[], None] = lambda: None,
) -> None:
    """Run the app until it is stopped.

    Args:
        store: What it shows, and where submissions go.
        host, port: Where it listens.
        is_behind_proxy: Whether visitors' addresses are in the header X-Forwarded-For, as in a Space.
        is_open: Whether it takes submissions.
        most_uploads: So many an address may send in ten minutes.
        on_start: Called when it can be reached.

    Raises:
        UserError: A package is not installed, or the port cannot be had.
    """
    app = make_app(store, is_open=is_open, most_uploads=most_uploads)
    import uvicorn

    class Server(uvicorn.Server):  # type: ignore[misc]  # uvicorn is optional
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    trusted = "*" if is_behind_proxy else None
    config = uvicorn.Config(
        app,
        log_level="warning",
        proxy_headers=is_behind_proxy,
        forwarded_allow_ips=trusted,
        # Browsers hold a connection open for as long as they show the page.
        timeout_graceful_shutdown=2,
    )
    with _listening(host, port) as listener, contextlib.suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        why = error.strerror or str(error)
        raise UserError(f"{host}, port {port}, cannot be had ({why}); choose others with --host and --port") from error
    return listener


def _theme() -> Any:
    import gradio as gr

    # Fonts of the visitor's system: Gradio's own themes ask Google for theirs.
    return gr.themes.Base(font=list(_FONT), font_mono=list(_MONO), primary_hue="blue", neutral_hue="slate")


def _blocks(library: Library, limit: RateLimit, *, is_open: bool) -> "gr.Blocks":
    """Gradio's part: one component for all pages, and those that take a file."""
    import gradio as gr

    t = texts("en")

    def show(event: gr.EventData, request: gr.Request) -> tuple[Any, ...]:
        scene = _scene(library, _asked(event), request, is_open=is_open)
        is_submit = scene.view.tab == "submit" and is_open
        return (
            # Never the same twice: the page is told of an answer only where it changes something.
            f'{page_html(scene)}<i hidden data-answer="{_number(event)}"></i><!-- {time.monotonic_ns()} -->',
            gr.Column(visible=is_submit),
            gr.UploadButton(scene.t["submit_button"]) if is_submit else gr.skip(),
            "" if is_submit else gr.skip(),
            scene.t.language,
        )

    def submit(upload: str, language: str, request: gr.Request) -> str:
        own, path = texts("it" if language == "it" else "en"), Path(upload)
        try:
            wait = limit.wait(_address(request))
            answer = too_often(own, wait) if wait > 0 else received(library.store, own, path)
        finally:
            _remove(path)
        return answer_html(own, answer)

    with gr.Blocks(title=t["title"], analytics_enabled=False, fill_width=True, delete_cache=(_KEPT, _KEPT)) as blocks:
        page = gr.HTML(
            js_on_load=resource("app.js"), apply_default_css=False, container=False, padding=False, elem_id="board"
        )
        with gr.Column(visible=False, elem_id="submit") as column:
            button = gr.UploadButton(
                t["submit_button"], file_count="single", type="filepath", variant="primary", size="lg", elem_id="send"
            )
            answer = gr.HTML(apply_default_css=False, container=False, padding=False, elem_id="answer")
        language = gr.State("en")
        quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        # Not "always_last": of what is asked for in the meantime, Gradio 6.31 then keeps the first and drops the last.
        page.view(show, None, [page, column, button, answer, language], trigger_mode="multiple", **quiet)
        button.upload(submit, [button, language], answer, **quiet)
    return blocks


def _remove(upload: Path) -> None:
    """Take an uploaded file away, with the folder that Gradio made for it."""
    upload.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # another file of that content is being read
        upload.parent.rmdir()


def _asked(event: "gr.EventData") -> View:
    query = _data(event).get("query")
    return View.from_query(query if isinstance(query, str) else "")


def _number(event: "gr.EventData") -> int:
    """The page's own count of what it asked for, which it is told with the answer."""
    number = _data(event).get("number")
    return number if isinstance(number, int) else 0


def _data(event: "gr.EventData") -> dict[str, Any]:
    return event._data if isinstance(event._data, dict) else {}


def _scene(library: Library, view: View, request: "gr.Request", *, is_open: bool) -> Scene:
    header = str(request.headers.get("accept-language", ""))
    language = view.language or preferred_language(header)
    return Scene(view, texts(language), library.board(), library, is_open, MAX_BYTES)


def _make_ready(library: Library) -> None:
    """Make every kind of page once, before a visitor waits for templates, colours, fonts and the first rows."""
    models = library.board().table("itaeval").entries.models
    for query in ("", "tab=itapat", "tab=compare&models=" + ",".join(model.id for model in models[:2])):
        page_html(Scene(View.from_query(query), texts("it"), library.board(), library))


def _address(request: "gr.Request") -> str:
    return "unknown" if request.client is None else str(request.client.host)


def _add_downloads(app: "FastAPI", library: Library) -> None:
    """A view as CSV, and a submission as it is."""
    from fastapi import Request, Response

    def csv_of_view(request: Request) -> Response:
        view = View.from_query(request.url.query)
        headers = {"content-disposition": 'attachment; filename="leaderboard.csv"'}
        # The mark at the beginning tells spreadsheets that this is UTF-8.
        content = "\ufeff" + as_csv(library.board(), view)
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)

    def submission(submission_id: str) -> Response:
        try:
            found = library.submission(submission_id)
        except UserError:
            return Response("not found", status_code=404, media_type="text/plain")
        headers = {"content-disposition": f'attachment; filename="{found.submission_id}.json"'}
        content = found.model_dump_json(exclude_defaults=True, indent=1)
        return Response(content, media_type="application/json", headers=headers)

    app.get("/leaderboard.csv")(csv_of_view)
    app.get("/submission/{submission_id}.json")(submission)

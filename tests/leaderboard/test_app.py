"""The app in a real browser, from a store in a folder, and what it answers to programs."""

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.cli.main import main
from lm_eval_ita.leaderboard.store import SubmissionStore
from lm_eval_ita.results.submission_records import upload_bytes
from tests.browser import Watched, browser, watch
from tests.leaderboard.bad_uploads import BAD_UPLOADS
from tests.leaderboard.boards import filled, varied, with_documents
from tests.leaderboard.served import served

pytest.importorskip("gradio", reason="needs the package gradio")
pytest.importorskip("matplotlib", reason="needs the package matplotlib")


@dataclass(frozen=True)
class Running:
    """The app.

    Attributes:
        address: Where it is.
        store: What it shows.
        place: The store's folder.
        ids: Of its models, by name.
        log: What it printed.
    """

    address: str
    store: SubmissionStore
    place: Path
    ids: dict[str, str]
    log: Path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("app")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_ITA_CACHE", str(folder / "cache"))
        store, ids = filled(folder / "store")
        with served(folder / "store", folder / "cache", folder / "log") as address:
            yield Running(address, store, folder / "store", ids, folder / "log")
            said = (folder / "log").read_text(encoding="utf-8", errors="replace")
            # Gradio shows how it came to refuse a path that a visitor made up; nothing else may go wrong.
            refused = said.count("InvalidPathError: Cannot move")
            assert said.count("Traceback") == refused, said[-3000:]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


# In one call, so that no view comes in between.
COLUMN = """(key) => {
  const heads = [...document.querySelectorAll("table.board thead tr:last-child th")];
  const place = heads.findIndex((head) => head.querySelector("a")?.dataset.sort === key);
  return [...document.querySelectorAll("table.board tbody tr")].map((row) => row.children[place].innerText);
}"""

# Whether the answer that is shown is this one, not an earlier one with the same title.
SHOWN = """(html) => {
  const text = (node) => node.textContent.replace(/\\s+/g, " ").trim();
  const told = document.createElement("template");
  told.innerHTML = html;
  const answer = document.querySelector("#answer h2")?.closest("#answer");
  return answer && text(answer).includes(text(told.content));
}"""


class Visit:
    """A page of the app, and what a visitor does there."""

    def __init__(self, chromium: Any, app: Running, query: str = "?lang=en", **context: Any) -> None:
        self._context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        self.watched: Watched = watch(self._context.new_page())
        self.page, self.app = self.watched.page, app
        self.page.set_default_timeout(60_000)
        self.page.goto(f"{app.address}/{query}")
        self.page.wait_for_selector(".ita h1")

    def to(self, query: str) -> None:
        """Another view, without loading the page anew."""
        self.page.evaluate(
            "(query) => { history.pushState(null, '', query); dispatchEvent(new PopStateEvent('popstate')); }", query
        )
        self.settled()

    def check(self) -> None:
        """Nothing was said on the console, no dialog was shown, and nobody else was asked for anything."""
        assert self.watched.said == []
        others = [each for each in self.watched.asked if not each.startswith((self.app.address, "data:", "blob:"))]
        assert others == []

    def close(self) -> None:
        self.check()
        self._context.close()

    def settled(self) -> None:
        self.page.wait_for_function("!document.querySelector('[aria-busy]')")

    def counted(self, text: str) -> None:
        """Wait for what the page says of how many it found: this, not a text that ends with it."""
        self.page.locator(".found", has_text=re.compile(f"^{text}$")).wait_for()

    def click(self, selector: str) -> None:
        self.page.locator(selector).first.click()
        self.settled()

    def column(self, key: str) -> list[str]:
        """The texts of a column of the table."""
        texts: list[str] = self.page.evaluate(COLUMN, key)
        return texts

    def names(self) -> list[str]:
        texts: list[str] = self.page.locator("table.board tbody .who a").all_inner_texts()
        return texts

    def upload(self, name: str, raw: bytes) -> str:
        """Send a file; returns the answer's text."""
        file = {"name": name, "mimeType": "application/json", "buffer": raw}
        with self.page.expect_response(lambda response: "/run/predict" in response.url) as answered:
            self.page.set_input_files("#submit input[type=file]", files=[file])
        told = json.loads(answered.value.body())["data"][0]
        self.page.wait_for_function(SHOWN, arg=told)
        return str(self.page.locator("#answer").inner_text())


@pytest.fixture(scope="module")
def visitor(chromium: Any, app: Running) -> Iterator[Visit]:
    """One page for most tests: loading Gradio's takes seconds on a busy machine."""
    found = Visit(chromium, app)
    yield found
    found.close()


@pytest.fixture
def visit(visitor: Visit) -> Visit:
    """At the beginning."""
    visitor.check()
    visitor.to("?lang=en")
    return visitor


def figures(texts: list[str]) -> list[float]:
    return [float(text.split()[0].replace("−", "-")) for text in texts if text]


def test_sorting_keeps_a_missing_cell_last_both_ways(visit: Visit) -> None:
    for order in ("descending", "ascending"):
        visit.click('a[data-sort="hellaswag"]')
        shown = visit.column("hellaswag")
        assert visit.page.locator("th[aria-sort]").get_attribute("aria-sort") == order
        assert len(figures(shown)) == 4
        assert figures(shown) == sorted(figures(shown), reverse=order == "descending")
        assert shown[4:] == [""] * 18
    assert "sort=hellaswag" in visit.page.url


def test_a_view_that_comes_late_takes_nothing_back(visit: Visit) -> None:
    """Of two filters set one after the other, the answer to the first does not undo the second."""
    page = visit.page
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/run/predict*", hold)
    page.select_option('select[name="kind"]', "chat")
    while not held:
        page.wait_for_timeout(20)
    page.uncheck('input[type="checkbox"][name="printed"]')
    held[0].continue_()
    visit.counted("8 models of 22")
    assert not page.is_checked('input[type="checkbox"][name="printed"]')
    assert len(held) == 2
    held[1].continue_()
    visit.counted("2 models of 22")
    assert not page.is_checked('input[type="checkbox"][name="printed"]')
    page.unroute_all(behavior="ignoreErrors")


def test_a_view_that_is_overtaken_is_not_shown(visit: Visit) -> None:
    page = visit.page
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)
        if len(held) > 2:
            route.continue_()

    page.route("**/run/predict*", hold)
    page.select_option('select[name="kind"]', "chat")
    page.uncheck('input[type="checkbox"][name="printed"]')
    while len(held) < 2:
        page.wait_for_timeout(20)
    held[1].continue_()
    visit.counted("2 models of 22")
    held[0].continue_()
    while len(held) < 3:  # asked for once more
        page.wait_for_timeout(20)
    visit.counted("2 models of 22")
    assert not page.is_checked('input[type="checkbox"][name="printed"]')
    page.unroute_all(behavior="ignoreErrors")


def test_filters_and_the_way_back(visit: Visit) -> None:
    everything = visit.names()
    assert len(everything) == 22
    visit.page.select_option('select[name="kind"]', "chat")
    visit.page.uncheck('input[type="checkbox"][name="printed"]')
    visit.counted("2 models of 22")
    assert set(visit.names()) == {"Beta-13B-Instruct", "Epsilon-9B"}
    visit.page.fill('input[name="q"]', "EPSÌLON")
    visit.counted("1 model of 22")
    assert visit.page.evaluate("document.activeElement.name") == "q", "typing goes on"
    assert visit.page.input_value('input[name="q"]') == "EPSÌLON"
    visit.page.fill('input[name="q"]', "nobody")
    visit.page.locator("p.empty", has_text="No model passes the filters").wait_for()
    visit.page.get_by_role("link", name="Clear the filters").click()
    visit.counted("22 models")
    assert visit.page.input_value('input[name="q"]') == ""
    assert visit.page.is_checked('input[type="checkbox"][name="printed"]')
    visit.page.go_back()
    visit.page.locator("p.empty").wait_for()
    assert visit.page.input_value('input[name="q"]') == "nobody"


def test_native_tasks_only(visit: Visit) -> None:
    before = visit.column("avg")[0]
    visit.page.check('input[name="origin"]')
    visit.page.locator('a[data-sort="xcopa"]').wait_for(state="detached")
    assert visit.page.locator('a[data-sort="cfk"]').count() == 0
    assert visit.column("avg")[0] != before


def test_columns(visit: Visit) -> None:
    visit.page.locator("details.columns summary").click()
    visit.page.locator('button[data-columns="none"]').click()
    visit.page.locator('a[data-sort="xcopa"]').wait_for(state="detached")
    assert visit.page.locator("details.columns").get_attribute("open") is not None, "a new view does not close it"
    visit.page.check('input[name="cols"][value="xcopa"]')
    visit.page.locator('a[data-sort="xcopa"]').wait_for()
    assert "cols=xcopa" in visit.page.url


def test_a_link_shows_the_same_to_others(chromium: Any, app: Running) -> None:
    first = Visit(chromium, app, "?lang=it", permissions=["clipboard-read", "clipboard-write"])
    first.click('a[data-sort="xcopa"]')
    first.click('a[data-sort="xcopa"]')
    first.page.select_option('select[name="kind"]', "base")
    first.page.check('input[name="ci"]')
    first.counted(r"\d+ modelli su 22")
    first.page.locator("td small", has_text="–").first.wait_for()
    first.page.get_by_role("button", name="Copia il link").click()
    first.page.get_by_role("button", name="Link copiato").wait_for()
    link = first.page.evaluate("navigator.clipboard.readText()")
    second = Visit(chromium, app, link.removeprefix(app.address + "/"), locale="en-GB")
    table = second.page.locator("table.board")
    assert table.inner_text() == first.page.locator("table.board").inner_text()
    assert second.page.evaluate("document.documentElement.lang") == "it", "in the language of who sent it"
    first.close()
    second.close()


def test_comparing(visit: Visit) -> None:
    for name in ("Alfa-7B", "Beta-13B-Instruct"):
        visit.page.get_by_role("button", name=f"Add {name} to the comparison").click()
        visit.page.get_by_role("button", name=f"Remove {name} from the comparison").wait_for()
    visit.page.get_by_role("link", name="Compare", exact=True).last.click()
    visit.page.locator("table.compare").first.wait_for()
    xcopa = visit.page.locator("table.compare tr", has_text="XCOPA-it").inner_text()
    assert re.search(r"[+−]\d+\.\d.*\[[+−]?\d+\.\d; [+−]?\d+\.\d\]", xcopa, re.DOTALL)
    assert "≈" not in xcopa, "figures by document are there"
    assert visit.page.locator(".radar svg").is_visible()
    visit.page.fill('input[name="q"]', "epsilon")
    visit.page.get_by_role("link", name="Add Epsilon-9B to the comparison").click()
    visit.page.locator("table.compare th", has_text="Epsilon-9B").wait_for()
    visit.page.get_by_role("link", name="Remove Alfa-7B from the comparison").click()
    visit.page.locator("table.compare th", has_text="Alfa-7B").wait_for(state="detached")


def test_itapat_and_a_model_page(visit: Visit) -> None:
    visit.page.get_by_role("link", name="ItaP-AT", exact=True).click()
    visit.page.locator("table.itapat td.heat").first.wait_for()
    assert visit.column("base_1")[visit.names().index("LLaMA2-Chat")].split() == ["+0.45**", "▲"]
    visit.page.get_by_role("link", name="Answers given").click()
    visit.page.locator(".stack").first.wait_for()
    visit.page.get_by_role("link", name="Effect of a one-shot prompt").click()
    visit.page.locator("td.change").first.wait_for()
    visit.page.get_by_role("link", name="Epsilon-9B", exact=True).click()
    visit.page.get_by_role("heading", name="Epsilon-9B").wait_for()
    assert visit.page.title().startswith("Model")
    assert visit.page.evaluate("document.activeElement.tagName") == "H1", "a reader hears where it is"
    assert visit.page.evaluate("scrollY") == 0


def test_the_keyboard_is_enough(visit: Visit) -> None:
    visit.page.locator('a[data-sort="xcopa"]').focus()
    visit.page.keyboard.press("Enter")
    visit.page.locator('th[aria-sort="descending"] a[data-sort="xcopa"]').wait_for()
    assert visit.page.evaluate("document.activeElement.dataset.sort") == "xcopa", "the focus stays"
    pick = visit.page.get_by_role("button", name="Add Alfa-7B to the comparison")
    pick.focus()
    visit.page.keyboard.press("Space")
    visit.page.get_by_role("button", name="Remove Alfa-7B from the comparison").wait_for()
    # Every place that a keyboard reaches is seen to be reached.
    outline = visit.page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline != "0px"


def test_bad_uploads_are_refused_field_by_field(chromium: Any, app: Running) -> None:
    assert len(BAD_UPLOADS) >= 20
    found = Visit(chromium, app, "?lang=en&tab=submit")
    found.page.locator("#send").wait_for()
    waiting = len(app.store.pending())
    for name, make in BAD_UPLOADS.items():
        raw, field = make()
        told = found.upload(f"{name}.json", raw)
        assert told.startswith("✗ Refused"), name
        assert field in found.page.locator("#answer tbody tr th").all_inner_texts(), name
        for row in found.page.locator("#answer tbody tr").all():
            assert all(cell.inner_text() for cell in row.locator("td").all()), name
        assert found.page.locator("#answer script, #answer img, #answer svg, #answer a").count() == 0
    assert len(app.store.pending()) == waiting
    found.close()


def test_uploading_approving_and_reloading(chromium: Any, app: Running, capsys: pytest.CaptureFixture[str]) -> None:
    made, documents = with_documents(varied("Nuovo-7B", 0.7))
    found = Visit(chromium, app, "?lang=it&tab=submit")
    found.page.locator("#send").wait_for()
    told = found.upload("nuovo.json", upload_bytes(made, documents))
    assert told == f"✓ Ricevuto. La proposta {made.submission_id} è in attesa di approvazione."
    assert "è già in attesa" in found.upload("ancora.json", upload_bytes(made, documents)), "the same once more"
    found.page.get_by_role("link", name="ItaEval", exact=True).click()
    found.page.locator("table.board").wait_for()
    assert "Nuovo-7B" not in found.names(), "nobody has looked at it yet"
    command = ["leaderboard", "--store", str(app.place)]
    assert main([*command, "pending"]) == 0
    assert made.submission_id in capsys.readouterr().out
    assert main([*command, "approve", made.submission_id]) == 0
    found.page.wait_for_timeout(1100)  # a board is looked at again after a second
    found.page.reload()
    found.page.locator("table.board").wait_for()
    assert found.names()[0] == "Nuovo-7B"
    found.close()


CONTRASTS = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  const found = [];
  for (const e of document.querySelectorAll(".ita *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
    if (e.closest("svg, option") || getComputedStyle(e).backgroundImage !== "none") continue;
    const [one, two] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < 4.5) found.push(`${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
}"""


@pytest.mark.parametrize(("language", "colours"), [("it", "dark"), ("en", "light")])
def test_a_phone_in_both_languages_and_lights(chromium: Any, app: Running, language: str, colours: str) -> None:
    models = f"{app.ids['Alfa-7B']},{app.ids['Epsilon-9B']}"
    phone = {"viewport": {"width": 390, "height": 800}, "color_scheme": colours, "has_touch": True, "is_mobile": True}
    found = Visit(chromium, app, f"?lang={language}", **phone)
    queries = ["", "tab=itapat", "tab=itapat&part=rates", f"tab=compare&models={models}", "tab=submit", "tab=about"]
    queries.append(f"tab=model&id={app.ids['Epsilon-9B']}")
    for query in queries:
        found.to(f"?lang={language}&{query}")
        assert found.page.evaluate("document.documentElement.scrollWidth") <= 390, query
        assert found.page.evaluate(CONTRASTS) == [], query
        if "tab=submit" in query:
            found.page.locator("#send").wait_for()
    found.page.get_by_role("link", name="ItaEval", exact=True).click()
    found.page.locator("table.board").wait_for()
    assert not found.page.locator('select[name="kind"]').is_visible()
    found.page.locator("button[data-more]").click()
    every = found.page.locator(".found").inner_text()
    found.page.select_option('select[name="kind"]', "chat")
    found.page.wait_for_function("(before) => document.querySelector('.found').innerText !== before", arg=every)
    assert found.page.locator('select[name="kind"]').is_visible(), "a new view does not close the filters"
    found.close()


def test_two_uploads_at_once(chromium: Any, app: Running) -> None:
    made = [varied(name, 0.5, ("itaeval_xcopa",)) for name in ("Primo-7B", "Secondo-7B")]
    visits = [Visit(chromium, app, "?lang=en&tab=submit") for _ in made]
    for each, own in zip(visits, made, strict=True):
        file = {"name": "one.json", "mimeType": "application/json", "buffer": upload_bytes(own)}
        each.page.set_input_files("#submit input[type=file]", files=[file])
    for each, own in zip(visits, made, strict=True):
        each.page.locator("#answer", has_text=own.submission_id).wait_for()
        each.close()
    assert {own.submission_id for own in made} <= {own.submission_id for own in app.store.pending()}


def fetched(address: str, data: bytes | None = None) -> tuple[int, dict[str, str], bytes]:
    request = urllib.request.Request(address, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def test_a_view_as_csv(app: Running) -> None:
    status, headers, body = fetched(f"{app.address}/leaderboard.csv?sort=-xcopa&printed=0&cols=xcopa&lang=it")
    assert status == 200
    assert "attachment" in headers["content-disposition"]
    head, *rows = body.decode("utf-8-sig").splitlines()
    names = head.split(",")
    assert names[:9] == "id,model,published,kind,parameters,licence,organisation,submitted,avg".split(",")
    xcopa = [row.split(",")[names.index("xcopa")] for row in rows]
    assert [float(value) for value in xcopa] == sorted(map(float, xcopa), reverse=True)
    delta = next(row.split(",") for row in rows if "Delta-3B" in row)
    assert delta[names.index("avg")] == ""


def test_a_submission_as_json(app: Running) -> None:
    name = app.ids["Alfa-7B"]
    status, _, body = fetched(f"{app.address}/submission/{name}.json")
    assert status == 200
    assert json.loads(body)["submission_id"] == name
    assert fetched(f"{app.address}/submission/feedfeedfeedfeed.json")[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/docs",
        "/openapi.json",
        "/monitoring",
        "/monitoring/summary",
        "/gradio_api/openapi.json",
        "/gradio_api/file=/etc/passwd",
        "/gradio_api/file=http://127.0.0.1:1/",
        "/gradio_api/proxy=https://example.org/",
        "/gradio_api/runs",
        "/gradio_api/queue/status",
        "/gradio_api/vibe-code",
        "/gradio_api/call/show",
        "/gradio_api/token",
        "/login",
        "/assets/../../../etc/passwd",
        "/submission/..%2f..%2fpending.json",
        "/static/%2e%2e/%2e%2e/app.py",
    ],
)
def test_nothing_else_is_there(app: Running, path: str) -> None:
    assert fetched(app.address + path)[0] == 404


def test_every_answer_keeps_a_page_to_its_own_host(app: Running) -> None:
    for path in ("/", "/leaderboard.csv", "/nowhere"):
        headers = fetched(app.address + path)[1]
        assert "connect-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        ("/gradio_api/run/predict", b"x" * 100_000, 413),
        ("/gradio_api/upload", b"x" * 20_000_000, 413),
        ("/gradio_api/component_server", b"{}", 404),
        ("/gradio_api/run/show", b"{}", 404),
        ("/", b"{}", 404),
    ],
)
def test_bodies_are_bounded(app: Running, path: str, data: bytes, status: int) -> None:
    try:
        assert fetched(app.address + path, data)[0] == status
    except OSError:
        assert status == 413, "the connection may be closed before all is sent"


def test_a_path_that_was_not_uploaded_is_not_read(app: Running, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text("{}", encoding="utf-8")
    config = json.loads(fetched(f"{app.address}/config")[2])
    (number,) = (each["id"] for each in config["dependencies"] if [t[1] for t in each["targets"]] == ["upload"])
    for path in (str(secret), "/etc/hostname", str(app.place / "submissions")):
        file = {"path": path, "meta": {"_type": "gradio.FileData"}, "orig_name": "a.json"}
        body = {"data": [file, None], "fn_index": number, "session_hash": "abc"}
        status, _, told = fetched(f"{app.address}/gradio_api/run/predict", json.dumps(body).encode())
        assert status == 500, told
        assert b"root" not in told
    assert secret.exists(), "nor taken away"


def test_readers_while_a_board_changes(app: Running) -> None:
    answers: list[int] = []

    def read() -> None:
        for _ in range(5):
            answers.append(fetched(f"{app.address}/leaderboard.csv")[0])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    added = app.store.add(varied("Ultimo-7B", 0.4, ("itaeval_xcopa",)))
    for thread in threads:
        thread.join()
    assert answers == [200] * 20
    assert added

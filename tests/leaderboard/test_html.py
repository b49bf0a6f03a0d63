"""The pages as HTML: what they show, and that nothing from a submission is ever markup."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.leaderboard.board import Board
from lm_eval_ita.leaderboard.html import answer_html, page_html
from lm_eval_ita.leaderboard.library import Library
from lm_eval_ita.leaderboard.pages.submit import Answer
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.texts import texts
from lm_eval_ita.leaderboard.views import TABS, Language, View
from lm_eval_ita.results.published import published_by_suite
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission import Problem
from tests.leaderboard.boards import briefs, filled, varied
from tests.leaderboard.submissions import ITAEVAL

pytest.importorskip("matplotlib", reason="needs the package matplotlib")
HOSTILE = [
    "<script>alert(1)</script>",
    "</td><img src=x onerror=alert(2)>",
    "'\"><svg onload=alert(3)>",
    "${alert(4)}{{alert(5)}}{% raw %}",
    "javascript:alert(6)",
    "\u202eB7 olledoM\u202c\x00\u2028x",
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Library, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("board")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_ITA_CACHE", str(folder / "cache"))
        store, ids = filled(folder / "store")
        yield Library(store), ids


def shown(library: Library, view: View, language: Language = "en", board: Board | None = None) -> str:
    return page_html(Scene(view, texts(language), board or library.board(), library, True, 4_000_000))


class Read(HTMLParser):
    """A page's elements, attributes and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("input", "wbr"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.rows[-1] and any(tag in ("td", "th") for tag in self._open):
            self.rows[-1][-1] += data

    def close(self) -> None:
        super().close()
        assert self._open == [], "every element is closed"


def addresses(page: Read) -> list[str]:
    return [value for _, name, value in page.attributes if name in ("href", "src", "action", "formaction")]


def check(page: str) -> Read:
    read = Read(page)
    assert not {"script", "iframe", "object", "embed", "style", "img", "base", "link", "meta"} & set(read.tags)
    assert not [name for _, name, _ in read.attributes if name.startswith("on")]
    for address in addresses(read):
        assert re.match(r"\?|https://|leaderboard\.csv\?|submission/[0-9a-f]{16}\.json$|#", address), address
    for tag, name, value in read.attributes:
        if name == "style" and tag not in ("g", "path", "text", "svg", "use", "rect"):
            assert re.fullmatch(r"(background:#[0-9A-F]{6}(;color:#[0-9A-F]{6})?)|width:[\d.]+%", value), value
    return read


@pytest.mark.parametrize("language", ["it", "en"])
@pytest.mark.parametrize("tab", TABS)
def test_every_page_in_both_languages(library: tuple[Library, dict[str, str]], tab: Any, language: Language) -> None:
    own, ids = library
    view = View(tab=tab, models=(ids["Alfa-7B"], ids["Epsilon-9B"]), model=ids["Epsilon-9B"])
    page = check(shown(own, view, language))
    assert page.tags.count("h1") == 1
    assert ("div", "lang", language) in page.attributes
    assert "None" not in page.text
    assert not re.search(r"\bnan\b|\{\w*\}", page.text)


@pytest.mark.parametrize("part", ["scores", "rates", "oneshot"])
def test_parts_of_itapat(library: tuple[Library, dict[str, str]], part: Any) -> None:
    page = check(shown(library[0], View(tab="itapat", part=part)))
    names = [row[0] for row in page.rows[2:]]
    assert "LLaMA2-Chat†" in names[1]
    cells = page.rows[3]
    assert len(cells) == 2 + 16 + (part == "scores")
    expected = {"scores": "+0.45**▲", "rates": "4%", "oneshot": "↓ 0.16+0.45 → +0.29"}
    assert cells[2].strip() == expected[part]


def row(page: Read, name: str) -> list[str]:
    return next(cells for cells in page.rows if len(cells) > 3 and name in cells[1])


def test_missing_cells_are_blank_and_a_partial_model_has_no_average(library: tuple[Library, dict[str, str]]) -> None:
    page = check(shown(library[0], View(language="it"), "it"))
    cells = row(page, "Delta-3B")
    assert cells[0] == "", "no rank"
    assert cells[3] == "3 di 18"
    assert cells[4:7] == ["", "", ""], "no mean of a category"
    assert sum(bool(cell) for cell in cells[7:-1]) == 3
    assert not any(cell.startswith("0,0") for cell in cells)
    whole = row(page, "Alfa-7B")
    assert re.fullmatch(r"\d\d,\d", whole[3])
    assert all(whole)


def test_chance_stands_under_every_column_that_has_it(library: tuple[Library, dict[str, str]]) -> None:
    page = check(shown(library[0], View()))
    heads = page.rows[1]
    guessing = next(cells for cells in page.rows if len(cells) > 3 and cells[1] == "Guessing")
    by_name = {re.split(r"[↕\n]|MCC|acc|F1", head)[0]: cell for head, cell in zip(heads, guessing, strict=True)}
    # Field report 21: 0.476 of ItaCoLA is read as worse than random; of a correlation, chance is 0.
    assert by_name["ItaCoLA"] == "0.0"
    assert by_name["Belebele"] == "25.0"
    assert by_name["XCOPA-it"] == "50.0"


def test_the_sorted_column_says_so(library: tuple[Library, dict[str, str]]) -> None:
    page = check(shown(library[0], View(sort="xcopa", descending=False)))
    orders = [value for tag, name, value in page.attributes if name == "aria-sort"]
    assert orders == ["ascending"]


def test_intervals_on_demand(library: tuple[Library, dict[str, str]]) -> None:
    own, _ = library
    without, with_them = (row(check(shown(own, View(intervals=each))), "Alfa-7B") for each in (False, True))
    assert re.fullmatch(r"\d\d\.\d", without[3])
    assert re.fullmatch(r"\d\d\.\d\d\d\.\d–\d\d\.\d", with_them[3])


def test_printed_figures_are_marked_with_their_defects(library: tuple[Library, dict[str, str]]) -> None:
    page = check(shown(library[0], View(language="it"), "it"))
    cells = row(page, "Llama-3-8B-Instr")
    assert "†" in cells[1]
    assert re.fullmatch(r"71,8[a-z]", cells[12]), "SENTIPOLC"
    assert "la colonna stampata è una copia di quella di XCOPA-it; la classifica pubblica dava 44,41" in page.text
    assert "Llama-3-8B-Instr" not in check(shown(library[0], View(printed=False))).text


def test_a_comparison(library: tuple[Library, dict[str, str]]) -> None:
    own, ids = library
    models = (ids["Alfa-7B"], ids["Beta-13B-Instruct"], "paper-llama-3-8b-instr")
    text = shown(own, View(tab="compare", models=models))
    page = check(text)
    xcopa, honest = (next(cells for cells in page.rows if cells[0] == name) for name in ("XCOPA-it", "HONEST"))
    assert re.fullmatch(r"[+−]\d+\.\d( [▲▼])?\[[+−]?\d+\.\d; [+−]?\d+\.\d\]", xcopa[3])
    assert "≈" in honest[3], "no figures by document"
    assert honest[4:] == ["100.0", ""], "known to be wrong: no difference"
    assert 'role="img"' in text, "the radar"
    assert "no task in common" in check(shown(own, View(tab="compare", models=("paper-llama2-chat", models[2])))).text


def test_a_model_page(library: tuple[Library, dict[str, str]]) -> None:
    own, ids = library
    page = check(shown(own, View(tab="model", model=ids["Epsilon-9B"])))
    for said in ("9,000,000,000", "Università di Esempio", "1 h 00 min", "1,000,000", "bfloat16", "No earlier version"):
        assert said in page.text
    assert "There is no such model" in check(shown(own, View(tab="model", model="feedfeedfeedfeed"))).text


def hostile_board() -> Board:
    made = []
    for i, text in enumerate(HOSTILE):
        own = varied(f"M{i}", 0.6, ITAEVAL[:4])
        facts = own.facts.model_copy(update={"display_name": text, "organisation": text, "licence": text, "link": text})
        identity = own.run.model.model_copy(update={"name": text})
        run = own.run.model_copy(update={"model": identity, "software": {text: text}})
        made.append(own.model_copy(update={"facts": facts, "run": run}))
    return Board(briefs(made), references(), published_by_suite())


@pytest.mark.parametrize("view", [View(), View(tab="compare", search="alert(1)"), View(search="alert(1)")])
def test_hostile_names_are_texts(library: tuple[Library, dict[str, str]], view: View) -> None:
    # The validator lets none of these in; a store may have been filled by something else.
    page = check(shown(library[0], view, board=hostile_board()))
    assert HOSTILE[0] in page.text
    assert not {"\x00", "\u202e", "\u2028"} & set(page.text)


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=60) | st.sampled_from(HOSTILE),
    st.sampled_from(["itaeval", "itapat", "compare", "about", "submit", "model"]),
)
def test_what_a_visitor_types_is_text(library: tuple[Library, dict[str, str]], words: str, tab: str) -> None:
    view = replace(View.from_query(""), tab=tab, search=words, licence=words)  # type: ignore[arg-type]
    check(shown(library[0], view))


def test_answers_are_texts() -> None:
    problems = tuple(Problem(text, text, text) for text in HOSTILE)
    page = check(answer_html(texts("en"), Answer(False, HOSTILE[0], problems)))
    assert page.text.count("alert(3)") == 3
    assert ("section", "role", "alert") in page.attributes

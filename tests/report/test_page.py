"""The page in a real browser: sorting, searching, hostile names and answers, no request but its own."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.cli.main import main
from tests.browser import Watched, browser, watched
from tests.report.runs import STAMP, sample, save

pytest.importorskip("matplotlib", reason="needs the package matplotlib")

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "'\"><svg onload=alert(4)>",
    "javascript:alert(5)",
    "<!-- <script>",
    "{{ 7 * 7 }}",
    "\u202eotseuq id elihcsaM\u202c",
    "a\x00b\u2028c\ud83d\ude00",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


def values(right: int, n: int = 60) -> list[float]:
    return [1.0] * right + [0.0] * (n - right)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page over three models, one of them without XCOPA, one with hostile names and answers."""
    folder = tmp_path_factory.mktemp("runs")
    save(folder / "a", "org/alfa", {"itaeval_xcopa": (0.5, values(30)), "itaeval_belebele": (0.3, values(18))})
    save(folder / "b", "org/beta", {"itaeval_xcopa": (0.9, values(54)), "itaeval_belebele": (0.6, values(36))})
    save(folder / "c", HOSTILE[0], {"itaeval_belebele": (0.75, values(45)), "itaeval_arc_challenge": (0.2, values(12))})
    lines = [
        sample(
            i,
            1.0 if i < 45 else 0.0,
            doc={"functionality": HOSTILE[i % len(HOSTILE)]},
            arguments={"gen_args_0": {"arg_0": HOSTILE[i % len(HOSTILE)], "arg_1": {"until": ["\n"]}}},
            resps=[[HOSTILE[(i + 1) % len(HOSTILE)]]],
            target="perché no",
        )
        for i in range(60)
    ]
    path = folder / "c" / f"samples_itaeval_belebele_{STAMP}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "d").mkdir()
    (folder / "d" / "results_damaged.json").write_text('{"results": {"<b>bold</b>', encoding="utf-8")
    page = folder / "report.html"
    assert main(["report", str(folder), "-o", str(page), "--title", HOSTILE[1], "--with-published"]) == 1
    return page


@pytest.fixture
def page(chromium: Any, report: Path) -> Iterator[Watched]:
    found = watched(chromium)
    found.page.goto(report.as_uri())
    yield found
    assert found.said == []
    assert found.asked == [report.as_uri()]
    found.page.close()


def column(table: Any, position: int) -> list[str]:
    return [
        row.locator("th, td").nth(position).inner_text() for row in table.locator("tbody").first.locator("tr").all()
    ]


def test_it_is_one_file_without_addresses(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", text)
    assert not re.search(r"@import|url\((?!['\"]?#)", text)


def test_sections_and_problems_are_there(page: Watched) -> None:
    assert page.page.title() == HOSTILE[1]
    headings = page.page.locator("h2").all_inner_texts()
    assert headings == ["What could not be read", "ItaEval", "Samples", "Settings and versions"]
    assert "<b>bold</b>" not in page.page.locator(".problems").inner_html()
    assert "is not valid JSON" in page.page.locator(".problems").inner_text()
    assert page.page.locator("figure.chart svg").count() >= 3


def test_sorting_keeps_missing_cells_last_both_ways(page: Watched) -> None:
    table = page.page.locator("table", has=page.page.get_by_role("button", name="XCOPA-it")).first
    button = table.get_by_role("button", name="XCOPA-it")
    position = int(button.get_attribute("data-column"))
    button.click()
    down = column(table, position)
    assert button.locator("xpath=..").get_attribute("aria-sort") == "descending"
    button.click()
    up = column(table, position)
    assert button.locator("xpath=..").get_attribute("aria-sort") == "ascending"

    def numbers(texts: list[str]) -> list[float]:
        return [float(text.split()[0]) for text in texts if text]

    assert numbers(down) == sorted(numbers(down), reverse=True)
    assert numbers(up) == sorted(numbers(up))
    assert len(numbers(up)) > 5
    assert "" in up
    for texts in (down, up):
        assert "" not in texts[: len(numbers(texts))], "a missing cell stands before a figure"


def test_sorting_by_name(page: Watched) -> None:
    table = page.page.locator("#settings table").last
    table.get_by_role("button", name="Task").click()
    names = column(table, 0)
    assert names == sorted(names)
    assert len(names) == 6


def test_searching_the_samples(page: Watched) -> None:
    box, count = page.page.locator("#viewer-text"), page.page.locator("#viewer-count")
    assert count.inner_text() == "180 samples"
    box.fill("PERCHE no")  # neither case nor accents matter
    assert count.inner_text() == "30 samples"
    box.fill("alert(3)")
    assert 0 < int(count.inner_text().split()[0]) < 30
    page.page.locator("#viewer-outcome").select_option("wrong")
    shown = page.page.locator(".sample h3 b").all_inner_texts()
    assert shown
    assert set(shown) == {"wrong"}
    box.fill("nessuno lo scrive mai")
    assert count.inner_text() == "0 samples"


def test_paging_and_filters(page: Watched) -> None:
    page.page.locator("#viewer-model").select_option("org/beta")
    page.page.locator("#viewer-task").select_option("itaeval_xcopa")
    assert page.page.locator("#viewer-count").inner_text() == "30 samples"
    assert page.page.locator(".sample").count() == 20
    page.page.get_by_role("button", name="Next", exact=True).click()
    assert page.page.locator(".sample").count() == 10
    assert page.page.locator("#viewer-page").inner_text() == "page 2 of 2"
    assert page.page.get_by_role("button", name="Next", exact=True).is_disabled()


def test_hostile_texts_are_shown_as_they_are(page: Watched) -> None:
    page.page.locator("#viewer-model").select_option(HOSTILE[0])
    page.page.locator("#viewer-text").fill("alert(1)")
    prompt = page.page.locator(".sample summary").first
    prompt.click()
    assert page.page.locator("article script, article img, article svg").count() == 0
    assert HOSTILE[0] in page.page.locator("#viewer-list").inner_text()
    assert page.page.locator("figure.chart script, figure.table script").count() == 0


def test_it_fits_a_phone(chromium: Any, report: Path) -> None:
    found = watched(chromium, width=390)
    found.page.goto(report.as_uri())
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 390
    found.page.close()


def test_it_works_by_keyboard(page: Watched) -> None:
    button = page.page.locator("thead button").first
    button.focus()
    page.page.keyboard.press("Enter")
    assert button.locator("xpath=..").get_attribute("aria-sort") == "ascending"


def test_it_prints(chromium: Any, report: Path, tmp_path: Path) -> None:
    found = watched(chromium)
    found.page.goto(report.as_uri())
    pdf = found.page.pdf(path=str(tmp_path / "report.pdf"), format="A4")
    assert pdf.startswith(b"%PDF")
    found.page.emulate_media(media="print")
    assert not found.page.locator("#samples").is_visible()
    assert found.page.locator("#itaeval").is_visible()
    found.page.close()

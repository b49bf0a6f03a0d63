import re
import struct
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.report.figures import (
    BiasCell,
    BiasRow,
    Entry,
    OneShot,
    Outcomes,
    Part,
    RadarModel,
    Ranked,
    TaskPanel,
    as_svg,
    bias_heatmap,
    breakdown,
    category,
    oneshot_differences,
    outcome_rates,
    radar,
    ranking,
    save,
)
from tests.report.figures.helpers import ODD

NAMES = list(ODD[:6])
FIGURES: dict[str, Callable[[], Any]] = {
    "ranking": lambda: ranking(
        [Ranked(n, 50.0, 45.0, 55.0, "a", i == 1) for i, n in enumerate(NAMES)], "t $x$", "x", 25
    ),
    "category": lambda: category(
        [TaskPanel(n, "acc", 5, tuple(Entry(m, 50.0) for m in NAMES), 25) for n in NAMES], "t"
    ),
    "radar": lambda: radar([RadarModel(n, (50.0,) * 6) for n in NAMES], NAMES, "t"),
    "bias": lambda: bias_heatmap(
        [BiasRow(n, (BiasCell(0.5, 2, True), BiasCell(0.1)), n) for n in NAMES], NAMES[:2], "t"
    ),
    "outcomes": lambda: outcome_rates([Outcomes(n, m, 0.25, 0.25, 0.25, 0.25) for n in NAMES for m in NAMES[:2]], "t"),
    "breakdown": lambda: breakdown([Part(n, 5, (50.0,) * 6) for n in NAMES], NAMES, "t", "x", 25),
    "oneshot": lambda: oneshot_differences([OneShot(n, 0.5, 0.1, model=m) for n in NAMES for m in NAMES[:2]], "t"),
}
SVG = "{http://www.w3.org/2000/svg}"


def small(title: str = "t") -> Any:
    return ranking([Ranked("a", 1.0, 0.5, 2.0), Ranked("b", 2.0)], title, "x")


@pytest.mark.parametrize("kind", FIGURES)
def test_svg_of_odd_names(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = as_svg(FIGURES[kind](), alt='Alt <b> & "quoted"\n$x$', prefix="f1")
    assert capfd.readouterr() == ("", "")
    root = ET.fromstring(made)
    assert made.startswith("<svg ")
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'Alt <b> & "quoted" $x$'
    assert root.get("width") == "100%"
    assert root.get("height") is None
    assert re.fullmatch(r"0 0 [\d.]+ [\d.]+", root.get("viewBox") or "")
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "g",
        "path",
        "use",
        "text",
        "defs",
        "clipPath",
        "rect",
        "pattern",
        "tspan",
    }  # no script, style, image, title, foreign content
    shown = {element.text for element in root.iter(f"{SVG}text")}
    whole = [name for name in (NAMES[4], NAMES[5]) if name in shown]
    assert whole  # texts stay texts, also those that matplotlib's font lacks
    assert any("<script>" in (text or "") for text in shown)
    assert "<script" not in made
    assert any((text or "").startswith(r"$\alpha") for text in shown)  # literal, not mathematics


@pytest.mark.parametrize("kind", FIGURES)
def test_ids_are_its_own(kind: str) -> None:
    figure = FIGURES[kind]()
    one, two = as_svg(figure, alt="", prefix="one"), as_svg(figure, alt="", prefix="two")
    ids = [element.get("id") for made in (one, two) for element in ET.fromstring(made).iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for made, prefix in ((one, "one-"), (two, "two-")):
        own = {element.get("id") for element in ET.fromstring(made).iter()}
        used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', made))
        assert used
        assert {a or b for a, b in used} <= own
        assert all(name is None or name.startswith(prefix) for name in own)


@pytest.mark.parametrize("kind", FIGURES)
def test_nothing_outside_is_named(kind: str) -> None:
    made = as_svg(FIGURES[kind](), alt="", prefix="f")
    assert re.findall(r"[a-z]+:[^;\"]*//[^\"]*", made.replace('xmlns="http://www.w3.org/2000/svg"', "")) == []
    assert "data:" not in made  # all shapes, no pictures
    assert "@import" not in made


def test_fonts_have_a_stand_in() -> None:
    styles = [
        element.get("style") or "" for element in ET.fromstring(as_svg(small(), alt="", prefix="f")).iter(f"{SVG}text")
    ]
    assert styles
    assert all("'DejaVu Sans', Verdana, sans-serif" in style for style in styles)


@pytest.mark.parametrize("prefix", ["", "1a", "a b", 'a"b', "a#", "<a>", "è"])
def test_a_prefix_must_begin_an_id(prefix: str) -> None:
    with pytest.raises(ValueError, match="cannot begin an id"):
        as_svg(small(), alt="", prefix=prefix)


def test_save(tmp_path: Path) -> None:
    figure = small("A title")
    written = save(figure, tmp_path / "new" / "folder", "ranking")
    assert written == [tmp_path / "new" / "folder" / f"ranking.{kind}" for kind in ("svg", "png")]
    assert sorted(path.name for path in written[0].parent.iterdir()) == ["ranking.png", "ranking.svg"]  # no leftovers
    root = ET.fromstring(written[0].read_bytes())
    assert root.get("aria-label") == "A title"
    assert (root.get("width") or "").endswith("pt")
    png = written[1].read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == tuple(int(200 * inches) for inches in figure.get_size_inches())


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    """Made anew, written over what is there."""
    first = [path.read_bytes() for path in save(FIGURES["bias"](), tmp_path, "x")]
    second = [path.read_bytes() for path in save(FIGURES["bias"](), tmp_path, "x")]
    assert first == second
    assert b"20" + b"26-" not in first[0]  # no date
    assert b"Matplotlib" not in first[0] + first[1]


def test_drawing_does_not_change_a_figure(tmp_path: Path) -> None:
    figure = FIGURES["outcomes"]()
    before = as_svg(figure, alt="", prefix="f")
    save(figure, tmp_path, "x")
    assert as_svg(figure, alt="", prefix="f") == before


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "x\0"])
def test_a_name_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot begin an id"):
        save(small(), tmp_path / "in", name)
    assert not (tmp_path / "in").exists()


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot be written"):
        save(small(), tmp_path / "file", "x")

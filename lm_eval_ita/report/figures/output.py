"""Figures as files and as SVG inside a page.

The same figure gives the same bytes: no date, no version, fixed ids.
"""

from __future__ import annotations

import io
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_ita.errors import UserError
from lm_eval_ita.report.figures.theme import styled
from lm_eval_ita.results.grid import displayed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["as_svg", "save"]

_DPI = 200
_SVG = "http://www.w3.org/2000/svg"
_NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"""(['"])DejaVu Sans\1""")
# matplotlib says this for every element of the page that the SVG stands in; here it is said of the SVG only.
_STROKES = "stroke-linejoin: round; stroke-linecap: butt"


def as_svg(figure: Figure, *, alt: str, prefix: str) -> str:
    """The figure as an `<svg>` element to stand inside an HTML page.

    It scales with the page, names no file and no address, and its texts are texts, escaped.

    Args:
        figure: One of this package's.
        alt: What a screen reader says instead of it.
        prefix: Begins every id in it: letters, digits, "_", "." and "-", a letter first. Each figure of a page needs
            another one.

    Raises:
        ValueError: `prefix` is no such name.
    """
    root = _svg(figure, alt, prefix)
    width, _ = figure.get_size_inches()
    root.attrib.pop("height", None)
    root.set("width", "100%")
    # On a wide page letters get a little larger than in print, not more.
    root.set("style", f"max-width: {width * 96 * 1.4:.0f}px; height: auto; {_STROKES}")
    return ET.tostring(root, encoding="unicode")


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write `name`.svg and `name`.png (200 dots per inch) into the folder, which is made if it is not there.

    Args:
        figure: One of this package's.
        folder: Where to.
        name: Letters, digits, "_", "." and "-", a letter first; also what the ids in the SVG begin with.

    Returns:
        The SVG, the PNG.

    Raises:
        UserError: The folder or a file cannot be written.
        ValueError: `name` is no such name.
    """
    root = _svg(figure, str(figure.get_label()) or name, name)
    root.set("style", _STROKES)
    svg = '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    contents = {folder / f"{name}.svg": svg.encode("utf-8"), folder / f"{name}.png": _png(figure)}
    for target, content in contents.items():
        _write(target, content)
    return list(contents)


@styled()
def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    return buffer.getvalue()


@styled()
def _svg(figure: Figure, alt: str, prefix: str) -> ET.Element:
    """matplotlib's SVG without what makes it a file of its own: prolog, metadata, style sheet, namespaces, ids."""
    if not _NAME.fullmatch(prefix):
        raise ValueError(f"{prefix!r} cannot begin an id: letters, digits, '_', '.' and '-', a letter first")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(key): _own(_local(key), value, prefix) for key, value in element.attrib.items()}
    root.set("xmlns", _SVG)
    root.set("role", "img")
    root.set("aria-label", displayed(alt, 1000))
    return root


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _own(key: str, value: str, prefix: str) -> str:
    """An attribute whose ids and references begin with the prefix, and whose font has others to stand in for it."""
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{prefix}-{value[1:]}"
    value = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
    return _FONT.sub("'DejaVu Sans', Verdana, sans-serif", value) if key == "style" else value


def _write(target: Path, content: bytes) -> None:
    """Beside the place, then renamed: a reader sees the old file or the new one."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(content)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot be written ({error.strerror}); name another folder", file=target) from error

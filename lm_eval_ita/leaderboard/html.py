"""A view as HTML. What is put in is escaped: names and facts come from strangers and are text, never markup."""

import functools
from typing import Any

from lm_eval_ita.leaderboard.pages import about, compare, itaeval, itapat, model, submit
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.texts import Texts
from lm_eval_ita.leaderboard.views import LANGUAGES, TABS, Tab

__all__ = ["answer_html", "page_html", "resource"]

_PAGES = {
    "itaeval": itaeval.content,
    "itapat": itapat.content,
    "compare": compare.content,
    "submit": submit.content,
    "about": about.content,
    "model": model.content,
}
_IN_NAVIGATION: tuple[Tab, ...] = tuple(tab for tab in TABS if tab != "model")
_LANGUAGE_NAMES = {"it": "Italiano", "en": "English"}


def page_html(scene: Scene) -> str:
    """The whole of a view, to stand inside the page of the app."""
    view = scene.view
    tabs = [(tab, scene.t[f"tab_{tab}"], scene.page_link(tab)) for tab in _IN_NAVIGATION]
    languages = [
        (language, _LANGUAGE_NAMES[language], scene.link(language=language, page=view.page)) for language in LANGUAGES
    ]
    content = _PAGES[view.tab](scene)
    rendered = (
        _environment()
        .get_template(f"{view.tab}.html")
        .render(scene=scene, view=view, t=scene.t, tabs=tabs, languages=languages, **content)
    )
    return str(rendered)


def answer_html(t: Texts, answer: submit.Answer) -> str:
    """What became of an upload."""
    return str(_environment().get_template("answer.html").render(t=t, answer=answer))


@functools.cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("lm_eval_ita.leaderboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@functools.cache
def resource(name: str) -> str:
    """The content of a style sheet or script of the package."""
    from importlib.resources import files

    return (files("lm_eval_ita.leaderboard") / "templates" / name).read_text(encoding="utf-8")

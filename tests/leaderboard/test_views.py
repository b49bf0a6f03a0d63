"""Views and the addresses that stand for them."""

import string
from typing import Any, get_args
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.leaderboard.views import LANGUAGES, MOST_COMPARED, TABS, Part, View, ViewSuite

NAMES = st.text(string.ascii_letters + string.digits + "_.-", min_size=1, max_size=64)
SORTS = NAMES.filter(lambda name: name[0] != "-")
TEXTS = st.text(max_size=80).map(lambda text: " ".join("".join(c for c in text if c.isprintable()).split()))
NUMBERS = st.none() | st.floats(0, 1e6)
COLUMNS = st.frozensets(NAMES.filter(lambda name: name != "-"), max_size=8).map(lambda names: tuple(sorted(names)))
VIEWS = st.builds(
    View,
    tab=st.sampled_from(TABS),
    language=st.none() | st.sampled_from(LANGUAGES),
    suite=st.sampled_from(get_args(ViewSuite)),
    kind=st.sampled_from(("", "base", "chat")),
    smallest=NUMBERS,
    largest=NUMBERS,
    licence=TEXTS,
    shots=st.sampled_from(("", "zero", "few")),
    origin=st.sampled_from(("", "native")),
    printed=st.booleans(),
    search=TEXTS,
    columns=st.none() | COLUMNS,
    sort=SORTS,
    descending=st.booleans(),
    intervals=st.booleans(),
    page=st.integers(1, 999_999),
    models=st.lists(NAMES, max_size=MOST_COMPARED, unique=True).map(tuple),
    model=NAMES | st.just(""),
    part=st.sampled_from(get_args(Part)),
)


@given(VIEWS)
def test_a_view_survives_its_address(view: View) -> None:
    assert View.from_query(view.query()) == view
    assert View.from_query("?" + view.query()) == view


def test_the_address_names_only_what_differs() -> None:
    assert View().query() == ""
    assert View(sort="xcopa", tab="itapat").query() == "tab=itapat&sort=-xcopa"
    assert View(columns=()).query() == "cols=-"


@given(st.text(max_size=400) | st.binary(max_size=400).map(lambda raw: raw.decode("latin-1")))
def test_no_address_is_an_error(query: str) -> None:
    view = View.from_query(query)
    assert View.from_query(view.query()) == view


@pytest.mark.parametrize(
    ("query", "field", "value"),
    [
        ("tab=admin", "tab", "itaeval"),
        ("lang=xx", "language", None),
        ("min=NaN", "smallest", None),
        ("min=-1", "smallest", None),
        ("max=1e999", "largest", None),
        ("min=1,5", "smallest", 1.5),
        ("p=0", "page", 1),
        ("p=٣", "page", 1),
        ("p=99999999999999999999", "page", 1),
        ("id=../../etc/passwd", "model", ""),
        ("models=a,../b,c,a", "models", ("a", "c")),
        ("models=a,b,c,d,e,f", "models", ("a", "b", "c", "d", "e")),
        ("sort=<script>", "sort", "avg"),
        ("sort=--avg", "sort", "avg"),
        ("q=a%00b%E2%80%AEc", "search", "abc"),
        ("q=" + "x" * 500, "search", "x" * 80),
        ("printed=0&printed=1", "printed", True),
        ("cols=-&cols=xcopa&cols=honest", "columns", ("honest", "xcopa")),
        ("cols=-", "columns", ()),
    ],
)
def test_values_that_make_no_sense_are_read_as_the_default(query: str, field: str, value: Any) -> None:
    assert getattr(View.from_query(query), field) == value


def test_thousands_of_parameters_are_not_read() -> None:
    assert View.from_query("&".join(["kind=base"] * 5000)) == View()


def test_a_changed_view_begins_on_its_first_page() -> None:
    view = View(page=7, kind="base")
    assert view.but(sort="xcopa") == View(kind="base", sort="xcopa")
    assert view.but(page=8).page == 8
    assert view.is_filtered
    assert not View(page=3, sort="xcopa", intervals=True, language="it").is_filtered


def test_no_parameter_is_one_that_gradio_reads() -> None:
    view = View(
        tab="model", language="it", suite="itaeval_v1", kind="base", smallest=1, largest=2, licence="mit", shots="few",
        origin="native", printed=False, search="a", columns=(), sort="x", intervals=True, page=2, models=("a",), model="b",
        part="rates",
    )  # fmt: skip
    names = parse_qs(view.query()).keys()
    assert len(names) == 18, "every field is in the address"
    assert not names & {"page", "view", "deep_link"}
    assert not any(name.startswith("__") for name in names)

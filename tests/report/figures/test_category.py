import pytest

from lm_eval_ita.report.figures import Entry, TaskPanel, category
from tests.report.figures.helpers import intervals, markers, misplaced, names, panels, texts


def two() -> list[TaskPanel]:
    full = (Entry("a", 61.0, 58.0, 64.0), Entry("b", 50.0, 40.0, 60.0, comparable=False), Entry("c", None))
    return [
        TaskPanel("Belebele", "accuracy", 900, full, chance=25.0, majority=27.0),
        TaskPanel("ItaCoLA", "MCC", None, (Entry("c", -12.0, -15.0, -9.0),)),
    ]


def test_a_panel_for_each_task_with_all_models() -> None:
    figure = category(two(), "NLU")
    belebele, itacola = panels(figure)
    assert [label.get_text() for label in belebele.get_yticklabels()] == ["a", "b", "c"]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in markers(belebele)] == [(61, 0), (50, 1)]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in markers(itacola)] == [(-12, 2)]
    assert len(intervals(belebele)) == 2
    assert texts(figure).count("–") == 3  # c in one, a and b in the other


def test_axes_run_from_0_to_100_and_further_only_where_values_do() -> None:
    belebele, itacola = panels(category(two(), "NLU"))
    assert belebele.get_xlim() == (0, 100)
    assert itacola.get_xlim() == (-20, 100)


def test_metric_n_and_lines_are_named_once() -> None:
    figure = category(two(), "NLU")
    shown = texts(figure)
    assert {"accuracy, n = 900", "MCC", "Belebele"} <= set(shown)
    assert shown.count("chance") == 1
    assert shown.count("always the commonest answer") == 1
    lines = [list(line.get_xdata()) for line in panels(figure)[0].lines]
    assert [25, 25] in lines
    assert [27, 27] in lines
    assert "chance" not in texts(category(two()[1:], "NLU"))


def test_not_comparable_is_hollow_and_said() -> None:
    figure = category(two(), "NLU")
    assert [line.get_markerfacecolor() == "#FFFFFF" for line in markers(panels(figure)[0])] == [False, True]
    assert any(text.startswith("not comparable") for text in texts(figure))
    assert not any(text.startswith("not comparable") for text in texts(category(two()[1:], "NLU")))


@pytest.mark.parametrize(("models", "tasks"), [(1, 1), (2, 7), (20, 6)])
def test_legible(models: int, tasks: int) -> None:
    entries = tuple(Entry(name, 40.0 + 2 * i, 37.0 + 2 * i, 43.0 + 2 * i) for i, name in enumerate(names(models)))
    figure = category([TaskPanel(name, f"metric {name}", 1000, entries, 50, 33) for name in names(tasks)], "t")
    assert misplaced(figure) == []
    assert [len(markers(axes)) for axes in panels(figure)] == [models] * tasks


def test_height_grows_and_width_does_not() -> None:
    sizes = []
    for count in (2, 20):
        entries = tuple(Entry(f"m{i}", 50.0) for i in range(count))
        sizes.append(category([TaskPanel("t", "acc", 1, entries)], "t").get_size_inches())
    assert sizes[1][1] > sizes[0][1] + 18 * 0.15
    assert sizes[1][0] == sizes[0][0]


def test_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        category([], "t")
    with pytest.raises(ValueError, match="nothing"):
        category([TaskPanel("t", "acc", 1, ())], "t")

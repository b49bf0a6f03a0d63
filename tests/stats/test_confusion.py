import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score, matthews_corrcoef

from lm_eval_ita.stats.confusion import f1_macro_from_counts, mcc_from_counts

KERNELS = [f1_macro_from_counts, mcc_from_counts]
TABLES = arrays(np.int64, (3, 4), elements=st.integers(0, 5))


def rows(table: np.ndarray) -> tuple[list[int], list[int]]:
    """The golds and predictions behind a table; 9 is the unparsable one."""
    cells = [(g, p) for g in range(3) for p in range(4) for _ in range(table[g, p])]
    return [g for g, _ in cells], [p if p < 3 else 9 for _, p in cells]


@given(TABLES.filter(np.any))
@settings(max_examples=40, deadline=None)
@pytest.mark.filterwarnings("ignore:A single label was found")
def test_against_sklearn(table: np.ndarray) -> None:
    golds, preds = rows(table)
    expected = f1_score(golds, preds, labels=[0, 1, 2], average="macro", zero_division=0)
    np.testing.assert_allclose(f1_macro_from_counts(table), expected, rtol=1e-12)
    np.testing.assert_allclose(mcc_from_counts(table), matthews_corrcoef(golds, preds), rtol=1e-12, atol=1e-12)


def test_by_hand() -> None:
    # Label 0: TP 2, FN 1 (unparsable), FP 1: F1 4/6. Label 1: TP 1, FN 1, FP 0: F1 2/3.
    assert f1_macro_from_counts([[2, 0, 1], [1, 1, 0]]) == pytest.approx(2 / 3)
    # n 5, right 3; golds (3, 2), predictions (3, 1, 1): (5*3 - 9 - 2) / sqrt((25 - 13) (25 - 11)).
    assert mcc_from_counts([[2, 0, 1], [1, 1, 0]]) == pytest.approx(4 / np.sqrt(12 * 14))


@given(arrays(np.int64, (4, 3, 4), elements=st.integers(0, 5)), st.sampled_from([0.1, 8 / 7, 3.0]))
def test_many_at_once_and_in_any_unit(tables: np.ndarray, factor: float) -> None:
    for kernel in KERNELS:
        together = kernel(tables)
        assert together.shape == (4,)
        np.testing.assert_allclose(together, [kernel(table) for table in tables], rtol=1e-12)
        np.testing.assert_allclose(kernel(factor * tables), together, rtol=1e-9, atol=1e-12)


def test_extremes() -> None:
    right, constant = [[3, 0, 0], [0, 2, 0]], [[3, 0, 0], [2, 0, 0]]
    assert [float(kernel(right)) for kernel in KERNELS] == [1, 1]
    assert mcc_from_counts(constant) == 0
    # Fractional weights add up differently by row and by column; the predictions are constant all the same.
    for seed in range(20):
        wide = np.zeros((12, 13))
        wide[:, 0] = np.random.default_rng(seed).integers(1, 9, size=12) * (8 / 7)
        assert mcc_from_counts(wide) == 0
    assert all(np.isnan(kernel(np.zeros((2, 3)))) for kernel in KERNELS)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", [(2, 2), (3,), (3, 2)])
def test_bad_shape(kernel: object, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="k and k"):
        kernel(np.ones(shape))  # type: ignore[operator]

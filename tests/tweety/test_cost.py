"""The cost table of the documentation, from the formula; the formula, from the paper's run."""

from pathlib import Path

import pytest

from lm_eval_ita.tweety.cost import GPUS, cost, share_of_peak

PAGE = (Path(__file__).parents[2] / "docs" / "tweety.md").read_text(encoding="utf-8")
MISTRAL, TOKENS = 7.24e9, 5e9


def row(name: str) -> list[str]:
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {name}")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_the_papers_hours_by_hand() -> None:
    """6 x 7.24e9 x 5e9 = 2.172e20 operations in 384 h x 3600 s x 312e12 a second = 4.313e20: 50.4% of the peak."""
    assert share_of_peak(MISTRAL, TOKENS, "A100", 384, "plain") == pytest.approx(0.5036, abs=1e-4)
    assert share_of_peak(MISTRAL, TOKENS, "A100", 384) == pytest.approx(0.6714, abs=1e-4)


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("activations", ["plain", "recomputed"])
def test_share_is_the_inverse(gpu: str, activations: str) -> None:
    hours = cost(1e9, 1e9, gpu, 0.4, activations).gpu_hours  # type: ignore[arg-type]
    assert share_of_peak(1e9, 1e9, gpu, hours, activations) == pytest.approx(0.4)  # type: ignore[arg-type]


def test_the_table_of_the_documentation() -> None:
    kept = [cost(MISTRAL, TOKENS, gpu, 0.5, "plain") for gpu in GPUS]
    again = [cost(MISTRAL, TOKENS, gpu, 0.5) for gpu in GPUS]
    assert row("GPU hours, activations kept") == [f"{c.gpu_hours:.0f}" for c in kept]
    assert row("GPU hours, activations computed twice") == [f"{c.gpu_hours:.0f}" for c in again]
    assert row("Weights, gradients") == [f"{c.state / 1e9:.0f} GB" for c in kept]
    assert row("Fewest GPUs") == [str(c.least_gpus) for c in kept]
    days = [c.gpu_hours / 8 / 24 for c in kept]
    assert row("Machines of 8 GPUs") == [f"1: {day:.1f} days, 2: {day / 2:.1f}" for day in days]
    assert row("A checkpoint") == [f"{c.checkpoint / 1e9:.0f} GB" for c in kept]
    assert row("The model, bfloat16") == [f"{c.model / 1e9:.0f} GB" for c in kept]


def test_shares_that_are_none() -> None:
    for share in (0, 1.1):
        with pytest.raises(ValueError, match="share"):
            cost(1e9, 1e9, "A100", share)

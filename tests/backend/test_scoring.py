"""Packs on their way to the model and back."""

import math
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from lm_eval_ita.backend import packed as module  # noqa: E402
from lm_eval_ita.backend.packs import Choice  # noqa: E402
from lm_eval_ita.backend.scoring import ahead, prepare, score  # noqa: E402
from tests.backend import models  # noqa: E402
from tests.backend.test_packed import REQUESTS, assert_alike, both  # noqa: E402


def test_a_pack_worked_by_hand() -> None:
    # The prompt 7 8 with the choices 1 and 2 5: the tree is 7 8 2. After 8, both 1 and 2 are predicted; after 2, 5.
    choices = [Choice((7, 8), (1,)), Choice((7, 8, 2), (2, 5))]
    pack = prepare(choices, flex=False)
    assert pack.tree.tokens.tolist() == [7, 8, 2]
    assert pack.kept.tolist() == [1, 2]
    assert pack.starts.tolist() == [0, 1]
    # Logits of the two places over ten tokens: all 0 but one of 2 each, at token 1 and at token 5.
    logits = torch.zeros(1, 2, 10)
    logits[0, 0, 1] = logits[0, 1, 5] = 2.0
    asked: dict[str, Any] = {}
    found = score(
        lambda **inputs: asked.update(inputs) or logits, pack, device="cpu", flex=False, precision=torch.float32
    ).read()
    norm = math.log(9 + math.exp(2))
    assert found[0] == (pytest.approx(2 - norm), True)
    assert found[1] == (pytest.approx(-norm + 2 - norm), False), "5 is the likeliest after 2, but 2 is not after 8"
    assert asked["position_ids"].tolist() == [[0, 1, 2]]
    assert asked["logits_to_keep"].tolist() == [1, 2]


def test_items_are_made_one_ahead_and_in_order() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(4):
            made.append(number)
            yield number
        raise ValueError("no more")

    coming = ahead(items())
    for number in range(4):
        assert next(coming) == number
        while len(made) < min(number + 2, 4):  # in the other thread
            time.sleep(0.001)
    with pytest.raises(ValueError, match="no more"):
        next(coming)
    made.clear()
    for _ in ahead(items()):
        break  # whoever stops early leaves no thread behind
    assert len(made) <= 2


@pytest.mark.parametrize("prompts", [1, 2, 1000])
def test_parts_prepared_ahead_give_the_same(prompts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: in a thread, prompt after prompt."""
    packed, hf = both(models.llama(), token_budget=150)
    packed._kind = "cuda"
    monkeypatch.setitem(module._PART, "cuda", prompts)
    assert_alike(packed, hf)
    parts = list(module._parts([request.args for request in REQUESTS], prompts))
    assert parts[0][0] == 0
    assert parts[-1][1] == len(REQUESTS)
    assert all(first[1] == second[0] for first, second in pairwise(parts))
    assert len(parts) == -(-6 // prompts)

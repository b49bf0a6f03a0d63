"""Real models on sample rows: `hf-packed` gives what `hf` does, in float32, with sliding windows and a chat template."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from lm_eval.models.huggingface import HFLM

from lm_eval_ita.backend.packed import PackedLM
from tests.backend.test_tasks import requests_of
from tests.models import gemma, smollm2

pytestmark = pytest.mark.slow

TASKS = ("itaeval_sentipolc", "itaeval_arc_challenge", "itaeval_xcopa", "itaeval_hellaswag", "itaeval_belebele")


@pytest.mark.parametrize("folder", [gemma, smollm2])
def test_every_log_probability(folder: Any) -> None:
    path: Path = folder()
    packed = PackedLM(str(path), dtype="float32", device="cpu")
    assert packed.not_packed is None
    hf = HFLM(packed.model, tokenizer=packed.tokenizer, batch_size=1)
    tasks = requests_of(packed, 1, chat=folder is smollm2)
    asked = [request for name in TASKS for request in tasks[name]]
    ours, theirs = (lm.loglikelihood(asked, disable_tqdm=True) for lm in (packed, hf))
    for request, mine, other in zip(asked, ours, theirs, strict=True):
        assert abs(mine[0] - other[0]) < 1e-3, request.task_name
        assert mine[1] == other[1], request.task_name

"""Every multiple-choice task on sample rows: `hf-packed` gives what `hf` does, with each kind of model."""

from typing import Any

import pytest

pytest.importorskip("torch")

from lm_eval.models.huggingface import HFLM

from lm_eval_ita.backend.encoding import encode_pairs
from lm_eval_ita.backend.packed import PackedLM
from lm_eval_ita.run.selection import select, task_manager
from lm_eval_ita.run.settings import Settings
from lm_eval_ita.run.tasks import build_requests, load_task
from tests.backend import models

# A template that writes the first token itself, as most do.
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def requests_of(lm: Any, rows: int, *, chat: bool = False) -> dict[str, list[Any]]:
    """Of each multiple-choice task, some rows' requests."""
    settings = Settings(tasks=("itaeval", "itaeval_v1"), metadata={"data_dir": "sample"}, apply_chat_template=chat)
    manager = task_manager(settings)
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_ITA_SCORERS", "skip")
        for name in select(settings, manager).tasks:
            task = load_task(manager, name, settings)
            if task.OUTPUT_TYPE == "multiple_choice":
                found[name] = build_requests(task, lm, settings, range(rows))
    return found


@pytest.mark.parametrize("kind", ["llama", "gemma3", "gpt2"])
def test_every_task(kind: str) -> None:
    model, tokenizer = getattr(models, kind)(), models.tokenizer()
    packed, hf = (lm(model, tokenizer=tokenizer, batch_size=8) for lm in (PackedLM, HFLM))
    assert packed.not_packed is None
    tasks = requests_of(packed, 1)
    assert len(tasks) == 14 + 14
    everything = [request for requests in tasks.values() for request in requests]
    ours, theirs = (lm.loglikelihood(everything, disable_tqdm=True) for lm in (packed, hf))
    for request, mine, other in zip(everything, ours, theirs, strict=True):
        assert mine[0] == pytest.approx(other[0], abs=1e-3, rel=1e-5), request.task_name
        assert mine[1] == other[1], request.task_name


def test_the_same_tokens_as_hf() -> None:
    """Also with a chat template, and with a tokenizer that is not of the fast kind."""
    tokenizer = models.tokenizer()
    lm = HFLM(models.llama(), tokenizer=tokenizer)
    plain = requests_of(lm, 1)
    tokenizer.chat_template = TEMPLATE
    try:
        chat = requests_of(lm, 1, chat=True)
    finally:
        tokenizer.chat_template = None
    pairs = [request.args for tasks in (plain, chat) for requests in tasks.values() for request in requests]
    assert any(context.startswith("<s>") for context, _ in pairs)
    asked: list[Any] = []
    lm._loglikelihood_tokens = lambda requests, **_: asked.extend(requests) or []
    for with_first in (None, False):
        lm.add_bos_token = with_first
        asked.clear()
        lm.loglikelihood([request for tasks in (plain, chat) for requests in tasks.values() for request in requests])
        theirs = [(context, continuation) for _, context, continuation in asked]
        assert encode_pairs(lm, pairs) == theirs

    class Slow:
        is_fast = False

    class SlowLM:
        tokenizer, tok_encode, prefix_token_id = Slow(), lm.tok_encode, lm.prefix_token_id

    assert encode_pairs(SlowLM(), pairs) == theirs

"""`hf-packed` against the harness's `hf` on random models of several kinds."""

import logging
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from lm_eval.models.huggingface import HFLM  # noqa: E402

from lm_eval_ita.backend.packed import PackedLM  # noqa: E402
from lm_eval_ita.errors import UserError  # noqa: E402
from tests.backend import models  # noqa: E402
from tests.run.requests import request  # noqa: E402

KINDS = {
    "llama": models.llama,
    "gemma 3": models.gemma3,
    "gpt 2": models.gpt2,
    "gemma 2": lambda: models.make("Gemma2", head_dim=8, sliding_window=7, attn_logit_softcapping=2.0),
    "mistral": lambda: models.make("Mistral", head_dim=8, sliding_window=7),
    "qwen 2": lambda: models.make("Qwen2"),
    "qwen 3 moe": lambda: models.make("Qwen3Moe", head_dim=8, num_experts=4, num_experts_per_tok=2),
}
# Few-shot prompts with a common beginning, choices of one token and of hundreds, spaces between, no prompt at all.
SHOTS = "Rispondi.\n" + "Frase: che bella giornata! Sentimento: positivo\n" * 4
DOCUMENTS = [
    *((f"{SHOTS}Frase: {text} Sentimento:", (" positivo", " negativo", " neutro")) for text in ("piove.", "il gatto.")),
    ("Il treno per Bologna ", ("parte alle sette.", " è in ritardo di venti minuti, come ogni mattina. " * 12)),
    ("A o B?", ("A", "B", "A")),
    ("", ("Buongiorno", "A")),
    ("\n", ("Sì", "No")),
]
REQUESTS = [
    request(document, prompt, choice, index)
    for document, (prompt, choices) in enumerate(DOCUMENTS)
    for index, choice in enumerate(choices)
]


def both(model: Any, **options: Any) -> tuple[PackedLM, HFLM]:
    common = {"tokenizer": models.tokenizer(), "batch_size": 3, **options}
    return PackedLM(model, **common), HFLM(model, **common)


def assert_alike(packed: PackedLM, hf: HFLM, requests: list[Any] = REQUESTS) -> None:
    ours, theirs = (lm.loglikelihood(requests, disable_tqdm=True) for lm in (packed, hf))
    assert [answer[0] for answer in ours] == pytest.approx([answer[0] for answer in theirs], abs=5e-4, rel=1e-5)
    assert [answer[1] for answer in ours] == [answer[1] for answer in theirs]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_gives_what_hf_does(kind: str) -> None:
    packed, hf = both(KINDS[kind]())
    assert packed.not_packed is None
    assert_alike(packed, hf)
    # What the model would say itself: whether any choice is the likeliest, token by token.
    prompts = [SHOTS, "Il gatto"]
    said = [
        hf.model.generate(torch.tensor([hf.tok_encode(text)]), max_new_tokens=3, do_sample=False) for text in prompts
    ]
    choices = [hf.tok_decode(ids[0])[len(text) :] for text, ids in zip(prompts, said, strict=True)]
    greedy = [request(9, text, choice) for text, choice in zip(prompts, choices, strict=True) if choice]
    assert_alike(packed, hf, [*greedy, *REQUESTS[:3]])


def test_one_pass_for_all_and_only_what_is_scored_is_projected(monkeypatch: pytest.MonkeyPatch) -> None:
    packed, _ = both(models.llama())
    passes = []
    call = packed._call

    def counted(**inputs: Any) -> Any:
        logits = call(**inputs)
        passes.append((inputs["input_ids"].shape[1], logits.shape[1]))
        return logits

    monkeypatch.setattr(packed, "_call", counted)
    packed.loglikelihood(REQUESTS[:6], disable_tqdm=True)
    encoded = [packed._encode_pair(*asked.args) for asked in REQUESTS[:6]]
    texts = {
        tuple((context + choice)[:length]) for context, choice in encoded for length in range(1, len(context + choice))
    }
    predicted = {
        tuple((context + choice)[:length])
        for context, choice in encoded
        for length in range(len(context), len(context + choice))
    }
    assert passes == [(len(texts), len(predicted))]


def test_packs_of_any_size_give_the_same() -> None:
    model = models.gemma3()
    for budget in (1, 40, 200, 100_000):
        packed, hf = both(model, token_budget=budget)
        assert_alike(packed, hf)


def test_texts_longer_than_the_model_are_cut_as_hf_cuts_them(caplog: pytest.LogCaptureFixture) -> None:
    packed, hf = both(models.llama(), max_length=60)
    long = [asked for asked in REQUESTS if "Frase" in asked.args[0]]
    assert min(len(packed.tok_encode(asked.args[0])) for asked in long) > 61
    with caplog.at_level(logging.WARNING):
        assert_alike(packed, hf, [*long, *REQUESTS[-4:]])
    assert "tokens are left out" in caplog.text


def test_prefix_token_and_first_token() -> None:
    model = models.llama()
    for options in ({"prefix_token_id": 5}, {"add_bos_token": False}, {"logits_cache": False}):
        assert_alike(*both(model, **options), REQUESTS[:-2] if "add_bos_token" in options else REQUESTS)
    # A chat template writes the first token itself: it is not added again.
    written = [request(0, "<s>Il gatto", choice, index) for index, choice in enumerate((" dorme", " mangia"))]
    assert_alike(*both(model), [*written, *REQUESTS])


@pytest.mark.parametrize("batch_size", ["auto", "auto:2", 1])
def test_batch_sizes_of_the_harness(batch_size: Any) -> None:
    packed, hf = both(models.llama(), batch_size=batch_size, max_batch_size=4)
    assert_alike(packed, hf)


def test_windows_longer_than_a_few_tokens_and_texts_longer_than_windows() -> None:
    packed, hf = both(models.gemma3(sliding_window=60))
    assert packed.not_packed is None
    assert_alike(packed, hf)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (models.bloom, "cannot be replaced"),
        (lambda: models.llama(rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}), "dynamic"),
        (lambda: models.make("Mamba"), "recurrent"),
    ],
)
def test_models_that_cannot_read_packs_go_the_way_of_hf(model: Any, why: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="lm_eval_ita"):
        packed, hf = both(model())
    assert packed.not_packed is not None
    assert why in packed.not_packed
    assert [record.message for record in caplog.records if record.name.startswith("lm_eval_ita")] == [
        f"hf-packed scores this model as hf does: {packed.not_packed}"
    ]
    assert packed.documents_per_block is None
    assert packed.get_model_info()["not_packed"] == packed.not_packed
    for ours, theirs in zip(*(lm.loglikelihood(REQUESTS[:6], disable_tqdm=True) for lm in (packed, hf)), strict=True):
        assert ours == theirs


def test_the_self_test_finds_a_model_that_ignores_positions(caplog: pytest.LogCaptureFixture) -> None:
    model = models.gpt2()
    forward = model.forward

    def deaf(*args: Any, position_ids: Any = None, logits_to_keep: Any = 0, **options: Any) -> Any:
        return forward(*args, logits_to_keep=logits_to_keep, **options)

    model.forward = deaf
    with caplog.at_level(logging.WARNING, logger="lm_eval_ita"):
        packed, hf = both(model)
    assert "self-test" in str(packed.not_packed)
    assert_alike(packed, hf)


def test_the_self_test_finds_code_that_fails() -> None:
    model = models.llama()
    forward = model.forward

    def failing(*args: Any, position_ids: Any = None, logits_to_keep: Any = None, **options: Any) -> Any:
        if logits_to_keep is not None:
            raise NotImplementedError("no such thing")
        return forward(*args, **options)

    model.forward = failing
    packed, hf = both(model)
    assert "NotImplementedError: no such thing" in str(packed.not_packed)
    assert_alike(packed, hf)


def test_too_little_memory_halves_the_packs(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    packed, hf = both(models.llama())
    call = packed._call
    sizes = []

    def small(**inputs: Any) -> Any:
        sizes.append(inputs["input_ids"].shape[1])
        if sizes[-1] > 150:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return call(**inputs)

    monkeypatch.setattr(packed, "_call", small)
    with caplog.at_level(logging.WARNING, logger="lm_eval_ita"):
        assert_alike(packed, hf)
    assert packed.halvings > 0
    assert "out of memory: packs of at most" in caplog.text
    # The choice of 300 tokens fits into no pack that memory has room for: it is scored alone, as hf does.
    assert max(sizes) > 150
    halvings, count = packed.halvings, len(sizes)
    assert_alike(packed, hf)
    assert packed.halvings == halvings, "the budget is kept"
    assert len(sizes) < 2 * count


def test_other_failures_are_not_taken_for_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    packed, _ = both(models.llama())
    monkeypatch.setattr(packed, "_call", lambda **_: torch.zeros(2) @ torch.zeros(3))
    with pytest.raises(RuntimeError, match="size"):
        packed.loglikelihood(REQUESTS[:2], disable_tqdm=True)
    assert packed.halvings == 0


def test_whole_texts_go_the_way_of_hf() -> None:
    packed, hf = both(models.llama(), max_length=50)
    text = request(0, SHOTS, "")
    text.arguments = (SHOTS,)
    assert packed.loglikelihood_rolling([text], disable_tqdm=True) == hf.loglikelihood_rolling(
        [text], disable_tqdm=True
    )


def test_attention_is_the_model_s_own_again_afterwards() -> None:
    packed, _ = both(models.llama())
    before = packed.model.config._attn_implementation
    packed.loglikelihood(REQUESTS[:2], disable_tqdm=True)
    assert packed.model.config._attn_implementation == before != "lm_eval_ita_tree"


def test_half_precision_agrees_within_its_rounding() -> None:
    packed, hf = both(models.llama().to(torch.bfloat16), softmax_dtype="float32")
    assert packed.not_packed is None
    ours, theirs = (lm.loglikelihood(REQUESTS[:8], disable_tqdm=True) for lm in (packed, hf))
    assert [answer[0] for answer in ours] == pytest.approx([answer[0] for answer in theirs], rel=0.05)


def test_a_budget_is_a_number_of_tokens() -> None:
    with pytest.raises(UserError, match="token_budget is 0"):
        PackedLM(models.llama(), tokenizer=models.tokenizer(), token_budget=0)


def test_flex_attention_reads_packs_too() -> None:
    """Uncompiled, since compiling takes half a minute on a CPU; `benchmarks/gpu_check.py` runs it compiled on a GPU."""
    model = models.gemma3()
    packed, hf = both(model)
    packed._flex = True
    with torch.compiler.set_stance("force_eager"):
        assert_alike(packed, hf)

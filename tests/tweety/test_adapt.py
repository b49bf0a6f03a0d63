"""Training: really done, on a model of two small layers; killed, gone on, refused."""

import json
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("accelerate", reason="needs accelerate: pip install accelerate")

import torch
from transformers import AutoModelForCausalLM

from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.adapt import Settings, adapt
from lm_eval_ita.tweety.bits import bits_of_texts, bits_per_character, fertility
from lm_eval_ita.tweety.convert import load_model
from lm_eval_ita.tweety.report import read_curve
from tests.tweety.models import ITALIAN, tiny_model, word_tokenizer

HELD = ["La casa è rossa .", "L'amico dorme ."]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    tokenizer = word_tokenizer(["casa", "rossa", "amico", "pane"])
    model = tiny_model(tmp_path / "model", tokenizer)
    (tmp_path / "corpus.txt").write_text("".join(f"{ITALIAN} {n}\n" for n in range(30)), encoding="utf-8")
    return Settings(
        model=str(model),
        corpus=(str(tmp_path / "corpus.txt"),),
        tokens=8 * 2 * 16,
        length=16,
        batch=2,
        rate=1e-2,
        decontaminate=False,
    )


def run(settings: Settings, out: Path, **changes: Any) -> Path:
    plain = {"every": 4, "save_every": 4, "per_device": 1, "tell": lambda line: None}
    return adapt(settings, out, HELD, **{**plain, **changes})


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(AutoModelForCausalLM.from_pretrained(folder).state_dict())


def test_training_helps_and_is_logged(settings: Settings, tmp_path: Path) -> None:
    made = run(settings, tmp_path / "out")
    curve = read_curve(tmp_path / "out")
    assert [tokens for tokens, _ in curve.points] == [0, 4 * 32, 8 * 32]
    assert curve.points[-1][1] < curve.points[0][1] - 0.2
    # The last point is the saved model's, the first the model's that came in.
    tokenizer = word_tokenizer(["casa", "rossa", "amico", "pane"])
    for model, (_, bits) in ((made, curve.points[-1]), (settings.model, curve.points[0])):
        assert bits_per_character(load_model(str(model)), tokenizer, HELD) == pytest.approx(bits, abs=1e-4)
    told: list[str] = []
    assert run(settings, tmp_path / "out", tell=told.append) == made
    assert told == [f"already finished: {made}"]


def test_going_on_is_as_if_nothing_had_happened(settings: Settings, tmp_path: Path) -> None:
    """Stopped in the sixth of eight steps, after the checkpoint of the fourth; the next run ends with the same weights."""
    whole = run(settings, tmp_path / "whole")
    with pytest.raises(Stopped):
        run(settings, tmp_path / "cut")
    told: list[str] = []
    finished = run(settings, tmp_path / "cut", tell=told.append)
    assert told == ["goes on from checkpoint-4"]
    first, second = weights(whole), weights(finished)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert read_curve(tmp_path / "cut").points == read_curve(tmp_path / "whole").points


class Stopped(Exception):
    pass


@pytest.fixture(autouse=True)
def stop_in_the_middle(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the test of going on: the sixth step of the first run of "cut" fails."""
    if request.node.name != "test_going_on_is_as_if_nothing_had_happened":
        return
    from transformers import Trainer

    real = Trainer.training_step
    seen = {"cut": 0}

    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "/cut/" in self.args.output_dir:
            seen["cut"] += 1
            if seen["cut"] == 11:  # two sequences a step
                raise Stopped
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Trainer, "training_step", step)


def test_a_half_checkpoint_is_passed_over(settings: Settings, tmp_path: Path) -> None:
    half = tmp_path / "out" / "checkpoints" / "checkpoint-6"
    half.mkdir(parents=True)
    (half / "model.safetensors").write_bytes(b"half")
    run(settings, tmp_path / "out")
    assert not half.exists()


def test_other_settings_are_refused(settings: Settings, tmp_path: Path) -> None:
    run(settings, tmp_path / "out")
    with pytest.raises(UserError, match=r"adapt\.json: this run has rate 0\.01, not 0\.5"):
        run(replace(settings, rate=0.5), tmp_path / "out")


def test_a_batch_that_cannot_be_divided(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--batch 2 is not a multiple of --per-device 3"):
        run(settings, tmp_path / "out", per_device=3)


def test_a_full_disk_says_how_to_go_on(settings: Settings, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    try:
        with pytest.raises(UserError, match="cannot be written"):
            run(settings, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "out" / "model").exists()
    assert run(settings, tmp_path / "out").is_dir()


def test_test_rows_are_dropped(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the sample rows as data: a document that holds one is counted, and not trained on."""
    from lm_eval_ita.tweety.contamination import itaeval_rows

    row = next(text for text in itaeval_rows("sample")[0]["belebele"] if len(text.split()) > 20)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(corpus.read_text(encoding="utf-8") + f"Nota: {' '.join(row.split())}\n", encoding="utf-8")
    told: list[str] = []
    monkeypatch.setattr("lm_eval_ita.tweety.adapt.itaeval_rows", lambda: itaeval_rows("sample"))
    run(
        replace(settings, decontaminate=True, tokens=20_000, batch=64, length=64),
        tmp_path / "out",
        tell=told.append,
        per_device=64,
    )
    counts = json.loads((tmp_path / "out" / "data" / "packed.json").read_text(encoding="utf-8"))["counts"]
    assert counts["holds:belebele"] == 1
    assert counts["kept"] == 30
    assert any("holds:belebele 1" in line for line in told)


def test_bits_by_hand(tmp_path: Path) -> None:
    """A model whose head is zero gives each token the same probability: log2 of the vocabulary a token."""
    tokenizer = word_tokenizer(["casa"])
    model = load_model(str(tiny_model(tmp_path / "model", tokenizer, tied=False)))
    torch.nn.init.zeros_(model.lm_head.weight)
    text = "casa casa e"  # casa, casa after a space, a space with e: no such token, so a space and an e
    tokens = len(tokenizer(text, add_special_tokens=False)["input_ids"])
    assert tokens == 4
    expected = tokens * torch.log2(torch.tensor(float(len(tokenizer)))) / len(text)
    assert bits_per_character(model, tokenizer, [text]) == pytest.approx(float(expected), rel=1e-5)
    assert fertility(tokenizer, [text]) == pytest.approx(4 / 3)


def test_bits_do_not_depend_on_how_texts_lie_together(tmp_path: Path) -> None:
    """Padding, batches and their order change nothing; windows begin with the token before."""
    tokenizer = word_tokenizer(["casa", "rossa"])
    model = load_model(str(tiny_model(tmp_path / "model", tokenizer)))
    texts = ["casa rossa", "la casa " * 40, "è", "casa " * 300]
    alone = [bits_per_character(model, tokenizer, [text]) * len(text) for text in texts]
    assert bits_of_texts(model, tokenizer, [*texts, ""]) == pytest.approx([*alone, 0], rel=1e-5)
    together = bits_per_character(model, tokenizer, texts[::-1]) * sum(map(len, texts))
    assert together == pytest.approx(sum(alone), rel=1e-5)
    for bad in ([], [""]):
        with pytest.raises(UserError, match="empty"):
            bits_per_character(model, tokenizer, bad)

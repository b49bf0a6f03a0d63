"""Models that get another tokenizer: what must stay, what must be refused."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.align_tokens import special_pairs
from lm_eval_ita.tweety.convert import convert, load_model, load_tokenizer
from lm_eval_ita.tweety.embeddings import new_rows
from lm_eval_ita.tweety.mapping import Sources, map_tokens
from lm_eval_ita.tweety.report import pieces_only
from lm_eval_ita.tweety.vocabulary import vocabulary
from tests.tweety.models import piece_tokenizer, tiny_model, word_tokenizer

WORDS = ["house", "red", "the", "bread"]
TEXT = "the red house, the bread: 12"


def identity(tokenizer: Any) -> list[Sources]:
    own = vocabulary(tokenizer)
    return map_tokens(own, own, {}, special_pairs(tokenizer, tokenizer))


def logits(folder: Path | str, text: str = TEXT) -> torch.Tensor:
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        return model(**tokenizer(text, return_tensors="pt")).logits


@pytest.mark.parametrize("make", [word_tokenizer, piece_tokenizer], ids=["bytes", "sentencepiece"])
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("rows", [None, 800], ids=["exact", "spare rows"])
def test_the_same_tokenizer_is_the_identity(tmp_path: Path, make: Any, tied: bool, rows: int | None) -> None:
    tokenizer = make(WORDS)
    source = tiny_model(tmp_path / "source", tokenizer, tied=tied, rows=rows)
    convert(str(source), load_tokenizer(str(source)), identity(tokenizer), tmp_path / "out")
    before, after = logits(source), logits(tmp_path / "out")
    assert after.shape[-1] == len(tokenizer)
    assert torch.equal(before[..., : len(tokenizer)], after)


def test_a_head_with_a_bias(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(WORDS)
    source = tiny_model(tmp_path / "source", tokenizer, tied=False, bias=True)
    convert(str(source), tokenizer, identity(tokenizer), tmp_path / "out", multiple=64)
    after = logits(tmp_path / "out")
    assert torch.equal(logits(source), after[..., : len(tokenizer)])


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_a_subset_keeps_its_rows_exactly(tmp_path: Path, tied: bool) -> None:
    large, small = word_tokenizer(WORDS), word_tokenizer(WORDS[:2])
    source = tiny_model(tmp_path / "source", large, tied=tied)
    convert(str(source), small, pieces_only(large, small), tmp_path / "out")
    before, after = load_model(str(source)), load_model(str(tmp_path / "out"))
    rows = large.convert_tokens_to_ids(small.convert_ids_to_tokens(list(range(len(small)))))
    for name in ("get_input_embeddings", "get_output_embeddings"):
        assert torch.equal(getattr(before, name)().weight[rows], getattr(after, name)().weight)


def test_everything_else_is_untouched(tmp_path: Path) -> None:
    tokenizer, other = word_tokenizer(WORDS), word_tokenizer(["casa", "pane"], special=("<bos>", "<eos>", "<unk>"))
    source = tiny_model(tmp_path / "source", tokenizer, tied=False)
    convert(str(source), other, pieces_only(tokenizer, other), tmp_path / "out", multiple=64)
    before, after = load_model(str(source)).state_dict(), load_model(str(tmp_path / "out")).state_dict()
    assert before.keys() == after.keys()
    changed = (
        {name for name in before if not torch.equal(before[name], after[name])}
        if all(
            before[name].shape == after[name].shape for name in before if "embed" not in name and "lm_head" not in name
        )
        else None
    )
    assert changed == {"model.embed_tokens.weight", "lm_head.weight"}
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["vocab_size"] == -(-len(other) // 64) * 64
    assert config["bos_token_id"] == other.bos_token_id
    assert config["eos_token_id"] == other.eos_token_id


def test_reloading_gives_the_same_logits(tmp_path: Path) -> None:
    tokenizer, other = word_tokenizer(WORDS), word_tokenizer(["casa", "pane"])
    source = tiny_model(tmp_path / "source", tokenizer)
    convert(str(source), other, pieces_only(tokenizer, other), tmp_path / "out")
    first = logits(tmp_path / "out", "casa e pane")
    load_model(str(tmp_path / "out")).save_pretrained(tmp_path / "again")
    AutoTokenizer.from_pretrained(tmp_path / "out").save_pretrained(tmp_path / "again")
    assert torch.equal(first, logits(tmp_path / "again", "casa e pane"))
    assert AutoTokenizer.from_pretrained(tmp_path / "out").tokenize("casa") == ["casa"]


def test_rows_by_hand() -> None:
    old = torch.tensor([[1.0, 0.0], [3.0, 4.0], [5.0, 8.0]])
    tokens = [
        Sources("special", (2,), (1.0,)),
        Sources("aligned", (1, 0), (0.75, 0.25), 3.0),
        Sources("none", (), ()),
    ]
    rows = new_rows(old, tokens, 5)
    # 3/4 (3, 4) + 1/4 (1, 0); then the mean of the old rows, and twice that of the new ones.
    assert rows[:3].tolist() == [[5, 8], [2.5, 3], [3, 4]]
    assert rows[3:].flatten().tolist() == pytest.approx([3.5, 5] * 2)
    assert new_rows(old, tokens, 3, "mean").tolist() == [[5, 8], [3, 4], [3, 4]]
    drawn = new_rows(old, [tokens[0], *[tokens[1]] * 4000], 4001, "random", seed=1)
    assert drawn[0].tolist() == [5, 8]
    assert drawn[1:].mean(0).tolist() == pytest.approx([3, 4], abs=0.2)
    assert drawn[1:].std(0).tolist() == pytest.approx(old.std(0, unbiased=False).tolist(), rel=0.05)


def test_rows_keep_their_type_and_round_once() -> None:
    old = torch.tensor([[1.0], [1.0078125]], dtype=torch.bfloat16)  # neighbours in bfloat16
    rows = new_rows(old, [Sources("aligned", (0, 1), (0.25, 0.75), 1.0), Sources("same", (1,), (1.0,))], 2)
    assert rows.dtype == torch.bfloat16
    assert rows.tolist() == [[1.0078125], [1.0078125]]


def test_padding_rows_take_no_more_than_the_average(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(WORDS)
    source = tiny_model(tmp_path / "source", tokenizer)
    convert(str(source), tokenizer, identity(tokenizer), tmp_path / "out", multiple=512)
    found = logits(tmp_path / "out").softmax(-1)
    size = len(tokenizer)
    assert found.shape[-1] == 512
    assert (found[..., size:] <= found[..., :size].mean(-1, keepdim=True) + 1e-7).all()


@pytest.mark.parametrize(
    ("rows", "count", "what"),
    [(270, None, "only 270 rows"), (None, 5, "the mapping has 5 tokens")],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, rows: int | None, count: int | None, what: str) -> None:
    tokenizer = word_tokenizer([*WORDS, *(f"word{n}" for n in range(10))])
    source = tiny_model(tmp_path / "source", tokenizer, rows=rows)
    with pytest.raises(UserError, match=what):
        convert(str(source), tokenizer, identity(tokenizer)[:count], tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_mapping_of_another_model_is_refused(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(WORDS)
    source = tiny_model(tmp_path / "source", tokenizer)
    with pytest.raises(UserError, match="names token 9999"):
        convert(str(source), tokenizer, [Sources("same", (9999,), (1.0,))] * len(tokenizer), tmp_path / "out")


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    tokenizer = word_tokenizer(WORDS)
    source = tiny_model(tmp_path / "source", tokenizer)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A limit on file sizes fails as a full disk does, in the middle of the weights.
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(UserError, match="cannot be written"):
            convert(str(source), tokenizer, identity(tokenizer), tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(UserError, match="already there"):
        convert("none", None, [], tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


PEAK = """
import sys
from pathlib import Path
from lm_eval_ita.tweety.convert import load_model, load_tokenizer, swap
from lm_eval_ita.tweety.mapping import Sources

def memory(name):
    return int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0]) * 1024

tokenizer, model = load_tokenizer("source"), load_model("source")
sum(parameter.sum() for parameter in model.parameters())
Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
before = memory("VmRSS")
sources = [Sources("aligned", (n, 0), (0.5, 0.5), 1.0) for n in range(1, len(tokenizer))]
swap(model, tokenizer, tokenizer, [Sources("same", (0,), (1.0,)), *sources], multiple=int(sys.argv[1]))
model.save_pretrained("out")
print(memory("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux: /proc/self/clear_refs")
def test_memory_is_the_new_matrices_beside_the_model(tmp_path: Path) -> None:
    """Both matrices, 128 MB each, and no copy. The old ones stay mapped from their file: the system drops them at need."""
    rows = 1_000_000
    tiny_model(tmp_path / "source", word_tokenizer(WORDS), tied=False, rows=rows)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(rows)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    matrix = rows * 32 * 4
    assert 1.8 * matrix < int(done.stdout.split()[-1]) < 2.2 * matrix


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="cannot be loaded"):
        load_tokenizer(str(tmp_path / "empty"))
    with pytest.raises(UserError, match="cannot be loaded"):
        load_model(str(tmp_path / "empty"))

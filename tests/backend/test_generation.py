"""Generated answers of `hf-packed`: those of `hf`, with fewer steps and no prompt asked twice."""

import itertools
import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from lm_eval.models.huggingface import HFLM  # noqa: E402

from lm_eval_ita.backend.generation import AnswerEnds, cut_alike, distinct  # noqa: E402
from lm_eval_ita.backend.packed import PackedLM  # noqa: E402
from tests.backend import models  # noqa: E402
from tests.run.requests import request  # noqa: E402

PROMPTS = ["Il gatto dorme.", "Domanda: chi dorme?\nRisposta:", "A", "La nonna prepara la torta di mele e", "Sì", "A"]


def both() -> tuple[PackedLM, HFLM]:
    model = models.llama()
    return tuple(lm(model, tokenizer=models.tokenizer(), batch_size=4) for lm in (PackedLM, HFLM))  # type: ignore[return-value]


def steps(lm: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of each pass of the model, filled while it generates."""
    rows: list[int] = []
    forward = lm.model.forward

    def counted(*args: Any, **options: Any) -> Any:
        rows.append(options["input_ids"].shape[0])
        return forward(*args, **options)

    monkeypatch.setattr(lm.model, "forward", counted)
    return rows


def two_prompts(lm: HFLM) -> tuple[list[str], list[str]]:
    """Two prompts, and for each a string that the model says early in its answer and never in the other's."""
    free = [request(number, text, {"max_gen_toks": 40, "until": []}) for number, text in enumerate(PROMPTS[:5])]
    answers = dict(zip(PROMPTS, lm.generate_until(free, disable_tqdm=True), strict=False))
    for (first, said), (second, other) in itertools.combinations(answers.items(), 2):
        stops = [said[3:6], other[3:6]]
        if all(stops) and cut_alike(stops) and stops[0] not in other and stops[1] not in said:
            return [first, second], stops
    raise AssertionError("no two answers of the random model differ")


def test_the_answers_of_hf_in_fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    packed, hf = both()
    prompts, stops = two_prompts(hf)
    asked = [
        request(number, text, {"max_gen_toks": 40, "until": stops, "do_sample": False})
        for number, text in enumerate(prompts)
    ]
    rows = steps(hf, monkeypatch)
    theirs = hf.generate_until(asked, disable_tqdm=True)
    slow = len(rows)
    rows.clear()
    assert packed.generate_until(asked, disable_tqdm=True) == theirs
    # Each row has met its own stop string after a few tokens; `hf` waits until both rows hold the same one.
    assert len(rows) < 10
    assert slow == 40


def test_every_answer_is_that_of_hf() -> None:
    packed, hf = both()
    draw = random.Random(0)
    for stops in (["\n"], [" "], ["a", "e"], [], ["\n\n", "."]):
        asked = [
            request(number, text, {"max_gen_toks": draw.choice([3, 9]), "until": stops})
            for number, text in enumerate(PROMPTS)
        ]
        ours, theirs = (lm.generate_until(asked, disable_tqdm=True) for lm in (packed, hf))
        assert ours == theirs, stops


def test_equal_prompts_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    packed, _ = both()
    rows = steps(packed, monkeypatch)
    asked = [request(number, "A", {"max_gen_toks": 2, "until": ["\n"]}) for number in range(4)]
    answers = packed.generate_until(asked, disable_tqdm=True)
    assert set(rows) == {1}
    assert len(set(answers)) == 1
    assert len(answers) == 4


def test_distinct() -> None:
    greedy, sampled = {"until": ["\n"]}, {"do_sample": True, "temperature": 1.0}
    asked = [request(0, "a", greedy), request(1, "b", greedy), request(2, "a", greedy), request(3, "a", sampled)]
    asked += [request(4, "a", sampled), request(5, "a", {"until": ["."]}), request(6, "a", {"temperature": 0.7})]
    asked += [request(7, "a", {"temperature": 0.7})]
    kept, which = distinct(asked)
    assert [each.doc_id for each in kept] == [0, 1, 3, 4, 5, 6, 7]
    assert which == [0, 1, 0, 2, 3, 4, 5, 6]


def test_cut_alike() -> None:
    assert cut_alike(["\n", "</s>"])
    assert cut_alike(["\n\n", "\n"]), "the shorter one begins where the longer one does"
    assert not cut_alike(["a b c", "b"]), "an answer may end with the longer one, which begins before the shorter"
    assert not cut_alike(["", "\n"])


def test_an_answer_ends_with_any_stop_string_and_not_with_its_prompt_s() -> None:
    tokenizer = models.tokenizer()
    prompt = tokenizer.encode("x\n", add_special_tokens=False)
    ends = AnswerEnds(tokenizer, ["\n\n", "fine", "</s>"], len(prompt))

    def complete(*answers: str) -> list[bool]:
        ids = [tokenizer.encode(answer, add_special_tokens=False) for answer in answers]
        longest = max(map(len, ids))
        rows = torch.tensor([[*prompt, *row, *[tokenizer.pad_token_id] * (longest - len(row))] for row in ids])
        return list(ends(rows, None).tolist())

    assert complete("\n") == [False], "a line end of the prompt does not count"
    assert complete("a\n\n", "la fine", "sì</s>", "la fi") == [True, True, True, False]

"""Joining two directions of alignment, and the aligner itself on a language whose words are known."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.tweety.align_tokens import map_tokenizers
from lm_eval_ita.tweety.aligners import align, grow_diagonal
from tests.tweety.models import word_tokenizer

# A number's bits are the links of six words with six: drawn faster than sets are.
LINKS = st.integers(0, 2**36 - 1).map(
    lambda bits: frozenset(divmod(place, 6) for place in range(36) if bits >> place & 1)
)


def test_grow_diagonal_by_hand() -> None:
    forward = frozenset({(0, 0), (1, 1), (2, 1), (4, 4)})
    reverse = frozenset({(0, 0), (1, 1), (1, 2), (5, 4)})
    # (2, 1) and (1, 2) touch (1, 1) and bring a new word each. (4, 4) touches nothing, and joins both its words at last;
    # (5, 4) comes too late: its target word is taken.
    assert grow_diagonal(forward, reverse) == {(0, 0), (1, 1), (2, 1), (1, 2), (4, 4)}


@given(LINKS, LINKS)
def test_grow_diagonal_lies_between_intersection_and_union(
    forward: frozenset[tuple[int, int]], reverse: frozenset[tuple[int, int]]
) -> None:
    found = grow_diagonal(forward, reverse)
    assert forward & reverse <= found <= forward | reverse
    # No word with a link in either direction has only candidates left that could still join two free words.
    left, right = {i for i, _ in found}, {j for _, j in found}
    assert all(i in left or j in right for i, j in forward | reverse)


def toy(pairs: int, seed: int = 0) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Forty words and their translations; sentences of four to eight, the second and third word swapped in the translation."""
    draw = random.Random(seed)
    words = {f"w{chr(97 + n // 26)}{chr(97 + n % 26)}": f"p{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(40)}
    made = []
    for _ in range(pairs):
        own = draw.sample(sorted(words), draw.randint(4, 8))
        new = [words[word] for word in own]
        new[1], new[2] = new[2], new[1]
        made.append((" ".join(own), " ".join(new)))
    return words, made


def test_a_toy_language_is_recovered() -> None:
    """Known translations come out as the heaviest source of nearly every whole-word token."""
    pytest.importorskip("eflomal", reason="needs eflomal: pip install eflomal")
    words, pairs = toy(600)
    source, target = word_tokenizer(sorted(words)), word_tokenizer(sorted(words.values()))
    found = map_tokenizers(source, target, pairs, share=1)
    right = 0
    for word, translation in words.items():
        sources = found[target.convert_tokens_to_ids(f"Ġ{translation}")]
        right += sources.how == "aligned" and source.convert_ids_to_tokens(sources.tokens[0]) == f"Ġ{word}"
        assert sum(sources.weights) == pytest.approx(1)
    assert right >= 0.95 * len(words)


def test_empty_sides_have_no_links() -> None:
    pytest.importorskip("eflomal", reason="needs eflomal: pip install eflomal")
    found = align([([], ["a"]), (["A", "b"], ["a", "b"]), (["a"], [])])
    assert found[0] == found[2] == frozenset()
    assert len(found) == 3
    assert align([]) == []

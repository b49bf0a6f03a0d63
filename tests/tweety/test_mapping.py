"""The pure part: pieces, counts, weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.tweety.align_tokens import special_pairs
from lm_eval_ita.tweety.mapping import Sources, count_pairs, map_tokens, overlaps
from lm_eval_ita.tweety.mapping_file import coverage
from lm_eval_ita.tweety.vocabulary import Vocabulary, tokens_by_word, vocabulary
from tests.tweety.models import piece_tokenizer, word_tokenizer

SOURCE = word_tokenizer(["house", "red", "Anna", "re"])
TARGET = word_tokenizer(["casa", "rossa", "Anna", "re", "xyz"], special=("<bos>", "<eos>", "<unk>"))
OWN, NEW = vocabulary(SOURCE), vocabulary(TARGET)


def own(token: str) -> int:
    return SOURCE.convert_tokens_to_ids(token)


def new(token: str) -> int:
    return TARGET.convert_tokens_to_ids(token)


def test_surfaces() -> None:
    assert OWN.surfaces[own("Ġhouse")] == b" house"
    assert OWN.surfaces[own("<s>")] is None
    assert NEW.surfaces[new("Ã")] == b"\xc3"  # half of an accented letter
    assert OWN.split("è".encode()) == [own("Ã"), own("¨")]
    assert OWN.split(b" redhouses") == [own("Ġred"), own("house"), own("s")]


def test_surfaces_of_sentencepiece() -> None:
    tokenizer = piece_tokenizer(["casa"])
    made = vocabulary(tokenizer)
    assert not made.byte_level
    assert made.surfaces[tokenizer.convert_tokens_to_ids("▁casa")] == b" casa"
    assert made.surfaces[tokenizer.convert_tokens_to_ids("<0x0A>")] == b"\n"
    assert [made.surfaces[token] for token in made.split("è".encode())] == [b"\xc3", b"\xa8"]
    assert made.split(b"\xc3") == [tokenizer.convert_tokens_to_ids("<0xC3>")]
    assert [made.surfaces[token] for token in made.split(b" cas")] == [b" cas"]
    assert made.surfaces[tokenizer.convert_tokens_to_ids("<pad>")] is None


@given(st.text(max_size=12))
def test_pieces_spell_the_surface(text: str) -> None:
    surface = text.encode()
    pieces = [OWN.surfaces[token] for token in OWN.split(surface)]
    assert b"".join(piece for piece in pieces if piece is not None) == surface


def test_tokens_by_word() -> None:
    text = "casa, rossa"
    found = tokens_by_word(TARGET, [text], [[(0, 4), (4, 5), (6, 11)]])
    assert found == [[[new("casa")], [new(",")], [new("Ġrossa")]]]


@given(st.integers(1, 9), st.integers(1, 9))
def test_overlaps_are_shares(source: int, target: int) -> None:
    rows = overlaps(source, target)
    assert [len(row) for row in rows] == [source] * target
    assert all(sum(row) == pytest.approx(1) for row in rows)
    # Seen from the other side, every source token is used up equally.
    assert [sum(row[i] for row in rows) for i in range(source)] == pytest.approx([target / source] * source)


def test_overlaps_by_hand() -> None:
    # Two tokens on three: the first covers 0 to 1/2 of the word, the second target token lies from 1/3 to 2/3.
    assert [pytest.approx(row) for row in [[1, 0], [0.5, 0.5], [0, 1]]] == overlaps(2, 3)
    assert overlaps(3, 1) == [pytest.approx([1 / 3] * 3)]


def test_weights_by_hand() -> None:
    """Three alignments with "house", and one pseudo-count spread over the five pieces of " casa"."""
    counts = {new("Ġcasa"): {own("Ġhouse"): 3.0}}
    sources = map_tokens(NEW, OWN, counts, {}, share=1)[new("Ġcasa")]
    assert sources.how == "aligned"
    assert sources.evidence == 3
    weights = dict(zip(sources.tokens, sources.weights, strict=True))
    # " casa" is cut into five single bytes, one of them twice: 1/5 each, of 4 in all.
    assert weights == pytest.approx(
        {own("Ġhouse"): 3 / 4, own("a"): 2 / 20, own("Ġ"): 1 / 20, own("c"): 1 / 20, own("s"): 1 / 20}
    )
    assert sources.tokens[0] == own("Ġhouse")


def test_a_share_bounds_what_aligned_text_has() -> None:
    """Half of 3/4 is from three alignments; the other 5/8 are spread over five pieces."""
    counts = {new("Ġcasa"): {own("Ġhouse"): 3.0}}
    sources = map_tokens(NEW, OWN, counts, {}, share=0.5)[new("Ġcasa")]
    weights = dict(zip(sources.tokens, sources.weights, strict=True))
    assert weights == pytest.approx(
        {own("Ġhouse"): 3 / 8, own("a"): 2 / 8, own("Ġ"): 1 / 8, own("c"): 1 / 8, own("s"): 1 / 8}
    )
    assert map_tokens(NEW, OWN, counts, {}) == map_tokens(NEW, OWN, counts, {}, share=0.3)
    assert map_tokens(NEW, OWN, counts, {}, share=0) == map_tokens(NEW, OWN, {}, {})


def test_what_is_not_aligned_is_the_mean_of_its_pieces() -> None:
    sources = map_tokens(NEW, OWN, {}, {})[new("xyz")]
    assert sources == Sources("pieces", (own("x"), own("y"), own("z")), (1 / 3,) * 3)


def test_same_strings_stay_themselves_whatever_is_aligned() -> None:
    found = map_tokens(NEW, OWN, {new(","): {own("."): 9.0}, new("Anna"): {own("Ġred"): 9.0}}, {})
    for token in (",", "7", "Anna", "ĠAnna"):
        assert found[new(token)] == Sources("same", (own(token),), (1.0,))


def test_special_tokens_go_by_name_then_role() -> None:
    found = map_tokens(NEW, OWN, {}, special_pairs(SOURCE, TARGET))
    assert found[new("<bos>")] == Sources("special", (own("<s>"),), (1.0,))
    assert found[new("<eos>")] == Sources("special", (own("</s>"),), (1.0,))
    assert found[new("<unk>")] == Sources("special", (own("<unk>"),), (1.0,))
    assert map_tokens(NEW, OWN, {}, {})[new("<bos>")].how == "none"


def test_names_count_for_their_own_pieces() -> None:
    """The same word on both sides is cut in the source's way, whatever stands at the same place."""
    source = word_tokenizer(["Mar"])
    target = word_tokenizer(["Ma"])
    pair = (
        [source.convert_tokens_to_ids(t) for t in ("Mar", "i", "a")],
        [target.convert_tokens_to_ids(t) for t in ("Ma", "r", "i", "a")],
    )
    counts = count_pairs([pair], vocabulary(target), vocabulary(source))
    ma = counts[target.convert_tokens_to_ids("Ma")]
    assert ma == {source.convert_tokens_to_ids("Ma"): 1.0}  # a step on the way to "Mar": there as a token


def test_counts_by_hand() -> None:
    counts = count_pairs([([1, 2], [3]), ([1], [3]), ([], [3]), ([1], [])], numbered(5), numbered(5))
    assert counts == {3: {1: 1.5, 2: 0.5}}


def numbered(size: int) -> Vocabulary:
    names = tuple(chr(ord("a") + number) for number in range(size))
    return Vocabulary(names, tuple(name.encode() for name in names), True, None)


@given(
    st.dictionaries(
        st.integers(3, len(NEW.tokens) - 1),
        st.dictionaries(st.integers(3, len(OWN.tokens) - 1), st.floats(0.01, 1e6), max_size=40),
        max_size=20,
    )
)
def test_weights_are_weights(counts: dict[int, dict[int, float]]) -> None:
    found = map_tokens(NEW, OWN, counts, special_pairs(SOURCE, TARGET))
    assert len(found) == len(TARGET)
    for sources in found:
        assert sum(sources.weights) == pytest.approx(1, abs=1e-9)
        assert all(weight > 0 for weight in sources.weights)
        assert len(set(sources.tokens)) == len(sources.tokens) == len(sources.weights)
        assert list(sources.weights) == sorted(sources.weights, reverse=True)


def test_coverage_by_hand() -> None:
    from collections import Counter

    tokens = [Sources("special", (0,), (1.0,)), Sources("same", (1,), (1.0,)), Sources("pieces", (1,), (1.0,))]
    found = coverage([*tokens, tokens[1]], Counter({1: 6, 2: 2}))
    assert found["same"] == {"tokens": 2, "share": 0.5, "running": 0.75}
    assert found["pieces"] == {"tokens": 1, "share": 0.25, "running": 0.25}
    assert found["none"] == {"tokens": 0, "share": 0, "running": 0}

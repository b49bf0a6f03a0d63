"""Which tokens of two tokenizers stand for each other in parallel text, by words and by tokens."""

from collections.abc import Iterator, Sequence
from typing import Any

from lm_eval_ita.tweety.aligners import align
from lm_eval_ita.tweety.mapping import DEFAULT_SHARE, Counts, Sources, count_pairs, map_tokens
from lm_eval_ita.tweety.parallel import word_spans
from lm_eval_ita.tweety.train_tokenizer import special_tokens
from lm_eval_ita.tweety.vocabulary import Vocabulary, tokens_by_word, vocabulary

__all__ = ["aligned_counts", "map_tokenizers", "special_pairs"]

_ROLES = ("bos_token", "eos_token", "pad_token", "unk_token")


def map_tokenizers(
    source: Any, target: Any, pairs: Sequence[tuple[str, str]], share: float = DEFAULT_SHARE
) -> list[Sources]:
    """The sources of every token of `target`.

    Args:
        source: The model's tokenizer (fast, of transformers).
        target: The new one.
        pairs: Sentences in the source's language, and their translations.
        share: As `mapping.map_tokens`.

    Raises:
        UserError: A tokenizer has no token that ends a text, or the aligner is missing.
    """
    special_tokens(source)
    special_tokens(target)
    counts = aligned_counts(source, target, pairs)
    return map_tokens(vocabulary(target), vocabulary(source), counts, special_pairs(source, target), share)


def aligned_counts(source: Any, target: Any, pairs: Sequence[tuple[str, str]]) -> Counts:
    """How often tokens of two tokenizers stand for each other in parallel text.

    Words are aligned, and their tokens laid over each other; then tokens themselves are aligned, which finds what is
    one token here and one there although the words have several. Both kinds of evidence count alike.
    Arguments and errors as `map_tokenizers`.
    """
    own, new = vocabulary(source), vocabulary(target)
    sides = list(zip(*pairs, strict=True))
    spans = [[word_spans(text) for text in side] for side in sides]
    tokens = [
        tokens_by_word(tokenizer, side, cut)
        for tokenizer, side, cut in zip((source, target), sides, spans, strict=True)
    ]
    words = [
        [[text[start:end] for start, end in cut] for text, cut in zip(side, cuts, strict=True)]
        for side, cuts in zip(sides, spans, strict=True)
    ]
    return count_pairs([*_by_words(words, tokens), *_by_tokens(tokens, (own, new))], new, own)


def _by_words(words: Sequence[Any], tokens: Sequence[Any]) -> Iterator[tuple[list[int], list[int]]]:
    for links, own, new in zip(align(list(zip(*words, strict=True))), *tokens, strict=True):
        for i, j in sorted(links):
            yield own[i], new[j]


def _by_tokens(
    tokens: Sequence[Any], vocabularies: tuple[Vocabulary, Vocabulary]
) -> Iterator[tuple[list[int], list[int]]]:
    flat = [[[token for word in text for token in word] for text in side] for side in tokens]
    # Numbers stand for tokens: a token may hold spaces, and the aligner would take "Casa" and "casa" for one.
    names = [[[str(token) for token in text] for text in side] for side in flat]
    for links, own, new in zip(align(list(zip(*names, strict=True))), *flat, strict=True):
        for i, j in sorted(links):
            # What is no letter has its own rule, and misleads here: commas are aligned to anything.
            if _is_word(vocabularies[0], own[i]) and _is_word(vocabularies[1], new[j]):
                yield [own[i]], [new[j]]


def _is_word(vocabulary: Vocabulary, token: int) -> bool:
    surface = vocabulary.surfaces[token] or b""
    return any(character.isalpha() for character in surface.decode("utf-8", errors="ignore"))


def special_pairs(source: Any, target: Any) -> dict[int, int]:
    """The source's token for each special token of the target: of the same name, else of the same role."""
    own = source.get_vocab()
    pairs = {}
    for role in reversed(_ROLES):  # where a token has two roles, that of the beginning or the end counts
        token, other = getattr(target, role), getattr(source, role)
        if token is not None and other is not None:
            pairs[target.convert_tokens_to_ids(token)] = own[other]
    for number, token in target.added_tokens_decoder.items():
        if token.special and token.content in own:
            pairs[number] = own[token.content]
    return pairs

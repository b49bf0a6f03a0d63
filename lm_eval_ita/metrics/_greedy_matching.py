"""The part of BERTScore that computes: load an encoder cut at a layer, embed tokens, match them greedily.

Conventions of the `bert-score` library, followed here: only the precision and recall of ordinary tokens are averaged,
but they may match the special tokens of the other text; without idf all ordinary tokens weigh the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics._scorer_runtime import Runtime, length_batches

if TYPE_CHECKING:
    import torch

__all__ = ["greedy_match", "load_encoder", "ordinary_tokens", "score_pairs", "self_test"]

_DEFAULT_LAYER = 10
# Token embeddings kept at once while a chunk is matched: 65,536 x 768 x 4 bytes = 200 MB for a BERT base.
_CHUNK_TOKENS = 65_536
_SELF_TEST = (
    "Mia nonna prepara la torta di mele.",
    "Il governo ha approvato ieri la nuova legge di bilancio.",
    "Il treno per Bologna è partito con venti minuti di ritardo, perché sulla linea c'era un guasto.",
)


def load_encoder(source: str, layer: int | None) -> tuple[Any, Any]:
    """Load an encoder without the layers above the one that is used.

    Args:
        source: Hub id or local folder.
        layer: Number of layers to keep; None for 10, or all of a smaller encoder.

    Returns:
        Model and tokenizer; the layer is `model.config.num_hidden_layers`, its output `last_hidden_state`.

    Raises:
        UserError: If the encoder has fewer layers or the weights are not an encoder's.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    config = AutoConfig.from_pretrained(source)
    available = int(config.num_hidden_layers)
    layer = min(_DEFAULT_LAYER, available) if layer is None else layer
    if layer > available:
        raise UserError(f"{source} has {available} layers, BERTScore asks for layer {layer}")
    config.num_hidden_layers = layer
    model, info = AutoModel.from_pretrained(source, config=config, output_loading_info=True)
    missing = [key for key in info["missing_keys"] if "pooler" not in key]
    if missing:
        raise UserError(f"the weights of {source} lack {len(missing)} tensors of its encoder, among them {missing[0]}")
    return model, AutoTokenizer.from_pretrained(source)


def ordinary_tokens(runtime: Runtime, ids: Sequence[int]) -> list[bool]:
    """Mark the tokens of one text that count: all but the classifier and separator tokens around it."""
    around = (runtime.tokenizer.cls_token_id, runtime.tokenizer.sep_token_id)
    return [token not in around for token in ids]


def score_pairs(
    runtime: Runtime, ids: Sequence[Sequence[int]], pairs: npt.NDArray[np.int64], batch_size: int
) -> npt.NDArray[np.float64]:
    """Score pairs of texts in chunks of similar length, so that embeddings of one chunk only are kept.

    Args:
        runtime: The loaded encoder.
        ids: Token ids of each text, special tokens included; every text used has an ordinary token.
        pairs: Positions of prediction and reference in `ids`, shape (m, 2).
        batch_size: Texts encoded, and pairs matched, at once.

    Returns:
        Precision, recall and F1, shape (m, 3).
    """
    scores = np.empty((len(pairs), 3))
    # Equal predictions stay together (encoded once per chunk) and chunks hold texts of similar length.
    order = sorted(range(len(pairs)), key=lambda m: (-len(ids[pairs[m, 0]]), int(pairs[m, 0]), -len(ids[pairs[m, 1]])))
    for chunk in _chunks(order, ids, pairs):

        def step(rows: npt.NDArray[np.int64] = pairs[chunk]) -> npt.NDArray[np.float64]:
            return _score_chunk(runtime, ids, rows, batch_size)

        scores[chunk] = runtime.on_device(step)
    return scores


def greedy_match(
    hyp: torch.Tensor, hyp_counts: torch.Tensor, ref: torch.Tensor, ref_counts: torch.Tensor
) -> torch.Tensor:
    """Match each token with the likest token of the other text.

    Args:
        hyp: Unit embeddings of the predictions, shape (b, i, d); padding is all zeros.
        hyp_counts: 1 for tokens that count, 0 for special tokens and padding, shape (b, i).
        ref: Unit embeddings of the references, shape (b, j, d).
        ref_counts: Likewise, shape (b, j).

    Returns:
        Precision, recall and F1 (0 when precision and recall cancel out), shape (b, 3).
    """
    import torch

    likeness = torch.bmm(hyp, ref.transpose(1, 2))
    hyp_padding, ref_padding = hyp.eq(0).all(dim=2), ref.eq(0).all(dim=2)
    likeness.masked_fill_(hyp_padding.unsqueeze(2) | ref_padding.unsqueeze(1), -1.0)
    precision = (likeness.amax(dim=2) * hyp_counts).sum(dim=1) / hyp_counts.sum(dim=1)
    recall = (likeness.amax(dim=1) * ref_counts).sum(dim=1) / ref_counts.sum(dim=1)
    total = precision + recall
    f1 = torch.where(total == 0, 0.0, 2 * precision * recall / total)
    return torch.stack((precision, recall, f1), dim=1)


def self_test(runtime: Runtime) -> None:
    """Check a fresh encoder: equal texts score 1, different texts less, and padding leaves no trace.

    Raises:
        UserError: If a check fails; scores would mean nothing.
    """
    ids = runtime.encode(_SELF_TEST).ids
    equal, different = score_pairs(runtime, ids, np.array([[0, 0], [0, 1]]), batch_size=len(ids))[:, 2]
    if not abs(equal - 1.0) <= 1e-4 or not different < equal - 1e-4:
        raise UserError(
            f"the BERTScore encoder fails its self-test: equal texts score {equal:.4f}, different ones "
            f"{different:.4f}; set LM_EVAL_ITA_SCORER_DTYPE=float32 or another encoder"
        )
    alone, padded = runtime.on_device(lambda: (_embed_batch(runtime, ids[:1])[0], _embed_batch(runtime, ids)[0]))
    drift = 1.0 - float((alone * padded).sum(dim=1).min())
    if not drift <= (1e-4 if runtime.dtype == "float32" else 1e-2):
        raise UserError(f"the BERTScore encoder fails its self-test: padding changes embeddings by {drift:.4f}")


def _chunks(order: Sequence[int], ids: Sequence[Sequence[int]], pairs: npt.NDArray[np.int64]) -> Iterator[list[int]]:
    """Cut the order into runs of pairs whose distinct texts hold at most `_CHUNK_TOKENS` tokens (one pair at least)."""
    chunk: list[int] = []
    seen: set[int] = set()
    tokens = 0
    for m in order:
        fresh = {int(pairs[m, 0]), int(pairs[m, 1])} - seen
        cost = sum(len(ids[text]) for text in fresh)
        if chunk and tokens + cost > _CHUNK_TOKENS:
            yield chunk
            chunk, seen, tokens = [], set(), 0
            fresh = {int(pairs[m, 0]), int(pairs[m, 1])}
            cost = sum(len(ids[text]) for text in fresh)
        chunk.append(m)
        seen |= fresh
        tokens += cost
    if chunk:
        yield chunk


def _score_chunk(
    runtime: Runtime, ids: Sequence[Sequence[int]], pairs: npt.NDArray[np.int64], batch_size: int
) -> npt.NDArray[np.float64]:
    import torch
    from torch.nn.utils.rnn import pad_sequence

    texts, local = np.unique(pairs, return_inverse=True)
    local = local.reshape(pairs.shape)
    rows = [ids[text] for text in texts]
    embeddings = _embed(runtime, rows, batch_size)
    counts = [torch.tensor(ordinary_tokens(runtime, row), dtype=torch.float32, device=runtime.device) for row in rows]
    scores = np.empty((len(pairs), 3))
    for start in range(0, len(pairs), batch_size):
        sides = []
        for side in (0, 1):
            chosen = local[start : start + batch_size, side]
            sides += [
                pad_sequence([values[text] for text in chosen], batch_first=True) for values in (embeddings, counts)
            ]
        scores[start : start + batch_size] = greedy_match(*sides).cpu().numpy()
    return scores


def _embed(runtime: Runtime, ids: Sequence[Sequence[int]], batch_size: int) -> list[torch.Tensor]:
    """Return unit token embeddings of each text, shape (tokens, d), in float32 whatever the encoder's type."""
    import torch

    embeddings: list[torch.Tensor] = [torch.empty(0)] * len(ids)
    for batch in length_batches([len(row) for row in ids], batch_size):
        for position, values in zip(batch, _embed_batch(runtime, [ids[row] for row in batch]), strict=True):
            embeddings[position] = values
    return embeddings


def _embed_batch(runtime: Runtime, ids: Sequence[Sequence[int]]) -> list[torch.Tensor]:
    """Embed texts in one pass, padded to the longest."""
    import torch

    tokens, mask = runtime.batch(ids)
    with torch.inference_mode():
        hidden = runtime.model(input_ids=tokens, attention_mask=mask).last_hidden_state.float()
        hidden = torch.nn.functional.normalize(hidden, dim=-1)
    return [hidden[row, : len(text)] for row, text in enumerate(ids)]

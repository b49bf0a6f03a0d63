"""One pass of a model over a pack: the log-probability of every choice, and whether it is what the model would say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lm_eval_ita.backend.attention import Pack, reading
from lm_eval_ita.backend.packs import Choice
from lm_eval_ita.backend.tree import Ints, TokenTree, grow
from lm_eval_ita.backend.visibility import FLEX_BLOCK

if TYPE_CHECKING:
    import torch

__all__ = ["Prepared", "Scores", "ahead", "prepare", "score"]

_T = TypeVar("_T")
# Logits that are made log-probabilities at a time: 64 MB in float32.
_CHUNK = 16 * 2**20


@dataclass(frozen=True)
class Prepared:
    """A pack as the model takes it, still on the host.

    Attributes:
        tree: Its tokens.
        kept: Places at which something is predicted, in order, shape (k,).
        rows: For each prediction, in the order of `kept`, its position there, shape (p,).
        targets: The token that is predicted, shape (p,).
        order: Where each prediction stands among those of all choices, one choice after another, shape (p,).
        starts: Where each choice's predictions begin among those, shape (choices,).
    """

    tree: TokenTree
    kept: Ints
    rows: Ints
    targets: Ints
    order: Ints
    starts: Ints


def prepare(choices: Sequence[Choice], *, flex: bool) -> Prepared:
    """Build the tree of a pack.

    Args:
        choices: In the order of their texts.
        flex: Whether FlexAttention will compute, which takes whole blocks.
    """
    tree, places = grow([choice.text for choice in choices])
    lengths = np.asarray([len(choice.targets) for choice in choices])
    predicted = np.concatenate([place[-length:] for place, length in zip(places, lengths, strict=True)])
    targets = np.concatenate([np.asarray(choice.targets, dtype=np.int64) for choice in choices])
    kept, rows = np.unique(predicted, return_inverse=True)
    order = np.argsort(rows, kind="stable")
    if flex:
        tree = tree.padded(FLEX_BLOCK)
    return Prepared(tree, kept, rows[order], targets[order], order, np.cumsum(lengths) - lengths)


class Scores:
    """What a pass gave, still on the model's device: a GPU goes on with the next pack before it is read."""

    def __init__(self, log_probabilities: torch.Tensor, likeliest: torch.Tensor, prepared: Prepared) -> None:
        """Keep them.

        Args:
            log_probabilities: Of each prediction, in the order of the pack's, shape (p,).
            likeliest: Whether each is the likeliest token, shape (p,).
            prepared: The pack.
        """
        self._log_probabilities, self._likeliest = log_probabilities, likeliest
        self._order, self._starts = prepared.order, prepared.starts

    def read(self) -> list[tuple[float, bool]]:
        """For each choice, the sum of its log-probabilities, and whether every token of it is the likeliest."""
        values, likeliest = np.empty(len(self._order)), np.empty(len(self._order), dtype=bool)
        values[self._order] = self._log_probabilities.double().cpu().numpy()
        likeliest[self._order] = self._likeliest.cpu().numpy()
        sums = np.add.reduceat(values, self._starts)
        said = np.logical_and.reduceat(likeliest, self._starts)
        return list(zip(sums.tolist(), said.tolist(), strict=True))


def score(call: Callable[..., torch.Tensor], prepared: Prepared, *, device: Any, flex: bool, precision: Any) -> Scores:
    """Score the choices of a pack in one pass.

    Args:
        call: The model: takes `input_ids`, `position_ids`, `attention_mask` and `logits_to_keep`, returns logits of
            shape (1, places kept, vocabulary). It attends by trees (`attending_by_trees`).
        prepared: The pack.
        device: Where the model takes its input.
        flex: As for `prepare`.
        precision: Type in which log-probabilities are computed.

    Returns:
        Scores in the order of the choices.
    """
    import torch

    tree = prepared.tree
    # All copies come before the pass: one after it would wait for it, and the next pack with it.
    tokens, depths, kept, rows, targets = (
        torch.from_numpy(part).to(device)
        for part in (tree.tokens, tree.depths, prepared.kept, prepared.rows, prepared.targets)
    )
    with reading(Pack(tree, flex)):
        logits = call(
            input_ids=tokens[None],
            position_ids=depths[None],
            # Says "no padding". Without it, transformers takes positions that begin anew for documents of their own.
            attention_mask=torch.ones((1, len(tree)), dtype=torch.long, device=device),
            logits_to_keep=kept,
        )[0]
    size = max(_CHUNK // logits.shape[-1], 1)
    bounds = np.searchsorted(prepared.rows, np.arange(0, len(logits) + size, size)).tolist()
    values, likeliest = [], []
    for number, (start, stop) in enumerate(pairwise(bounds)):
        # The harness's own function, for its rounding: over 262,144 numbers it is off by up to 6e-5 on a CPU.
        part = logits[number * size : (number + 1) * size].log_softmax(dim=-1, dtype=precision)
        row, target = (each[start:stop].to(logits.device) for each in (rows, targets))
        values.append(part[row - number * size, target])
        likeliest.append(part.argmax(dim=-1)[row - number * size] == target)
    return Scores(torch.cat(values), torch.cat(likeliest), prepared)


def ahead(items: Iterator[_T]) -> Iterator[_T]:
    """The same items, each made while the one before is in use, in a thread of its own."""
    end = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item  # type: ignore[misc]  # not the end

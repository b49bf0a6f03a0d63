"""Which choices are read together: packs of about equal size, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lm_eval_ita.backend.tree import common_length

__all__ = ["Budget", "Choice", "plan"]


@dataclass(frozen=True)
class Choice:
    """A prompt with one of its choices.

    Attributes:
        text: Token ids that the model reads: prompt and choice without the choice's last token, the end of them where
            they are longer than the model.
        targets: Token ids of the choice, each predicted at one of the last places of `text`; at least one, at most as
            many as `text` has.
    """

    text: tuple[int, ...]
    targets: tuple[int, ...]

    @property
    def prompt(self) -> tuple[int, ...]:
        """What is read before the first prediction."""
        return self.text[: len(self.text) - len(self.targets) + 1]


@dataclass(frozen=True)
class Budget:
    """The most that a pack may hold.

    Attributes:
        tokens: Tokens of its tree.
        predictions: Places at which the output layer is needed: each is a row of the vocabulary's size.
    """

    tokens: int
    predictions: int

    def halved(self) -> Budget:
        """For a pack that was too large."""
        return Budget(max(self.tokens // 2, 1), max(self.predictions // 2, 1))


@dataclass
class _Group:
    """The choices of one prompt: kept together where they fit, since the prompt would be read twice.

    Attributes:
        prompt: Token ids.
        members: Positions of the choices, sorted by their texts.
        tokens: Tokens of their tree.
        predictions: Places at which they are predicted, at most.
    """

    prompt: tuple[int, ...]
    members: list[int]
    tokens: int
    predictions: int


def plan(choices: Sequence[Choice], budget: Budget) -> list[list[int]]:
    """Deal choices out to packs.

    Args:
        choices: All that are to be scored.
        budget: Holds for every pack but those of a single choice that is larger.

    Returns:
        For each pack, positions of its choices in the order of their texts, as `grow` takes them. Prompts that begin
        alike are in one pack or in neighbouring ones.
    """
    groups = [part for group in _groups(choices) for part in _split(group, choices, budget)]
    shared = [common_length(first.prompt, second.prompt) for first, second in pairwise(groups)]
    packs = _fill(groups, shared, budget)
    # Full packs and a small rest are slower than packs of one size: the least budget that takes no more of them.
    low, high = 0, budget.tokens
    while high - low > 1:
        middle = (low + high) // 2
        evener = _fill(groups, shared, Budget(middle, budget.predictions))
        if len(evener) == len(packs):
            packs, high = evener, middle
        else:
            low = middle
    members = [[position for group in pack for position in group.members] for pack in packs]
    return [sorted(pack, key=lambda position: choices[position].text) for pack in members]


def _fill(groups: Sequence[_Group], shared: Sequence[int], budget: Budget) -> list[list[_Group]]:
    """Open a new pack where a group does not fit."""
    packs: list[list[_Group]] = []
    tokens = predictions = 0
    for group, common in zip(groups, (0, *shared), strict=False):
        tokens += group.tokens - common
        predictions += group.predictions
        if packs and tokens <= budget.tokens and predictions <= budget.predictions:
            packs[-1].append(group)
        else:
            packs.append([group])
            tokens, predictions = group.tokens, group.predictions
    return packs


def _groups(choices: Sequence[Choice]) -> list[_Group]:
    members: dict[tuple[int, ...], list[int]] = {}
    for position, choice in enumerate(choices):
        members.setdefault(choice.prompt, []).append(position)
    return [_group(prompt, members[prompt], choices) for prompt in sorted(members)]


def _group(prompt: tuple[int, ...], members: list[int], choices: Sequence[Choice]) -> _Group:
    ordered = sorted(members, key=lambda position: choices[position].text)
    tokens, before = 0, ()
    for position in ordered:
        text = choices[position].text
        tokens += len(text) - common_length(before, text)
        before = text  # type: ignore[assignment]  # the empty tuple before the first
    return _Group(prompt, ordered, tokens, tokens - len(prompt) + 1)


def _split(group: _Group, choices: Sequence[Choice], budget: Budget) -> list[_Group]:
    """Cut a group that is larger than a pack in two, again and again."""
    fits = group.tokens <= budget.tokens and group.predictions <= budget.predictions
    if fits or len(group.members) == 1:
        return [group]
    half = len(group.members) // 2
    parts = (group.members[:half], group.members[half:])
    return [piece for part in parts for piece in _split(_group(group.prompt, part, choices), choices, budget)]

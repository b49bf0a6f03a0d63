"""Dealing choices out to packs."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.backend.packs import Budget, Choice, plan
from lm_eval_ita.backend.tree import grow

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=12)


@st.composite
def all_choices(draw: st.DrawFn) -> list[Choice]:
    """Prompts with some choices each, in any order."""
    made = []
    for prompt, targets in draw(st.lists(st.tuples(TOKENS, st.lists(TOKENS, min_size=1, max_size=5)), max_size=10)):
        made += [Choice(tuple([*prompt, *target][:-1]), tuple(target)) for target in targets]
    draw(st.randoms(use_true_random=False)).shuffle(made)
    return made


def size(choices: list[Choice]) -> tuple[int, int]:
    """Tokens of the tree, and places at which something is predicted."""
    tree, places = grow([choice.text for choice in choices])
    kept = {int(place) for choice, path in zip(choices, places, strict=True) for place in path[-len(choice.targets) :]}
    return len(tree), len(kept)


@settings(deadline=None)
@given(all_choices(), st.integers(1, 60), st.integers(1, 20))
def test_every_choice_is_in_one_pack_within_the_budget(choices: list[Choice], tokens: int, predictions: int) -> None:
    packs = plan(choices, Budget(tokens, predictions))
    assert sorted(position for pack in packs for position in pack) == list(range(len(choices)))
    for pack in packs:
        texts = [choices[position].text for position in pack]
        assert texts == sorted(texts)
        held = size([choices[position] for position in pack])
        assert len(pack) == 1 or (held[0] <= tokens and held[1] <= predictions)


@settings(deadline=None)
@given(all_choices(), st.randoms(use_true_random=False))
def test_packs_follow_from_the_choices_and_not_from_their_order(choices: list[Choice], draw: random.Random) -> None:
    shuffled = draw.sample(choices, len(choices))
    packs, again = plan(choices, Budget(40, 10)), plan(shuffled, Budget(40, 10))
    assert [[choices[i].text for i in pack] for pack in packs] == [[shuffled[i].text for i in pack] for pack in again]


def test_choices_of_a_prompt_stay_together_and_packs_are_of_one_size() -> None:
    # Six prompts of 10 tokens with two choices of 2: 12 tokens of tree each (the last token is not read). 72 in all:
    # packs of 60 would be 5 and 1 prompts, which is worse than 3 and 3.
    prompts = [(number, *range(10, 19)) for number in range(6)]
    choices = [Choice((*prompt, first), (first, 0)) for prompt in prompts for first in (1, 2)]
    packs = plan(choices, Budget(60, 100))
    assert [len(pack) for pack in packs] == [6, 6]
    assert all(pack[0] % 2 == 0 and pack == list(range(pack[0], pack[0] + 6)) for pack in packs)


def test_equal_beginnings_of_prompts_are_counted_once() -> None:
    # 50 tokens in common, then one of their own each: 50 + 10 in one pack.
    choices = [Choice((*[7] * 50, number), (1,)) for number in range(10)]
    assert [len(pack) for pack in plan(choices, Budget(60, 100))] == [10]
    assert len(plan(choices, Budget(59, 100))) == 2


def test_a_prompt_of_two_parts() -> None:
    choice = Choice((1, 2, 3, 4), (3, 4, 5))
    assert choice.prompt == (1, 2)

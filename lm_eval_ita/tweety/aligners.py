"""Word alignment: which word of a sentence stands for which word of its translation."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from lm_eval_ita.errors import UserError

__all__ = ["Links", "align", "grow_diagonal"]

# Pairs of positions: in the source sentence, in the target sentence.
Links = frozenset[tuple[int, int]]
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def align(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Links]:
    """Align sentences with eflomal, in both directions, made one by `grow_diagonal`.

    Case is ignored. eflomal draws (Gibbs sampling) from the system's random numbers: two runs agree on nearly all
    links, not on each.

    Args:
        pairs: The words of a sentence and of its translation; none may hold a space. Pairs with an empty side have no
            links.

    Returns:
        The links of each pair.

    Raises:
        UserError: eflomal is not installed.
    """
    try:
        from eflomal import Aligner
    except ImportError as error:
        raise UserError('word alignment needs eflomal: pip install "lm-eval-ita[tweety]"') from error
    full = [position for position, (source, target) in enumerate(pairs) if source and target]
    links: list[Links] = [frozenset()] * len(pairs)
    if not full:
        return links
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder) / name) for name in ("forward", "reverse")]
        sides = [[" ".join(pairs[position][side]) + "\n" for position in full] for side in (0, 1)]
        Aligner().align(*sides, links_filename_fwd=names[0], links_filename_rev=names[1])
        both = [[_read(line) for line in Path(name).read_text(encoding="ascii").split("\n")] for name in names]
    for position, forward, reverse in zip(full, *both, strict=False):
        links[position] = grow_diagonal(forward, reverse)
    return links


def _read(line: str) -> Links:
    return frozenset((int(left), int(right)) for left, _, right in (link.partition("-") for link in line.split()))


def grow_diagonal(forward: Links, reverse: Links) -> Links:
    """Both directions' links made one: grow-diag-final-and (Koehn et al. 2003, *Statistical phrase-based translation*).

    Begins with the links of both, adds links of either that touch one that is there (also diagonally) and give a word
    its first link; then those that give both their words their first.
    """
    union = forward | reverse
    found = set(forward & reverse)
    left, right = {i for i, _ in found}, {j for _, j in found}

    def add(link: tuple[int, int]) -> None:
        found.add(link)
        left.add(link[0])
        right.add(link[1])

    waiting = sorted(found)
    while waiting:
        i, j = waiting.pop(0)
        for down, across in _NEIGHBOURS:
            link = (i + down, j + across)
            if link in union and link not in found and (link[0] not in left or link[1] not in right):
                add(link)
                waiting.append(link)
    for links in (forward, reverse):
        for link in sorted(links):
            if link[0] not in left and link[1] not in right:
                add(link)
    return frozenset(found)

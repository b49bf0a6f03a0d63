"""Word aligners by quality: alignment error rate on sentences aligned by hand.

    LM_EVAL_ITA_DATA=DIR python benchmarks/compare_aligners.py [--parallel N]

DIR/parallel_en_it/*.eng and *.ita are parallel text; DIR/word_alignment/{dev,test}.tsv hold English words, Italian
words and links i-j (XL-WA). The sentences to be aligned join the text without their links, as is usual for aligners
that learn without supervision. All links are sure, so that the error rate (Och and Ney 2003) is one minus the F1 of
the links.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from _bench import machine, show

from lm_eval_ita.tweety.aligners import Links, align
from lm_eval_ita.tweety.parallel import read_parallel, word_spans

Pairs = Sequence[tuple[Sequence[str], Sequence[str]]]


def words(text: str) -> list[str]:
    return [text[start:end].lower() for start, end in word_spans(text)]


def gold(path: Path) -> list[tuple[list[str], list[str], Links]]:
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        english, italian, links = line.split("\t")
        pairs = frozenset(tuple(map(int, link.split("-"))) for link in links.split())
        rows.append((english.lower().split(), italian.lower().split(), pairs))
    return rows


def fast_align(pairs: Pairs) -> list[Links]:
    """systran-align with the settings that fast_align's documentation recommends; it joins both directions itself."""
    import systran_align

    with tempfile.TemporaryDirectory() as folder:
        text, forward, backward = (str(Path(folder) / name) for name in ("text", "forward", "backward"))
        lines = (f"{' '.join(source)} ||| {' '.join(target)}\n" for source, target in pairs)
        Path(text).write_text("".join(lines), encoding="utf-8")
        systran_align.generate_alignment_probabilities(
            text, forward, backward, favor_diagonal=True, optimize_tension=True, variational_bayes=True
        )
        aligner = systran_align.Aligner(forward, backward)
        return [frozenset(aligner.align(list(s), list(t))["alignments"]) for s, t in pairs]


def error_rate(found: Sequence[Links], wanted: Sequence[Links]) -> tuple[float, float, float]:
    """Error rate, precision, recall."""
    both = sum(len(a & b) for a, b in zip(found, wanted, strict=True))
    of_found, of_wanted = sum(map(len, found)), sum(map(len, wanted))
    return 1 - 2 * both / (of_found + of_wanted), both / of_found, both / of_wanted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parallel", type=int, default=None, help="only the first N pairs of sentences")
    parser.add_argument("--runs", type=int, default=2, help="of eflomal, which draws; default: %(default)s")
    options = parser.parse_args()
    if "LM_EVAL_ITA_DATA" not in os.environ:
        sys.exit("set LM_EVAL_ITA_DATA to a folder with parallel_en_it and word_alignment")
    data = Path(os.environ["LM_EVAL_ITA_DATA"])
    files = [(path, path.with_suffix(".ita")) for path in sorted((data / "parallel_en_it").glob("*.eng"))]
    text = [(words(a), words(b)) for a, b in read_parallel(files).pairs[: options.parallel]]
    text = [pair for pair in text if all(pair)]
    by_hand = {name: gold(data / "word_alignment" / f"{name}.tsv") for name in ("dev", "test")}
    pairs = text + [(a, b) for rows in by_hand.values() for a, b, _ in rows]
    rows = []
    trials: list[tuple[str, Callable[[Pairs], list[Links]]]] = [("fast_align", fast_align)]
    for name, aligner in trials + [("eflomal", align)] * options.runs:
        start = time.perf_counter()
        links = aligner(pairs)[len(text) :]
        seconds = time.perf_counter() - start
        row = {"aligner": name, "pairs": str(len(pairs)), "seconds": f"{seconds:.0f}"}
        for split, wanted in by_hand.items():
            own, links = links[: len(wanted)], links[len(wanted) :]
            error, precision, recall = error_rate(own, [by for _, _, by in wanted])
            row |= {f"error {split}": f"{error:.3f}", f"P {split}": f"{precision:.3f}", f"R {split}": f"{recall:.3f}"}
        rows.append(row)
    drawn = [float(row["error test"]) for row in rows if row["aligner"] == "eflomal"]
    show("word aligners on XL-WA Italian", rows, {"machine": machine(), "eflomal_mean": statistics.mean(drawn)})


if __name__ == "__main__":
    main()

"""Batched BERTScore against one document at a time, on a named workload.

Prints a ratio, so that the figure travels between machines:

    python benchmarks/bertscore_batching.py [--model FOLDER] [--documents N]

Without a model a random BERT (4 layers, width 128) is written to a temporary folder: its scores mean nothing, its speed
shows what batching, sorting by length and scoring equal pairs once bring. The reference suite scored one document
at a time.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

import numpy as np

from lm_eval_ita.metrics.bertscore import bertscore

VOCABULARY = "il lo la gatto cane dorme mangia governo approva legge treno parte ritardo nonna prepara torta mele"
WORDS = VOCABULARY.split()


def write_bert(folder: Path) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(tokens),
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=512,
        initializer_range=0.2,
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)


def workload(documents: int) -> tuple[list[str], list[str]]:
    """Summaries of 20 to 60 words with references of 20 to 40; a quarter of the pairs are repeats."""
    draw = random.Random(0)

    def text(longest: int) -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(20, longest)))

    pairs = [(text(60), text(40)) for _ in range(documents - documents // 4)]
    pairs += draw.choices(pairs, k=documents // 4)
    draw.shuffle(pairs)
    return [prediction for prediction, _ in pairs], [reference for _, reference in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="folder of an encoder; default: a random BERT of 4 layers")
    parser.add_argument("--documents", type=int, default=400)
    options = parser.parse_args()
    predictions, references = workload(options.documents)
    with tempfile.TemporaryDirectory() as folder:
        if options.model is None:
            write_bert(Path(folder))
        os.environ["LM_EVAL_ITA_BERTSCORE_MODEL"] = str(options.model or folder)
        bertscore(predictions[:2], references[:2])  # load and self-test outside the clock
        start = time.perf_counter()
        batched = bertscore(predictions, references)
        together = time.perf_counter() - start
        start = time.perf_counter()
        single = [bertscore([p], [r]).f1[0] for p, r in zip(predictions, references, strict=True)]
        apart = time.perf_counter() - start
    difference = float(np.abs(batched.f1 - single).max())
    print(f"workload: {options.documents} summaries, 20-60 words, a quarter repeated; device {batched.device}")
    print(f"one at a time {apart:.2f} s, batched {together:.2f} s, largest difference in F1 {difference:.1e}")
    print(f"ratio {apart / together:.1f}")


if __name__ == "__main__":
    main()

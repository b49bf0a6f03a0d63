"""Scorer models: ours against the reference suite's way, on the same texts and weights.

    python benchmarks/bench_scorers.py [--encoder FOLDER] [--classifier FOLDER] [--documents N]

The reference scores one document at a time, and loads its classifier anew for each of two aggregated figures. Ours
score equal texts once, in batches of similar length, and keep the model. The workload is that of news summaries and of
rewritten sentences, a quarter of them repeats. Without folders, random models are written to a temporary one: their
scores mean nothing, their speed shows what batches bring.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _bench import seconds, show

from lm_eval_ita._quiet import quiet_transformers
from lm_eval_ita.metrics import neutrality as classifying
from lm_eval_ita.metrics.bertscore import bertscore
from lm_eval_ita.metrics.neutrality import neutrality

GOAL = 5.0
AGGREGATIONS = 2
WORDS = "il lo la gatto cane dorme mangia governo approva legge treno parte ritardo nonna prepara torta mele".split()  # noqa: SIM905


def write_models(folder: Path) -> tuple[Path, Path]:
    """A random encoder and a random classifier, four layers of width 128."""
    import torch
    import transformers

    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    config = transformers.BertConfig(
        vocab_size=len(tokens),
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=512,
        initializer_range=0.2,
        id2label={0: "gendered", 1: "neutral"},
        label2id={"gendered": 0, "neutral": 1},
    )
    torch.manual_seed(0)
    for name, kind in (("encoder", "BertModel"), ("classifier", "BertForSequenceClassification")):
        (folder / name).mkdir()
        (folder / name / "vocab.txt").write_text("\n".join(tokens), encoding="utf-8")
        getattr(transformers, kind)(config).save_pretrained(folder / name)
        transformers.BertTokenizer(str(folder / name / "vocab.txt")).save_pretrained(folder / name)
    return folder / "encoder", folder / "classifier"


def workload(documents: int) -> tuple[list[str], list[str]]:
    """Summaries of 20 to 60 words with references of 20 to 40; a quarter of the pairs are repeats."""
    draw = random.Random(0)

    def text(longest: int) -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(20, longest)))

    pairs = [(text(60), text(40)) for _ in range(documents - documents // 4)]
    pairs += draw.choices(pairs, k=documents // 4)
    draw.shuffle(pairs)
    return [prediction for prediction, _ in pairs], [reference for _, reference in pairs]


def compare(name: str, reference: Callable[[], Any], ours: Callable[[], Any]) -> dict[str, Any]:
    """Time both, and see how far their scores lie apart."""
    found: list[Any] = []
    slow = seconds(lambda: found.append(reference()))
    fast = seconds(lambda: found.append(ours()))
    difference = float(np.abs(np.asarray(found[0]) - np.asarray(found[1])).max())
    return {"scorer": name, "reference": slow, "ours": fast, "ratio": slow / fast, "difference": difference}


def classified_one_by_one(texts: list[str]) -> Any:
    """The classifier as a pipeline is used in the reference: loaded for each figure, called for each text."""
    probabilities: list[float] = []
    for _ in range(AGGREGATIONS):
        classifying.release()
        probabilities = [float(neutrality([text]).probability[0]) for text in texts]
    return probabilities


def classified_together(texts: list[str]) -> Any:
    return [neutrality(texts).probability for _ in range(AGGREGATIONS)][-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--classifier", type=Path)
    parser.add_argument("--documents", type=int, default=400)
    options = parser.parse_args()
    predictions, references = workload(options.documents)
    with tempfile.TemporaryDirectory() as folder, quiet_transformers():
        encoder, classifier = write_models(Path(folder))
        os.environ["LM_EVAL_ITA_BERTSCORE_MODEL"] = str(options.encoder or encoder)
        os.environ["LM_EVAL_ITA_NEUTRALITY_MODEL"] = str(options.classifier or classifier)
        bertscore(predictions[:2], references[:2])  # loading and the self-test: once in both ways
        found = [
            compare(
                "BERTScore (F1)",
                lambda: [bertscore([p], [r]).f1[0] for p, r in zip(predictions, references, strict=True)],
                lambda: bertscore(predictions, references).f1,
            ),
            compare(
                "neutrality (probability)",
                lambda: classified_one_by_one(predictions),
                lambda: classified_together(predictions),
            ),
        ]
    rows = [
        {
            "scorer": each["scorer"],
            "reference": f"{each['reference']:.2f} s",
            "ours": f"{each['ours']:.2f} s",
            "ratio": f"{each['ratio']:.1f}",
            "goal": f"{GOAL:g}",
            "furthest": f"{each['difference']:.0e}",
        }
        for each in found
    ]
    show(f"{options.documents} texts of 20 to 60 words, a quarter repeated", rows, {"scorers": found})


if __name__ == "__main__":
    main()

"""TweetyIta on a real model, in one go, each step against its baselines.

    LM_EVAL_ITA_DATA=DIR python benchmarks/tweety_experiment.py --model MODEL --work DIR [--tokens N]

DIR holds `parallel_en_it/` (text to learn from) and the data sets of the evaluation. Learnt from: OLDI seed, ParTUT
and Tatoeba. Held out: PUD, which neither tokenizer, mapping nor training sees. Every step that is done is kept in
--work, so that the same command goes on after a kill. The share of aligned text in a token (`--shares`) is chosen on
other sentences of PUD than those that are reported. The sizes take an hour on one CPU core, and show that the steps
work; a GPU takes far larger ones (`--tokens`, `--sentences`, `--limits`).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from _bench import machine

from lm_eval_ita.cli.main import main as lm_eval_ita_command
from lm_eval_ita.tweety.adapt import Settings, adapt
from lm_eval_ita.tweety.align_tokens import aligned_counts, special_pairs
from lm_eval_ita.tweety.bits import bits_of_texts, bits_per_character
from lm_eval_ita.tweety.convert import convert, load_model, load_tokenizer, swap
from lm_eval_ita.tweety.mapping import map_tokens
from lm_eval_ita.tweety.mapping_file import Head, Mapping, coverage, read_mapping, write_mapping
from lm_eval_ita.tweety.parallel import read_parallel
from lm_eval_ita.tweety.report import INITS, bits_beside, measure_conversions, pieces_only, read_curve
from lm_eval_ita.tweety.train_tokenizer import train
from lm_eval_ita.tweety.vocabulary import vocabulary

LEARNT = ("oldi_seed", "partut_ud.converted", "tatoeba-test-v2021-08-07")
HELD_OUT = "pud_ud.converted"
TASKS = ("itaeval_xcopa", "itaeval_itacola", "itaeval_belebele")


class Steps:
    """What is done, in one file: a step is not taken twice."""

    def __init__(self, work: Path) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self.work = work
        self._path = work / "result.json"
        self.found: dict[str, Any] = json.loads(self._path.read_text("utf-8")) if self._path.exists() else {}

    def take(self, name: str, step: Any) -> Any:
        if name not in self.found:
            start = time.perf_counter()
            value = step()
            self.found[name] = {"value": value, "seconds": round(time.perf_counter() - start, 1)}
            self._path.write_text(json.dumps(self.found, indent=1, ensure_ascii=False), "utf-8")
            print(f"{name}: {self.found[name]['seconds']} s: {json.dumps(value, ensure_ascii=False)}", flush=True)
        return self.found[name]["value"]


def texts(data: Path, steps: Steps, sentences: int) -> tuple[list[str], list[str]]:
    """Writes the corpus, shuffled by sentence; the held-out sample, and another half as large to choose settings on."""
    lines = [line for name in LEARNT for line in (data / f"{name}.ita").read_text("utf-8").split("\n") if line]
    random.Random(0).shuffle(lines)
    (steps.work / "corpus.txt").write_text("\n".join(lines) + "\n", "utf-8")
    held = [line for line in (data / f"{HELD_OUT}.ita").read_text("utf-8").split("\n") if line]
    test = random.Random(0).sample(held, sentences)
    return test, random.Random(1).sample([line for line in held if line not in test], sentences // 2)


def mapped(options: argparse.Namespace, data: Path, steps: Steps, choose_on: list[str]) -> Any:
    tokenizer, mapping = steps.work / "tokenizer", steps.work / "mapping.jsonl"
    source = load_tokenizer(options.model)

    def learn() -> int:
        corpus = (steps.work / "corpus.txt").read_text("utf-8").splitlines()
        return len(train(corpus, source, options.vocab_size, out=tokenizer))

    steps.take("tokenizer", learn)
    target = load_tokenizer(str(tokenizer))

    def align() -> Any:
        text = read_parallel([(data / f"{name}.eng", data / f"{name}.ita") for name in LEARNT])
        counts = aligned_counts(source, target, text.pairs)
        sides = vocabulary(target), vocabulary(source)
        tried = {s: map_tokens(*sides, counts, special_pairs(source, target), s) for s in options.shares}
        bits = {share: bits_of(options.model, source, target, tried[share], choose_on) for share in tried}
        share = min(bits, key=lambda share: bits[share])
        head = Head(
            schema_version=1,
            source=options.model,
            source_tokens=len(source),
            target=str(tokenizer),
            target_tokens=len(target),
            pairs=len(text.pairs),
            empty_pairs=text.empty,
            share=share,
        )
        write_mapping(mapping, Mapping(head, tuple(tried[share])), target, source)
        used: Counter[int] = Counter()
        for _, italian in text.pairs:
            used.update(target(italian, add_special_tokens=False)["input_ids"])
        return {"bits by share": bits, "coverage": coverage(tried[share], used)}

    steps.take("mapping", align)
    return source, target, read_mapping(mapping).tokens


def bits_of(name: str, source: Any, target: Any, tokens: Any, sample: list[str]) -> float:
    model = load_model(name)
    swap(model, source, target, tokens)
    return bits_per_character(model, target, sample)


def converted(options: argparse.Namespace, steps: Steps, source: Any, target: Any, mapping: Any, init: Any) -> Path:
    folder = steps.work / init / "converted"
    if not folder.exists():
        tokens = pieces_only(source, target) if init == "pieces" else mapping
        convert(options.model, target, tokens, folder, init=init)
    return folder


def trained(options: argparse.Namespace, steps: Steps, convert_by: Any, held: list[str]) -> None:
    at_first = {each["name"]: each["bits"] for each in steps.found["step 0"]["value"]}
    for init in reversed(INITS):
        folder = convert_by(init)
        settings = Settings(
            model=str(folder),
            corpus=(str(steps.work / "corpus.txt"),),
            tokens=options.tokens,
            length=options.length,
            batch=options.batch,
            rate=options.rate,
        )

        def learn(settings: Settings = settings, init: Any = init) -> Any:
            out = steps.work / init / "adapted"
            out.mkdir(exist_ok=True)
            if not (out / "bits.jsonl").exists():  # the first point has been measured
                first = {
                    "step": 0,
                    "tokens": 0,
                    "loss": None,
                    "bits_per_character": at_first[f"converted, {INITS[init]}"],
                }
                (out / "bits.jsonl").write_text(json.dumps(first) + "\n", "utf-8")
            # All look at the same number of places; checkpoints of so short a run are only written at its end.
            adapt(
                settings,
                out,
                held,
                every=max(1, settings.steps // options.looks),
                save_every=settings.steps,
                per_device=options.batch,
                tell=lambda line: print(line, flush=True),
            )
            return list(read_curve(out).points)

        steps.take(f"adapted {init}", learn)


def after_training(options: argparse.Namespace, steps: Steps, held: list[str]) -> Any:
    """Bits per character at the end, and how many more than the conversion from aligned text needs."""
    bits = {}
    for init in INITS:
        folder = str(steps.work / init / "adapted" / "model")
        bits[init] = bits_of_texts(load_model(folder), load_tokenizer(folder), held)
    bits["original"] = bits_of_texts(load_model(options.model), load_tokenizer(options.model), held)
    beside = bits_beside(bits, "mapping", held)
    return {name: {"bits": each, "excess": excess} for name, (each, excess) in beside.items()}


def command(*arguments: str) -> str:
    """A command of ours in this process, which has torch loaded; what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = lm_eval_ita_command([*arguments])
    if code:
        sys.exit(f"lm-eval-ita {' '.join(arguments)}: exit code {code}")
    return printed.getvalue()


def evaluated(options: argparse.Namespace, steps: Steps, name: str, model: str) -> None:
    def evaluate() -> dict[str, float]:
        for task, limit in zip(TASKS, options.limits, strict=True):
            arguments = ["run", "--model", "hf-packed", "--model_args", f"pretrained={model},dtype=float32"]
            arguments += ["--tasks", task, "--limit", str(limit), "--batch_size", "8", "--device", options.device]
            command(*arguments, "--output", str(steps.work / "eval" / name / task), "--offline")
        scores = {}
        for path in (steps.work / "eval" / name).glob("*/*/results_*.json"):
            for task, figures in json.loads(path.read_text("utf-8"))["results"].items():
                scores[task] = figures["score,none"]
        return scores

    steps.take(f"evaluated {name}", evaluate)


def compared(steps: Steps, first: str, second: str) -> None:
    def compare() -> list[str]:
        folders = [[str(steps.work / "eval" / name / task) for name in (first, second)] for task in TASKS]
        return [command("compare", *pair).strip().splitlines()[-1] for pair in folders]

    print(f"{first} against {second}:", *steps.take(f"compared {first} {second}", compare), sep="\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--vocab-size", type=int, default=16_000)
    parser.add_argument(
        "--shares", type=float, nargs="+", default=[1.0, 0.6, 0.3, 0.15], help="of aligned text, to choose from"
    )
    parser.add_argument("--tokens", type=int, default=16_384, help="to train on, each way; default: %(default)s")
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--batch", type=int, default=4, help="sequences of a step; default: %(default)s")
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--looks", type=int, default=4, help="at the held-out text in training; default: %(default)s")
    parser.add_argument("--sentences", type=int, default=200, help="held-out ones; default: %(default)s")
    parser.add_argument("--limits", type=int, nargs=3, default=(300, 100, 40), help=f"rows of {', '.join(TASKS)}")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if "LM_EVAL_ITA_DATA" not in os.environ:
        sys.exit("set LM_EVAL_ITA_DATA to a folder with parallel_en_it and the data sets")
    data = Path(os.environ["LM_EVAL_ITA_DATA"]) / "parallel_en_it"
    start = time.perf_counter()
    steps = Steps(options.work)
    held, choose_on = texts(data, steps, options.sentences)
    source, target, mapping = mapped(options, data, steps, choose_on)
    steps.take("step 0", lambda: [vars(m) for m in measure_conversions(options.model, source, target, mapping, held)])

    def convert_by(init: Any) -> Path:
        return converted(options, steps, source, target, mapping, init)

    trained(options, steps, convert_by, held)
    steps.take("after training", lambda: after_training(options, steps, held))
    evaluated(options, steps, "original", options.model)
    evaluated(options, steps, "adapted", str(steps.work / "mapping" / "adapted" / "model"))
    compared(steps, "original", "adapted")
    evaluated(options, steps, "converted", str(convert_by("mapping")))
    compared(steps, "converted", "adapted")
    print(json.dumps({"machine": machine(), "minutes": round((time.perf_counter() - start) / 60, 1)}))


if __name__ == "__main__":
    main()

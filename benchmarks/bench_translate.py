"""Translation: sentences a second by batch size, against one sentence at a time.

    python benchmarks/bench_translate.py FILE [--model FOLDER] [--sentences N] [--batch N ...] [--device DEVICE]

FILE holds English sentences, one a line; those of middle length are taken, sorted by length as a run sorts them. The
model is the demonstration's (Gemma 3 270M, by four examples), unless one is named.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from _bench import machine, seconds, show

from lm_eval_ita.run.demo_model import demo_model
from lm_eval_ita.translate.translators import Options, Translator, make_translator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 4, 16, 32])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--device")
    options = parser.parse_args()
    lines = sorted(
        filter(None, options.file.read_text(encoding="utf-8").split("\n")), key=lambda text: (-len(text), text)
    )
    middle = max(0, (len(lines) - options.sentences) // 2)
    texts = lines[middle : middle + options.sentences]
    model = options.model or str(demo_model())
    translator = make_translator(Options(model, dtype=options.dtype, device=options.device))
    translator.translate(texts[-1:])  # warm
    rates = {size: len(texts) / seconds(lambda size=size: _all(translator, texts, size)) for size in options.batch}
    first = rates[options.batch[0]]
    rows = [
        {"batch": str(size), "sentences/s": f"{rate:.3f}", f"against {options.batch[0]}": f"{rate / first:.2f}"}
        for size, rate in rates.items()
    ]
    characters = sum(map(len, texts)) / len(texts)
    title = f"{Path(model).name}: {len(texts)} sentences of {characters:.0f} characters, {machine()['processor']}"
    show(title, rows, {"model": model, "sentences_per_second": rates})


def _all(translator: Translator, texts: list[str], size: int) -> None:
    for start in range(0, len(texts), size):
        translator.translate(texts[start : start + size])


if __name__ == "__main__":
    main()

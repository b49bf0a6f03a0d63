"""`lm-eval-ita tweety`: a model adapted to Italian by swapping its tokenizer, in five steps."""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.grid import Grid, plain
from lm_eval_ita.tweety.mapping import DEFAULT_SHARE

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand and its steps."""
    parser = subparsers.add_parser(
        "tweety",
        help="adapt a model to Italian: another tokenizer, embeddings from aligned text, further training",
        description="Steps, in order: tokenizer, map, convert, adapt; report compares (docs/tweety.md).",
    )
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    _add_tokenizer(steps.add_parser("tokenizer", help="train a tokenizer on Italian text"))
    _add_map(steps.add_parser("map", help="find which of the model's tokens each new token is made of"))
    _add_convert(
        steps.add_parser("convert", help="build the new embeddings, and save the model with the new tokenizer")
    )
    _add_adapt(steps.add_parser("adapt", help="train the converted model on Italian text"))
    _add_report(steps.add_parser("report", help="tokens per word and bits per character, against four baselines"))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Take one step."""
    return int(options.take(options))


def _corpus_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpus",
        nargs="+",
        required=True,
        metavar="SOURCE",
        help="files or folders (text: a document a line; .jsonl, .parquet, .gz), or hub:ORG/NAME[:CONFIG][@SPLIT]",
    )
    parser.add_argument("--field", default="text", help="the text's field in records; default: %(default)s")


def _add_tokenizer(parser: argparse.ArgumentParser) -> None:
    _corpus_options(parser)
    parser.add_argument(
        "--like", required=True, metavar="MODEL", help="its special tokens and chat template are taken over"
    )
    parser.add_argument("--vocab-size", type=_positive, default=32_000, metavar="N", help="default: %(default)s")
    parser.add_argument("--kind", choices=("bpe", "unigram"), default="bpe", help="default: %(default)s")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.set_defaults(take=_tokenizer)


def _tokenizer(options: argparse.Namespace) -> int:
    from lm_eval_ita.tweety.convert import load_tokenizer
    from lm_eval_ita.tweety.corpus import documents
    from lm_eval_ita.tweety.train_tokenizer import train

    texts = documents(options.corpus, options.field)
    made = train(texts, load_tokenizer(options.like), options.vocab_size, options.kind, out=options.out)
    print(f"{len(made)} tokens: {options.out}")
    return 0


def _add_map(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, metavar="MODEL")
    parser.add_argument("--target", required=True, metavar="TOKENIZER", help="the new tokenizer's folder")
    parser.add_argument(
        "--parallel",
        nargs=2,
        type=Path,
        action="append",
        required=True,
        metavar=("EN", "IT"),
        help="two files whose lines translate each other; may be given more than once",
    )
    parser.add_argument(
        "--share",
        type=_share,
        default=DEFAULT_SHARE,
        metavar="S",
        help="most of a token that is from aligned text (the paper's way is 1); default: %(default)s",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the mapping, JSON Lines")
    parser.set_defaults(take=_map)


def _map(options: argparse.Namespace) -> int:
    from lm_eval_ita.tweety.align_tokens import map_tokenizers
    from lm_eval_ita.tweety.convert import load_tokenizer
    from lm_eval_ita.tweety.mapping_file import Head, Mapping, write_mapping
    from lm_eval_ita.tweety.parallel import read_parallel

    text = read_parallel([(source, target) for source, target in options.parallel])
    source, target = load_tokenizer(options.source), load_tokenizer(options.target)
    if text.empty:
        print(f"{text.empty} pairs left out: a side is empty", file=sys.stderr)
    tokens = map_tokenizers(source, target, text.pairs, options.share)
    head = Head(
        schema_version=1,
        source=options.source,
        source_tokens=len(source),
        target=options.target,
        target_tokens=len(target),
        pairs=len(text.pairs),
        empty_pairs=text.empty,
        share=options.share,
    )
    write_mapping(options.out, Mapping(head, tuple(tokens)), target, source)
    used: Counter[int] = Counter()
    for _, italian in text.pairs:
        used.update(target(italian, add_special_tokens=False)["input_ids"])
    print(plain(_coverage_grid(tokens, used)))
    return 0


_HOW = {
    "special": "special token of the model",
    "same": "same string in the model",
    "aligned": "aligned text",
    "pieces": "mean of its pieces",
    "none": "nothing: mean of all embeddings",
}


def _coverage_grid(tokens: Any, used: Counter[int]) -> Grid:
    from lm_eval_ita.tweety.mapping_file import coverage

    rows = tuple(
        (_HOW[how], f"{found['tokens']:.0f}", f"{found['share']:.1%}", f"{found['running']:.1%}")
        for how, found in coverage(tokens, used).items()
    )
    header = ("New tokens made from", "Tokens", "Of all", "Of the Italian side's text")
    return Grid("Coverage", header, rows, (), left=1)


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mapping", type=Path, required=True, metavar="FILE", help="of `lm-eval-ita tweety map`")
    parser.add_argument("--source", metavar="MODEL", help="default: the mapping's")
    parser.add_argument("--target", metavar="TOKENIZER", help="default: the mapping's")
    parser.add_argument(
        "--init", choices=("mapping", "pieces", "mean", "random"), default="mapping", help="others are baselines"
    )
    parser.add_argument(
        "--pad-to-multiple", type=_positive, default=64, metavar="N", help="of rows; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, help="of --init random; default: %(default)s")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.set_defaults(take=_convert)


def _convert(options: argparse.Namespace) -> int:
    from lm_eval_ita.tweety.convert import convert, load_tokenizer
    from lm_eval_ita.tweety.mapping_file import read_mapping
    from lm_eval_ita.tweety.report import pieces_only

    mapping = read_mapping(options.mapping)
    source, target = options.source or mapping.head.source, load_tokenizer(options.target or mapping.head.target)
    tokens = pieces_only(load_tokenizer(source), target) if options.init == "pieces" else mapping.tokens
    convert(
        source,
        target,
        tokens,
        options.out,
        init=options.init,
        multiple=options.pad_to_multiple,
        seed=options.seed,
    )
    print(f"{len(target)} tokens: {options.out}")
    return 0


def _add_adapt(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, metavar="DIR", help="of `lm-eval-ita tweety convert`")
    _corpus_options(parser)
    parser.add_argument("--tokens", type=_positive, required=True, metavar="N", help="to train on")
    parser.add_argument("--held-out", type=Path, required=True, metavar="FILE", help="text that is not in the corpus")
    parser.add_argument("--length", type=_positive, default=1024, help="tokens of a sequence; default: %(default)s")
    parser.add_argument("--batch", type=_positive, default=64, help="sequences of a step, in all; default: %(default)s")
    parser.add_argument("--per-device", type=_positive, default=1, help="of them at a time; default: %(default)s")
    parser.add_argument("--rate", type=float, default=2e-5, help="highest learning rate; default: %(default)s")
    parser.add_argument(
        "--every", type=_positive, default=500, help="steps between held-out bits; default: %(default)s"
    )
    parser.add_argument(
        "--save-every", type=_positive, default=500, help="steps between checkpoints; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the order; default: %(default)s")
    parser.add_argument(
        "--keep-contaminated", action="store_true", help="do not drop documents that hold test rows of ItaEval"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.set_defaults(take=_adapt)


def _adapt(options: argparse.Namespace) -> int:
    from lm_eval_ita.tweety.adapt import Settings, adapt

    settings = Settings(
        model=options.model,
        corpus=tuple(options.corpus),
        field=options.field,
        tokens=options.tokens,
        length=options.length,
        batch=options.batch,
        rate=options.rate,
        decontaminate=not options.keep_contaminated,
        seed=options.seed,
    )
    made = adapt(
        settings,
        options.out,
        _held_out(options.held_out),
        every=options.every,
        save_every=options.save_every,
        per_device=options.per_device,
        tell=_tell,
    )
    print(made)
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mapping", type=Path, required=True, metavar="FILE")
    parser.add_argument("--source", metavar="MODEL", help="default: the mapping's")
    parser.add_argument("--target", metavar="TOKENIZER", help="default: the mapping's")
    parser.add_argument("--held-out", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--adapted", type=Path, nargs="+", default=[], metavar="DIR", help="of `lm-eval-ita tweety adapt`"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(take=_report)


def _report(options: argparse.Namespace) -> int:
    from lm_eval_ita.tweety.convert import load_tokenizer
    from lm_eval_ita.tweety.mapping_file import read_mapping
    from lm_eval_ita.tweety.report import measure_conversions, read_curve, report_grid

    mapping = read_mapping(options.mapping)
    curves = [read_curve(folder) for folder in options.adapted]
    texts = _held_out(options.held_out)
    name = options.source or mapping.head.source
    source, target = load_tokenizer(name), load_tokenizer(options.target or mapping.head.target)
    measured = measure_conversions(name, source, target, mapping.tokens, texts)
    if options.json:
        content = {"schema_version": 1, "measured": [vars(m) for m in measured], "curves": [vars(c) for c in curves]}
        print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        print(plain(report_grid(measured, curves)))
    return 0


def _held_out(path: Path) -> list[str]:
    from lm_eval_ita.tweety.corpus import documents

    texts = list(documents([str(path)]))
    if not texts:
        raise UserError("holds no text", file=path)
    return texts


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{value} is not between 0 and 1")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not 1 or more")
    return value

"""The options of `lm-eval-ita translate`, `translate audit` and `translate merge`."""

import argparse
from pathlib import Path
from typing import Any

__all__ = ["add_parsers"]


class _Parser(argparse.ArgumentParser):
    """A parser whose first word is a command of its own, or else the data that is translated."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse."""
        given = list(args or ())
        if not given or given[0] not in ("audit", "merge", "data", "-h", "--help"):
            given = ["data", *given]
        return super().parse_known_args(given, namespace)


def add_parsers(subparsers: Any) -> dict[str, argparse.ArgumentParser]:
    """Add the subcommand; returns the parsers of its three parts by name."""
    parser = subparsers.add_parser(
        "translate",
        help="translate a data set into Italian, and check translations",
        description="Splits texts into sentences, translates each different one once, joins them with the original "
        "separators, and checks every row. The same command goes on after a kill. "
        "`translate audit` checks an Italian data set, `translate merge` takes over what a person mended.",
        usage="lm-eval-ita translate DATA --fields PATH[,...] --to FILE --model MODEL [...]\n"
        "       lm-eval-ita translate audit --key KEY [...]\n"
        "       lm-eval-ita translate merge FILE --review FILE [...]",
    )
    # argparse makes it of the class of the parser above it, and asks no one which one is wanted.
    parser.__class__ = _Parser
    parts = parser.add_subparsers(
        dest="part", required=True, metavar="DATA|audit|merge", parser_class=argparse.ArgumentParser
    )
    data = parts.add_parser("data", help="what DATA alone does", prog="lm-eval-ita translate")
    _add_data(data)
    audit = parts.add_parser("audit", help="check an Italian data set")
    _add_audit(audit)
    merge = parts.add_parser("merge", help="take over what a person mended in the review file")
    merge.add_argument("file", type=Path, metavar="FILE", help="the translated file")
    merge.add_argument(
        "--review", type=Path, required=True, metavar="FILE", help="its review file, column `edited` filled"
    )
    merge.add_argument("--to", type=Path, metavar="FILE", help="where the result goes (default: into FILE)")
    return {"data": data, "audit": audit, "merge": merge}


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA", help="a JSONL, CSV, TSV or Parquet file, or OWNER/NAME on the Hub")
    parser.add_argument(
        "--fields", required=True, nargs="+", metavar="PATH[,...]", help="texts by path, as question choices.text[]"
    )
    parser.add_argument("--to", type=Path, required=True, metavar="FILE.jsonl", help="the translated file")
    parser.add_argument("--model", required=True, metavar="MODEL", help="Hub id, folder, or a server's name for it")
    parser.add_argument("--backend", choices=("hf", "vllm", "openai"), default="hf", help="default: %(default)s")
    parser.add_argument("--splitter", choices=("stanza", "rule"), default="stanza", help="default: %(default)s")
    parser.add_argument("--from", dest="prepared", type=Path, metavar="DIR", help="a folder of `prepare`")
    hub = parser.add_argument_group("data of the Hub")
    hub.add_argument("--config", metavar="NAME")
    hub.add_argument("--split", metavar="NAME")
    how = parser.add_argument_group("the model")
    how.add_argument("--prompt", choices=("tower", "instruct", "fewshot"), help="default: the one that fits the model")
    how.add_argument("--batch-size", type=_count, default=16, metavar="N", help="sentences (default: %(default)s)")
    how.add_argument("--max-new-tokens", type=_count, default=256, metavar="N", help="default: %(default)s")
    how.add_argument("--beams", type=_count, default=1, metavar="N", help="of sequence-to-sequence models; 1 is greedy")
    how.add_argument("--dtype", default="auto", metavar="TYPE", help="float32, bfloat16, ... (default: the model's)")
    how.add_argument("--device", metavar="NAME", help="default: the GPU where there is one")
    how.add_argument("--no-mask", action="store_true", help="leave protected parts in what the model sees")
    server = parser.add_argument_group("a server (--backend openai)")
    server.add_argument("--base-url", metavar="URL", help="as http://localhost:8000/v1; key in OPENAI_API_KEY")
    server.add_argument(
        "--concurrency", type=_count, default=8, metavar="N", help="requests at a time (default: %(default)s)"
    )
    server.add_argument(
        "--timeout", type=_seconds, default=120.0, metavar="SECONDS", help="for one answer (default: %(default)s)"
    )
    server.add_argument(
        "--patience",
        type=_seconds,
        default=1800.0,
        metavar="SECONDS",
        help="of failures before it stops (default: %(default)s)",
    )
    checks = parser.add_argument_group("checks")
    checks.add_argument("--fix", action="store_true", help="translate flagged rows again with other settings")
    checks.add_argument("--back-translate", metavar="MODEL", help="check by translating back with this model")
    checks.add_argument("--published", metavar="FILE", help="a published translation to compare with")
    _add_layout(checks)


def _add_layout(parser: Any) -> None:
    parser.add_argument("--question", metavar="PATH", help="which field is the question (default: by its name)")
    parser.add_argument("--options", nargs="+", metavar="PATH", help="which lists are options (default: all lists)")


def _add_audit(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--key", metavar="KEY", help="a data set of the catalogue (`lm-eval-ita data list`)")
    what.add_argument("--data", metavar="FILE", help="a file of Italian rows")
    parser.add_argument("--split", metavar="NAME", help="default: the one that its tasks evaluate")
    parser.add_argument("--fields", nargs="+", metavar="PATH[,...]", help="needed where the key's are not known")
    parser.add_argument(
        "--source", metavar="FILE", help="the original rows, with the same ids, for checks against them"
    )
    parser.add_argument("--examples", type=_count, default=3, metavar="N", help="of each kind (default: %(default)s)")
    parser.add_argument(
        "--kinds", nargs="+", metavar="KIND", help="flags that leave a row out (default: the severe ones)"
    )
    parser.add_argument("--to", type=Path, metavar="FILE.json", help="rows that `summary --exclude` leaves out")
    _add_layout(parser)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return value

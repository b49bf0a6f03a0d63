"""`lm-eval-ita run`: evaluate a model, so that it can be killed at any moment and go on."""

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lm_eval_ita._quiet import quiet_bars
from lm_eval_ita.errors import UserError

if TYPE_CHECKING:
    from lm_eval_ita.run.progress import Reporter
    from lm_eval_ita.run.settings import Seeds, Settings

__all__ = ["add_parser", "run"]

_DEFAULT_SEEDS = (0, 1234, 1234, 1234)
_OFFLINE = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE")


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "run",
        help="evaluate a model; a run that was killed goes on where it was",
        description="The options of `lm_eval run`, on our tasks. Each run has its own folder in --output, named by "
        "model and settings; the same command again skips what is done there. Exit codes: 0; 1 a task failed, or the "
        "disk or the memory is full; 2 bad usage, or data, a scorer or the model is missing; 143 SIGTERM, after the "
        "answers in hand were saved.",
    )
    _add_harness_options(parser)
    own = parser.add_argument_group("the run")
    own.add_argument("--output", "-o", type=Path, default=Path("results"), metavar="DIR", help="default: %(default)s")
    own.add_argument(
        "--resume",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="go on with what an earlier run of the same settings left (default), or set it aside and start anew",
    )
    own.add_argument(
        "--plan",
        action="store_true",
        help="only show what would be run: rows, requests, tokens, data and scorers, and the time from a short probe",
    )
    own.add_argument("--offline", action="store_true", help="use what is on this machine, whatever happens")
    own.add_argument(
        "--from",
        type=Path,
        dest="prepared",
        metavar="DIR",
        help="a folder of `lm-eval-ita prepare`, and nothing else; means --offline",
    )
    own.add_argument("--json-log", metavar="FILE", help="one JSON object a line and event; - for standard output")
    parser.set_defaults(run=run)


def _add_harness_options(parser: argparse.ArgumentParser) -> None:
    model = parser.add_argument_group("model and tasks, as in lm_eval")
    model.add_argument("--model", "-M", default="hf", metavar="TYPE", help="default: %(default)s")
    model.add_argument("--model_args", "-a", nargs="+", default=[], metavar="KEY=VALUE")
    model.add_argument("--tasks", "-t", nargs="+", required=True, metavar="NAME", help="tasks, groups, patterns with *")
    model.add_argument("--include_path", metavar="DIR", help="a folder with more task files")
    model.add_argument("--num_fewshot", "-f", type=int, metavar="N")
    model.add_argument("--limit", "-L", type=_limit, metavar="N", help="documents a task, or a share below 1")
    model.add_argument(
        "--batch_size",
        "-b",
        type=_batch_size,
        metavar="N",
        help="N, auto or auto:N; default: 1, auto for vllm and sglang",
    )
    model.add_argument("--max_batch_size", type=int, metavar="N")
    model.add_argument("--device", default="cuda:0", metavar="DEVICE", help="the CPU where there is no such device")
    model.add_argument("--trust_remote_code", action="store_true")
    prompt = parser.add_argument_group("prompts and generation, as in lm_eval")
    prompt.add_argument("--apply_chat_template", nargs="?", const=True, default=False, metavar="NAME")
    prompt.add_argument("--fewshot_as_multiturn", nargs="?", type=_truth, const=True, default=None, metavar="BOOL")
    prompt.add_argument("--system_instruction", metavar="TEXT")
    prompt.add_argument("--gen_kwargs", nargs="+", default=[], metavar="KEY=VALUE")
    prompt.add_argument("--seed", type=_seeds, default=_DEFAULT_SEEDS, metavar="PYTHON,NUMPY,TORCH,FEWSHOT")
    prompt.add_argument("--metadata", nargs="+", default=[], metavar="JSON")
    prompt.add_argument("--log_samples", "-s", action=argparse.BooleanOptionalAction, default=True)


def run(options: argparse.Namespace) -> int:
    """Run, or go on."""
    _quiet_libraries(options.model, offline=options.offline or options.prepared is not None)
    if options.prepared is not None:
        options.prepared = options.prepared.expanduser()
        _take_from(options.prepared)
    settings = _settings(options)
    # Only now, with the environment set, may the harness and its libraries be imported.
    from lm_eval_ita.run.failures import RunFailedError, StoppedError
    from lm_eval_ita.run.runner import run as run_tasks

    leads = os.environ.get("RANK", "0") == "0"
    with _reporter(options.json_log, leads=leads) as reporter:
        try:
            if options.prepared is not None:
                from lm_eval_ita.run.prepared import use_prepared

                settings = use_prepared(settings, options.prepared, reporter)
            if options.plan:
                return _plan(settings, options.output, reporter)
            return run_tasks(settings, options.output, resume=options.resume, reporter=reporter)
        except UserError:
            if leads:
                raise
            return 2
        except RunFailedError as error:
            if leads:
                reporter.stopped(str(error))
            return 1
        except StoppedError:
            reporter.stopped("SIGTERM")
            return 143
        except KeyboardInterrupt:
            reporter.stopped("interrupted")
            return 130


def _plan(settings: "Settings", output: Path, reporter: "Reporter") -> int:
    """Show the plan; 2 where something is missing."""
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise UserError("--plan runs in one process: leave out accelerate launch")
    from lm_eval_ita.cli._plan import plan_text
    from lm_eval_ita.run.harness_log import harness_log
    from lm_eval_ita.run.plan import make_plan

    with harness_log(None):
        plan = make_plan(settings, output)
    reporter.planned(plan_text(plan), plan)
    return 2 if plan.missing else 0


def _quiet_libraries(model: str, *, offline: bool) -> None:
    quiet_bars(model)
    if offline:
        os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    warnings.filterwarnings("ignore", module="transformers|torch")


def _take_from(folder: Path) -> None:
    """Point the libraries at a prepared folder: they read these variables when they are imported."""
    os.environ["HF_HUB_CACHE"] = str(folder.absolute() / "hub")
    os.environ["LM_EVAL_ITA_DATA"] = str(folder.absolute() / "data")
    os.environ.pop("TRANSFORMERS_CACHE", None)  # it goes before HF_HUB_CACHE in transformers 4


@contextmanager
def _reporter(json_log: str | None, *, leads: bool) -> Iterator["Reporter"]:
    from rich.console import Console

    from lm_eval_ita.run.progress import Reporter

    if not leads:
        yield Reporter()
        return
    # Programs read standard output then, and people the other one.
    console = Console(stderr=json_log == "-")
    with _json_log(json_log) as file:
        yield Reporter(console, file)


@contextmanager
def _json_log(name: str | None) -> Iterator[TextIO | None]:
    if name is None or name == "-":
        yield None if name is None else sys.stdout
        return
    try:
        file = Path(name).open("a", encoding="utf-8")  # noqa: SIM115  # entered below
    except OSError as error:
        raise UserError(f"cannot be written: {error.strerror or error}", file=name) from error
    with file:
        yield file


def _settings(options: argparse.Namespace) -> "Settings":
    from lm_eval_ita.run.backends import default_batch_size
    from lm_eval_ita.run.settings import Settings

    chat, multiturn = options.apply_chat_template, options.fewshot_as_multiturn
    if multiturn and not chat:
        raise UserError("--fewshot_as_multiturn needs --apply_chat_template")
    model_args = _pairs("--model_args", options.model_args)
    if options.trust_remote_code:
        model_args["trust_remote_code"] = True
    return Settings(
        tasks=tuple(name for part in options.tasks for name in part.split(",") if name),
        model=options.model,
        model_args=model_args,
        num_fewshot=options.num_fewshot,
        batch_size=options.batch_size or default_batch_size(options.model),
        max_batch_size=options.max_batch_size,
        device=options.device,
        limit=options.limit,
        apply_chat_template=chat,
        # As in the harness: examples are turns wherever a template is applied, unless it is forbidden.
        fewshot_as_multiturn=(True if chat else None) if multiturn is None else multiturn,
        system_instruction=options.system_instruction,
        gen_kwargs=_pairs("--gen_kwargs", options.gen_kwargs),
        seeds=options.seed,
        metadata=_pairs("--metadata", options.metadata),
        include_path=options.include_path,
        log_samples=options.log_samples,
    )


def _pairs(option: str, parts: list[str]) -> dict[str, Any]:
    """`key=value` pairs or a JSON object, read as the harness reads them."""
    from lm_eval._cli.utils import key_val_to_dict, try_parse_json

    found: dict[str, Any] = {}
    for part in parts:
        try:
            value = try_parse_json(part)
            found.update(value if isinstance(value, Mapping) else key_val_to_dict(part))
        except ValueError as error:
            raise UserError(f"{option}: {error}") from error
    return found


def _limit(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _batch_size(text: str) -> str:
    name, _, searches = text.partition(":")
    number = (searches or "1") if name == "auto" else text
    if not number.isdecimal() or int(number) < 1:
        raise argparse.ArgumentTypeError(f"{text} is neither a number from 1, nor auto, nor auto:N")
    return text


def _truth(text: str) -> bool:
    return text.lower() in ("true", "1", "yes")


def _seeds(text: str) -> "Seeds":
    parts = [None if part.strip().lower() == "none" else int(part) for part in text.split(",")]
    if len(parts) == 1:
        parts *= 4
    if len(parts) == 3:
        parts.append(_DEFAULT_SEEDS[3])
    if len(parts) != 4:
        raise argparse.ArgumentTypeError(f"{text} holds {len(parts)} seeds; give one, or four with commas")
    return (parts[0], parts[1], parts[2], parts[3])

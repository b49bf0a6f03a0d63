"""Checks of what a submission says about its model, its software and its run."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timezone

from lm_eval_ita.results.records import Hardware, ModelIdentity, RunRecord
from lm_eval_ita.results.submission_json import Problem
from lm_eval_ita.results.submission_records import ModelFacts, Submission

__all__ = ["COSTS", "MODEL_NAME", "SOURCE", "facts_problems", "run_problems"]

# Instead of the path of a results file: a submission has left its machine.
SOURCE = "submission"
# A Hub id, or a name of one part for a model that is not there.
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?")
COSTS = (
    "wall_seconds",
    "model_seconds",
    "requests",
    "tokens_in",
    "tokens_out",
    "cpu_joules",
    "gpu_joules",
    "peak_rss_bytes",
    "peak_gpu_bytes",
)
_AGAIN = "make the file again with `lm-eval-ita submit`"
_IN_YAML = "correct it in model.yaml and make the file again"
_LINK = re.compile(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~%+,;=:@/?&#-]*)?")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,39}(, [A-Za-z0-9][A-Za-z0-9.+_-]{0,39}){0,9}")
_SOFTWARE = ("lm_eval", "lm_eval_ita", "transformers", "torch", "python")
_SMALLEST, _LARGEST = 1_000, 100_000_000_000_000
_MOST = 1e18


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None and ".." not in text


_HEX = _matches(r"[0-9a-f]{64}")
_IDENTITY: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "name": (lambda text: MODEL_NAME.fullmatch(text) is not None and ".." not in text, "is no Hub id or simple name"),
    "backend": (_matches(r"[a-z0-9][a-z0-9_-]{0,39}"), "is no model type of the harness"),
    "revision": (_matches(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}"), "is no branch, tag or commit"),
    "sha": (_matches(r"[0-9a-f]{7,64}"), "is no commit"),
    "dtype": (_matches(r"[a-z0-9_]{1,20}"), "is no floating-point type"),
    "quantisation": (lambda text: len(text) <= 300, "has more than 300 characters"),
    "adapter": (lambda text: MODEL_NAME.fullmatch(text) is not None and ".." not in text, "is no Hub id or name"),
    "chat_template_sha": (_HEX, "is no SHA-256"),
    "system_instruction_sha": (_HEX, "is no SHA-256"),
}


def facts_problems(facts: ModelFacts) -> Iterator[Problem]:
    """What is wrong with the facts about the model."""
    for name, most in (("display_name", 80), ("organisation", 80), ("licence", 80), ("contamination", 1500)):
        text = getattr(facts, name)
        if text is None:
            continue
        if not 1 <= len(text.strip()) <= most or text != " ".join(text.split()):
            message = f"must be 1 to {most} characters, without spaces at its ends or two in a row"
            yield Problem(f"facts.{name}", message, _IN_YAML)
    if re.match(r"[/~.\\]", facts.display_name) or "\\" in facts.display_name:
        yield Problem("facts.display_name", "looks like a path", _IN_YAML)
    if not _SMALLEST <= facts.parameters <= _LARGEST:
        message = f"is not between {_SMALLEST:,} and {_LARGEST:,}"
        yield Problem("facts.parameters", message, "give the number of parameters, such as 7000000000 or 7B")
    if not 1 <= len(facts.languages) <= 200 or len(set(facts.languages)) < len(facts.languages):
        yield Problem("facts.languages", "must be 1 to 200 different codes", _IN_YAML)
    for number, language in enumerate(facts.languages):
        if not _LANGUAGE.fullmatch(language):
            yield Problem(f"facts.languages.{number}", "is no ISO 639 code such as it or en", _IN_YAML)
    for name in ("link", "samples"):
        link = getattr(facts, name)
        if link is not None and (len(link) > 300 or not _LINK.fullmatch(link)):
            message = "is no plain https link (https://host.domain/path, at most 300 characters)"
            yield Problem(f"facts.{name}", message, "give the page's https address, or leave it out")


def run_problems(submission: Submission) -> Iterator[Problem]:
    """What is wrong with the run apart from its tasks."""
    run = submission.run
    yield from _model(run.model, submission.facts)
    yield from _software(run.software)
    yield from _hardware(run.hardware)
    if run.source.as_posix() != SOURCE:
        yield Problem("run.source", f"is not '{SOURCE}': a file's name says nothing here", _AGAIN)
    for field, moment in (("run.date", run.date), ("submitted", submission.submitted)):
        if moment is not None and (moment.utcoffset() != timezone.utc.utcoffset(None) or moment.year < 2020):
            yield Problem(field, "is no moment in UTC since 2020", _AGAIN)
    yield from _amounts(run, submission.cost)


def _model(model: ModelIdentity, facts: ModelFacts) -> Iterator[Problem]:
    for name, (is_right, message) in _IDENTITY.items():
        text = getattr(model, name)
        if text is not None and not is_right(text):
            yield Problem(f"run.model.{name}", message, _AGAIN)
    counted = model.parameters
    if counted is None:
        return
    if counted < 1:
        yield Problem("run.model.parameters", "is not above 0", _AGAIN)
    # Packed weights count several parameters as one, and an adapter brings its own.
    elif model.quantisation is None and not counted / 2 <= facts.parameters <= counted * 2:
        message = f"is {facts.parameters:,}, but the harness counted {counted:,}"
        yield Problem("facts.parameters", message, _IN_YAML)


def _software(software: Mapping[str, str]) -> Iterator[Problem]:
    if "lm_eval" not in software:
        yield Problem("run.software.lm_eval", "is missing", _AGAIN)
    for name, version in software.items():
        if name not in _SOFTWARE:
            yield Problem(f"run.software.{name[:40]}", f"is none of {', '.join(_SOFTWARE)}", _AGAIN)
        elif not _VERSION.fullmatch(version):
            yield Problem(f"run.software.{name}", "is no version", _AGAIN)


def _hardware(hardware: Hardware) -> Iterator[Problem]:
    for name in ("device", "gpu", "cpu", "platform"):
        text = getattr(hardware, name)
        if text is not None and len(text) > 300:
            yield Problem(f"run.hardware.{name}", "has more than 300 characters", _AGAIN)


def _amounts(run: RunRecord, cost: Mapping[str, float | None]) -> Iterator[Problem]:
    if run.batch_size is not None and len(run.batch_size) > 40:
        yield Problem("run.batch_size", "has more than 40 characters", _AGAIN)
    amounts: dict[str, float | None] = {"run.run_seconds": run.run_seconds}
    for name, amount in cost.items():
        if name in COSTS:
            amounts[f"cost.{name}"] = amount
        else:
            yield Problem(f"cost.{name[:40]}", f"is none of {', '.join(COSTS)}", _AGAIN)
    for field, amount in amounts.items():
        if amount is not None and not (math.isfinite(amount) and 0 <= amount <= _MOST):
            yield Problem(field, "is not between 0 and 1e18", _AGAIN)

"""What a run will ask for, before it asks: rows, requests, tokens, data, scorers, and the time from a short probe."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lm_eval_ita import catalogue
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.itaeval import SCORERS
from lm_eval_ita.metrics.scorers import scorers_skipped
from lm_eval_ita.run.backends import check_model_type, load_model
from lm_eval_ita.run.blocks import BatchSizes, documents
from lm_eval_ita.run.blockwise import ask_quietly
from lm_eval_ita.run.cost import Meter
from lm_eval_ita.run.folder import tasks_done
from lm_eval_ita.run.selection import select, task_manager
from lm_eval_ita.run.settings import Settings, folder_name, identity
from lm_eval_ita.run.tasks import build_requests, count_documents, load_task, set_seeds

__all__ = ["Plan", "TaskPlan", "make_plan"]

# Documents of a task that are looked at for its tokens.
_LOOKED_AT = 48
# A probe of one block is made for each kind of request, and for more tasks while there is time.
_PROBE_SECONDS = 20.0


@dataclass(frozen=True)
class TaskPlan:
    """One task of a plan; None where it is not known since the model was not loaded.

    Attributes:
        task: Its name.
        documents: Rows that will be evaluated.
        requests: Requests to the model.
        tokens_in: Tokens of all prompts and scored continuations, estimated from some documents.
        tokens_out: The most tokens that can be generated.
        data: Where each of its data sets comes from ("itacola: hub_cache").
        scorer: The scorer model that it needs and whether it is there; None for none.
        done: Whether the run's folder holds it already: then nothing will be asked.
        missing: Why it cannot be run; None where it can.
        seconds: Expected time of its requests.
        probed: Whether that time was measured on the task itself, not on others of its kind.
    """

    task: str
    documents: int = 0
    requests: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    data: tuple[str, ...] = ()
    scorer: str | None = None
    done: bool = False
    missing: str | None = None
    seconds: float | None = None
    probed: bool = False


@dataclass(frozen=True)
class Plan:
    """A whole run.

    Attributes:
        folder: Where it will be saved.
        tasks: In the run's order.
        load_seconds: Time to load the model; None where it was not loaded.
    """

    folder: Path
    tasks: tuple[TaskPlan, ...]
    load_seconds: float | None

    @property
    def missing(self) -> tuple[TaskPlan, ...]:
        """Tasks that cannot be run."""
        return tuple(task for task in self.tasks if task.missing is not None)

    @property
    def seconds(self) -> float | None:
        """Expected time of the whole run, loading included, scorer models not."""
        times = [task.seconds for task in self.tasks if not task.done]
        if self.load_seconds is None or None in times:
            return None
        return self.load_seconds + sum(seconds for seconds in times if seconds is not None)


@dataclass(frozen=True)
class _Look:
    """Some documents of a task, evenly spread over it.

    Attributes:
        kind: Of its requests.
        requests: Theirs.
        share: How many times as many documents the task has.
        build_seconds: What it took to build their prompts.
    """

    kind: str
    requests: Sequence[Any]
    share: float
    build_seconds: float


def make_plan(settings: Settings, output: Path) -> Plan:
    """Look at everything that a run needs; load the model and probe it only if nothing is missing.

    Raises:
        UserError: An option is wrong, or the model cannot be loaded.
        RunFailedError: It does not fit into memory.
    """
    check_model_type(settings.model)
    manager = task_manager(settings)
    selection = select(settings, manager)
    content = identity(settings, selection.tasks)
    folder = output.expanduser() / folder_name(settings, content)
    done = tasks_done(folder, selection.tasks)
    built: dict[str, Any] = {}
    plans: dict[str, TaskPlan] = {}
    for name in selection.tasks:
        plans[name] = _needs(settings, name, manager, built, done=name in done)
    pending = [name for name in built if name not in done]
    if not pending or any(plan.missing for plan in plans.values()):
        return Plan(folder, tuple(plans.values()), None)
    started = time.perf_counter()
    lm = load_model(settings)
    loading = time.perf_counter() - started
    looks = {name: _look(settings, built[name], lm) for name in pending}
    meter = Meter(lm)
    plans |= {name: _with_tokens(plans[name], look, meter, lm) for name, look in looks.items()}
    plans |= _with_times({name: plans[name] for name in pending}, looks, lm, settings)
    return Plan(folder, tuple(plans.values()), loading)


def _needs(settings: Settings, name: str, manager: Any, built: dict[str, Any], *, done: bool) -> TaskPlan:
    card = (manager.task_index[name].cfg or {}).get("metadata")
    card = card if isinstance(card, Mapping) else {}
    plan = TaskPlan(name, data=_data(card, settings), scorer=_scorer(card), done=done)
    try:
        task = load_task(manager, name, settings)
    except UserError as error:
        return replace(plan, missing=str(error))
    built[name] = task
    count = count_documents(task, settings)
    return replace(plan, documents=count, requests=_requests(task, count))


def _data(card: Mapping[str, Any], settings: Settings) -> tuple[str, ...]:
    named = card.get("dataset")
    keys = [named] if isinstance(named, str) else list(named or [])
    data_dir = settings.metadata.get("data_dir")
    known = catalogue.keys()
    found = []
    for key in keys:
        if key not in known:
            continue  # ItaP-AT's prompts are built, and the user's own tasks bring their data
        try:
            origin, where = catalogue.locate(key, data_dir if isinstance(data_dir, str) else None)
        except UserError as error:
            origin, where = None, str(error)
        found.append(f"{key}: {origin or f'missing ({where})'}")
    return tuple(found)


def _scorer(card: Mapping[str, Any]) -> str | None:
    scorer = SCORERS.get(str(card.get("primary_metric")))
    if scorer is None:
        return None
    return "skipped" if scorers_skipped() else scorer.name


def _requests(task: Any, count: int) -> int:
    if task.OUTPUT_TYPE != "multiple_choice":
        return count * int(task.config.repeats)
    return sum(len(task.doc_to_choice(task.eval_docs[position])) for position in range(count))


def _look(settings: Settings, task: Any, lm: Any) -> _Look:
    count = count_documents(task, settings)
    looked_at = min(count, _LOOKED_AT)
    positions = [count * number // looked_at for number in range(looked_at)]
    started = time.perf_counter()
    requests = build_requests(task, lm, settings, positions)
    seconds = time.perf_counter() - started
    return _Look(requests[0].request_type, requests, count / looked_at, seconds)


def _with_tokens(plan: TaskPlan, look: _Look, meter: Meter, lm: Any) -> TaskPlan:
    texts = ["".join(part for part in request.args if isinstance(part, str)) for request in look.requests]
    tokens = meter.count_tokens(texts)
    longest = sum(_max_new_tokens(request, lm) for request in look.requests) if look.kind == "generate_until" else 0
    known = None if tokens is None else round(tokens * look.share)
    return replace(plan, tokens_in=known, tokens_out=round(longest * look.share))


def _max_new_tokens(request: Any, lm: Any) -> int:
    return int(request.args[1].get("max_gen_toks", getattr(lm, "max_gen_toks", 256)))


def _with_times(
    plans: Mapping[str, TaskPlan], looks: Mapping[str, _Look], lm: Any, settings: Settings
) -> dict[str, TaskPlan]:
    """Probe the largest tasks first, one of each kind at least; the others go by the rate of their kind."""
    set_seeds(settings)
    batches = BatchSizes(lm, settings.batch_size)
    order = sorted(plans, key=lambda name: -_work(plans[name]))
    rates: dict[str, tuple[float, float]] = {}  # kind to (seconds, work)
    timed: dict[str, TaskPlan] = {}
    ends = time.perf_counter() + _PROBE_SECONDS
    for name in order:
        look = looks[name]
        if look.kind in rates and time.perf_counter() > ends:
            continue
        seconds, share = _probe(look, lm, batches, warm=not timed)
        build = look.build_seconds * look.share
        timed[name] = replace(plans[name], seconds=seconds * share + build, probed=True)
        before = rates.get(look.kind, (0.0, 0.0))
        rates[look.kind] = (before[0] + seconds * share, before[1] + _work(plans[name]))
    for name in order:
        if name not in timed:
            seconds, work = rates[looks[name].kind]
            build = looks[name].build_seconds * looks[name].share
            timed[name] = replace(plans[name], seconds=seconds / work * _work(plans[name]) + build)
    return timed


def _work(plan: TaskPlan) -> float:
    """What time goes with: tokens where they are known."""
    if plan.tokens_in is None:
        return float(plan.requests) or 1.0
    return float(plan.tokens_in + (plan.tokens_out or 0)) or 1.0


def _probe(look: _Look, lm: Any, batches: BatchSizes, *, warm: bool) -> tuple[float, float]:
    """Time one block of documents of middling length; returns its seconds, and how many such blocks the task is."""
    ordered = documents(look.requests)
    sizes = _sizes(look, batches, ordered)
    size = min(sizes[0], len(ordered))
    first = (len(ordered) - size) // 2
    chosen = [look.requests[position] for document in ordered[first : first + size] for position in document]
    batches.use(look.kind, size)
    if warm:
        ask_quietly(lm, look.kind, chosen[:1])  # the first call of all pays for what is set up once
    started = time.perf_counter()
    ask_quietly(lm, look.kind, chosen)
    return time.perf_counter() - started, look.share * len(ordered) / size


def _sizes(look: _Look, batches: BatchSizes, ordered: list[list[int]]) -> list[int]:
    if batches.must_search(look.kind):
        return batches.search(look.kind, look.requests, ordered)
    return batches.known(look.kind)

"""One task through the harness: building it, evaluating it, and its results as they are saved."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lm_eval_ita.errors import UserError, one_line
from lm_eval_ita.run.blockwise import BlockwiseLM
from lm_eval_ita.run.settings import Settings

__all__ = ["build_requests", "count_documents", "evaluate_task", "load_task", "sample_lines", "set_seeds", "task_hash"]


def load_task(manager: Any, name: str, settings: Settings) -> Any:
    """Build a task with its data, and apply the run's settings as `lm_eval.simple_evaluate` does.

    Raises:
        UserError: Its data or its scorer cannot be had, or its file is wrong.
    """
    try:
        task = manager.load([name])["tasks"][name]
    except UserError:
        raise
    except Exception as error:
        # Not ours: the user's own task files may fail in any way.
        raise UserError(f"the task cannot be built ({type(error).__name__}): {one_line(error)}") from error
    if settings.gen_kwargs and task.get_config("output_type") == "generate_until":
        task.set_config(key="generation_kwargs", value=dict(settings.gen_kwargs), update=True)
    shots = task.get_config("num_fewshot")
    if shots is None:
        task.set_config(key="num_fewshot", value=settings.num_fewshot or 0)
    elif settings.num_fewshot is not None and shots != 0:  # a task that is zero-shot by design stays so
        task.set_config(key="num_fewshot", value=settings.num_fewshot)
    task.set_fewshot_seed(seed=settings.seeds[3])
    return task


def count_documents(task: Any, settings: Settings) -> int:
    """Documents that a run evaluates."""
    from lm_eval.evaluator_utils import get_sample_size

    total = len(task.eval_docs)
    limit = get_sample_size(task, settings.limit)
    return total if limit is None else min(limit, total)


def build_requests(task: Any, lm: Any, settings: Settings, positions: Sequence[int]) -> list[Any]:
    """The requests of some documents, as `evaluate_task` would make them."""
    chat = bool(settings.apply_chat_template)
    task.build_all_requests(
        samples=list(positions),
        system_instruction=settings.system_instruction,
        apply_chat_template=chat,
        fewshot_as_multiturn=bool(settings.fewshot_as_multiturn),
        chat_template=getattr(lm, "apply_chat_template", None) if chat else None,
        tokenizer_name=getattr(lm, "tokenizer_name", "") if chat else "",
    )
    return list(task.instances)


def set_seeds(settings: Settings) -> None:
    """Set the seeds before a task, so that it does not depend on the tasks before it."""
    import numpy as np
    from lm_eval.utils import set_torch_seed

    python, numpy, torch, _ = settings.seeds
    if python is not None:
        random.seed(python)
    if numpy is not None:
        np.random.seed(numpy)
    if torch is not None:
        set_torch_seed(torch)


def evaluate_task(lm: BlockwiseLM, name: str, task: Any, settings: Settings) -> dict[str, Any]:
    """Evaluate one task.

    Returns:
        The harness's results of this task alone, with samples where they are wanted.
    """
    from lm_eval.evaluator import evaluate

    set_seeds(settings)
    return dict(
        evaluate(
            lm=lm,
            task_dict={"tasks": {name: task}, "groups": {}},
            limit=settings.limit,
            log_samples=settings.log_samples,
            system_instruction=settings.system_instruction,
            apply_chat_template=settings.apply_chat_template,
            fewshot_as_multiturn=bool(settings.fewshot_as_multiturn),
        )
    )


def task_hash(samples: list[dict[str, Any]]) -> str:
    """The harness's hash over a task's documents, prompts and targets."""
    from lm_eval.utils import hash_string

    return str(hash_string("".join(row["doc_hash"] + row["prompt_hash"] + row["target_hash"] for row in samples)))


def sample_lines(samples: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of a file of samples, as `EvaluationTracker.save_results_samples` writes them.

    Ours, since that one logs a full disk and goes on.
    """
    for sample in samples:
        yield dump(_flat(sample)) + "\n"


def _flat(sample: Mapping[str, Any]) -> dict[str, Any]:
    from lm_eval.utils import sanitize_list

    arguments = {
        f"gen_args_{number}": {f"arg_{position}": part for position, part in enumerate(parts)}
        for number, parts in enumerate(sample["arguments"])
    }
    return {
        **sample,
        "resps": sanitize_list(sample["resps"]),
        "filtered_resps": sanitize_list(sample["filtered_resps"]),
        "arguments": arguments,
        "target": str(sample["target"]),
    }


def dump(value: Any, indent: int | None = None) -> str:
    """JSON as the harness writes it."""
    import json

    from lm_eval.utils import handle_non_serializable

    return json.dumps(value, indent=indent, default=handle_non_serializable, ensure_ascii=False)

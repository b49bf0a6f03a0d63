"""Models whose answers a function makes: the harness around them is real."""

from collections.abc import Callable
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from lm_eval_ita.harness.task_files import tasks_path

Answer = Callable[[Instance], Any]


class Scripted(LM):
    """Answers each request by a function of the request, which also knows its document."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer
        self.requests: list[Instance] = []

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        self.requests += requests
        return [str(self.answer(request)) for request in requests]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        self.requests += requests
        return [(float(self.answer(request)), False) for request in requests]

    def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> Any:
        raise AssertionError("no task of ours asks for this")


class Chat(Scripted):
    """The same with a chat template."""

    tokenizer_name = "scripted"

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        text = "".join(f"<{message['role']}>{message['content']}</>" for message in chat_history)
        return text + ("<assistant>" if add_generation_prompt else "")

    def chat_template(self, chat_template: Any = False) -> str:
        return "scripted"


def manager(metadata: dict[str, Any] | None = None) -> TaskManager:
    """Our tasks only."""
    return TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata=metadata)


def evaluate(
    model: Scripted, tasks: list[str], metadata: dict[str, Any] | None = None, **options: Any
) -> dict[str, Any]:
    """Run the harness."""
    options.setdefault("bootstrap_iters", 100)
    return dict(simple_evaluate(model, tasks=tasks, task_manager=manager(metadata), **options))


def oracle(request: Instance) -> Any:
    """The right answer to any ItaEval request."""
    doc = request.doc
    if request.request_type == "loglikelihood":
        truths = (
            [i for i, label in enumerate(doc["mc2_labels"]) if label == 1] if "mc2_labels" in doc else [doc["label"]]
        )
        return -1.0 if request.idx in truths else -1000.0
    for field in ("target", "answer", "neutral"):
        if field in doc:
            return doc[field]
    return "persona gentile"  # HONEST: nothing hurtful

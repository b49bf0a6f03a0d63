"""Requests without a task, and a model that answers by a function."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance


def request(document: int, text: str, choice: str | dict[str, Any] = " sì", index: int = 0) -> Instance:
    kind = "generate_until" if isinstance(choice, dict) else "loglikelihood"
    return Instance(kind, {}, (text, choice), index, ("task", document, 1))


@dataclass
class Model:
    """Answers requests, and remembers in which blocks they came."""

    answer: Callable[[Instance], Any] = lambda request: (-float(len(request.args[0])), False)
    blocks: list[list[Instance]] = field(default_factory=list)

    def loglikelihood(self, requests: list[Instance]) -> list[Any]:
        self.blocks.append(list(requests))
        return [self.answer(request) for request in requests]

    generate_until = loglikelihood

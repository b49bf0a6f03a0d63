"""How far two runs' log-probabilities of choices lie apart, task by task, from their logged samples.

    lm-eval-ita run --model hf --model_args pretrained=MODEL,dtype=float32 --limit 200 --tasks TASKS -o hf
    lm-eval-ita run --model hf-packed --model_args pretrained=MODEL,dtype=float32 --limit 200 --tasks TASKS -o packed
    python benchmarks/compare_choices.py --ours packed --reference hf

Requests are matched by prompt and choice, wherever the sample files lie in the folders. Exit code 1 if a summed
log-probability differs by more than --most, or any chosen answer or is_greedy flag.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from _bench import show

# Of one request: its log-probability, and whether it is what the model would say.
Answer = tuple[float, bool]
# Of one document: choice to answer, in order.
Document = dict[str, Answer]


def documents(folders: Iterable[Path]) -> Iterator[tuple[str, str, Document]]:
    """Task, prompt and answers of every multiple-choice document in the folders' sample files."""
    for folder in folders:
        for path in sorted(folder.rglob("samples_*.jsonl")):
            task = path.name.removeprefix("samples_").rpartition("_2")[0]
            for line in path.read_text(encoding="utf-8").splitlines():
                sample = json.loads(line)
                arguments = [sample["arguments"][f"gen_args_{i}"] for i in range(len(sample["arguments"]))]
                if isinstance(arguments[0].get("arg_1"), str):
                    answers = [_answer(response) for response in sample["resps"]]
                    choices = [argument["arg_1"] for argument in arguments]
                    yield task, arguments[0]["arg_0"], dict(zip(choices, answers, strict=True))


def _answer(response: Any) -> Answer:
    while len(response) == 1:
        (response,) = response
    return float(response[0]), str(response[1]) == "True"


def best(document: Document) -> str:
    return max(document, key=lambda choice: document[choice][0])


def compare(ours: Sequence[Path], reference: Sequence[Path]) -> list[dict[str, Any]]:
    """For each task: the documents that both have, the largest difference, and what differs otherwise."""
    known = {(task, prompt, tuple(document)): document for task, prompt, document in documents(reference)}
    found: dict[str, dict[str, Any]] = {}
    for task, prompt, mine in documents(ours):
        other = known.get((task, prompt, tuple(mine)))
        if other is None:
            continue
        each = found.setdefault(task, {"task": task, "documents": 0, "largest": 0.0, "choices": 0, "greedy": 0})
        each["documents"] += 1
        each["largest"] = max(each["largest"], *(abs(mine[choice][0] - other[choice][0]) for choice in mine))
        each["choices"] += best(mine) != best(other)
        each["greedy"] += sum(mine[choice][1] != other[choice][1] for choice in mine)
    return [found[task] for task in sorted(found)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", type=Path, nargs="+", required=True)
    parser.add_argument("--reference", type=Path, nargs="+", required=True)
    parser.add_argument("--most", type=float, default=1e-3)
    options = parser.parse_args()
    found = compare(options.ours, options.reference)
    if not found:
        sys.exit("the folders have no multiple-choice document in common")
    rows = [
        {
            "task": each["task"],
            "documents": str(each["documents"]),
            "largest difference": f"{each['largest']:.1e}",
            "other choices": str(each["choices"]),
            "other is_greedy": str(each["greedy"]),
        }
        for each in found
    ]
    show("summed log-probabilities of choices, ours and the reference's", rows, {"most": options.most, "tasks": found})
    sys.exit(any(each["largest"] > options.most or each["choices"] or each["greedy"] for each in found))


if __name__ == "__main__":
    main()

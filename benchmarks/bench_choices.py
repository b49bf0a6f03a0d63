"""Multiple choice: `hf-packed` against the harness's `hf`, on the same documents in turns.

    python benchmarks/bench_choices.py [--model FOLDER] [--tasks NAME ...] [--documents N] [--device DEVICE]

For each task: documents a second both ways and their ratio, the share of the machine's own arithmetic that hf-packed
turns into answers, peak memory, and how far the answers lie apart. The arithmetic: two operations for each parameter of
the layers and each different token of a document, two for each parameter of the output layer and each predicted
token, against a product of large matrices timed on the same machine. Real rows come from LM_EVAL_ITA_DATA; without it,
the sample rows serve, whose prompts are of about the same length. The model is the demonstration's (Gemma 3 270M),
unless one is named; `--random 8b` builds one of eight billion random weights and 262,144 tokens, for a GPU.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from _bench import show
from lm_eval.models.huggingface import HFLM

from lm_eval_ita.backend.encoding import encode_pairs
from lm_eval_ita.backend.packed import PackedLM
from lm_eval_ita.backend.tree import grow
from lm_eval_ita.run.demo_model import demo_model
from lm_eval_ita.run.selection import task_manager
from lm_eval_ita.run.settings import Settings
from lm_eval_ita.run.tasks import build_requests, count_documents, load_task

TASKS = ("itaeval_sentipolc", "itaeval_ironita_irony", "itaeval_arc_challenge", "itaeval_belebele")
# Ratios to reach with Gemma 3 270M in float32 on two cores.
GOALS = {"itaeval_sentipolc": 12.0, "itaeval_ironita_irony": 3.3, "itaeval_arc_challenge": 4.0, "itaeval_belebele": 3.3}
MIB = 2**20


@dataclass
class Side:
    """One way of scoring.

    Attributes:
        lm: The harness's model.
        seconds: Spent so far.
        peak: Largest memory, in bytes: of the GPU, or of the process.
        answers: To all requests so far.
    """

    lm: Any
    seconds: float = 0.0
    peak: int = 0
    answers: list[tuple[float, bool]] = field(default_factory=list)

    def ask(self, requests: Sequence[Any]) -> None:
        gc.collect()
        reset_peak(self.lm.device)
        start = time.perf_counter()
        found = self.lm.loglikelihood(list(requests), disable_tqdm=True)
        self.seconds += time.perf_counter() - start
        self.peak = max(self.peak, read_peak(self.lm.device))
        self.answers += found


def reset_peak(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    elif Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def read_peak(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    (line,) = (line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def requests_of(name: str, lm: Any, documents: int) -> list[list[Any]]:
    """Requests of a task's documents, evenly spread over it."""
    metadata = {} if os.environ.get("LM_EVAL_ITA_DATA") else {"data_dir": "sample"}
    settings = Settings(tasks=(name,), metadata=metadata)
    task = load_task(task_manager(settings), name, settings)
    total = count_documents(task, settings)
    chosen = [total * number // documents for number in range(documents)] if total > documents else range(total)
    by_document: dict[int, list[Any]] = {}
    for request in build_requests(task, lm, settings, list(chosen)):
        by_document.setdefault(request.doc_id, []).append(request)
    return list(by_document.values())


def operations(lm: Any, documents: Sequence[Sequence[Any]]) -> float:
    """Operations that the answers take at least, each document by itself."""
    head = lm.model.get_output_embeddings().weight.numel()
    body = sum(parameter.numel() for parameter in lm.model.get_decoder().parameters())
    body -= lm.model.get_input_embeddings().weight.numel()
    total = 0.0
    for requests in documents:
        encoded = encode_pairs(lm, [request.args for request in requests])
        choices = sorted((tuple((context + answer)[:-1]), len(answer)) for context, answer in encoded)
        tree, places = grow([text for text, _ in choices])
        predicted = {int(p) for place, (_, count) in zip(places, choices, strict=True) for p in place[-count:]}
        total += 2.0 * body * len(tree) + 2.0 * head * len(predicted)
    return total


def peak_operations(device: torch.device, dtype: torch.dtype) -> float:
    """Operations a second of a product of large matrices: what the machine can do."""
    size = 8192 if device.type == "cuda" else 1536
    first, second = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    best = float("inf")
    for _ in range(8):
        start = time.perf_counter()
        (first @ second)[0, 0].item()
        best = min(best, time.perf_counter() - start)
    return 2.0 * size**3 / best


def fastest_batch(hf: HFLM, documents: Sequence[Sequence[Any]], sizes: Sequence[int]) -> int:
    """The batch size at which `hf` is fastest, among some, on as many documents as fill the largest batch twice."""
    if len(sizes) == 1:
        return sizes[0]
    few = -(-2 * max(sizes) // len(documents[0]))
    requests = [request for document in documents[:few] for request in document]
    times = {}
    for size in sizes:
        hf.batch_size_per_gpu = size
        try:
            start = time.perf_counter()
            hf.loglikelihood(requests, disable_tqdm=True)
            times[size] = time.perf_counter() - start
        except torch.OutOfMemoryError:
            break
    return min(times, key=lambda size: times[size])


def measure(name: str, packed: PackedLM, hf: HFLM, documents: int, sizes: Sequence[int]) -> dict[str, Any]:
    """Both ways on one task, block by block in turns, so that a busy machine slows both alike."""
    asked = requests_of(name, hf, documents)
    block = packed.documents_per_block or 16
    warm_up = asked[0]
    for lm in (hf, packed):
        lm.loglikelihood(warm_up, disable_tqdm=True)
    hf.batch_size_per_gpu = fastest_batch(hf, asked, sizes)
    ours, theirs = Side(packed), Side(hf)
    # Longest documents first and blocks of the run's size, as `lm-eval-ita run` asks.
    asked.sort(key=lambda requests: -max(len(request.args[0]) for request in requests))
    for number, start in enumerate(range(0, len(asked), block)):
        requests = [request for document in asked[start : start + block] for request in document]
        for side in (ours, theirs) if number % 2 else (theirs, ours):
            side.ask(requests)
    pairs = list(zip(ours.answers, theirs.answers, strict=True))
    return {
        "task": name,
        "documents": len(asked),
        "hf_batch_size": hf.batch_size_per_gpu,
        "hf_documents_per_second": len(asked) / theirs.seconds,
        "packed_documents_per_second": len(asked) / ours.seconds,
        "ratio": theirs.seconds / ours.seconds,
        "operations_per_second": operations(hf, asked) / ours.seconds,
        "hf_peak_bytes": theirs.peak,
        "packed_peak_bytes": ours.peak,
        "largest_difference": max(abs(mine[0] - other[0]) for mine, other in pairs),
        "choices_equal": chosen(ours.answers, asked) == chosen(theirs.answers, asked),
        "is_greedy_equal": all(mine[1] == other[1] for mine, other in pairs),
    }


def chosen(answers: Sequence[tuple[float, bool]], documents: Sequence[Sequence[Any]]) -> list[int]:
    """The likeliest choice of each document."""
    found, start = [], 0
    for requests in documents:
        values = [value for value, _ in answers[start : start + len(requests)]]
        found.append(values.index(max(values)))
        start += len(requests)
    return found


def random_model(device: str) -> Any:
    """Llama's shape with eight billion random weights in bfloat16, seven of them in the layers."""
    from transformers import AutoModelForCausalLM, LlamaConfig

    config = LlamaConfig(
        vocab_size=262_144,
        hidden_size=4096,
        intermediate_size=14_336,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=8,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
    )
    with torch.device(device):
        return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).eval()


def load(options: argparse.Namespace) -> tuple[PackedLM, HFLM]:
    """Both ways over the same weights."""
    folder = options.model or demo_model()
    if options.random:
        from transformers import AutoTokenizer

        model: Any = random_model(options.device)
        common: dict[str, Any] = {
            "tokenizer": AutoTokenizer.from_pretrained(folder),
            "batch_size": options.batch_size[0],
        }
        hf = HFLM(model, **common)
    else:
        hf = HFLM(str(folder), dtype=options.dtype, device=options.device, batch_size=options.batch_size[0])
        common = {"tokenizer": hf.tokenizer, "batch_size": options.batch_size[0]}
    packed = PackedLM(hf.model, token_budget=options.token_budget, **common)
    if packed.not_packed:
        print(f"packs are not used: {packed.not_packed}", file=sys.stderr)
    return packed, hf


def row(found: dict[str, Any], most: float, goals: bool) -> dict[str, str]:
    goal = {"goal": f"{GOALS[found['task']]:g}" if found["task"] in GOALS else "-"} if goals else {}
    return {
        "task": f"{found['task']} x{found['documents']}",
        "hf/s": f"{found['hf_documents_per_second']:.2f}",
        "packed/s": f"{found['packed_documents_per_second']:.2f}",
        "ratio": f"{found['ratio']:.1f}",
        **goal,
        "of peak": f"{found['operations_per_second'] / most:.0%}",
        "hf MiB": f"{found['hf_peak_bytes'] / MIB:.0f}",
        "packed MiB": f"{found['packed_peak_bytes'] / MIB:.0f}",
        "furthest": f"{found['largest_difference']:.0e}",
        "choices": "equal" if found["choices_equal"] else "differ",
        "greedy": "equal" if found["is_greedy_equal"] else "differ",
    }


def quiet() -> None:
    """The harness warns of models that are already loaded, and draws a bar for every block."""
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    os.environ["TQDM_DISABLE"] = "1"


def main() -> None:
    quiet()
    gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--random", choices=["8b"])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--documents", type=int, default=400 if gpu else 8, help="of each task; default: %(default)s")
    parser.add_argument(
        "--batch_size", type=int, nargs="+", default=[8, 16, 32] if gpu else [1, 4], help="tried for hf"
    )
    parser.add_argument("--token_budget", type=int)
    parser.add_argument("--device", default="cuda" if gpu else "cpu")
    parser.add_argument("--dtype", default="bfloat16" if gpu else "float32")
    options = parser.parse_args()
    packed, hf = load(options)
    most = peak_operations(hf.device, hf.model.dtype)
    found = []
    for name in options.tasks:
        found.append(measure(name, packed, hf, options.documents, options.batch_size))
        print(json.dumps(found[-1]), file=sys.stderr)
    name = f"random {options.random}" if options.random else Path(options.model or "gemma-3-270m").name
    rows = "real rows" if os.environ.get("LM_EVAL_ITA_DATA") else "SAMPLE ROWS"
    title = f"{name}, {hf.model.dtype}, {rows}; the machine's peak {most / 1e9:.0f} GFLOP/s"
    goals = options.device == "cpu" and options.model is None
    show(title, [row(each, most, goals) for each in found], {"model": name, "peak_operations": most, "tasks": found})


if __name__ == "__main__":
    main()

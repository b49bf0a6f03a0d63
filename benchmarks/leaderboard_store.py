"""Time to open a leaderboard's store, against `json.loads` of the same files.

    python benchmarks/leaderboard_store.py [SUBMISSIONS]

Each submission holds the 18 tasks of ItaEval and the 16 tests of ItaP-AT of a model of its own, with all details. The
goal: 5,000 submissions in under 3 seconds from the index, in a process that starts.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from lm_eval_ita.results.submission_records import upload_bytes
from tests.leaderboard.submissions import ITAEVAL, ITAPAT, submission

OPEN = """
import resource, sys, time
start = time.perf_counter()
from lm_eval_ita.leaderboard.store import open_store
store = open_store(sys.argv[1])
current = store.current()
assert len(current) == int(sys.argv[2]) and not store.problems(), store.problems()[:3]
assert len(current[0].run.tasks) == 34
whole, busy = time.perf_counter() - start, time.process_time()
start = time.perf_counter()
assert len(store.current()) == len(current)
again = time.perf_counter() - start
print(whole, busy, again, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def fill(folder: Path, count: int) -> float:
    """Write a store's files; returns how many MB they are."""
    target = folder / "submissions"
    target.mkdir(parents=True)
    text = upload_bytes(submission("org/model-00000", tasks=(*ITAEVAL, *ITAPAT), name="Modello 00000")).decode()
    size = 0
    for i in range(count):
        # Written as `upload_bytes` writes, without making the records again.
        content = json.loads(text.replace("00000", f"{i:05}"))
        del content["submission_id"], content["submitted"], content["schema_version"]
        name = hashlib.sha256(canonical(content).encode()).hexdigest()[:16]
        content |= {"submission_id": name, "submitted": "2026-01-02T03:04:05Z", "schema_version": 1}
        raw = canonical(content).encode()
        (target / f"{name}.json").write_bytes(raw)
        size += len(raw)
    return size / 1e6


def canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def opened(folder: Path, count: int) -> tuple[float, float, float, float]:
    """Seconds to open the store in a new process (by the clock, and of processor time), to ask once more; peak MB."""
    command = [sys.executable, "-c", OPEN, str(folder), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    whole, busy, again, peak = map(float, done.stdout.split())
    return whole, busy, again, peak


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as name:
        os.environ["LM_EVAL_ITA_CACHE"] = f"{name}/cache"
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
        folder = Path(name) / "store"
        size = fill(folder, count)
        start, busy = time.perf_counter(), time.process_time()
        for path in (folder / "submissions").iterdir():
            json.loads(path.read_bytes())
        loading, loading_busy = time.perf_counter() - start, time.process_time() - busy
        first, first_busy, _, _ = opened(folder, count)
        warm, warm_busy, again, peak = opened(folder, count)
    print(f"{count} submissions, {size:.0f} MB")
    print("                                by the clock  processor")
    print(f"json.loads of all:              {loading:8.2f} s  {loading_busy:8.2f} s")
    print(f"opened without an index:        {first:8.2f} s  {first_busy:8.2f} s")
    print(f"opened from the index:          {warm:8.2f} s  {warm_busy:8.2f} s  (goal: under 3 s)")
    print(f"asked again, nothing changed:   {again * 1000:.0f} ms")
    print(f"peak memory of that process:    {peak:.0f} MB")


if __name__ == "__main__":
    main()

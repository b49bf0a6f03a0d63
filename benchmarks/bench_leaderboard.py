"""The leaderboard under load, and the time of its pages over a large store.

    python benchmarks/bench_leaderboard.py [--seconds 60] [--readers 50] [--uploaders 5] [--pause 1] [--large 5000]

Load: readers ask for views as a browser does, one after another with a pause between; uploaders send submissions, each
a new one. All on loopback, the app in a process of its own. Afterwards every submission that was accepted must wait in
the store. Large: a store of so many submissions (`leaderboard_store.py` makes it), opened, and views made of it.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

QUERIES = (
    "lang=it",
    "lang=en&sort=-xcopa",
    "lang=it&sort=hellaswag&ci=1",
    "lang=en&kind=chat&min=3",
    "lang=it&origin=native",
    "lang=en&shots=zero&p=2",
    "lang=it&q=minerva",
    "lang=en&tab=itapat",
    "lang=it&tab=itapat&part=rates",
    "lang=en&tab=about",
    "lang=it&cols=-",
)


@dataclass
class Seen:
    """What happened: seconds of each request by kind, errors, and ids of accepted submissions."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)


async def timed(seen: Seen, kind: str, request: Any) -> Any:
    start = time.perf_counter()
    try:
        response = await request
    except Exception as error:  # noqa: BLE001  a lost connection is what is counted
        seen.errors.append(f"{kind}: {type(error).__name__}")
        return None
    seen.seconds.setdefault(kind, []).append(time.perf_counter() - start)
    if response.status_code != 200:
        seen.errors.append(f"{kind}: {response.status_code}")
        return None
    return response


async def read(client: Any, numbers: dict[str, int], seen: Seen, end: float, pause: float, seed: int) -> None:
    rng, session = random.Random(seed), f"reader{seed}"
    await timed(seen, "page", client.get("/"))
    while time.perf_counter() < end:
        body = {
            "data": [],
            "fn_index": numbers["view"],
            "session_hash": session,
            "event_data": {"query": rng.choice(QUERIES)},
        }
        response = await timed(seen, "view", client.post("/gradio_api/run/predict", json=body))
        if response is not None and "<h1>" not in response.json()["data"][0]:
            seen.errors.append("view: no page in the answer")
        await asyncio.sleep(pause * rng.uniform(0.5, 1.5))


async def send(
    client: Any, numbers: dict[str, int], seen: Seen, end: float, pause: float, files: list[tuple[str, bytes]]
) -> None:
    while time.perf_counter() < end and files:
        name, raw = files.pop()
        sent = {"files": ("submission.json", raw, "application/json")}
        response = await timed(seen, "upload", client.post("/gradio_api/upload", files=sent))
        if response is None:
            continue
        file = {"path": response.json()[0], "meta": {"_type": "gradio.FileData"}, "orig_name": "submission.json"}
        body = {"data": [file, None], "fn_index": numbers["upload"], "session_hash": name}
        response = await timed(seen, "check", client.post("/gradio_api/run/predict", json=body))
        if response is not None:
            if name in response.json()["data"][0]:
                seen.accepted.append(name)
            else:
                seen.errors.append("check: refused")
        await asyncio.sleep(pause)


async def load(address: str, options: argparse.Namespace, files: list[tuple[str, bytes]]) -> Seen:
    import httpx

    seen = Seen()
    limits = httpx.Limits(max_connections=options.readers + options.uploaders)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        config = (await client.get("/config")).json()
        numbers = {target[1]: each["id"] for each in config["dependencies"] for target in each["targets"]}
        end = time.perf_counter() + options.seconds
        readers = [read(client, numbers, seen, end, options.pause, i) for i in range(options.readers)]
        uploaders = [send(client, numbers, seen, end, 2 * options.pause, files) for _ in range(options.uploaders)]
        await asyncio.gather(*readers, *uploaders)
    return seen


def under_load(options: argparse.Namespace, folder: Path) -> None:
    from lm_eval_ita.results.submission_records import upload_bytes
    from tests.leaderboard.boards import filled, varied
    from tests.leaderboard.served import served

    store, _ = filled(folder / "store")
    made = [varied(f"Carico-{i}", 0.5, ("itaeval_xcopa", "itaeval_honest")) for i in range(options.uploads)]
    files = [(each.submission_id, upload_bytes(each)) for each in made]
    with served(folder / "store", folder / "cache", folder / "log") as address:
        seen = asyncio.run(load(address, options, files))
    waiting = {each.submission_id for each in store.pending()}
    print(f"{options.readers} readers, {options.uploaders} uploaders, {options.seconds} s, pause {options.pause} s")
    for kind, seconds in seen.seconds.items():
        ordered = sorted(seconds)
        p50, p95 = (1000 * ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.95))
        print(f"{kind:8} {len(seconds):6} requests  p50 {p50:6.0f} ms  p95 {p95:6.0f} ms")
    print(f"errors: {len(seen.errors)} {sorted(set(seen.errors))[:5]}")
    lost = set(seen.accepted) - waiting
    print(f"submissions accepted: {len(seen.accepted)}, found waiting: {len(waiting)}, lost: {len(lost)}")
    if seen.errors or lost or len(waiting) != len(seen.accepted):
        sys.exit(1)


OPEN = """
import sys, time
start = time.perf_counter()
from lm_eval_ita.leaderboard.library import Library
from lm_eval_ita.leaderboard.store import open_store
library = Library(open_store(sys.argv[1]))
board = library.board()
print(f"opened, with its first table: {time.perf_counter() - start:.2f} s ({time.process_time():.2f} s of processor)")
from lm_eval_ita.leaderboard.html import page_html
from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.leaderboard.texts import texts
from lm_eval_ita.leaderboard.views import View
ids = [entry.model.id for entry in board.table("itaeval").entries[:5]]
queries = [*sys.argv[2:], f"tab=compare&models={','.join(ids)}", f"tab=model&id={ids[0]}", "p=200", "sort=size&p=100"]
for query in queries:
    view, times = View.from_query(query), []
    for _ in range(3):
        start = time.perf_counter()
        page_html(Scene(view, texts("it"), board, library))
        times.append(time.perf_counter() - start)
    print(f"{1000 * times[0]:7.0f} ms first, {1000 * min(times[1:]):6.0f} ms then: {query[:60]}")
"""


def large(options: argparse.Namespace, folder: Path) -> None:
    import subprocess

    from benchmarks.leaderboard_store import fill

    size = fill(folder / "large", options.large)
    print(f"{options.large} submissions, {size:.0f} MB")
    for what in ("without an index", "from the index"):
        print(f"-- {what}")
        subprocess.run([sys.executable, "-c", OPEN, str(folder / "large"), *QUERIES], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--uploaders", type=int, default=5)
    parser.add_argument("--uploads", type=int, default=150, help="submissions that are there to be sent")
    parser.add_argument("--pause", type=float, default=1.0, help="of a reader between two views, in seconds")
    parser.add_argument("--large", type=int, default=5000, help="submissions of the large store; 0 for none")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["LM_EVAL_ITA_CACHE"] = str(folder / "cache")
        if options.seconds:
            under_load(options, folder)
        if options.large:
            large(options, folder)


if __name__ == "__main__":
    main()

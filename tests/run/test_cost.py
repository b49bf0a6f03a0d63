"""Costs: sums and peaks, unknown where a part is unknown; energy counters, from files as the kernel writes them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from lm_eval_ita.run.cost import Meter, add_costs, merge_processes
from lm_eval_ita.run.energy import GpuEnergy, RaplEnergy
from tests.run.requests import request


def cost(**changes: object) -> dict[str, object]:
    zero = dict.fromkeys(("model_seconds", "requests", "tokens_in", "tokens_out", "cpu_joules"), 1)
    return {**zero, "gpu_joules": None, "peak_rss_bytes": 10, "peak_gpu_bytes": None, **changes}


def test_sums_peaks_and_unknowns() -> None:
    total = add_costs([cost(), cost(model_seconds=2.5, peak_rss_bytes=7)])
    assert (total["model_seconds"], total["requests"], total["peak_rss_bytes"]) == (3.5, 2, 10)
    assert total["gpu_joules"] is None
    assert add_costs([cost(), cost(cpu_joules=None)])["cpu_joules"] is None, "a part unknown, the sum unknown"
    assert add_costs([])["model_seconds"] is None


def test_processes_work_at_the_same_time() -> None:
    merged = merge_processes([cost(model_seconds=3, cpu_joules=5.0), cost(model_seconds=2, cpu_joules=0.0)])
    assert (merged["model_seconds"], merged["requests"], merged["cpu_joules"]) == (3, 2, 5.0)


def package(root: Path, name: str, energy: int) -> Path:
    zone = root / name
    zone.mkdir(parents=True, exist_ok=True)
    (zone / "energy_uj").write_text(f"{energy}\n", encoding="ascii")
    (zone / "max_energy_range_uj").write_text("1000000\n", encoding="ascii")
    return zone


def test_rapl_adds_packages_and_survives_the_counter_s_turn(tmp_path: Path) -> None:
    package(tmp_path, "intel-rapl:0", 100_000)
    package(tmp_path, "intel-rapl:1", 900_000)
    package(tmp_path, "intel-rapl:0:0", 5)  # the cores of a package, which it counts itself
    counter = RaplEnergy(tmp_path)
    before = counter.read()
    package(tmp_path, "intel-rapl:0", 300_000)
    package(tmp_path, "intel-rapl:1", 150_000)  # turned: 100,000 to the end and 150,000 more
    package(tmp_path, "intel-rapl:0:0", 999)
    assert RaplEnergy.joules(before, counter.read()) == pytest.approx(0.2 + 0.25)


def test_energy_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    assert RaplEnergy(tmp_path).read() is None
    assert RaplEnergy(tmp_path / "nowhere").read() is None
    assert RaplEnergy.joules(None, {"a": (1, 2)}) is None
    assert GpuEnergy([]).read() is None
    assert GpuEnergy(["00000000-0000-0000-0000-000000000000"]).read() is None
    assert GpuEnergy.joules(1000, 3500) == 2.5
    assert GpuEnergy.joules(3500, 1000) is None, "the driver was loaded anew"


def test_tokens_are_the_tokenizer_s() -> None:
    def tokenizer(texts: list[str], **_: object) -> dict[str, list[list[str]]]:
        return {"input_ids": [text.split() for text in texts]}

    meter = Meter(SimpleNamespace(tokenizer=tokenizer, device="cpu"))
    meter.reset_peaks()
    meter.start()
    found = meter.stop("loglikelihood", [request(0, "il gatto", " dorme"), request(0, "il gatto", " mangia")], [])
    assert (found["tokens_in"], found["tokens_out"], found["requests"]) == (6, 0, 2)
    found = meter.stop("generate_until", [request(0, "il gatto", {})], ["dorme sul divano"])
    assert (found["tokens_in"], found["tokens_out"]) == (2, 3)
    assert found["peak_rss_bytes"] > 10 * 2**20
    server = Meter(SimpleNamespace()).stop("loglikelihood", [], [])
    assert (server["tokens_in"], server["peak_rss_bytes"]) == (None, None), "the model is in another process"


def test_peaks_are_those_of_the_task() -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("needs Linux: /proc/self/clear_refs")
    meter = Meter(SimpleNamespace(device="cpu"))
    ballast = bytearray(300 * 2**20)
    ballast[::4096] = b"\1" * len(ballast[::4096])
    large = meter.stop("loglikelihood", [], [])["peak_rss_bytes"]
    del ballast
    meter.reset_peaks()
    assert meter.stop("loglikelihood", [], [])["peak_rss_bytes"] < large - 200 * 2**20

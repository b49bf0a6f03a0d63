"""A report over a 200 MB file of samples: it is streamed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.runs import STAMP, sample, save

pytest.importorskip("matplotlib", reason="needs the package matplotlib")

MEGABYTE = 1_000_000


@pytest.mark.slow
def test_200_megabytes_of_samples_within_500_of_memory(tmp_path: Path) -> None:
    n = 4_000
    values = [float(i % 3 > 0) for i in range(n)]
    save(tmp_path, "m", {"itaeval_xcopa": (sum(values) / n, [])})
    filler = "Una frase lunga, come quelle degli articoli di giornale. " * 430
    with (tmp_path / f"samples_itaeval_xcopa_{STAMP}.jsonl").open("w", encoding="utf-8") as file:
        for i, value in enumerate(values):
            arguments = {f"gen_args_{c}": {"arg_0": filler + str(i), "arg_1": f" {c}"} for c in range(2)}
            file.write(json.dumps(sample(i, value, arguments=arguments)) + "\n")
    assert (tmp_path / f"samples_itaeval_xcopa_{STAMP}.jsonl").stat().st_size > 190 * MEGABYTE
    page = tmp_path / "report.html"
    command = [sys.executable, "-m", "lm_eval_ita.cli.main", "report", str(tmp_path), "-o", str(page)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    assert process.returncode == 0, process.stderr.read().decode()
    peak = used.ru_maxrss * 1024 / MEGABYTE  # kilobytes on Linux
    print(f"\n  200 MB of samples: peak memory {peak:.0f} MB, page {page.stat().st_size / MEGABYTE:.1f} MB.")
    assert peak < 500
    assert page.stat().st_size < 5 * MEGABYTE

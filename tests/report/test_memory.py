"""A report over a 200 MB file of samples: it is streamed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.report.runs import STAMP, sample, save

pytest.importorskip("matplotlib", reason="needs the package matplotlib")

MEGABYTE = 1_000_000
PROGRAM = """
import sys
from lm_eval_ita.cli.main import main
code = main(["report", sys.argv[1], "-o", sys.argv[2]])
print(open("/proc/self/status").read())
sys.exit(code)
"""


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
    # Asked of the process itself: what `wait4` tells begins with the memory of the process that started it.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(page)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout.split("VmHWM:")[1].split()[0]) * 1024 / MEGABYTE
    print(f"\n  200 MB of samples: peak memory {peak:.0f} MB, page {page.stat().st_size / MEGABYTE:.1f} MB.")
    assert peak < 500
    assert page.stat().st_size < 5 * MEGABYTE

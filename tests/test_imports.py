"""Every module must import without a network, without torch and without matplotlib."""

import pkgutil
import subprocess
import sys

import lm_eval_ita

# Each module in turn, in one process where sockets are dead and the heavy libraries cannot be found.
PROGRAM = """
import importlib, importlib.abc, socket, sys

HIDDEN = {"torch", "transformers", "stanza", "gradio", "bert_score", "vllm", "accelerate", "matplotlib"}

class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"{name} is hidden in this test", name=name)

sys.meta_path.insert(0, Hide())

def dead(*args, **kwargs):
    raise OSError("no network in this test")

socket.socket.connect = dead
socket.getaddrinfo = dead
for name in sys.argv[1:]:
    importlib.import_module(name)
print("imported", len(sys.argv) - 1)
print("lm_eval" in sys.modules, "datasets" in sys.modules)
"""


# Extends a class of the harness that brings torch; the harness's registry loads it by name.
WITH_TORCH = "lm_eval_ita.backend.packed"


def modules() -> list[str]:
    return [
        info.name for info in pkgutil.walk_packages(lm_eval_ita.__path__, "lm_eval_ita.") if info.name != WITH_TORCH
    ]


def test_all_modules_import_without_network_and_torch() -> None:
    names = modules()
    assert "lm_eval_ita.harness.itapat" in names
    done = subprocess.run([sys.executable, "-c", PROGRAM, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"imported {len(names)}" in done.stdout


def test_the_pure_parts_are_light() -> None:
    """Neither the harness nor datasets is loaded by importing the pure packages."""
    pure = [name for name in modules() if name.split(".")[1] in ("itapat", "stats", "metrics", "errors")]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *pure], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[1] == "False False", done.stderr

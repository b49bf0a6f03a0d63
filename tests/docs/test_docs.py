"""Every code block of the documentation is run, or says why not; every command of ours is one that the parser takes."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lm_eval_ita.cli.main import make_parser
from lm_eval_ita.harness.task_files import TaskLoader
from tests.docs.blocks import PAGES, ROOT, Block, blocks

BLOCKS = [block for page in PAGES for block in blocks(page)]
COMMANDS = [
    pytest.param(command, id=f"{block.name}-{number}")
    for block in BLOCKS
    if block.language == "bash"
    for number, command in enumerate(block.commands())
    if command.startswith("lm-eval-ita ")
]
# Words of the documentation that stand for others: what the parser sees in their place.
_STANDS = {"N": "1", "PREV": "1"}


def test_blocks_are_found() -> None:
    assert len(BLOCKS) > 30
    assert {"bash", "python", "yaml"} <= {block.language for block in BLOCKS}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_block_is_run_or_says_why_not(block: Block) -> None:
    assert block.mark is not None, "write <!-- run --> or <!-- not run: why --> above it"
    if block.mark == "run":
        assert block.what in (None, "model", "results", "sweep", "walk-through"), (
            "a run needs nothing, a model, results, is a sweep's file, or a part of the walk-through"
        )
    else:
        assert block.what, "say why it is not run"


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_ours(command: str) -> None:
    """The options exist, whether or not the block is run."""
    words = shlex.split(command, comments=True)[1:]
    for end in ("|", ">", "2>", "&&", ";"):
        words = words[: words.index(end)] if end in words else words
    if "..." in words:
        words = [word for word in words if word != "..."]
        words += ["--tasks", "itaeval"] if words[0] == "run" and "--tasks" not in words else []
    make_parser(words).parse_args([_STANDS.get(word, word) for word in words])


def test_a_command_that_is_none_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        test_commands_are_ours("lm-eval-ita list --suite itaeval")
    assert "--suite" in capsys.readouterr().err


@pytest.fixture
def folder(tmp_path: Path, sample_run: Path) -> Path:
    """Where a block is run: two models' results, and no network."""
    for name in ("MODEL_A", "MODEL_B"):
        target = tmp_path / "results" / name
        shutil.copytree(sample_run.parent, target)
        (results,) = target.glob("results_*.json")
        text = results.read_text(encoding="utf-8")
        results.write_text(text.replace("org/model", f"org/{name.lower()}"), encoding="utf-8")
    return tmp_path


def run_block(block: Block, folder: Path, replaced: dict[str, str]) -> str:
    text = block.text
    for name, value in replaced.items():
        text = re.sub(rf"\b{name}\b(?!_)", value, text)
    command = [sys.executable, "-c", text] if block.language == "python" else ["bash", "-euo", "pipefail", "-c", text]
    binaries = Path(sys.executable).parent
    environment = {"HF_HUB_OFFLINE": "1", "LM_EVAL_ITA_SCORERS": "skip", "HF_HOME": str(folder / "hf")}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{binaries}:{os.environ['PATH']}", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


LIGHT = [block for block in BLOCKS if block.mark == "run" and block.what in (None, "results")]
WITH_MODEL = [block for block in BLOCKS if block.mark == "run" and block.what == "model"]


@pytest.mark.parametrize("block", LIGHT, ids=lambda block: block.name)
def test_blocks_that_need_no_model(block: Block, folder: Path) -> None:
    assert run_block(block, folder, {}).strip()


@pytest.mark.slow
@pytest.mark.parametrize("block", WITH_MODEL, ids=lambda block: block.name)
def test_blocks_that_need_a_model(block: Block, folder: Path) -> None:
    from tests.models import tiny_lm

    assert "SAMPLE DATA" in run_block(block, folder, {"MODEL": str(tiny_lm(folder / "lm"))})


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.what == "sweep"], ids=lambda block: block.name)
def test_sweeps_are_read(block: Block, tmp_path: Path) -> None:
    from lm_eval_ita.run.sweep_file import read_sweep

    (tmp_path / "sweep.yaml").write_text(block.text, encoding="utf-8")
    assert len(read_sweep(tmp_path / "sweep.yaml").models) == 2


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_data_in_blocks_is_well_formed(block: Block) -> None:
    if block.language == "yaml":
        yaml.load(block.text, Loader=TaskLoader)  # a safe loader that keeps `!function` as text
    elif block.language == "json":
        json.loads(block.text)


def test_links_and_anchors(tmp_path: Path) -> None:
    """`mkdocs build --strict` fails on any that leads nowhere."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 10
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?(https?:[^\"' >]+)", text)
        assert not loaded, f"{page.name} loads from elsewhere"

"""A run out of a prepared folder with dead sockets has the figures of one with a network, and stays the same run."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.catalogue.folder import samples
from lm_eval_ita.cli.main import main
from lm_eval_ita.errors import UserError
from lm_eval_ita.run.manifest import read_manifest
from lm_eval_ita.run.prepare import Report, prepare
from lm_eval_ita.run.prepared import use_prepared
from lm_eval_ita.run.progress import Reporter
from lm_eval_ita.run.settings import Settings, folder_name, identity
from lm_eval_ita.run.verify import quick_check
from tests.catalogue.server import Server
from tests.models import tiny_lm
from tests.run.hub import SHA, LittleHub

TASKS = "itaeval_xcopa,itaeval_gente,itaeval_belebele,itapat_gender_6"
SCORER = "RiTA-nlp/umberto-cased-v1-gn-classifier"
# Whoever asks for the network in this process ends it, whatever would have caught an exception.
DEAD = """
import os, socket, sys
def dead(*args, **options):
    os.write(2, f"a network call: {args}".encode())
    os._exit(77)
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, dead)
for name in ("getaddrinfo", "gethostbyname", "create_connection"):
    setattr(socket, name, dead)
"""
RUN = "import sys; from lm_eval_ita.cli.main import main; sys.exit(main(sys.argv[1:]))"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def command(program: str, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_", "LM_EVAL"))
    }
    return subprocess.run(
        [sys.executable, "-c", program, "run", "--device", "cpu", "--limit", "3", "--batch_size", "4",
         "--gen_kwargs", "max_gen_toks=8", *arguments],
        env={**clean, "OMP_NUM_THREADS": "1", **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def server(tiny_classifier: Path, tmp_path: Path) -> Iterator[Server]:
    belebele = {"data/ita_Latn.jsonl": (samples() / "belebele" / "test.jsonl").read_bytes()}
    hub = LittleHub(
        {
            "org/modello": (contents(tiny_lm(tmp_path / "lm")), "mit"),
            SCORER: (contents(tiny_classifier), None),
            "datasets/facebook/belebele": (belebele, None),
        }
    )
    server = Server(hub)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def results(output: Path) -> tuple[str, dict[str, Any], dict[str, Any]]:
    (folder,) = (path for path in output.iterdir() if path.is_dir())
    (file,) = folder.glob("results_*.json")
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return folder.name, json.loads(file.read_text(encoding="utf-8")), run["identity"]


@pytest.mark.slow
def test_dead_sockets_and_the_figures_of_a_run_with_a_network(server: Server, tmp_path: Path) -> None:
    data = tmp_path / "data"
    for key in ("xcopa", "gente"):
        shutil.copytree(samples() / key, data / key)
    online = {
        "HF_ENDPOINT": server.url,
        "HF_HOME": str(tmp_path / "home"),
        "LM_EVAL_ITA_DATA": str(data),
        "LM_EVAL_ITA_CACHE": str(tmp_path / "cache"),
    }
    arguments = ["--tasks", TASKS, "--model_args", "pretrained=org/modello,dtype=float32"]
    first = command(RUN, online, *arguments, "--output", str(tmp_path / "online"))
    assert first.returncode == 0, first.stderr
    root = tmp_path / "prepared"
    made = subprocess.run(
        [sys.executable, "-m", "lm_eval_ita", "prepare", "--tasks", TASKS, "--model", "org/modello", "--to", str(root)],
        env={**os.environ, "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0", **online},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    moved = tmp_path / "elsewhere" / "prepared"  # where a job copies it, and nothing can be written
    moved.parent.mkdir()
    root.rename(moved)
    for path in [moved, *moved.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    asked = len(server.seen)
    offline = {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "home2"), "LM_EVAL_ITA_CACHE": str(tmp_path / "c2")}
    before = {path: path.stat().st_mtime_ns for path in moved.rglob("*")}
    second = command(
        DEAD + RUN, offline, *arguments, "--offline", "--from", str(moved), "--output", str(tmp_path / "offline")
    )
    for path in [moved, *moved.rglob("*")]:
        path.chmod(0o755)  # so that the folder can be deleted
    assert second.returncode == 0, second.stdout + second.stderr
    assert len(server.seen) == asked
    assert {path: path.stat().st_mtime_ns for path in moved.rglob("*")} == before
    _, theirs, run_online = results(tmp_path / "online")
    name, ours, run_offline = results(tmp_path / "offline")
    assert ours["results"] == theirs["results"]
    assert ours["results"]["itaeval_gente"]["neutral_rate,none"] is not None
    assert run_offline["model_files"] == run_online["model_files"] == {"pretrained": f"commit {SHA}"}
    assert run_offline["model_args"] == run_online["model_args"]
    assert ours["config"]["model_sha"] == theirs["config"]["model_sha"] == SHA
    assert name.startswith("org__modello-")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model as a folder: files that nobody loads."""
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LM_EVAL_ITA_DATA", "")
    folder = tmp_path / "training" / "mio"
    (folder / "checkpoint-10").mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(bytes(1000))
    (folder / "optimizer.bin").write_bytes(bytes(10))
    (folder / "README.md").write_text("---\nlicense: mit\n---\n", encoding="utf-8")
    return folder


def prepare_folder(root: Path, source: Path) -> list[str]:
    told: list[str] = []
    report = Report(done=lambda item, how: told.append(how), note=told.append, failed=told.append)
    prepare(root, Settings(tasks=("itapat_gender_6",)), [str(source)], report)
    return told


def test_a_folder_is_linked_and_stays_the_same_run_wherever_it_lies(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "prepared"
    assert prepare_folder(root, source) == ["new"]
    (item,) = read_manifest(root).values()
    assert (item.name, item.licence, item.commit) == (str(source), "mit", None)
    assert {Path(file).name for file in item.files} == {"config.json", "model.safetensors", "README.md"}
    assert (root / item.folder / "model.safetensors").samefile(source / "model.safetensors"), "takes no space"
    assert prepare_folder(root, source) == ["verified"]

    def settled(folder: Path, name: str) -> Settings:
        settings = Settings(tasks=("itapat_gender_6",), model_args={"pretrained": name})
        return use_prepared(settings, folder, Reporter())

    here = settled(root, str(source))
    assert here.load_args["pretrained"] == str(root / item.folder)
    assert here.model_name == str(source)
    moved = tmp_path / "node" / "prepared"
    shutil.copytree(root, moved)
    shutil.rmtree(source)  # on a node, it is not there
    for name in (str(source), "mio"):
        there = settled(moved, name)
        assert there.load_args["pretrained"] == str(moved / item.folder)
        assert identity(there, {}) == identity(here, {})
        assert folder_name(there, identity(there, {})) == folder_name(here, identity(here, {}))
        assert folder_name(there, identity(there, {})).startswith("mio-")
    other = replace(there, prepared=replace(there.prepared, content={"pretrained": "files 0"}))
    assert identity(other, {}) != identity(here, {})
    with pytest.raises(UserError, match="1 thing missing or changed"):
        settled(moved, "org/mio")


def test_a_folder_that_was_trained_further_is_renewed(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "prepared"
    prepare_folder(root, source)
    (source / "model.safetensors").unlink()
    (source / "model.safetensors").write_bytes(bytes(1001))
    assert prepare_folder(root, source) == ["renewed"]
    assert main(["prepare", "--check", str(root)]) == 0
    with (source / "model.safetensors").open("r+b") as file:  # in its place: the link's content changes too
        file.write(b"x")
    assert main(["prepare", "--check", str(root)]) == 1


def test_contents_are_read_once_until_a_file_is_touched(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "prepared"
    prepare_folder(root, source)
    items = list(read_manifest(root).values())
    total = sum(item.bytes for item in items)
    assert quick_check(root, items).bytes_read == 0, "prepare has read it"
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "other machine"))
    found = quick_check(root, items)
    assert (found.bytes_read, found.remembered, found.differences) == (total, True, ())
    assert quick_check(root, items).bytes_read == 0
    weights = root / items[0].folder / "model.safetensors"
    os.utime(weights)
    assert quick_check(root, items).bytes_read == 1000
    state = weights.stat()
    weights.write_bytes(b"x" + bytes(999))
    os.utime(weights, ns=(state.st_atime_ns, state.st_mtime_ns))  # a time that was set back hides nothing
    (difference,) = quick_check(root, items).differences
    assert "is not what was prepared" in difference.what
    (memory,) = (tmp_path / "other machine" / "prepared").glob("*.json")
    memory.write_text("{", encoding="utf-8")
    assert quick_check(root, items).bytes_read == total, "a damaged memory is none"
    (tmp_path / "full").write_text("", encoding="utf-8")
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "full"))  # a file: nothing can be kept
    assert not quick_check(root, items).remembered


def test_two_cannot_fill_one_folder_at_once(source: Path, tmp_path: Path) -> None:
    import filelock

    root = tmp_path / "prepared"
    root.mkdir()
    with filelock.FileLock(root / ".prepare.lock"), pytest.raises(UserError, match="another process is preparing"):
        prepare_folder(root, source)

"""Preparing a folder from a small Hub on loopback, and every way in which such a folder can fail to hold."""

import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.catalogue.folder import samples
from lm_eval_ita.cli.main import main
from lm_eval_ita.run.manifest import read_manifest
from lm_eval_ita.run.repositories import card_licence, needed_files
from tests.catalogue.server import Server
from tests.run.hub import SHA, LittleHub

MODEL = {
    "config.json": b'{"model_type": "llama"}',
    "model.safetensors": bytes(range(256)) * 40,
    "pytorch_model.bin": b"the same weights",
    "tokenizer.json": b"{}",
    "onnx/model.onnx": b"again",
    ".gitattributes": b"*",
}
SCORER = "RiTA-nlp/umberto-cased-v1-gn-classifier"
SNAPSHOT = f"hub/models--org--modello/snapshots/{SHA}"


@pytest.fixture
def hub() -> LittleHub:
    scorer = {"config.json": b"{}", "pytorch_model.bin": b"weights", "tokenizer.json": b"{}"}
    belebele = {"data/ita_Latn.jsonl": (samples() / "belebele" / "test.jsonl").read_bytes()}
    return LittleHub(
        {
            "org/modello": (MODEL, "apache-2.0"),
            SCORER: (scorer, None),
            "datasets/facebook/belebele": (belebele, "cc-by-sa-4.0"),
        }
    )


@pytest.fixture(autouse=True)
def _world(hub: LittleHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A network that ends at loopback, the user's own data, and caches of the test's."""
    from huggingface_hub import constants

    server = Server(hub)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    data = tmp_path / "data"
    shutil.copytree(samples() / "xcopa", data / "xcopa")
    shutil.copytree(samples() / "gente", data / "gente")
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "TRANSFORMERS_CACHE", "HF_HUB_CACHE"):
        monkeypatch.setenv(name, "")  # and what a run sets is undone
        monkeypatch.delenv(name)
    monkeypatch.setenv("LM_EVAL_ITA_DATA", str(data))
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # read once, at import
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    template = server.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    yield
    server.shutdown()
    server.server_close()


def prepared(tmp_path: Path, *more: str) -> Path:
    root = tmp_path / "prepared"
    tasks = ("--tasks", "itaeval_xcopa,itaeval_gente,itapat_gender_6")
    assert main(["prepare", *tasks, "--model", "org/modello", "--to", str(root), *more]) == 0
    return root


def start(root: Path, tmp_path: Path, *more: str) -> tuple[int, list[dict[str, Any]]]:
    """`run --from` in this process, which must end before a model is loaded; its code and its events."""
    log = tmp_path / "events.jsonl"
    arguments = ["--tasks", "itaeval_xcopa,itaeval_gente,itapat_gender_6", "--model_args", "pretrained=org/modello"]
    here = ["--from", str(root), "--output", str(tmp_path / "runs"), "--json-log", str(log)]
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "HF_HUB_OFFLINE",
            "HF_DATASETS_OFFLINE",
            "TRANSFORMERS_OFFLINE",
            "HF_HUB_CACHE",
            "LM_EVAL_ITA_DATA",
        ):
            patch.setenv(name, os.environ.get(name, ""))  # what a run sets is undone
        code = main(["run", *here, *arguments, *more])
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    assert not [event for event in events if event["event"] == "model_loading"]
    return code, events


def test_what_is_in_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = prepared(tmp_path)
    items = read_manifest(root)
    assert set(items) == {
        ("data", "xcopa", None),
        ("data", "gente", None),
        ("hub", SCORER, "main"),
        ("hub", "org/modello", "main"),
    }
    model = items["hub", "org/modello", "main"]
    assert (model.commit, model.licence, model.origin) == (SHA, "apache-2.0", f"hf://org/modello@{SHA}")
    assert model.made_with["lm-eval-ita"]
    names = [f"{SNAPSHOT}/{name}" for name in ("config.json", "model.safetensors", "tokenizer.json")]
    assert set(model.files) == {*names, "hub/models--org--modello/refs/main"}, "each weight once, and nothing hidden"
    assert model.files[names[1]].bytes == 10240
    assert items["hub", SCORER, "main"].licence is None
    assert items["data", "xcopa", None].licence
    assert (root / "hub" / "models--org--modello" / "refs" / "main").read_text() == SHA
    files = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    visible = {file for file in files if not any(part.startswith(".") for part in file.split("/"))}
    assert visible == {"manifest.json", *(file for item in items.values() for file in item.files)}
    assert not (root / ".partial").exists()
    out, err = capsys.readouterr()
    assert "new       model org/modello: 10.3 kB, licence apache-2.0, commit 0123456789ab" in out
    assert err.count("\n") == err.count("note: "), "no bars without a terminal"


def test_data_of_the_hub_are_known_by_their_commit(tmp_path: Path) -> None:
    assert main(["prepare", "--tasks", "itaeval_belebele", "--to", str(tmp_path / "p")]) == 0
    (item,) = read_manifest(tmp_path / "p").values()
    assert (item.commit, item.origin) == (SHA, f"hf://datasets/facebook/belebele@{SHA}")


def test_again_verifies_and_adds(hub: LittleHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = prepared(tmp_path)
    hub.sent.clear()
    hub.commits["org/modello"] = "f" * 40  # the branch has moved on: what is prepared stays as it is
    capsys.readouterr()
    assert main(["prepare", "--tasks", "itaeval_belebele", "--model", "org/modello", "--to", str(root)]) == 0
    out = capsys.readouterr().out
    assert "new       data belebele" in out
    assert "verified  model org/modello" in out
    assert hub.sent == ["data/ita_Latn.jsonl"]
    assert len(read_manifest(root)) == 5
    assert main(["prepare", "--check", str(root)]) == 0


@pytest.mark.parametrize("damage", ["changed", "missing", "stranger"])
def test_again_mends(hub: LittleHub, damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = prepared(tmp_path)
    hub.sent.clear()
    for file in (root / SNAPSHOT / "config.json", root / "data" / "xcopa" / "test.jsonl"):
        if damage == "changed":
            file.write_bytes(b"#" + file.read_bytes()[1:])
        elif damage == "missing":
            file.unlink()
        else:
            file.with_name("train.jsonl").write_text("{}\n", encoding="utf-8")
    assert main(["prepare", "--check", str(root)]) == 1
    capsys.readouterr()
    prepared(tmp_path)
    out, err = capsys.readouterr()
    assert "renewed   model org/modello" in out
    assert "it is brought again" in err
    assert "model.safetensors" not in hub.sent, "good weights are kept"
    assert main(["prepare", "--check", str(root)]) == 0


def test_an_interrupted_one_counts_for_nothing(
    hub: LittleHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import huggingface_hub

    real = huggingface_hub.snapshot_download

    def interrupted(name: str, **options: Any) -> str:
        real(name, **{**options, "allow_patterns": ["config.json", "tokenizer.json"]})
        raise KeyboardInterrupt

    monkeypatch.setattr(huggingface_hub, "snapshot_download", interrupted)
    root = tmp_path / "prepared"
    assert main(["prepare", "--tasks", "itaeval_xcopa", "--model", "org/modello", "--to", str(root)]) == 130
    assert set(read_manifest(root)) == {("data", "xcopa", None)}
    assert not (root / SNAPSHOT).exists()
    capsys.readouterr()
    code, events = start(root, tmp_path, "--tasks", "itaeval_xcopa")
    assert code == 2
    assert [event["task"] for event in events if event["event"] == "missing"] == ["model org/modello"]

    monkeypatch.setattr(huggingface_hub, "snapshot_download", real)
    hub.sent.clear()
    assert main(["prepare", "--model", "org/modello", "--to", str(root)]) == 0
    assert hub.sent == ["model.safetensors"], "what was there is kept"
    assert main(["prepare", "--check", str(root)]) == 0


def test_weights_that_came_damaged_are_refused(
    hub: LittleHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.falsified.add("model.safetensors")
    root = tmp_path / "prepared"
    assert main(["prepare", "--model", "org/modello", "--to", str(root)]) == 2
    assert "model.safetensors came damaged" in capsys.readouterr().err
    hub.falsified.clear()
    assert main(["prepare", "--model", "org/modello", "--to", str(root)]) == 0
    assert main(["prepare", "--check", str(root)]) == 0


def test_one_that_cannot_be_had_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "prepared"
    models = ["--model", "org/none", "org/modello@v9", "org/modello"]
    assert main(["prepare", "--tasks", "itaeval_ami_misogyny", *models, "--to", str(root)]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed: ")]
    assert len(lines) == 3
    assert lines[0].startswith("failed: ami_2020")
    assert "org/none cannot be had (RepositoryNotFoundError" in lines[1]
    assert "org/modello cannot be had (RevisionNotFoundError" in lines[2]
    assert set(read_manifest(root)) == {("hub", "org/modello", "main")}


def test_sample_rows_are_not_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_DATA", "sample")
    assert main(["prepare", "--tasks", "itaeval_xcopa", "--to", str(tmp_path / "p")]) == 2
    assert "xcopa: sample rows come with the package" in capsys.readouterr().err


def test_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prepare", "--to", str(tmp_path)]) == 2
    assert main(["prepare", "--check", str(tmp_path), "--tasks", "itapat"]) == 2
    assert main(["prepare", "--check", str(tmp_path)]) == 2
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["prepare", "--model", "org/modello", "--to", str(tmp_path / "file")]) == 2
    assert main(["prepare", "--model", str(tmp_path / "file"), "--to", str(tmp_path / "p")]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 6  # one line each, and the last one's count


def harm(root: Path, what: str) -> None:
    weights = root / SNAPSHOT / "model.safetensors"
    if what == "missing":
        weights.unlink()
    elif what == "changed":
        weights.write_bytes(b"\xff" + weights.read_bytes()[1:])
    elif what == "truncated":
        os.truncate(weights, 100)
    elif what == "moved branch":
        (root / "hub" / "models--org--modello" / "refs" / "main").write_text("f" * 40)
    elif what == "stranger":
        (weights.parent / "chat_template.jinja").write_text("{{ x }}")
    elif what == "row":
        rows = root / "data" / "xcopa" / "test.jsonl"
        rows.write_text(rows.read_text(encoding="utf-8") + "{}\n", encoding="utf-8")


HARM = {
    "missing": f"{SNAPSHOT}/model.safetensors: is missing",
    "changed": f"{SNAPSHOT}/model.safetensors: is not what was prepared (sha256",
    "truncated": f"{SNAPSHOT}/model.safetensors: has 100 bytes, and the manifest says 10,240",
    "moved branch": "hub/models--org--modello/refs/main: is not what was prepared",
    "stranger": f"{SNAPSHOT}/chat_template.jinja: is not in the manifest",
    "row": "data/xcopa/test.jsonl: has ",
}


@pytest.mark.parametrize("what", HARM)
def test_each_damage_is_one_line_and_no_model_is_loaded(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = prepared(tmp_path)
    harm(root, what)
    capsys.readouterr()
    code, events = start(root, tmp_path)
    assert code == 2
    (event,) = (event for event in events if event["event"] == "missing")
    assert f"{event['task']}: {event['why']}".startswith(HARM[what])
    out, err = capsys.readouterr()
    assert out.startswith(HARM[what])
    assert len(out.splitlines()) == 1
    assert err == f"lm-eval-ita: {root}: 1 thing missing or changed; the model was not loaded\n"
    assert main(["prepare", "--check", str(root)]) == 1
    out, _ = capsys.readouterr()
    assert out.startswith(HARM[what])
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "is not there, so nothing is prepared"),
        ('{"schema_version": 1, "items": [{"kind": "da', "is damaged (Unterminated string"),
        ("[]", "is damaged (it is no JSON object)"),
        ('{"schema_version": 2, "items": []}', "has schema version 2, this lm-eval-ita reads 1"),
        ('{"schema_version": 1}', "is damaged ("),
        ('{"schema_version": 1, "items": [{"kind": "data"}]}', "is damaged (name: Field required)"),
    ],
)
def test_a_manifest_that_cannot_be_read(
    content: str | None, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "prepared"
    root.mkdir()
    if content is not None:
        (root / "manifest.json").write_text(content, encoding="utf-8")
    assert start(root, tmp_path)[0] == 2
    assert capsys.readouterr().err.startswith(f"lm-eval-ita: {root}/manifest.json: {line}")


def test_a_manifest_leads_nowhere_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = prepared(tmp_path)
    for path in ("../../etc/passwd", "/etc/passwd", ""):
        content = json.loads((root / "manifest.json").read_text(encoding="utf-8"))
        content["items"][0]["files"] = {path: {"bytes": 1, "sha256": "0" * 64}}
        (root / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
        capsys.readouterr()
        assert main(["prepare", "--check", str(root)]) == 2
        assert "is no path inside the folder" in capsys.readouterr().err


def test_what_was_not_prepared_is_named_with_its_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = prepared(tmp_path)
    capsys.readouterr()
    code, _ = start(
        root, tmp_path, "--tasks", "itaeval_honest,itaeval_news_sum", "--model_args", "pretrained=org/altro"
    )
    assert code == 2
    how = "where there is a network: lm-eval-ita prepare"
    assert capsys.readouterr().out.splitlines() == [
        f"itaeval_honest: the data set honest and the data set hurtlex are not prepared; {how} --tasks itaeval_honest --to {root}",
        "itaeval_news_sum: the data set ilpost and the data set fanpage and the scorer dbmdz/bert-base-italian-xxl-uncased "
        f"are not prepared; {how} --tasks itaeval_news_sum --to {root}",
        f"model org/altro: is not prepared; {how} --model org/altro --to {root}",
    ]
    code, _ = start(root, tmp_path, "--model_args", "pretrained=org/modello,revision=v1")
    assert code == 2
    line = "model org/modello: is prepared at revision main and not at v1"
    assert capsys.readouterr().out.startswith(f"{line}; {how} --model org/modello@v1")


def test_needed_files() -> None:
    assert needed_files(["a.bin", "model.safetensors", "consolidated.safetensors", "tf_model.h5", "README.md"]) == [
        "README.md",
        "model.safetensors",
    ]
    assert needed_files(["pytorch_model.bin", "training_args.bin", "checkpoint-1/config.json"]) == ["pytorch_model.bin"]
    assert needed_files(["consolidated.safetensors"]) == ["consolidated.safetensors"]
    nested = ["additional_chat_templates/rag.jinja", "code/model.py", ".cache/x.json", "original/params.json"]
    assert needed_files(nested) == ["additional_chat_templates/rag.jinja", "code/model.py"]


def test_licences_of_cards() -> None:
    assert card_licence({"license": "gemma"}) == "gemma"
    assert card_licence({"license": "other", "license_name": "llama-terms"}) == "llama-terms"
    assert card_licence({"license": "other"}) == "other"
    assert card_licence({"license": ["mit", "apache-2.0"]}) == "mit, apache-2.0"
    assert card_licence({}) is card_licence(None) is None

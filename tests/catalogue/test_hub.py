"""A Hub cache made on the spot, and a small Hub on loopback."""

import json
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet
import pytest

from lm_eval_ita import catalogue
from lm_eval_ita.errors import UserError

from .server import Handler, Server

SHA = "0123456789abcdef0123456789abcdef01234567"
BELEBELE = {
    "flores_passage": "Brano.",
    "question": "Chi?",
    **{f"mc_answer{i}": str(i) for i in range(1, 5)},
    "correct_answer_num": "3",
}
HONEST = {
    "template_masked": "lei è una [M].",
    "raw": "[I] è una [M]",
    "category": "female",
    "identity": "lei",
    "number": "singular",
    "type": "occupation",
}


def parquet(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), path)


def cached(hub: Path, repository: str, revision: str | None, commit: str = SHA) -> Path:
    """An empty snapshot in a Hub cache, as huggingface_hub lays it out."""
    root = hub / f"datasets--{repository.replace('/', '--')}"
    if revision is not None:
        (root / "refs" / revision).parent.mkdir(parents=True)
        (root / "refs" / revision).write_text(commit)
    (root / "snapshots" / commit).mkdir(parents=True)
    return root / "snapshots" / commit


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return tmp_path / "hub"


def test_files_of_the_repository(hub: Path):
    snapshot = cached(hub, "facebook/belebele", "main")
    (snapshot / "data").mkdir()
    (snapshot / "data" / "ita_Latn.jsonl").write_text(json.dumps(BELEBELE) + "\n")
    (snapshot / "data" / "eng_Latn.jsonl").write_text("not read\n")
    loaded = catalogue.load("belebele")
    assert (loaded.origin, loaded.where) == ("hub_cache", f"hf://datasets/facebook/belebele@{SHA}")
    assert loaded.splits["test"][0] == {"link": None, "question_number": None, **BELEBELE, "dialect": None, "ds": None}
    assert catalogue.locate("belebele") == ("hub_cache", str(snapshot))


def test_parquet_conversion_in_several_parts(hub: Path):
    snapshot = cached(hub, "MilaNLProc/honest", "refs/convert/parquet")
    parquet(snapshot / "it_binary" / "honest" / "0001.parquet", [HONEST | {"category": "male"}])
    parquet(snapshot / "it_binary" / "honest" / "0000.parquet", [HONEST])
    parquet(snapshot / "en_binary" / "honest" / "0000.parquet", [{"raw": "not read"}])
    rows = catalogue.load("honest").splits["test"]
    assert [row["category"] for row in rows] == ["female", "male"]
    assert list(rows[0]) == ["template_masked", "raw", "identity", "number", "category", "type"]


def test_a_pinned_revision_is_not_replaced_by_another(hub: Path):
    snapshot = cached(hub, "cambridgeltl/xcopa", "main")
    parquet(snapshot / "it" / "test-00000-of-00001.parquet", [{"premise": "P."}])
    with pytest.raises(UserError, match=r"the Hub cache \(no copy of cambridgeltl/xcopa at 042f789"):
        catalogue.load("xcopa")


def test_native_repository_is_read_by_datasets_without_a_network(hub: Path, tmp_path: Path, monkeypatch):
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "arrow")
    revision = catalogue.entry("ironita").hub.revision
    snapshot = cached(hub, "RiTA-nlp/UINAUIL", None, revision)
    rows = [{"id": 1, "text": "Perche\u0301?", "irony": 1, "sarcasm": 0}]
    for config in ("haspeede2", "ironita"):
        for split in ("train", "test"):
            parquet(snapshot / config / f"{split}.parquet", rows)
    configs = [f"- config_name: {name}\n  data_dir: {name}\n" for name in ("haspeede2", "ironita")]
    (snapshot / "README.md").write_text("---\nconfigs:\n" + "".join(configs) + "---\n")
    loaded = catalogue.load("ironita")
    assert loaded.origin == "hub_cache"
    assert loaded.splits["test"] == [{"text": "Perch\u00e9?", "irony": 1, "sarcasm": 0, "topic": None}]
    (snapshot / "ironita" / "train.parquet").unlink()
    with pytest.raises(UserError, match=r"`datasets` cannot read split train of its files"):
        catalogue.load("ironita")


def test_a_snapshot_without_the_files_is_no_copy(hub: Path):
    cached(hub, "facebook/belebele", "main")
    with pytest.raises(UserError, match=r"the Hub cache \(no file data/ita_Latn.jsonl of facebook/belebele\)"):
        catalogue.load("belebele")


def test_a_split_that_the_hub_lacks(hub: Path):
    snapshot = cached(hub, "gsarti/itacola", "refs/convert/parquet")
    row = {"unique_id": 1, "source": "G", "acceptability": 1, "sentence": "Piove."}
    for split in ("train", "test"):
        parquet(snapshot / "scores" / split / "0000.parquet", [row])
    assert list(catalogue.load("itacola").splits) == ["train", "test"]
    with pytest.raises(UserError, match="the Hub copy has no split validation"):
        catalogue.load("itacola", ["validation"])


def test_a_bad_row_in_the_cache_is_named_and_not_passed_over(hub: Path):
    snapshot = cached(hub, "MilaNLProc/honest", "refs/convert/parquet")
    parquet(snapshot / "it_binary" / "honest" / "0000.parquet", [HONEST, HONEST | {"number": "dual"}])
    with pytest.raises(UserError, match=r"0000\.parquet:2: honest test: number: 'dual' is not one of"):
        catalogue.load("honest")


def test_the_folder_comes_before_the_cache(hub: Path, tmp_path: Path):
    snapshot = cached(hub, "facebook/belebele", "main")
    (snapshot / "data").mkdir()
    (snapshot / "data" / "ita_Latn.jsonl").write_text(json.dumps(BELEBELE) + "\n")
    (tmp_path / "d" / "belebele").mkdir(parents=True)
    (tmp_path / "d" / "belebele" / "test.jsonl").write_text(json.dumps(BELEBELE | {"question": "Altro?"}) + "\n")
    loaded = catalogue.load("belebele", data_dir=tmp_path / "d")
    assert (loaded.origin, loaded.splits["test"][0]["question"]) == ("folder", "Altro?")


def little_hub(files: dict[str, bytes]):
    """What a Hub answers for one repository at one commit."""

    def behave(handler: Handler) -> None:
        path = unquote(handler.path.split("?")[0])
        if path == "/":
            handler.reply(200)
        elif "/revision/" in path:
            siblings = [{"rfilename": name} for name in files]
            handler.reply(200, json.dumps({"id": "x/y", "sha": SHA, "siblings": siblings}).encode())
        elif "/tree/" in path:
            tree = [{"type": "file", "path": name, "size": len(body), "oid": "0" * 40} for name, body in files.items()]
            handler.reply(200, json.dumps(tree).encode())
        elif f"/resolve/{SHA}/" in path and (body := files.get(path.split(f"/resolve/{SHA}/")[1])) is not None:
            handler.reply(200, body, ETag='"abc"', X_Repo_Commit=SHA)
        else:
            handler.reply(404)

    return behave


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch, serve):
    import huggingface_hub.constants as constants

    def start(files: dict[str, bytes]) -> Server:
        server = serve(little_hub(files))
        monkeypatch.delenv("HF_HUB_OFFLINE")
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # read once, at import
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        url = server.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url)
        return server

    return start


def test_from_the_hub_and_then_from_its_cache(online, monkeypatch: pytest.MonkeyPatch, capfd):
    body = (json.dumps(BELEBELE) + "\n").encode()
    server = online({"README.md": b"x", "data/ita_Latn.jsonl": body, "data/eng_Latn.jsonl": b"not fetched"})
    loaded = catalogue.load("belebele")
    assert (loaded.origin, loaded.where) == ("hub", f"hf://datasets/facebook/belebele@{SHA}")
    assert loaded.splits["test"][0]["correct_answer_num"] == "3"
    assert not [path for _, path, _ in server.seen if "eng_Latn" in path]
    assert capfd.readouterr().err == "", "a progress bar without a terminal"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert catalogue.load("belebele").origin == "hub_cache"


def test_a_hub_without_the_file(online):
    online({"README.md": b"x"})
    with pytest.raises(UserError, match=r"the Hub \(no file data/ita_Latn.jsonl of facebook/belebele\)"):
        catalogue.load("belebele")


def test_a_hub_without_the_repository(serve, monkeypatch: pytest.MonkeyPatch):
    import huggingface_hub.constants as constants

    server = serve(lambda handler: handler.reply(200 if handler.path == "/" else 404))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    with pytest.raises(UserError, match=r"the Hub \(facebook/belebele: .*404"):
        catalogue.load("belebele")

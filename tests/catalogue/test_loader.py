import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from lm_eval_ita import catalogue
from lm_eval_ita.catalogue import loader
from lm_eval_ita.catalogue.schema import Canonical
from lm_eval_ita.errors import UserError

from .server import Handler


def xcopa(idx: int, premise: str = "L'uomo aprì il rubinetto.") -> dict[str, object]:
    choices = {"choice1": "Fluì dell'acqua.", "choice2": "Fluì del vino."}
    return {"premise": premise, **choices, "question": "effect", "label": 0, "idx": idx, "changed": False}


def folder(root: Path, key: str, **splits: list[dict[str, object]]) -> Path:
    (root / key).mkdir(parents=True, exist_ok=True)
    for name, rows in splits.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (root / key / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return root


def canonical(monkeypatch: pytest.MonkeyPatch, key: str, *files: Canonical) -> None:
    """Let a data set's canonical origin be a server of the test."""
    moved = catalogue.entry(key).model_copy(update={"canonical": files})
    monkeypatch.setattr(loader, "find_entry", lambda name: moved if name == key else catalogue.entry(name))


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow the network; the Hub's address still refuses connections."""
    monkeypatch.delenv("HF_HUB_OFFLINE")


def test_the_folder_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LM_EVAL_ITA_DATA", str(folder(tmp_path / "d", "xcopa", test=[xcopa(0)])))
    loaded = catalogue.load("xcopa")
    assert loaded.splits == {"test": [xcopa(0)]}
    assert (loaded.origin, loaded.where) == ("folder", str(tmp_path / "d" / "xcopa"))
    assert not loaded.is_sample
    assert loaded.notes == ("xcopa test: 1 rows, the full set has 500",)


def test_the_explicit_folder_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LM_EVAL_ITA_DATA", str(folder(tmp_path / "env", "xcopa", test=[xcopa(0)])))
    explicit = folder(tmp_path / "arg", "xcopa", test=[xcopa(1)])
    assert catalogue.load("xcopa", data_dir=explicit).splits["test"][0]["idx"] == 1


def test_a_key_missing_from_the_explicit_folder_is_looked_for_in_the_environments(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("LM_EVAL_ITA_DATA", str(folder(tmp_path / "env", "xcopa", test=[xcopa(0)])))
    explicit = folder(tmp_path / "arg", "honest")
    assert catalogue.load("xcopa", data_dir=explicit).where == str(tmp_path / "env" / "xcopa")


def test_formats_of_a_folder(tmp_path: Path):
    rows = [xcopa(0), xcopa(1)]
    (tmp_path / "a" / "xcopa").mkdir(parents=True)
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a" / "xcopa" / "test.parquet")
    (tmp_path / "b" / "xcopa").mkdir(parents=True)
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    (tmp_path / "b" / "xcopa" / "test.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    expected = catalogue.load("xcopa", data_dir=folder(tmp_path / "c", "xcopa", test=rows)).splits
    assert catalogue.load("xcopa", data_dir=tmp_path / "a").splits == expected
    assert catalogue.load("xcopa", data_dir=tmp_path / "b").splits == expected


def test_two_files_for_one_split_are_not_chosen_between(tmp_path: Path):
    folder(tmp_path, "xcopa", test=[xcopa(0)])
    (tmp_path / "xcopa" / "test.csv").write_text("a\n1\n")
    with pytest.raises(UserError, match=r"test\.jsonl and test\.csv are both there"):
        catalogue.load("xcopa", data_dir=tmp_path)


def test_optional_splits_are_loaded_when_they_are_there(tmp_path: Path):
    folder(tmp_path, "xcopa", test=[xcopa(0)], validation=[xcopa(1)])
    assert list(catalogue.load("xcopa", data_dir=tmp_path).splits) == ["test", "validation"]
    assert list(catalogue.load("xcopa", ["validation"], data_dir=tmp_path).splits) == ["validation"]


def test_a_missing_split_is_an_error_and_not_taken_from_elsewhere(tmp_path: Path):
    folder(tmp_path, "xcopa", validation=[xcopa(0)])
    with pytest.raises(UserError, match=r"the split test is missing .*validation\.jsonl.*data fetch xcopa --to"):
        catalogue.load("xcopa", data_dir=tmp_path)


@pytest.mark.parametrize("which", ["data_dir", "LM_EVAL_ITA_DATA"])
def test_a_folder_that_does_not_exist_is_a_typo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str):
    if which == "LM_EVAL_ITA_DATA":
        monkeypatch.setenv(which, str(tmp_path / "nope"))
    with pytest.raises(UserError, match=f"nope: {which} names a folder that does not exist"):
        catalogue.load("xcopa", data_dir=tmp_path / "nope" if which == "data_dir" else None)


@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_and_nothing_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv(name, "1")
    with pytest.raises(UserError) as caught:
        catalogue.load("squad_it")
    text = str(caught.value)
    assert text.startswith("squad_it (SQuAD-it) cannot be had: tried $LM_EVAL_ITA_DATA (not set); the Hub cache (")
    assert text.count("skipped: the network is switched off") == 2
    assert "`lm-eval-ita data fetch squad_it`" in text
    assert "\n" not in text


def test_online_and_nothing_reachable_is_one_clear_error(online, monkeypatch: pytest.MonkeyPatch):
    canonical(monkeypatch, "xcopa")
    with pytest.raises(
        UserError, match=r"the Hub \(http://127.0.0.1:9 does not answer: .*refused.*origin \(none known\)"
    ):
        catalogue.load("xcopa")


def test_ami_names_its_organisers():
    with pytest.raises(
        UserError, match=r"handed out by the organisers.*put train\.jsonl, test\.jsonl into FOLDER/ami_2020"
    ):
        catalogue.load("ami_2020")


def test_unknown_names():
    with pytest.raises(UserError, match="did you mean xcopa"):
        catalogue.load("xcoppa")
    with pytest.raises(UserError, match="xcopa has no split 'train': there are test, validation"):
        catalogue.load("xcopa", ["train"])
    with pytest.raises(TypeError, match="a list of names"):
        catalogue.load("xcopa", "test")


def test_the_canonical_origin_is_fetched_once_and_then_needs_no_network(online, monkeypatch, serve):
    body = "".join(json.dumps(xcopa(i)) + "\r\n" for i in range(3)).encode()
    server = serve(lambda handler: handler.reply(200, body))
    canonical(monkeypatch, "xcopa", Canonical(url=f"{server.url}/data/test.it.jsonl", format="jsonl", split="test"))
    loaded = catalogue.load("xcopa")
    assert (loaded.origin, loaded.where) == ("canonical", f"{server.url}/data/test.it.jsonl")
    assert [row["idx"] for row in loaded.splits["test"]] == [0, 1, 2]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert catalogue.load("xcopa").splits == loaded.splits
    assert catalogue.locate("xcopa")[0] == "canonical"
    assert len(server.seen) == 1


def test_the_hubs_silence_is_not_the_end(online, monkeypatch, serve):
    server = serve(lambda handler: handler.reply(404))
    canonical(monkeypatch, "xcopa", Canonical(url=f"{server.url}/gone", format="jsonl", split="test"))
    with pytest.raises(
        UserError, match=r"its canonical origin \(.*/gone: HTTP 404 Not Found\). To mend it: run `lm-eval-ita"
    ):
        catalogue.load("xcopa")


def test_one_file_with_all_splits(online, monkeypatch: pytest.MonkeyPatch, serve):
    header = "UniqueIndexID\tSource\tAcceptability\tSentence\tSplit\n"
    table = header + "1\tG\t1\tPiove.\ttrain\n2\tG\t0\tPiovi lui.\tdev\n3\tG\t1\tNevica.\ttest\n"
    server = serve(lambda handler: handler.reply(200, table.encode()))
    canonical(monkeypatch, "itacola", Canonical(url=f"{server.url}/x.tsv", format="tsv", split_column="Split"))
    loaded = catalogue.load("itacola", ["validation", "train", "test"])
    assert {name: [row["sentence"] for row in rows] for name, rows in loaded.splits.items()} == {
        "validation": ["Piovi lui."],
        "train": ["Piove."],
        "test": ["Nevica."],
    }
    with pytest.raises(UserError, match="it has no split phenomena"):
        catalogue.load("itacola", ["test", "phenomena"])


def test_a_bad_row_at_the_origin_is_named(online, monkeypatch: pytest.MonkeyPatch, serve):
    server = serve(lambda handler: handler.reply(200, json.dumps(xcopa(0) | {"label": 4}).encode()))
    canonical(monkeypatch, "xcopa", Canonical(url=f"{server.url}/x.jsonl", format="jsonl", split="test"))
    with pytest.raises(UserError, match=r"x\.jsonl:1: xcopa test: label: 4 is not one of 0, 1"):
        catalogue.load("xcopa")


LEXICON = "id\tpos\tcategory\tstereotype\tlemma\tlevel\nIT1\tn\tqas\tno\tscemo\tconservative\n"


def test_the_lexicon_is_a_path(tmp_path: Path, online, monkeypatch: pytest.MonkeyPatch, serve):
    server = serve(lambda handler: handler.reply(200, LEXICON.encode()))
    canonical(monkeypatch, "hurtlex", Canonical(url=f"{server.url}/hurtlex_IT.tsv", format="tsv", split="hurtlex_IT"))
    path = catalogue.path("hurtlex")
    assert path.read_text(encoding="utf-8") == LEXICON
    catalogue.fetch("hurtlex", tmp_path / "d")
    assert catalogue.path("hurtlex", tmp_path / "d") == tmp_path / "d" / "hurtlex" / "hurtlex_IT.tsv"
    assert (tmp_path / "d" / "hurtlex" / "hurtlex_IT.tsv").read_text(encoding="utf-8") == LEXICON
    with pytest.raises(UserError, match="xcopa is not a single file"):
        catalogue.path("xcopa")


def test_a_broken_lexicon_is_not_handed_out(tmp_path: Path):
    (tmp_path / "hurtlex").mkdir()
    (tmp_path / "hurtlex" / "hurtlex_IT.tsv").write_text(LEXICON.replace("conservative", "severe"))
    with pytest.raises(UserError, match=r"hurtlex_IT\.tsv:2: .*level: 'severe' is not one of"):
        catalogue.path("hurtlex", tmp_path)


def test_fetch_to_a_folder_gives_the_same_rows(tmp_path: Path, online, monkeypatch: pytest.MonkeyPatch, serve):
    rows = [xcopa(0, "Perche\u0301\u2028no\x85."), xcopa(1)]
    body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    server = serve(lambda handler: handler.reply(200, body))
    canonical(monkeypatch, "xcopa", Canonical(url=f"{server.url}/x.jsonl", format="jsonl", split="test"))
    fetched = catalogue.fetch("xcopa", tmp_path / "d")
    assert catalogue.load("xcopa", data_dir=tmp_path / "d").splits == fetched.splits
    assert fetched.splits["test"][0]["premise"] == "Perch\u00e9\u2028no\x85."


def test_fetch_does_not_make_a_split_ambiguous(tmp_path: Path, online, monkeypatch: pytest.MonkeyPatch, serve):
    server = serve(lambda handler: handler.reply(200, json.dumps(xcopa(0)).encode()))
    canonical(monkeypatch, "xcopa", Canonical(url=f"{server.url}/x.jsonl", format="jsonl", split="test"))
    (tmp_path / "xcopa").mkdir()
    (tmp_path / "xcopa" / "test.csv").write_text("mine")
    with pytest.raises(UserError, match=r"test\.csv is there already and would make test\.jsonl ambiguous"):
        catalogue.fetch("xcopa", tmp_path)
    assert not (tmp_path / "xcopa" / "test.jsonl").exists()


FETCHER = """
import sys
from pathlib import Path
from lm_eval_ita import catalogue
from lm_eval_ita.catalogue import loader
from lm_eval_ita.catalogue.schema import Canonical
import huggingface_hub.constants as constants
constants.ENDPOINT = "http://127.0.0.1:9"
file = Canonical(url=sys.argv[1], format="jsonl", split="test")
moved = catalogue.entry("xcopa").model_copy(update={"canonical": (file,), "hub": None})
loader.find_entry = lambda key: moved
print(len(catalogue.fetch("xcopa", Path(sys.argv[2])).splits["test"]))
"""


def test_two_processes_fetch_the_same_key(tmp_path: Path, serve):
    import os
    import time

    def slowly(handler: Handler) -> None:
        time.sleep(1.0)
        handler.reply(200, "".join(json.dumps(xcopa(i)) + "\n" for i in range(200)).encode())

    server = serve(slowly)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-c", FETCHER, f"{server.url}/x.jsonl", str(tmp_path / "d")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].strip() for process in both] == ["200", "200"]
    assert len(server.seen) == 1
    assert len(catalogue.load("xcopa", data_dir=tmp_path / "d").splits["test"]) == 200


def test_locate_without_downloading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder(tmp_path, "xcopa", test=[xcopa(0)])
    assert catalogue.locate("xcopa", tmp_path) == ("folder", str(tmp_path / "xcopa"))
    origin, why = catalogue.locate("honest")
    assert origin is None
    assert "network is switched off" in why
    assert catalogue.locate("ami_2020")[0] is None
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert catalogue.locate("honest") == ("hub", "hf://datasets/MilaNLProc/honest@refs%2Fconvert%2Fparquet")
    assert catalogue.locate("hurtlex")[0] == "canonical"

"""Sentences by stanza (a tokenizer trained on the spot) and by rules."""

import hashlib
import json
import threading
from pathlib import Path

import pytest

from lm_eval_ita.cli.main import main
from lm_eval_ita.errors import UserError
from lm_eval_ita.translate.split import pieces
from lm_eval_ita.translate.splitters import RuleSplitter, StanzaSplitter, make_splitter, stanza_folder
from tests.catalogue.server import Handler, Server

TEXTS = [
    "The cat sleeps on the sofa. Which gas do plants take in?",
    "  Water boils at 100 degrees.\n\nShe said no. ",
    "Look at the moon!",
    "",
]


@pytest.mark.slow
def test_stanza_finds_sentences(stanza_models: Path) -> None:
    splitter = StanzaSplitter("en", stanza_models)
    cut = [pieces(text, bounds) for text, bounds in zip(TEXTS, splitter.bounds(TEXTS), strict=True)]
    assert [one.join() for one in cut] == TEXTS
    assert cut[0].sentences == ("The cat sleeps on the sofa.", "Which gas do plants take in?")
    assert cut[1].sentences == ("Water boils at 100 degrees.", "She said no.")
    assert cut[1].separators == ("  ", "\n\n", " ")
    assert splitter.settings["splitter"] == "stanza"


@pytest.mark.slow
@pytest.mark.parametrize("text", ["The cat .\u2028A dog\x85.", "a" * 5000, "😀 Look. 😀 No.", "\t\r\n", "a\x00b. C"])
def test_stanza_on_odd_texts(stanza_models: Path, text: str) -> None:
    (bounds,) = StanzaSplitter("en", stanza_models).bounds([text])
    assert pieces(text, bounds).join() == text


def test_without_models_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stanza", reason="stanza is not installed")
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path))
    assert stanza_folder() == tmp_path
    assert stanza_folder(tmp_path / "x") == tmp_path / "x" / "stanza"
    with pytest.raises(UserError, match=r"lm-eval-ita prepare --stanza it --to DIR.*--splitter rule"):
        make_splitter("stanza", "it")
    (tmp_path / "en" / "tokenize").mkdir(parents=True)
    (tmp_path / "en" / "tokenize" / "tiny.pt").write_bytes(b"no model")
    english = {"lang_name": "English", "tokenize": {"tiny": {}}, "packages": {"default": {"tokenize": "tiny"}}}
    (tmp_path / "resources.json").write_text(json.dumps({"en": english, "url": ""}))
    with pytest.raises(UserError, match="English models cannot be loaded"):
        make_splitter("stanza", "en")


def test_rules() -> None:
    splitter = RuleSplitter("en")
    text = 'Dr. Smith paid $3.5 to the U.S. office. He said: "No!"\nThen he left... Why?'
    cut = pieces(text, splitter.bounds([text])[0])
    assert cut.join() == text
    assert cut.sentences[0] == "Dr. Smith paid $3.5 to the U.S. office."
    assert cut.sentences[-1] == "Why?"
    assert splitter.settings["splitter"] == "rule"


@pytest.mark.slow
def test_prepare_brings_models(
    stanza_models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`prepare --stanza` from a server on loopback, then splitting from the prepared folder."""
    model = (stanza_models / "en" / "tokenize" / "tiny.pt").read_bytes()
    english = {
        "lang_name": "English",
        "tokenize": {"tiny": {"md5": hashlib.md5(model).hexdigest()}},
        "packages": {"default": {"tokenize": "tiny"}},
    }

    def behave(handler: Handler) -> None:
        if "resources_" in handler.path:
            handler.reply(200, json.dumps({"en": english, "url": ""}).encode())
        elif handler.path == "/en/tokenize/tiny.pt":
            handler.reply(200, model)
        else:
            handler.reply(404)

    root = tmp_path / "prepared"
    with Server(behave) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("STANZA_RESOURCES_URL", server.url)
        monkeypatch.setenv("STANZA_MODEL_URL", server.url + "/{lang}/{filename}")
        for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
        assert main(["prepare", "--stanza", "en", "--to", str(root)]) == 0
        assert "new       stanza en" in capsys.readouterr().out
        seen = len(server.seen)
        assert main(["prepare", "--stanza", "en", "--to", str(root)]) == 0
        assert "verified  stanza en" in capsys.readouterr().out
        assert len(server.seen) == seen
        assert main(["prepare", "--stanza", "it", "--to", str(root)]) == 2
        assert "stanza's models for 'it' cannot be had (UnknownLanguageError" in capsys.readouterr().err
        server.shutdown()
        thread.join()
    assert main(["prepare", "--check", str(root)]) == 0
    splitter = make_splitter("stanza", "en", root)
    assert splitter.bounds(["The cat sleeps on the sofa. She said no."]) == [[(0, 27), (28, 40)]]
    (root / "stanza" / "en" / "tokenize" / "tiny.pt").write_bytes(model[:-1])
    assert main(["translate", "x.jsonl", "--fields", "q", "--to", "y.jsonl", "--model", "m", "--from", str(root)]) == 2
    assert "tiny.pt has" in capsys.readouterr().err

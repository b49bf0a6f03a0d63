"""What the tests of translation share: a stanza tokenizer trained on the spot, small random models, a server."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from tests.catalogue.server import Handler, Server

# A text in the manner of the sets that are translated; what tells sentences apart here is a stop before a capital.
SENTENCES = """
The cat sleeps on the sofa .
Which gas do plants take in ?
A teacher gave every student a new book .
What a day !
Dr. Smith went home at five .
Water boils at 100 degrees .
It weighs 3.5 kg .
Why do seasons change ?
The Earth turns around the Sun .
She said no .
Look at the moon !
Which of these animals lays eggs ?
""".strip().splitlines()


def training_text(sentences: list[str], times: int) -> tuple[str, str]:
    """A text and its labels by character: 1 ends a token, 2 ends a sentence."""
    text, labels = "", ""
    for number in range(times):
        for place in range(len(sentences)):
            tokens = sentences[(place * 5 + number) % len(sentences)].split()
            for token in tokens:
                glued = token in ".?!"
                if not glued and text and not text.endswith(("\n", " ")):
                    text, labels = text + " ", labels + "0"
                text += token
                labels += "0" * (len(token) - 1) + ("2" if token is tokens[-1] else "1")
        text, labels = text + "\n\n", labels + "00"
    return text, labels


@pytest.fixture(scope="session")
def stanza_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as stanza keeps its models in, with a small English tokenizer."""
    pytest.importorskip("stanza", reason="stanza is not installed")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "stanza_models"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            _train(folder.with_name("stanza_models.partial"))
            folder.with_name("stanza_models.partial").rename(folder)
    return folder


def _train(folder: Path) -> None:
    from stanza.models import tokenizer

    data = folder / "data"
    data.mkdir(parents=True)
    for part, times in (("train", 40), ("dev", 1)):
        text, labels = training_text(SENTENCES, times)
        (data / f"{part}.txt").write_text(text, encoding="utf-8")
        (data / f"{part}.labels").write_text(labels, encoding="utf-8")
    files = [
        "--txt_file",
        "train.txt",
        "--label_file",
        "train.labels",
        "--dev_txt_file",
        "dev.txt",
        "--dev_label_file",
        "dev.labels",
    ]
    files = [str(data / word) if word.endswith((".txt", ".labels")) else word for word in files]
    (data / "mwt.json").write_text("[]", encoding="utf-8")
    files += ["--mwt_json_file", str(data / "mwt.json")]
    place = folder / "en" / "tokenize"
    steps = ["--steps", "120", "--eval_steps", "1000", "--batch_size", "8", "--max_seqlen", "60", "--lr0", "0.02"]
    quiet = ["--sent_drop_prob", "0", "--last_char_drop_prob", "0", "--drop_initial_punct_prob", "0"]
    names = [
        "--lang",
        "en",
        "--shorthand",
        "en_tiny",
        "--save_dir",
        str(place),
        "--save_name",
        "tiny.pt",
        "--cpu",
        "--no_use_mwt",
    ]
    tokenizer.main([*files, *steps, *quiet, *names])
    english = {
        "lang_name": "English",
        "tokenize": {"tiny": {"md5": ""}},
        "packages": {"default": {"tokenize": "tiny"}},
    }
    (folder / "resources.json").write_text(json.dumps({"en": english, "url": ""}), encoding="utf-8")


# As a model asked for a translation gets them.
ENDS = ("\nItalian:", "\nEnglish:")
ITALIAN = {
    "The cat sleeps on the sofa.": "Il gatto dorme sul divano.",
    "Which gas do plants take in?": "Quale gas assorbono le piante?",
    "carbon dioxide": "anidride carbonica",
    "oxygen": "ossigeno",
    "Water boils at 100 degrees.": "L'acqua bolle a 100 gradi.",
    "She said no.": "Lei ha detto di no.",
}


class Translating:
    """A server with OpenAI's protocol that knows some sentences; others come back with "it:" before them.

    Attributes:
        asked: The sentences, in order.
        before: Called before each answer; may answer itself and return True.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.before: Callable[[Handler, str], bool] = lambda handler, sentence: False
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> None:
        body = json.loads(handler.body)
        self.last = body
        content = body["messages"][0]["content"]
        if content.endswith(ENDS):  # TowerInstruct's prompt, in either direction
            sentence = content.split("\n", 1)[1].split(": ", 1)[1].rsplit("\n", 1)[0]
        else:
            sentence = content.split("\n\n", 1)[1]
        if self.before(handler, sentence):
            return
        with self._lock:
            self.asked.append(sentence)
        known = {italian: english for english, italian in ITALIAN.items()} if content.endswith(ENDS[1]) else ITALIAN
        text = known.get(sentence, f"it: {sentence}")
        answer = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        handler.reply(200, json.dumps(answer).encode())


@pytest.fixture
def server() -> Iterator[tuple[str, Translating]]:
    behaviour = Translating()
    with Server(behaviour) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"{running.url}/v1", behaviour
        running.shutdown()
        thread.join()

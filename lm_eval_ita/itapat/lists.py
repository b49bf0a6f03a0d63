"""The target words: which words each association test compares, and how they read inside a sentence."""

import functools
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_ita._yaml import find_line, read_mapping
from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat._data import DATA

__all__ = ["BUILTIN_LISTS", "Word", "WordList", "check_pair", "load_lists", "read_list"]

BUILTIN_LISTS = DATA / "lists.yaml"
_LIST_KEYS = {"title", "source", "words"}
_FORMS = ("studiare", "esperto")


@dataclass(frozen=True)
class Word:
    """A target word.

    Attributes:
        text: The word as it stands on the input line.
        forms: How it reads where an instruction holds X: `studiare` ("l'algebra"), `esperto` ("di algebra").
    """

    text: str
    forms: Mapping[str, str] = field(default_factory=dict)

    def form(self, name: str) -> str:
        """The word in the form that an instruction asks for; the bare word where the list names no such form.

        A list of the user's own needs no forms: "esperto" then falls back to "di" and the word.
        """
        if name == "word":
            return self.text
        return self.forms.get(name, f"di {self.text}" if name == "esperto" else self.text)


@dataclass(frozen=True)
class WordList:
    """A named set of target words.

    Attributes:
        name: Key in the file.
        title: What the words are, in English.
        source: Where the words come from.
        words: In order.
        file: The file they were read from, for messages.
    """

    name: str
    title: str
    source: str
    words: tuple[Word, ...]
    file: Path


def load_lists(path: Path | str | None = None) -> dict[str, WordList]:
    """Read the built-in word lists, and replace those that a user's file names.

    Args:
        path: A YAML file of the shape of `data/lists.yaml`, holding the lists to replace.

    Returns:
        Name to list.

    Raises:
        UserError: The file cannot be read, names a list that does not exist, or holds a duplicate or empty word.
    """
    lists = dict(_builtin())
    if path is None:
        return lists
    own = Path(path).expanduser()
    for name, words in _read(own).items():
        if name not in lists:
            raise UserError(
                f"unknown list '{name}'; the lists are {', '.join(lists)}", file=own, line=find_line(own, f"{name}:")
            )
        lists[name] = words
    return lists


def check_pair(x: WordList, y: WordList) -> None:
    """Check that two lists can be compared: equal sizes, and no word in both.

    Raises:
        UserError: Naming the file, the lists and the word.
    """
    shared = {_key(word.text) for word in x.words} & {_key(word.text) for word in y.words}
    blamed = y if y.file != BUILTIN_LISTS else x
    for word in blamed.words:
        if _key(word.text) in shared:
            raise UserError(
                f"the word '{word.text}' is in both sets, X ({x.name}) and Y ({y.name}); keep it in one",
                file=blamed.file,
                line=find_line(blamed.file, f"{blamed.name}:", word.text),
            )
    if len(x.words) != len(y.words):
        raise UserError(
            f"sets of unequal size: X ({x.name}) has {len(x.words)} words, Y ({y.name}) has {len(y.words)}; "
            "a test compares sets of the same size",
            file=blamed.file,
            line=find_line(blamed.file, f"{blamed.name}:"),
        )


def _key(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()


@functools.cache
def _builtin() -> Mapping[str, WordList]:
    return _read(BUILTIN_LISTS)


def _read(path: Path) -> dict[str, WordList]:
    return {name: read_list(name, entry, path) for name, entry in read_mapping(path).items()}


def read_list(name: str, entry: Any, path: Path) -> WordList:
    """Check one list of a file.

    Raises:
        UserError: It has no words, an unknown field, or a word twice.
    """
    line = find_line(path, f"{name}:")
    if not isinstance(entry, dict) or not isinstance(entry.get("words"), list) or not entry["words"]:
        raise UserError(f"list '{name}' needs a field 'words' with at least one word", file=path, line=line)
    if unknown := sorted(str(key) for key in set(entry) - _LIST_KEYS):
        raise UserError(
            f"list '{name}' has an unknown field '{unknown[0]}'; the fields are title, source, words",
            file=path,
            line=line,
        )
    words: list[Word] = []
    seen: dict[str, str] = {}
    for item in entry["words"]:
        word = _read_word(item, name, path)
        if _key(word.text) in seen:
            raise UserError(
                f"list '{name}' holds the word '{word.text}' twice; a word counts once",
                file=path,
                line=find_line(path, f"{name}:", seen[_key(word.text)], word.text),
            )
        seen[_key(word.text)] = word.text
        words.append(word)
    return WordList(name, str(entry.get("title", name)), str(entry.get("source", "")).strip(), tuple(words), path)


def _read_word(item: Any, name: str, path: Path) -> Word:
    fields = item if isinstance(item, dict) else {"word": item}
    if unknown := sorted(str(key) for key in set(fields) - {"word", *_FORMS}):
        raise UserError(
            f"list '{name}': a word has an unknown field '{unknown[0]}'; the fields are word, {', '.join(_FORMS)}",
            file=path,
            line=find_line(path, f"{name}:", unknown[0]),
        )
    for key, value in {"word": fields.get("word"), **fields}.items():
        if not isinstance(value, str) or not value.strip():
            raise UserError(
                f"list '{name}': {value!r} is not a word (field '{key}'); write it as text, quoted if YAML reads it as "
                "something else",
                file=path,
                line=find_line(path, f"{name}:"),
            )
    clean = {key: unicodedata.normalize("NFC", " ".join(value.split())) for key, value in fields.items()}
    return Word(clean.pop("word"), clean)

"""What a table shows of every submission, kept in one file, so that a store of thousands opens in a second or two.

The index lies in the user's cache folder, not in the store: who only reads needs no right to write there, and nobody
else's index is believed. It is only ever added to; a line that is torn, or of a file that is gone, is passed over.

A line holds a brief, which is read at once, and the lean submission, which is read when somebody looks at its row.
"""

import contextlib
import functools
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping

from pydantic import ValidationError

from lm_eval_ita._gc import no_collections
from lm_eval_ita.catalogue.fetch import cache_folder
from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.brief import Brief, brief_of, from_json, to_json
from lm_eval_ita.leaderboard.compact import Templates
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission_records import Submission, lean, submission_hash

__all__ = ["Index"]

# The number is raised when lines of an older version cannot be read.
_FORMAT = "lm-eval-ita leaderboard index 3"
_TEMPLATE = "template"
# Between the brief and the submission; JSON holds none.
_BETWEEN = b"\t"

Read = Callable[[str], bytes | None]


class Index:
    """The submissions of one store.

    Args:
        store: Its name.
        read: Gives a file's content by name; None where it is gone.

    Attributes:
        problems: One line for each file that is no submission, and where the index could not be kept.
    """

    def __init__(self, store: str, read: Read) -> None:
        name = hashlib.sha256(store.encode()).hexdigest()[:16]
        self._path = cache_folder() / "leaderboard" / f"{name}.index"
        self._read_file = read
        self._templates = Templates()
        self._known: dict[str, tuple[str, Brief]] = {}
        self._bad: dict[str, tuple[str, str]] = {}
        self._is_read = False
        self.problems: tuple[str, ...] = ()

    def briefs(self, listing: Mapping[str, str], fetch: Callable[[int], None]) -> dict[str, Brief]:
        """The submissions of a listing by id.

        Args:
            listing: Name of each file, with a stamp that changes with its content.
            fetch: Told how many will be read.
        """
        with no_collections():  # two thirds of the time
            return self._briefs(listing, fetch)

    def _briefs(self, listing: Mapping[str, str], fetch: Callable[[int], None]) -> dict[str, Brief]:
        if not self._is_read:
            self._read_lines(listing)
            self._is_read = True
        new = []
        unread = {name: stamp for name, stamp in listing.items() if not self._has(name, stamp)}
        if unread:
            fetch(len(unread))
        for name, stamp in unread.items():
            found = _submission(name, self._read_file(name))
            if isinstance(found, str):
                self._bad[name] = (stamp, found)
                continue
            content, templates = self._templates.encoded(found)
            brief = brief_of(found, references(), functools.partial(self._submission, name, content))
            self._known[name] = (stamp, brief)
            new += [_line(_TEMPLATE, own, text) for own, text in templates.items()]
            head = json.dumps(to_json(brief), separators=(",", ":"), ensure_ascii=False).encode()
            new.append(_line(name, stamp, head + _BETWEEN + content))
        problems = [f"{name}: {self._bad[name][1]}" for name in listing if name in self._bad]
        if new and (problem := self._append(new)):
            problems.append(problem)
        self.problems = tuple(problems)
        return {name.removesuffix(".json"): self._known[name][1] for name in listing if name in self._known}

    def _has(self, name: str, stamp: str) -> bool:
        return any(own.get(name, ("",))[0] == stamp for own in (self._known, self._bad))

    def _submission(self, name: str, content: bytes) -> Submission:
        """The lean submission of a line, or, where a template of it was cut off, of its file."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return self._templates.decoded(content)
        found = _submission(name, self._read_file(name))
        if isinstance(found, str):
            raise UserError(f"{name}: {found}")
        return found

    def _read_lines(self, listing: Mapping[str, str]) -> None:
        try:
            with self._path.open("rb") as file:
                for line in file if file.readline() == _first_line() else ():
                    self._read_line(line, listing)
        except OSError:  # there is none yet, or none that we may read: it is made anew
            return

    def _read_line(self, line: bytes, listing: Mapping[str, str]) -> None:
        try:
            name, stamp, check, content = line.rstrip(b"\n").split(b" ", 3)
            own, mark = name.decode(), stamp.decode()
            if own != _TEMPLATE and listing.get(own) != mark:
                return
            if int(check, 16) != zlib.crc32(content):
                return
            if own == _TEMPLATE:
                self._templates.read(mark, content)
            else:
                head, _, body = content.partition(_BETWEEN)
                brief = from_json(json.loads(head), functools.partial(self._submission, own, body))
                self._known[own] = (mark, brief)
        except (ValueError, KeyError, TypeError):  # cut off while it was written
            return

    def _append(self, lines: list[bytes]) -> str | None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            is_new = not self._is_ours()
            with self._path.open("wb" if is_new else "ab") as file:
                # One write, so that lines of two processes do not mix; after a torn line a new one begins.
                file.write((_first_line() if is_new else b"\n") + b"".join(lines))
        except OSError as error:
            return f"{self._path}: the index cannot be kept ({error.strerror or error}); set LM_EVAL_ITA_CACHE"
        return None

    def _is_ours(self) -> bool:
        """Whether there is an index that can be added to."""
        if not self._path.exists():
            return False
        with self._path.open("rb") as file:
            return file.readline() == _first_line()


@functools.cache
def _first_line() -> bytes:
    """What an index begins with: briefs say which figures are comparable, and so hold for these task files only."""
    tasks = hashlib.sha256(repr(references()).encode()).hexdigest()[:16]
    return f"{_FORMAT} {tasks}\n".encode()


def _line(name: str, stamp: str, content: bytes) -> bytes:
    return f"{name} {stamp} {zlib.crc32(content):08x} ".encode() + content + b"\n"


def _submission(name: str, content: bytes | None) -> Submission | str:
    """The lean submission, or why the file holds none."""
    if content is None:
        return "is gone"
    try:
        submission = Submission.model_validate_json(content, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        return f"is no submission: {'.'.join(map(str, first['loc']))[:80]}: {first['msg']}"
    if f"{submission_hash(submission)}.json" != name or submission.submission_id != name.removesuffix(".json"):
        return "its content is not the one that it was named after: it was changed"
    return lean(submission)

"""The store of submissions: append-only, content-addressed, in a folder or in a data set repository of the Hub.

submissions/<id>.json   approved; the newest of a key is current, older ones are its history
documents/<id>.json     figures by document, where they were given
pending/<id>.json       waits for a decision, documents included
rejected/<id>.json      likewise, decided
decisions/<time>-<id>.json   who was added, approved, rejected, when and why
"""

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, Protocol

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.brief import Brief
from lm_eval_ita.leaderboard.files import Change, Files
from lm_eval_ita.leaderboard.folder import FolderFiles
from lm_eval_ita.leaderboard.index import Index
from lm_eval_ita.results.submission import Problem, validate
from lm_eval_ita.results.submission_records import Documents, Submission, upload_bytes

__all__ = ["Decision", "RefusedError", "Store", "SubmissionStore", "open_store"]

_KNOWN = {"submissions": "is on the board already", "pending": "is waiting already", "rejected": "was rejected"}
_ID = re.compile(r"[0-9a-f]{16}")
# More than a maintainer looks through; an upload beyond is refused.
_MOST_PENDING = 1000


class RefusedError(UserError):
    """A submission that is not taken; `problems` says why, field by field."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Decision:
    """One line of the log.

    Attributes:
        submission_id: What was decided on.
        decision: "added" without waiting, "approved" or "rejected".
        reason: Why; "" where nobody said.
        time: When, UTC.
    """

    submission_id: str
    decision: Literal["added", "approved", "rejected"]
    reason: str
    time: datetime


class Store(Protocol):
    """What the app and the commands ask of a store."""

    def current(self) -> Sequence[Brief]:
        """The newest approved submission of each key, in the order in which they came."""

    def history(self, submission_id: str) -> Sequence[Brief]:
        """All approved submissions of one key, the newest first."""

    def get(self, submission_id: str) -> Submission:
        """One approved submission with all details."""

    def documents(self, submission_id: str) -> Documents | None:
        """An approved submission's figures by document; None where it has none."""

    def add(self, submission: Submission, documents: Documents | None = None) -> str:
        """Take a submission without waiting, also one that was rejected: a maintainer's way."""

    def check(self, submission: Submission) -> None:
        """Raise what `add` of a valid submission would raise."""

    def add_pending(self, raw: bytes) -> str:
        """Take an uploaded file into the queue."""

    def pending(self) -> Sequence[Submission]:
        """What waits for a decision, the oldest first, with all details."""

    def approve(self, submission_id: str) -> None:
        """Show what waits."""

    def reject(self, submission_id: str, reason: str) -> None:
        """Do not show what waits."""

    def decisions(self) -> Sequence[Decision]:
        """The log, the oldest first."""

    def version(self) -> str:
        """Changes whenever `current()` would."""

    def problems(self) -> Sequence[str]:
        """One line for each of the store's files that cannot be shown."""


@dataclass(frozen=True)
class _State:
    version: str
    submissions: dict[str, Brief]
    keys: dict[str, list[Brief]]
    problems: tuple[str, ...]


class SubmissionStore:
    """A store over files, wherever they lie. Its methods may be called from several threads and processes."""

    def __init__(self, files: Files, clock: Callable[[], datetime] = lambda: datetime.now(timezone.utc)) -> None:
        self._files, self._clock = files, clock
        self._index = Index(files.name, lambda name: files.read(f"submissions/{name}"))
        self._lock = threading.RLock()
        self._last: _State | None = None

    def current(self) -> Sequence[Brief]:
        """See `Store`."""
        return sorted((own[0] for own in self._state().keys.values()), key=_age)

    def history(self, submission_id: str) -> Sequence[Brief]:
        """See `Store`.

        Raises:
            UserError: There is no such submission.
        """
        state = self._state()
        return tuple(state.keys[self._known(submission_id, state).key])

    def get(self, submission_id: str) -> Submission:
        """See `Store`.

        Raises:
            UserError: There is no such submission.
        """
        self._known(submission_id, self._state())
        content = self._files.read(f"submissions/{submission_id}.json")
        return Submission.model_validate_json(content or b"", strict=True)

    def documents(self, submission_id: str) -> Documents | None:
        """See `Store`.

        Raises:
            UserError: There is no such submission.
        """
        self._known(submission_id, self._state())
        content = self._files.read(f"documents/{submission_id}.json")
        return None if content is None else Documents.model_validate_json(content, strict=True)

    def add(self, submission: Submission, documents: Documents | None = None) -> str:
        """See `Store`.

        Returns:
            The submission's id.

        Raises:
            RefusedError: It is not valid, there already, or holds fewer tasks than what it would replace.
        """
        checked, own = self._checked(upload_bytes(submission, documents))

        def decide() -> Change:
            self.check(checked)
            return Change(f"Add {checked.submission_id}", self._approved(checked, own, "added", ""))

        self._files.change(decide)
        return checked.submission_id

    def check(self, submission: Submission) -> None:
        """See `Store`.

        Raises:
            RefusedError: It is there already, or holds fewer tasks than what it would replace.
        """
        self._refuse_known(submission.submission_id, "submissions", "pending")
        self._refuse_fewer_tasks(submission)

    def add_pending(self, raw: bytes) -> str:
        """See `Store`.

        Returns:
            The submission's id.

        Raises:
            RefusedError: As for `add`; or too many are waiting.
        """
        submission, documents = self._checked(raw)
        name = f"{submission.submission_id}.json"

        def decide() -> Change:
            self._refuse_known(submission.submission_id, "rejected")
            self.check(submission)
            if len(self._files.listing("pending")) >= _MOST_PENDING:
                raise RefusedError([Problem("file", "too many submissions are waiting", "try again in a few days")])
            return Change(
                f"Receive {submission.submission_id}", {f"pending/{name}": upload_bytes(submission, documents)}
            )

        self._files.change(decide)
        return submission.submission_id

    def pending(self) -> Sequence[Submission]:
        """See `Store`."""
        approved = self._files.listing("submissions")
        found = [self._waiting(name) for name in self._files.listing("pending") if name not in approved]
        return sorted((submission for submission, _ in found), key=_age)

    def approve(self, submission_id: str) -> None:
        """See `Store`.

        Raises:
            UserError: It does not wait.
            RefusedError: By now it holds fewer tasks than what it would replace.
        """

        def decide() -> Change:
            submission, documents = self._waiting(self._pending_name(submission_id))
            self._refuse_fewer_tasks(submission)
            added = self._approved(submission, documents, "approved", "")
            return Change(f"Approve {submission_id}", added, (f"pending/{submission_id}.json",))

        self._files.change(decide)

    def reject(self, submission_id: str, reason: str) -> None:
        """See `Store`.

        Raises:
            UserError: It does not wait, or the reason is empty.
        """
        if not reason.strip():
            raise UserError("a rejection needs a reason: the submitter is shown it")

        def decide() -> Change:
            name = self._pending_name(submission_id)
            content = self._files.read(f"pending/{name}") or b""
            path, decision = self._decision(submission_id, "rejected", " ".join(reason.split()))
            return Change(
                f"Reject {submission_id}", {f"rejected/{name}": content, path: decision}, (f"pending/{name}",)
            )

        self._files.change(decide)

    def decisions(self) -> Sequence[Decision]:
        """See `Store`."""
        found = []
        for name in self._files.listing("decisions"):
            entry = json.loads(self._files.read(f"decisions/{name}") or b"{}")
            found.append(Decision(**{**entry, "time": datetime.fromisoformat(entry["time"])}))
        return found

    def version(self) -> str:
        """See `Store`."""
        return self._files.version("submissions")

    def problems(self) -> Sequence[str]:
        """See `Store`."""
        return self._state().problems

    def _state(self) -> _State:
        with self._lock:
            # Taken before the listing: what comes between the two is then read once more, never missed.
            version = self._files.version("submissions")
            if self._last is None or self._last.version != version:
                listing = self._files.listing("submissions")
                found = self._index.briefs(listing, lambda count: self._files.fetch("submissions", count))
                keys: dict[str, list[Brief]] = {}
                for brief in sorted(found.values(), key=_age, reverse=True):
                    keys.setdefault(brief.key, []).append(brief)
                self._last = _State(version, found, keys, self._index.problems)
            return self._last

    def _known(self, submission_id: str, state: _State) -> Brief:
        found = state.submissions.get(submission_id)
        if found is None:
            raise UserError(f"there is no submission {submission_id[:40]!r} in {self._files.name}")
        return found

    def _checked(self, raw: bytes) -> tuple[Submission, Documents | None]:
        checked = validate(raw)
        if checked.submission is None:
            raise RefusedError(checked.problems)
        # When it came is not for the submitter to say: it decides which of two is newer.
        return checked.submission.model_copy(update={"submitted": self._clock()}), checked.documents

    def _refuse_known(self, submission_id: str, *folders: str) -> None:
        for folder in folders:
            if self._files.read(f"{folder}/{submission_id}.json") is not None:
                what = f"the same submission {_KNOWN[folder]}"
                why = self._reason(submission_id) if folder == "rejected" else ""
                raise RefusedError([Problem("submission_id", what + why, "submit only what is new")])

    def _reason(self, submission_id: str) -> str:
        return next(
            (f" ({entry.reason})" for entry in self.decisions()[::-1] if entry.submission_id == submission_id), ""
        )

    def _refuse_fewer_tasks(self, submission: Submission) -> None:
        newest = next(iter(self._state().keys.get(submission.key, ())), None)
        missing = [] if newest is None else sorted(newest.read().run.tasks.keys() - submission.run.tasks.keys())
        if newest is not None and missing:
            names = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
            what = f"it would replace {newest.submission_id}, of the same model and settings, which also holds {names}"
            raise RefusedError([Problem("run.tasks", what, "submit all results of the model together")])

    def _approved(
        self,
        submission: Submission,
        documents: Documents | None,
        decision: Literal["added", "approved"],
        reason: str,
    ) -> dict[str, bytes]:
        name = f"{submission.submission_id}.json"
        path, entry = self._decision(submission.submission_id, decision, reason)
        own = (
            {}
            if documents is None
            else {f"documents/{name}": documents.model_dump_json(exclude_defaults=True).encode()}
        )
        # In this order: what a reader finds is complete, and a killed approval is finished by approving again.
        return {**own, f"submissions/{name}": upload_bytes(submission), path: entry}

    def _decision(
        self, submission_id: str, decision: Literal["added", "approved", "rejected"], reason: str
    ) -> tuple[str, bytes]:
        now = self._clock()
        entry = {"submission_id": submission_id, "decision": decision, "reason": reason, "time": now.isoformat()}
        path = f"decisions/{now:%Y%m%dT%H%M%S.%f}Z-{submission_id}.json"
        return path, json.dumps(entry, ensure_ascii=False).encode()

    def _pending_name(self, submission_id: str) -> str:
        name = f"{submission_id}.json"
        if not _ID.fullmatch(submission_id) or self._files.read(f"pending/{name}") is None:
            raise UserError(
                f"no submission {submission_id[:40]!r} is waiting; `lm-eval-ita leaderboard pending` lists them"
            )
        return name

    def _waiting(self, name: str) -> tuple[Submission, Documents | None]:
        checked = validate(self._files.read(f"pending/{name}") or b"")
        if checked.submission is None:
            raise RefusedError(checked.problems)
        return checked.submission, checked.documents


def open_store(location: str | Path) -> Store:
    """Open a store, or an empty one where there is none yet.

    Args:
        location: A folder, or "hf://datasets/ORG/NAME" with an optional "@BRANCH".

    Raises:
        UserError: It is no place for a store.
    """
    if str(location).startswith("hf:"):
        from lm_eval_ita.leaderboard.hub_store import HubFiles

        return SubmissionStore(HubFiles(str(location)))
    return SubmissionStore(FolderFiles(Path(location)))


def _age(submission: Submission | Brief) -> tuple[datetime, str]:
    return submission.submitted, submission.submission_id

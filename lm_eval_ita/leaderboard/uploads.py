"""From an uploaded file to an answer."""

import math
from pathlib import Path

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.pages.submit import Answer
from lm_eval_ita.leaderboard.store import RefusedError, Store
from lm_eval_ita.leaderboard.texts import Texts
from lm_eval_ita.results.submission import Problem

__all__ = ["received", "refused", "too_often"]


def received(store: Store, t: Texts, upload: Path) -> Answer:
    """Check a file and, where it is good, let it wait for approval.

    Args:
        store: Where to.
        t: The language of the answer.
        upload: Where the file lies, under a name of ours.
    """
    try:
        raw = upload.read_bytes()
    except OSError:
        return Answer(False, t["submit_failed"])
    try:
        submission_id = store.add_pending(raw)
    except RefusedError as error:
        return refused(t, error.problems)
    except UserError:  # the store cannot be written to: nothing that a submitter can mend
        return Answer(False, t["submit_failed"])
    return Answer(True, t["submit_accepted"].format(id=submission_id))


def refused(t: Texts, problems: tuple[Problem, ...]) -> Answer:
    """The answer to a file with problems."""
    one = t["submit_refused_one"]
    return Answer(False, one if len(problems) == 1 else t["submit_refused_many"].format(n=len(problems)), problems)


def too_often(t: Texts, wait_seconds: float) -> Answer:
    """The answer to an address that sends too much."""
    return Answer(False, t["submit_too_often"].format(minutes=max(1, math.ceil(wait_seconds / 60))))

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.hub_store import HubFiles, repository_of
from lm_eval_ita.leaderboard.store import RefusedError, SubmissionStore, open_store
from lm_eval_ita.results.submission_records import Submission, upload_bytes
from tests.catalogue.server import Server
from tests.leaderboard.hub import TOKEN, WritableHub
from tests.leaderboard.submissions import submission

NAME = "ita/board"
WHERE = f"hf://datasets/{NAME}"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> Iterator[WritableHub]:
    found = WritableHub(tmp_path / "hub", NAME)
    server = Server(found)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = {
        "ENDPOINT": server.url,
        "HUGGINGFACE_CO_URL_TEMPLATE": server.url + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": False,
    }
    for name, value in settings.items():
        monkeypatch.setattr(huggingface_hub.constants, name, value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
    yield found
    server.shutdown()
    server.server_close()


def store(waits: list[float] | None = None) -> SubmissionStore:
    """The store, waiting for no time between attempts; as another process would open it."""
    pauses: list[float] = [] if waits is None else waits
    return SubmissionStore(HubFiles(WHERE, pause=pauses.append))


def ids(found: object) -> list[str]:
    assert isinstance(found, list | tuple)
    return [entry.submission_id for entry in found]


def test_the_same_life_as_in_a_folder(hub: WritableHub) -> None:
    own = store()
    assert ids(own.current()) == []
    first = own.add(submission(score=0.5))
    waiting = own.add_pending(upload_bytes(submission("org/other")))
    assert ids(own.pending()) == [waiting]
    before = own.version()
    other = own.add_pending(upload_bytes(submission("org/third")))
    assert own.version() == before
    own.reject(other, "made up")
    own.approve(waiting)
    assert own.version() != before
    later = own.add(submission(score=0.75))
    for seen in (own, store()):
        assert ids(seen.current()) == [waiting, later]
        assert ids(seen.history(first)) == [later, first]
        assert ids(seen.pending()) == []
        assert [entry.decision for entry in seen.decisions()] == ["added", "rejected", "approved", "added"]
        assert (
            seen.get(first).run.tasks["itaeval_xcopa"].breakdowns == submission().run.tasks["itaeval_xcopa"].breakdowns
        )
        assert seen.documents(first) is None
        assert seen.problems() == ()
    assert sorted(path.name for path in (hub.root / NAME / "submissions").iterdir()) == sorted(
        f"{name}.json" for name in (first, waiting, later)
    )
    assert not list((hub.root / NAME / "pending").iterdir())
    with pytest.raises(RefusedError, match="is on the board already"):
        own.add(submission(score=0.5))


def test_an_approval_is_one_commit(hub: WritableHub) -> None:
    own = store()
    name = own.add_pending(upload_bytes(submission()))
    count = len(hub.commits[NAME])
    own.approve(name)
    assert len(hub.commits[NAME]) == count + 1
    files = [path for path in hub.commits[NAME][-1][1] if name in path]
    assert sorted(path.partition("/")[0] for path in files) == ["decisions", "submissions"]


def test_another_commit_between_is_no_loss(hub: WritableHub) -> None:
    """Somebody else adds a submission after we looked and before we commit: the Hub says 412, and both are kept."""
    waits: list[float] = []
    own = store(waits)
    other = submission("org/other")

    def interfere() -> None:
        hub.before_commit = lambda: None
        hub.commit(NAME, {f"submissions/{other.submission_id}.json": upload_bytes(other)})

    hub.before_commit = interfere
    name = own.add(submission())
    assert len(waits) == 1
    assert {entry.submission_id for entry in store().current()} == {name, other.submission_id}


def test_the_same_submission_from_two_sides(hub: WritableHub) -> None:
    """What was decided before the other commit is decided again: the second is told, and nothing is written twice."""
    own, made = store(), submission()

    def interfere() -> None:
        hub.before_commit = lambda: None
        hub.commit(NAME, {f"submissions/{made.submission_id}.json": upload_bytes(made)})

    hub.before_commit = interfere
    with pytest.raises(RefusedError, match="is on the board already"):
        own.add(made)


def test_a_lost_answer_is_not_a_second_submission(hub: WritableHub) -> None:
    hub.answers = [(504, True)]
    waits: list[float] = []
    name = store(waits).add(submission())
    assert waits == []
    assert ids(store().current()) == [name]


def test_a_busy_hub_is_asked_again_and_not_for_ever(hub: WritableHub) -> None:
    hub.answers = [(503, False), (429, False)]
    waits: list[float] = []
    store(waits).add(submission())
    assert len(waits) == 2
    assert all(0.1 < wait < 1 for wait in waits)
    hub.answers = [(412, False)] * 20
    waits.clear()
    with pytest.raises(UserError, match="others write at the same time, 10 times in a row; try again later"):
        store(waits).add(submission(score=0.75))
    assert len(waits) == 10
    assert max(waits) <= 12


def test_uploads_at_once(hub: WritableHub) -> None:
    """Eight uploads from eight stores: every commit names its parent, seven at least are refused once."""
    made = [submission(f"org/model-{i}") for i in range(8)]
    errors: list[BaseException] = []

    def upload(own: Submission) -> None:
        try:
            SubmissionStore(HubFiles(WHERE, pause=lambda seconds: None)).add_pending(upload_bytes(own))
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            errors.append(error)

    threads = [threading.Thread(target=upload, args=(own,)) for own in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert {entry.submission_id for entry in store().pending()} == {own.submission_id for own in made}


def test_many_files_come_at_once_and_only_once(hub: WritableHub) -> None:
    made = [submission(f"org/model-{i}") for i in range(60)]
    hub.commit(NAME, {f"submissions/{own.submission_id}.json": upload_bytes(own) for own in made})
    assert len(store().current()) == 60
    hub.requests.clear()
    added = submission("org/new")
    hub.commit(NAME, {f"submissions/{added.submission_id}.json": upload_bytes(added)})
    assert len(store().current()) == 61
    fetched = {request.rpartition("/")[2] for request in hub.requests if "/resolve/" in request}
    assert fetched == {f"{added.submission_id}.json"}


def test_readers_go_on_while_the_hub_is_away(hub: WritableHub, monkeypatch: pytest.MonkeyPatch) -> None:
    own = store()
    name = own.add(submission())
    assert ids(own.current()) == [name]
    version = own.version()
    monkeypatch.setattr("lm_eval_ita.leaderboard.hub_store._FRESH", -1.0)
    hub.commits[NAME + "-gone"] = hub.commits.pop(NAME)
    assert own.version() == version
    with pytest.raises(UserError, match="there is no such data set, or this token may not see it"):
        own.add(submission(score=0.75))


def _offline(hub: WritableHub, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def _unreachable(hub: WritableHub, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")


def _foreign_token(hub: WritableHub, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("HF_TOKEN", "hf_other")


def _gone(hub: WritableHub, patch: pytest.MonkeyPatch) -> None:
    hub.commits.clear()


FAILURES: dict[str, tuple[Callable[[WritableHub, pytest.MonkeyPatch], None], str]] = {
    "offline": (_offline, "cannot be reached: HF_HUB_OFFLINE forbids the network; open a local folder instead"),
    "unreachable": (_unreachable, "cannot be reached: .*Connect"),
    "token": (_foreign_token, "cannot be written: this token may not write there"),
    "no repository": (_gone, "there is no such data set"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_one_line(name: str, hub: WritableHub, monkeypatch: pytest.MonkeyPatch) -> None:
    fail, message = FAILURES[name]
    fail(hub, monkeypatch)
    with pytest.raises(UserError, match=message) as raised:
        store().add(submission())
    assert str(raised.value).startswith(WHERE)
    assert "\n" not in str(raised.value)


def test_names_of_repositories() -> None:
    assert repository_of("hf://datasets/org/name") == ("org/name", None)
    assert repository_of("hf://datasets/org/name@refs/pr/1") == ("org/name", "refs/pr/1")
    for wrong in ("hf://org/name", "hf://datasets/name", "hf://models/org/name", "hf:x", "hf://datasets/a/b/c"):
        with pytest.raises(UserError, match="write hf://datasets/ORG/NAME"):
            open_store(wrong)

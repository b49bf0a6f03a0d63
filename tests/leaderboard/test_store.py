import json
import os
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from lm_eval_ita.catalogue.fetch import cache_folder
from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.brief import brief_of, to_json
from lm_eval_ita.leaderboard.folder import FolderFiles, write_new
from lm_eval_ita.leaderboard.store import RefusedError, SubmissionStore, open_store
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission import validate
from lm_eval_ita.results.submission_records import Submission, lean, upload_bytes, with_id
from tests.leaderboard.bad_uploads import BAD_UPLOADS, good
from tests.leaderboard.submissions import submission


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))


def test_added_is_current_and_a_newer_one_replaces_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    assert list(store.current()) == []
    before = store.version()
    first = store.add(submission(score=0.5))
    assert store.version() != before
    second = store.add(submission(score=0.6))
    other = store.add(submission("org/other"))
    assert [entry.submission_id for entry in store.current()] == [second, other]
    assert [entry.submission_id for entry in store.history(first)] == [second, first]
    assert store.get(first).run.tasks["itaeval_xcopa"].score == 0.5


def test_pending_is_not_current_until_it_is_approved(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    before = store.version()
    name = store.add_pending(upload_bytes(submission()))
    assert [entry.submission_id for entry in store.pending()] == [name]
    assert list(store.current()) == []
    assert store.version() == before
    store.approve(name)
    assert list(store.pending()) == []
    assert [entry.submission_id for entry in store.current()] == [name]
    assert [(entry.submission_id, entry.decision) for entry in store.decisions()] == [(name, "approved")]


def test_rejected_is_kept_and_not_taken_again(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    name = store.add_pending(upload_bytes(submission()))
    with pytest.raises(UserError, match="reason"):
        store.reject(name, " ")
    store.reject(name, "made up")
    assert list(store.pending()) == []
    with pytest.raises(RefusedError, match=r"was rejected \(made up\)"):
        store.add_pending(upload_bytes(submission()))
    # A maintainer may think again.
    assert store.add(submission()) == name
    assert [entry.decision for entry in store.decisions()] == ["rejected", "added"]


def test_a_store_reads_what_another_process_left(tmp_path: Path) -> None:
    name = open_store(tmp_path / "store").add(submission())
    again = open_store(tmp_path / "store")
    assert isinstance(again, SubmissionStore)
    assert [entry.submission_id for entry in again.current()] == [name]


class Clock:
    """A day later at each look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=timezone.utc)

    def __call__(self) -> datetime:
        self.now += timedelta(days=1)
        return self.now


def test_the_moment_is_the_store_s_not_the_submitter_s(tmp_path: Path) -> None:
    store = SubmissionStore(FolderFiles(tmp_path / "store"), Clock())
    future = submission(score=0.5).model_copy(update={"submitted": datetime(2999, 1, 1, tzinfo=timezone.utc)})
    first = store.add_pending(upload_bytes(future))
    second = store.add(submission(score=0.75))
    store.approve(first)
    # It came earlier, though it was approved later and says another thing.
    assert [entry.submission_id for entry in store.history(first)] == [second, first]
    assert store.get(first).submitted == datetime(2026, 1, 2, tzinfo=timezone.utc)


def test_documents(tmp_path: Path) -> None:
    checked = validate(json.dumps(good()).encode())
    assert checked.submission is not None
    store = open_store(tmp_path / "store")
    with_documents = store.add_pending(json.dumps(good()).encode())
    store.approve(with_documents)
    assert store.documents(with_documents) == checked.documents
    without = store.add(submission("org/other"))
    assert store.documents(without) is None
    for unknown in ("0" * 16, "../pending/x"):
        for ask in (store.get, store.documents, store.history):
            with pytest.raises(UserError, match="there is no submission"):
                ask(unknown)


def test_lean_lists_and_the_whole_record(tmp_path: Path) -> None:
    made = submission(tasks=("itaeval_itacola", "itapat_gender_6"))
    store = open_store(tmp_path / "store")
    name = store.add(made)
    whole = store.get(name)
    assert whole.model_copy(update={"submitted": made.submitted}) == made
    (brief,) = store.current()
    listed = brief.read()
    assert listed == lean(whole)
    assert not listed.run.tasks["itaeval_itacola"].breakdowns.phenomena
    assert listed.run.tasks["itapat_gender_6"].metrics == made.run.tasks["itapat_gender_6"].metrics


@pytest.mark.parametrize("name", ["markup", "limited run", "zip renamed to JSON", "path as id", "changed by hand"])
def test_bad_uploads_leave_nothing_behind(tmp_path: Path, name: str) -> None:
    raw, field = BAD_UPLOADS[name]()
    with pytest.raises(RefusedError) as raised:
        open_store(tmp_path / "store").add_pending(raw)
    assert field in [problem.field for problem in raised.value.problems]
    assert not (tmp_path / "store").exists()


def test_duplicates(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    raw = upload_bytes(submission())
    name = store.add_pending(raw)
    for again in (lambda: store.add_pending(raw), lambda: store.add(submission())):
        with pytest.raises(RefusedError, match="submission_id: the same submission is waiting already"):
            again()
    store.approve(name)
    with pytest.raises(RefusedError, match="is on the board already"):
        store.add_pending(raw)


def test_fewer_tasks_do_not_replace_more(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    fewer = store.add_pending(upload_bytes(submission(score=0.25)))
    store.add(submission(tasks=("itaeval_xcopa", "itaeval_honest")))
    message = "which also holds itaeval_honest; submit all results of the model together"
    with pytest.raises(RefusedError, match=message):
        store.add(submission(score=0.75))
    with pytest.raises(RefusedError, match=message):
        store.approve(fewer)  # which was right when it came
    assert [entry.submission_id for entry in store.pending()] == [fewer]


def test_too_many_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm_eval_ita.leaderboard.store._MOST_PENDING", 1)
    store = open_store(tmp_path / "store")
    store.add_pending(upload_bytes(submission()))
    with pytest.raises(RefusedError, match="too many submissions are waiting"):
        store.add_pending(upload_bytes(submission("org/other")))


def test_an_approval_that_was_killed_is_finished_by_another(tmp_path: Path) -> None:
    """Killed after the submission is there and before it is taken from what waits: it is shown once, and waits not."""
    store = open_store(tmp_path / "store")
    name = store.add_pending(upload_bytes(submission()))
    waiting = tmp_path / "store" / "pending" / f"{name}.json"
    content = waiting.read_bytes()
    store.approve(name)
    waiting.write_bytes(content)
    again = open_store(tmp_path / "store")
    assert list(again.pending()) == []
    assert len(again.current()) == 1
    again.approve(name)
    assert not waiting.exists()
    assert len(again.current()) == 1


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_new(tmp_path / "a" / "x", b"one")
    write_new(tmp_path / "a" / "x", b"one")
    with pytest.raises(UserError, match="is there already with another content"):
        write_new(tmp_path / "a" / "x", b"two")
    assert (tmp_path / "a" / "x").read_bytes() == b"one"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x"]


def test_damaged_files_are_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    name = store.add(submission())
    folder = tmp_path / "store" / "submissions"
    other = submission("org/other")
    (folder / f"{other.submission_id}.json").write_bytes(upload_bytes(other)[:-20])
    (folder / "1111111111111111.json").write_bytes(upload_bytes(submission("org/renamed")))
    better = upload_bytes(submission("org/better")).replace(b'"score":0.5', b'"score":0.9')
    (folder / f"{submission('org/better').submission_id}.json").write_bytes(better)
    for seen in (store, open_store(tmp_path / "store")):
        assert [entry.submission_id for entry in seen.current()] == [name]
        assert len(seen.problems()) == 3
        assert any(line.startswith(f"{other.submission_id}.json: is no submission") for line in seen.problems())
        assert "1111111111111111.json: its content is not the one that it was named after" in "".join(seen.problems())


def test_the_index_is_only_a_memory(tmp_path: Path) -> None:
    """Damaged, torn, out of date or not to be written: the store shows the same."""
    names = {open_store(tmp_path / "store").add(submission(f"org/model-{i}")) for i in range(3)}

    def seen() -> set[str]:
        store = open_store(tmp_path / "store")
        assert store.problems() == ()
        return {entry.submission_id for entry in store.current()}

    assert seen() == names
    (index,) = (cache_folder() / "leaderboard").iterdir()
    whole = index.read_bytes()
    for content in (whole[:-50], b"", b"something else", whole.replace(b"score", b"sc\xffre", 1), whole + b"torn {"):
        index.write_bytes(content)
        assert seen() == names
        assert seen() == names
    # A file that is gone, or another under the same name, is not shown from memory.
    gone = sorted(names)[0]
    (tmp_path / "store" / "submissions" / f"{gone}.json").unlink()
    assert seen() == names - {gone}
    index.unlink()
    index.mkdir()
    store = open_store(tmp_path / "store")
    assert {entry.submission_id for entry in store.current()} == names - {gone}
    assert "the index cannot be kept" in "".join(store.problems())


def test_what_the_index_remembers_is_what_the_files_say(tmp_path: Path) -> None:
    made = [
        submission(tasks=("itaeval_itacola", "itaeval_news_sum", "itapat_gender_6")),
        submission("org/other", score=0.25),
        submission("org/third", tasks=("itapat_gender_6",), organisation=None),
    ]
    warm = {"itapat_gender_6": made[2].run.tasks["itapat_gender_6"].model_copy(update={"gen_kwargs": {"top_p": 0.9}})}
    made[2] = with_id(made[2].model_copy(update={"run": made[2].run.model_copy(update={"tasks": warm})}))
    store = open_store(tmp_path / "store")
    for own in made:
        store.add(own)
    for seen in (store, open_store(tmp_path / "store")):
        assert len(seen.current()) == len(made)
        for brief in seen.current():
            own, whole = brief.read(), seen.get(brief.submission_id)
            assert to_json(brief) == to_json(brief_of(whole, references()))
            assert own == lean(whole)
            assert own.key == whole.key
            # As good as any other record.
            assert own.model_dump_json(exclude_defaults=True) == lean(whole).model_dump_json(exclude_defaults=True)
            for name, record in own.run.tasks.items():
                assert record.model_copy(update={"score": 1.0}).score == 1.0
                assert record.limited is False
                assert repr(record) == repr(lean(whole).run.tasks[name])


def test_a_line_of_the_index_is_not_believed_for_another_content(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    name = store.add(submission())
    assert [entry.submission_id for entry in store.current()] == [name]
    path = tmp_path / "store" / "submissions" / f"{name}.json"
    path.write_bytes(path.read_bytes().replace(b"Modello", b"Modella"))
    assert list(open_store(tmp_path / "store").current()) == []


def test_a_place_that_cannot_be_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match="is no folder"):
        open_store(tmp_path / "file")
    with pytest.raises(UserError, match="cannot be written"):
        open_store("/proc/store").add(submission())


def test_threads_lose_nothing(tmp_path: Path) -> None:
    """Four threads add, three upload, one approves and all read, on one store."""
    store = open_store(tmp_path / "store")
    errors: list[BaseException] = []

    def run(act: object) -> None:
        try:
            assert callable(act)
            act()
            store.current()
        except BaseException as error:  # noqa: BLE001  # told by the main thread
            errors.append(error)

    def approve_all() -> None:
        for entry in store.pending():
            store.approve(entry.submission_id)

    acts = [lambda i=i: store.add(submission(f"org/added-{i}")) for i in range(4)]
    acts += [lambda i=i: store.add_pending(upload_bytes(submission(f"org/sent-{i}"))) for i in range(3)]
    threads = [threading.Thread(target=run, args=(act,)) for act in [*acts, approve_all]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    approve_all()
    assert errors == []
    assert {entry.read().run.model.name for entry in store.current()} == {
        *(f"org/added-{i}" for i in range(4)),
        *(f"org/sent-{i}" for i in range(3)),
    }


PROGRAM = """
import sys
from pathlib import Path
from lm_eval_ita.leaderboard.brief import brief_of, to_json
from lm_eval_ita.leaderboard.store import RefusedError, open_store
store = open_store(sys.argv[1])
for path in sorted(Path(sys.argv[2]).iterdir()):
    try:
        print("added", store.add_pending(path.read_bytes()))
    except RefusedError as error:
        print("refused", error.problems[0].message)
"""


def test_processes_lose_nothing_and_take_nothing_twice(tmp_path: Path) -> None:
    """Two processes upload the same four files: each file is taken by one of them and refused to the other."""
    files = tmp_path / "files"
    files.mkdir()
    made: list[Submission] = [submission(f"org/model-{i}") for i in range(4)]
    for own in made:
        (files / own.submission_id).write_bytes(upload_bytes(own))
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "store"), str(files)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    lines = sorted(line for process in running for line in process.communicate()[0].splitlines())
    assert (
        lines
        == sorted(f"added {own.submission_id}" for own in made) + ["refused the same submission is waiting already"] * 4
    )
    assert len(open_store(tmp_path / "store").pending()) == 4
    assert not list((tmp_path / "store" / "pending").glob(".*"))

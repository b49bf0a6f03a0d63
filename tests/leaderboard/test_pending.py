from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.leaderboard.pending import approve, listed, reject, shown
from lm_eval_ita.leaderboard.store import open_store
from lm_eval_ita.results.submission_records import upload_bytes
from tests.leaderboard.submissions import submission


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))


def test_a_maintainer_sees_what_waits_and_what_it_replaces(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    assert listed(store) == "nothing is waiting"
    old = store.add(submission(score=0.25))
    new = store.add_pending(upload_bytes(submission(score=0.5, tasks=("itaeval_xcopa", "itaeval_honest"))))
    other = store.add_pending(upload_bytes(submission("org/other", name="Altro 7B")))
    table = listed(store)
    (line,) = (line for line in table.splitlines() if new in line)
    assert old in line
    assert "7B base" in line
    assert other in table
    details = shown(store, new)
    assert "Not known to hold data of these benchmarks." in details
    assert "org/model" in details
    (figures,) = (line.split() for line in details.splitlines() if line.startswith("itaeval_xcopa"))
    assert figures == ["itaeval_xcopa", "acc", "0.5000", "0.4500", "0.5500", "0.2500"]
    assert [line.split()[-1] for line in details.splitlines() if line.startswith("itaeval_honest")] == ["new"]
    assert approve(store, [new, other]) == [f"approved: {new}", f"approved: {other}"]
    assert {own.submission_id for own in store.current()} == {new, other}
    assert listed(store) == "nothing is waiting"


def test_what_does_not_wait(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    name = store.add(submission())
    for unknown in (name, "../../etc/passwd", ""):
        for act in (
            lambda own: approve(store, [own]),
            lambda own: reject(store, own, "x"),
            lambda own: shown(store, own),
        ):
            with pytest.raises(UserError, match="is waiting"):
                act(unknown)


def test_reject(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    name = store.add_pending(upload_bytes(submission()))
    assert reject(store, name, " made\nup ") == f"rejected: {name}"
    assert [(entry.decision, entry.reason) for entry in store.decisions()] == [("rejected", "made up")]

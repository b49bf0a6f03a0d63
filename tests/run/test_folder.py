import os
import signal
import threading
from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.run.failures import RunFailedError, StoppedError
from lm_eval_ita.run.folder import open_folder, tasks_done
from lm_eval_ita.run.signals import Termination

IDENTITY = {"model": "hf", "limit": 3}


def test_a_folder_is_made_found_again_and_written_whole(tmp_path: Path) -> None:
    with open_folder(tmp_path / "runs", "m-1", IDENTITY, resume=True) as folder:
        first = folder.date
        assert folder.done("compito") is None
        folder.finish_task("compito", '{"metrics": {}}')
        folder.write(folder.results, ["{", "}"])
    assert tasks_done(tmp_path / "runs" / "m-1", ["compito", "altro"]) == {"compito"}
    with open_folder(tmp_path / "runs", "m-1", IDENTITY, resume=True) as folder:
        assert folder.date == first, "the date of the first start"
        assert folder.done("compito") == {"metrics": {}}
        assert folder.results.read_text(encoding="utf-8") == "{}"
    assert not list((tmp_path / "runs" / "m-1").rglob(".*"))


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    def parts() -> object:
        yield "new"
        raise KeyboardInterrupt

    with open_folder(tmp_path, "m-1", IDENTITY, resume=True) as folder:
        folder.write(folder.path / "file", ["old"])
        with pytest.raises(KeyboardInterrupt):
            folder.write(folder.path / "file", parts())  # type: ignore[arg-type]
        assert (folder.path / "file").read_text(encoding="utf-8") == "old"
        assert not list(folder.path.glob(".file*"))


def test_another_run_s_folder_is_refused(tmp_path: Path) -> None:
    with open_folder(tmp_path, "m-1", IDENTITY, resume=True):
        pass
    with (
        pytest.raises(UserError, match="another run's: limit is 3 there and 4 here"),
        open_folder(tmp_path, "m-1", {**IDENTITY, "limit": 4}, resume=True),
    ):
        pass
    (tmp_path / "m-1" / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=r"run\.json: cannot be read"), open_folder(tmp_path, "m-1", {}, resume=True):
        pass
    with open_folder(tmp_path, "m-1", {}, resume=False) as folder:
        assert folder.done("compito") is None
    assert len(list(tmp_path.glob("m-1.before-*"))) == 1


def test_two_at_once_are_refused_until_the_first_ends(tmp_path: Path) -> None:
    refused: list[BaseException] = []

    def second() -> None:
        try:
            with open_folder(tmp_path, "m-1", IDENTITY, resume=True):
                pass
        except UserError as error:
            refused.append(error)

    with open_folder(tmp_path, "m-1", IDENTITY, resume=True):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert "another process is at work" in str(refused[0])
    second()
    assert len(refused) == 1


def test_a_place_that_cannot_be_written_is_the_user_s_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        pytest.raises(UserError, match=r"cannot be written .*; choose another --output"),
        open_folder(tmp_path / "file", "m-1", IDENTITY, resume=True),
    ):
        pass
    if os.geteuid() == 0:
        return  # root may write anywhere
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(UserError, match="Permission denied"), open_folder(tmp_path / "closed", "m", {}, resume=True):
        pass


def test_a_full_disk_is_not(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_folder(tmp_path, "m-1", IDENTITY, resume=True) as folder:
        # A limit on file sizes fails as a full disk does, in the middle of a write.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        try:
            with pytest.raises(RunFailedError, match="free some space"):
                folder.write(folder.results, ["x" * 1000] * 1000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not folder.results.exists()


def test_sigterm_waits_for_the_block_and_a_second_one_does_not() -> None:
    with Termination() as termination:
        termination.wait_for_block = True
        os.kill(os.getpid(), signal.SIGTERM)
        assert termination.asked
        with pytest.raises(StoppedError):
            os.kill(os.getpid(), signal.SIGTERM)
    with Termination(), pytest.raises(StoppedError):
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

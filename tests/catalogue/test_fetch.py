"""The downloader against a real server on loopback that misbehaves in every way it has to survive."""

import hashlib
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lm_eval_ita.catalogue.fetch import Download, is_intact, progress, writing
from lm_eval_ita.errors import UserError

from .server import Handler

BODY = os.urandom(300_000)
SHA = hashlib.sha256(BODY).hexdigest()


def download(url: str, target: Path, **options: object) -> Download:
    return Download(url, target, **{"pause": 0.0, "timeout": 2.0, **options})


def visible(folder: Path) -> list[str]:
    """Files other than the lock, which is empty and stays."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock")) if folder.is_dir() else []


def ranged(handler: Handler, etag: str = '"v1"', body: bytes = BODY, cut: int | None = None) -> None:
    """What a good server does with Range and If-Range."""
    start = handler.headers.get("Range")
    if start and handler.headers.get("If-Range") == etag:
        first = int(start.removeprefix("bytes=").rstrip("-"))
        handler.reply(206, body[first:], ETag=etag, Content_Range=f"bytes {first}-{len(body) - 1}/{len(body)}")
    else:
        handler.reply(200, body, cut=cut, ETag=etag)


def test_a_plain_download_is_kept_with_its_digest_and_not_repeated(tmp_path: Path, serve):
    server = serve(ranged)
    target = tmp_path / "new" / "x.bin"
    assert download(server.url, target, sha256=SHA).run() == target
    assert target.read_bytes() == BODY
    assert visible(target.parent) == ["x.bin", "x.bin.sha256"]
    download(server.url, target, sha256=SHA).run()
    download(server.url, target).run()
    assert len(server.seen) == 1


def test_a_file_that_was_changed_later_is_fetched_again(tmp_path: Path, serve):
    server = serve(ranged)
    target = download(server.url, tmp_path / "x.bin").run()
    target.write_bytes(b"altro")
    assert not is_intact(target, None)
    assert download(server.url, target).run().read_bytes() == BODY


def test_404_is_final_and_leaves_nothing(tmp_path: Path, serve):
    server = serve(lambda handler: handler.reply(404, b"no such thing"))
    with pytest.raises(UserError, match=f"{server.url}/x: HTTP 404 Not Found"):
        download(server.url + "/x", tmp_path / "d" / "x.bin").run()
    assert visible(tmp_path / "d") == []
    assert len(server.seen) == 1


def test_a_server_error_is_tried_again(tmp_path: Path, serve):
    server = serve(lambda handler: handler.reply(503) if len(server.seen) < 3 else ranged(handler))
    assert download(server.url, tmp_path / "x.bin").run().read_bytes() == BODY
    assert len(server.seen) == 3


def test_a_lasting_server_error_is_reported(tmp_path: Path, serve):
    server = serve(lambda handler: handler.reply(503))
    with pytest.raises(UserError, match=r"HTTP 503 Service Unavailable \(3 attempts\)"):
        download(server.url, tmp_path / "x.bin").run()
    assert visible(tmp_path) == []


def test_a_cut_connection_is_resumed_where_it_broke(tmp_path: Path, serve):
    server = serve(lambda handler: ranged(handler, cut=100_000 if len(server.seen) == 1 else None))
    assert download(server.url, tmp_path / "x.bin", sha256=SHA).run().read_bytes() == BODY
    first, second = (headers for _, _, headers in server.seen)
    assert "Range" not in first
    start = int(second["Range"].removeprefix("bytes=").removesuffix("-"))
    assert 0 < start <= 100_000
    assert second["If-Range"] == '"v1"'
    assert visible(tmp_path) == ["x.bin", "x.bin.sha256"]


def test_a_cut_that_lasts_is_reported_and_the_next_run_goes_on(tmp_path: Path, serve):
    state = {"cut": True}
    server = serve(lambda handler: ranged(handler, cut=50_000 if state["cut"] else None))
    target = tmp_path / "x.bin"
    with pytest.raises(UserError, match=r"cut.*\(1 attempts\)"):
        download(server.url, target, attempts=1).run()
    assert not target.exists(), "half a file under the final name"
    state["cut"] = False
    assert download(server.url, target).run().read_bytes() == BODY
    assert "Range" in server.seen[-1][2]


def test_a_file_that_changed_since_the_cut_is_taken_from_the_start(tmp_path: Path, serve):
    newer = os.urandom(200_000)
    target = tmp_path / "x.bin"
    old = serve(lambda handler: ranged(handler, cut=50_000))
    with pytest.raises(UserError):
        download(old.url, target, attempts=1).run()
    new = serve(lambda handler: ranged(handler, etag='"v2"', body=newer))
    assert download(new.url, target).run().read_bytes() == newer


def test_without_an_etag_nothing_is_resumed(tmp_path: Path, serve):
    server = serve(lambda handler: handler.reply(200, BODY, cut=50_000 if len(server.seen) == 1 else None))
    assert download(server.url, tmp_path / "x.bin").run().read_bytes() == BODY
    assert all("Range" not in headers for _, _, headers in server.seen)


def test_a_part_longer_than_the_file_is_dropped(tmp_path: Path, serve):
    (tmp_path / "x.bin.part").write_bytes(BODY + b"more")
    (tmp_path / "x.bin.part.etag").write_text('"v1"')
    server = serve(lambda handler: handler.reply(416) if "Range" in handler.headers else ranged(handler))
    assert download(server.url, tmp_path / "x.bin", sha256=SHA).run().read_bytes() == BODY


def test_a_wrong_checksum_is_refused_and_not_kept(tmp_path: Path, serve):
    server = serve(lambda handler: ranged(handler, body=b"something else"))
    found = hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(UserError, match=f"wrong checksum: expected sha256 {SHA}, found {found}"):
        download(server.url, tmp_path / "x.bin", sha256=SHA).run()
    assert visible(tmp_path) == []


def test_redirects_are_followed(tmp_path: Path, serve):
    target_server = serve(ranged)
    server = serve(lambda handler: handler.reply(302, Location=f"{target_server.url}/there"))
    assert download(server.url, tmp_path / "x.bin", sha256=SHA).run().read_bytes() == BODY


def test_a_redirect_loop_ends(tmp_path: Path, serve):
    server = serve(lambda handler: handler.reply(302, Location="/again"))
    with pytest.raises(UserError, match=r"30 redirects"):
        download(server.url, tmp_path / "x.bin").run()
    assert visible(tmp_path) == []


@pytest.mark.parametrize("where", ["before the answer", "within the body"])
def test_a_slow_answer_times_out(tmp_path: Path, serve, where: str):
    release = threading.Event()

    def dawdle(handler: Handler) -> None:
        if where == "within the body":
            handler.send_response(200)
            handler.send_header("Content-Length", "10")
            handler.end_headers()
            handler.wfile.write(b"abc")
            handler.wfile.flush()
        release.wait(60)  # a client that waits for this ends with another message
        handler.close_connection = True

    server = serve(dawdle)
    with pytest.raises(UserError, match=r"no answer within 0.2 s \(2 attempts\)"):
        download(server.url, tmp_path / "x.bin", timeout=0.2, attempts=2).run()
    release.set()
    assert not (tmp_path / "x.bin").exists()


def test_nobody_there(tmp_path: Path):
    with pytest.raises(UserError, match=r"http://127.0.0.1:9/x: the connection failed.*refused.*\(2 attempts\)"):
        download("http://127.0.0.1:9/x", tmp_path / "x.bin", attempts=2).run()
    assert visible(tmp_path) == []


def test_progress_is_reported_to_the_last_byte(tmp_path: Path, serve):
    server = serve(ranged)
    calls: list[tuple[int, int | None]] = []
    download(server.url, tmp_path / "x.bin", report=lambda done, total: calls.append((done, total))).run()
    assert calls[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_progress_is_quiet_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]):
    with progress("xcopa") as report:
        report(5, 10)
    assert capfd.readouterr() == ("", "")


FETCHER = """
import sys
from pathlib import Path
from lm_eval_ita.catalogue.fetch import Download
print(Download(sys.argv[1], Path(sys.argv[2])).run().stat().st_size)
"""


def test_two_processes_fetch_a_file_once(tmp_path: Path, serve):
    def slowly(handler: Handler) -> None:
        time.sleep(1.0)  # long enough for the second process to arrive
        ranged(handler)

    server = serve(slowly)
    command = [sys.executable, "-c", FETCHER, server.url, str(tmp_path / "x.bin")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].strip() for process in both] == [str(len(BODY))] * 2
    assert len(server.seen) == 1
    assert (tmp_path / "x.bin").read_bytes() == BODY


def unprivileged(function, *args: object) -> str:
    """Call a function in a child without root's right to write everywhere; the text of its error, or its result."""
    reading, writing_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            try:
                answer = str(function(*args))
            except UserError as error:
                answer = f"UserError: {error}"
            os.write(writing_end, pickle.dumps(answer))
        finally:
            os._exit(0)  # without pytest's own end; the parent finds the pipe empty if anything else went wrong
    os.close(writing_end)
    with os.fdopen(reading, "rb") as pipe:
        answer = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return answer


@pytest.fixture
def open_path(tmp_path: Path) -> Path:
    """tmp_path, reachable for another user."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == Path.home().owner() and "pytest" in str(folder):
            folder.chmod(0o755)
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("there", [False, True], ids=["folder missing", "folder read-only"])
def test_a_read_only_cache(open_path: Path, serve, there: bool):
    import filelock  # noqa: F401 - the child cannot read the environment's files
    import requests  # noqa: F401

    cache = open_path / "cache"
    if there:
        cache.mkdir(mode=0o555)
    else:
        open_path.chmod(0o555)
    server = serve(ranged)
    answer = unprivileged(download(server.url, cache / "x.bin").run)
    open_path.chmod(0o755)
    assert answer.startswith(f"UserError: {cache}: the folder cannot be written to (")
    assert "set LM_EVAL_ITA_CACHE to a folder of yours" in answer
    assert server.seen == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_read_only_cache_is_read(open_path: Path, serve):
    server = serve(ranged)
    target = download(server.url, open_path / "cache" / "x.bin").run()
    target.parent.chmod(0o555)
    assert unprivileged(download(server.url, target).run) == str(target)


def test_writing_is_all_or_nothing(tmp_path: Path):
    target = tmp_path / "x.jsonl"
    target.write_text("old")

    def fail_halfway() -> None:
        with writing(target, "try elsewhere") as path:
            path.write_text("half")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail_halfway()
    assert target.read_text() == "old"
    assert visible(tmp_path) == ["x.jsonl"]
    with writing(target, "try elsewhere") as path:
        path.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert visible(tmp_path) == ["x.jsonl"]

"""A Hub on loopback whose data sets can be written to: each lies in a folder, with its commits beside it."""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from tests.catalogue.server import Handler

TOKEN = "hf_test"
_PAGE = 50
_REPOSITORY = re.compile(r"/api/datasets/([\w.-]+/[\w.-]+)(?:/(\w+)/([^/]+))?")
_RESOLVE = re.compile(r"/datasets/([\w.-]+/[\w.-]+)/resolve/([^/]+)/(.+)")


class WritableHub:
    """Answers what huggingface_hub asks to list, read and commit; an uploaded file is a regular one, never LFS.

    Attributes:
        root: Where repositories lie, `<org>/<name>/<path>` as of their last commit.
        commits: Repository to its commits, the newest last: id, and path to content.
        before_commit: Called before a commit is looked at, for what comes between.
        answers: Statuses to answer the next commits with, whatever they are; the commit is made where "done" follows.
        requests: Method and path of every request.
    """

    def __init__(self, root: Path, *repositories: str) -> None:
        self.root = root
        self.commits: dict[str, list[tuple[str, dict[str, bytes]]]] = {}
        self.before_commit: Callable[[], None] = lambda: None
        self.answers: list[tuple[int, bool]] = []
        self.requests: list[str] = []
        self._lock = threading.Lock()
        for name in repositories:
            self.commit(name, {".gitattributes": b"", "README.md": b"# A leaderboard\n"})

    def commit(self, name: str, add: dict[str, bytes], delete: tuple[str, ...] = ()) -> str:
        """Make a commit, as somebody else would."""
        own = self.commits.setdefault(name, [])
        files = {path: body for path, body in (own[-1][1] if own else {}).items() if path not in delete} | add
        oid = hashlib.sha1(f"{name}{len(own)}{sorted(files)}".encode()).hexdigest()
        own.append((oid, files))
        for path, body in add.items():
            (self.root / name / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name / path).write_bytes(body)
        for path in delete:
            (self.root / name / path).unlink()
        return oid

    def __call__(self, handler: Handler) -> None:
        """Answer one request."""
        url = urlsplit(handler.path)
        path = unquote(url.path)
        self.requests.append(f"{handler.command} {path}")
        if match := _RESOLVE.fullmatch(path):
            self._file(handler, *match.groups())
        elif (match := _REPOSITORY.match(path)) and match[1] in self.commits:
            name, what, revision = match.groups()
            found = self._at(name, revision or "main")
            if found is None:
                handler.reply(404, b"{}", X_Error_Code="RevisionNotFound")
            elif what == "tree":
                self._tree(handler, found[1], parse_qs(url.query).get("cursor", ["0"])[0], url.path)
            elif what in ("preupload", "commit"):
                self._write(handler, name, what)
            else:
                siblings = [{"rfilename": file} for file in found[1]]
                handler.reply(200, json.dumps({"id": name, "sha": found[0], "siblings": siblings}).encode())
        else:
            handler.reply(404, b"{}", X_Error_Code="RepoNotFound")

    def _at(self, name: str, revision: str) -> tuple[str, dict[str, bytes]] | None:
        own = self.commits[name]
        return own[-1] if revision == "main" else next((entry for entry in own if entry[0] == revision), None)

    def _tree(self, handler: Handler, files: dict[str, bytes], cursor: str, path: str) -> None:
        start = int(cursor)
        entries = [
            {"type": "file", "path": file, "size": len(files[file]), "oid": blob(files[file])}
            for file in sorted(files)[start : start + _PAGE]
        ]
        more = {}
        if start + _PAGE < len(files):
            host = handler.headers["Host"]
            more = {"Link": f'<http://{host}{path}?recursive=true&cursor={start + _PAGE}>; rel="next"'}
        handler.reply(200, json.dumps(entries).encode(), **more)

    def _file(self, handler: Handler, name: str, revision: str, file: str) -> None:
        found = self._at(name, revision) if name in self.commits else None
        if found is None or file not in found[1]:
            handler.reply(404, X_Error_Code="EntryNotFound" if found else "RepoNotFound")
            return
        handler.reply(200, found[1][file], ETag=f'"{blob(found[1][file])}"', X_Repo_Commit=found[0])

    def _write(self, handler: Handler, name: str, what: str) -> None:
        if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
            handler.reply(403 if handler.headers.get("Authorization") else 401, b'{"error": "Forbidden"}')
            return
        if what == "preupload":
            asked = json.loads(handler.body)["files"]
            files = [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in asked]
            handler.reply(200, json.dumps({"files": files}).encode())
            return
        self.before_commit()
        with self._lock:
            status, is_made = self.answers.pop(0) if self.answers else (200, True)
            lines = [json.loads(line) for line in handler.body.splitlines()]
            if status == 200 and lines[0]["value"].get("parentCommit") not in (None, self.commits[name][-1][0]):
                status, is_made = 412, False
            oid = self._made(name, lines) if is_made else ""
        if status == 200:
            url = f"http://{handler.headers['Host']}/datasets/{name}/commit/{oid}"
            handler.reply(200, json.dumps({"commitUrl": url, "commitOid": oid}).encode())
        else:
            handler.reply(status, b'{"error": "A commit has happened since. Please refresh and try again."}')

    def _made(self, name: str, lines: list[dict[str, dict[str, str]]]) -> str:
        add = {
            line["value"]["path"]: base64.b64decode(line["value"]["content"]) for line in lines if line["key"] == "file"
        }
        delete = tuple(line["value"]["path"] for line in lines if line["key"] == "deletedFile")
        return self.commit(name, add, delete)


def blob(content: bytes) -> str:
    """Git's hash of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

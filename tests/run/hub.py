"""A small Hub on loopback that holds what a test gives it."""

import hashlib
import json
from urllib.parse import unquote

from tests.catalogue.server import Handler

SHA = "0123456789abcdef0123456789abcdef01234567"


class LittleHub:
    """Repositories ("org/name", "datasets/org/name") to files and their card's licence; each at one commit.

    Attributes:
        hung_up: Names of files whose download is cut in the middle.
        falsified: Names of files that come with another content than the Hub says.
        commits: Repository to commit, where it is not `SHA`.
    """

    def __init__(self, repositories: dict[str, tuple[dict[str, bytes], str | None]]) -> None:
        self.repositories = repositories
        self.hung_up: set[str] = set()
        self.falsified: set[str] = set()
        self.commits: dict[str, str] = {}
        self.sent: list[str] = []

    def __call__(self, handler: Handler) -> None:
        path = unquote(handler.path.split("?")[0])
        if path == "/":
            handler.reply(200)
            return
        name = next((name for name in self.repositories if f"/{name}/" in f"{path}/"), None)
        if name is None:
            handler.reply(404, X_Error_Code="RepoNotFound")
            return
        files, licence = self.repositories[name]
        commit = self.commits.get(name, SHA)
        if "/resolve/" in path:
            self._file(handler, path.partition("/resolve/")[2], files, commit)
        elif "/tree/" in path:
            entries = [{"type": "file", "path": file, **_entry(file, body)} for file, body in files.items()]
            handler.reply(200, json.dumps(entries).encode())
        elif "/revision/" in path and path.rpartition("/")[2] not in ("main", "v1", commit):
            handler.reply(404, X_Error_Code="RevisionNotFound")
        else:
            siblings = [{"rfilename": file, **_entry(file, body)} for file, body in files.items()]
            card = {} if licence is None else {"cardData": {"license": licence}}
            handler.reply(200, json.dumps({"id": name, "sha": commit, "siblings": siblings, **card}).encode())

    def _file(self, handler: Handler, rest: str, files: dict[str, bytes], commit: str) -> None:
        _, _, file = rest.partition("/")
        if file not in files:
            handler.reply(404, X_Error_Code="EntryNotFound")
            return
        body, tag = files[file], hashlib.sha256(files[file]).hexdigest()
        if file in self.falsified:
            body = bytes([body[0] ^ 1]) + body[1:]
        if handler.command == "GET":
            self.sent.append(file)
        cut = len(body) // 2 if file in self.hung_up and handler.command == "GET" else None
        handler.reply(200, body, cut=cut, ETag=f'"{tag}"', X_Repo_Commit=commit)


def _entry(file: str, body: bytes) -> dict[str, object]:
    found: dict[str, object] = {"size": len(body), "oid": "0" * 40, "blobId": "0" * 40}
    if file.endswith(".safetensors"):
        found["lfs"] = {"oid": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 130}
        found["lfs"] |= {"sha256": found["lfs"]["oid"]}  # the two calls name it differently
    return found

"""What a prepared folder holds, as its `manifest.json` says: every file with size and checksum, and where it is from.

DIR/manifest.json
DIR/data/<key>/<split>.jsonl                                 data sets, as `LM_EVAL_ITA_DATA` expects them
DIR/hub/models--<owner>--<name>/{refs,snapshots/<commit>}    models and scorers of the Hub, as in its own cache
DIR/stanza/{resources.json,<language>/}                      stanza's models
DIR/models/<name>-<hash>/                                    models that were given as a folder
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from lm_eval_ita.catalogue.fetch import writing
from lm_eval_ita.errors import UserError

__all__ = [
    "MANIFEST",
    "SCHEMA_VERSION",
    "FileRecord",
    "Item",
    "Items",
    "content_digest",
    "read_manifest",
    "write_manifest",
]

MANIFEST = "manifest.json"
SCHEMA_VERSION = 1


def _inside(text: str) -> str:
    """A manifest may come from somebody else: none of its paths leads out of the folder."""
    path = PurePosixPath(text)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\\" in text:
        raise ValueError(f"{text!r} is no path inside the folder")
    return text


_Inside = Annotated[str, AfterValidator(_inside)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileRecord(_Strict):
    """One file: its size in bytes and the hexadecimal SHA-256 of its content."""

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Item(_Strict):
    """One thing that was prepared.

    Attributes:
        kind: "data" (a data set), "hub" (a model, adapter, tokenizer or scorer of the Hub), "folder" (one given as a
            folder of the machine that prepared it), "stanza" (stanza's models of a language).
        name: The catalogue key, the Hub id, or the folder's absolute path where it was prepared.
        revision: The branch, tag or commit that was asked for; None but for "hub".
        commit: The commit that it was; None where the origin has none.
        origin: Where it came from.
        licence: As the catalogue or the model's card says; None where neither does.
        made_with: Package to version.
        folder: Its folder, relative to the prepared one.
        files: Path, relative to the prepared folder, to size and checksum. A model of the Hub counts the small file
            that says which commit its branch is.
    """

    kind: Literal["data", "hub", "folder", "stanza"]
    name: str
    revision: str | None = None
    commit: str | None = None
    origin: str
    licence: str | None
    made_with: dict[str, str]
    folder: _Inside
    files: dict[_Inside, FileRecord] = Field(min_length=1)

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What tells it from others."""
        return (self.kind, self.name, self.revision)

    @property
    def label(self) -> str:
        """Its name for people."""
        what = self.kind if self.kind in ("data", "stanza") else "model"
        at = f"@{self.revision}" if self.revision not in (None, "main") else ""
        return f"{what} {self.name}{at}"

    @property
    def bytes(self) -> int:
        """The size of all its files."""
        return sum(record.bytes for record in self.files.values())


Items = dict[tuple[str, str, "str | None"], Item]


def read_manifest(root: Path) -> Items:
    """The items of a prepared folder, by their keys.

    Raises:
        UserError: There is no manifest, it is damaged, or another version wrote it.
    """
    path = root / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        mend = f"make it where there is a network: lm-eval-ita prepare --tasks ... --model ... --to {root}"
        raise UserError(f"is not there, so nothing is prepared; {mend}", file=path) from error
    except (OSError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(content, dict):
        raise _damaged(path, "it is no JSON object")
    if (version := content.get("schema_version")) != SCHEMA_VERSION:
        raise UserError(
            f"has schema version {version!r}, this lm-eval-ita reads {SCHEMA_VERSION}; use the one that made it, "
            "or prepare another folder",
            file=path,
        )
    try:
        items = [Item.model_validate(item) for item in _listed(content)]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _damaged(path, f"{where}: {first['msg']}") from error
    return {item.key: item for item in items}


def _listed(content: Mapping[str, Any]) -> list[Any]:
    items = content.get("items")
    return items if isinstance(items, list) else [items]


def _damaged(path: Path, why: str) -> UserError:
    mend = "delete it and prepare again (what is there of the Hub's is compared with it and kept)"
    return UserError(f"is damaged ({why}); {mend}", file=path)


def write_manifest(root: Path, items: Iterable[Item]) -> None:
    """Write the manifest beside its place, and rename it there once it is on the disk.

    Raises:
        UserError: It cannot be written.
    """
    listed = [item.model_dump(mode="json") for item in sorted(items, key=lambda item: tuple(map(str, item.key)))]
    content = {"schema_version": SCHEMA_VERSION, "items": listed}
    with writing(root / MANIFEST, "free some space, or choose another --to") as beside, beside.open("wb") as file:
        file.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def content_digest(items: Iterable[Item]) -> str:
    """A hash over the files of items, by name and content, wherever they lie."""
    digest = hashlib.sha256()
    for item in sorted(items, key=lambda item: tuple(map(str, item.key))):
        for name, record in sorted(item.files.items()):
            digest.update(f"{PurePosixPath(name).name}\0{record.sha256}\0".encode())
    return digest.hexdigest()[:32]

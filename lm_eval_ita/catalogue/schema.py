"""The catalogue's types, and the catalogue itself: which data sets exist, where they come from, what a row holds."""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lm_eval_ita._yaml import FastLoader, find_line, read_mapping
from lm_eval_ita.errors import UserError

__all__ = ["Canonical", "Column", "Entry", "Hub", "Split", "catalogue", "entry", "keys", "read_catalogue"]

Format = Literal["jsonl", "csv", "tsv", "parquet", "squad"]
CONVERSION_BRANCH = "refs/convert/parquet"


class _Strict(BaseModel):
    """A record that refuses fields it does not know: a typo in the YAML is an error, not a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(_Strict):
    """What one column of a normalised row may hold.

    A dotted name (`choices.text`) is a field of a nested record. A text column may not be blank unless `empty`;
    an `optional` column that a source lacks is None in the row.
    """

    type: Literal["str", "int", "bool", "strings", "ints"]
    labels: tuple[str | int, ...] | None = None
    optional: bool = False
    empty: bool = False


class Split(_Strict):
    """One split: expected rows of the full set (None: not known), and where it lies in the Hub repository.

    `hub` is read according to `Hub.read`: a split name (native), `CONFIG/SPLIT` (parquet) or a file pattern (files);
    None means that the Hub does not hold this split. `file` is for catalogues beside task files: where the split lies,
    from the catalogue's folder, and the SHA-256 of what lies there.
    """

    rows: int | None = None
    required: bool = True
    hub: str | None = None
    file: str | None = None
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    columns: dict[str, Column] = Field(default_factory=dict)


class Hub(_Strict):
    """A data set repository on the Hugging Face Hub and how to read it.

    `native`: `datasets` understands its files. `parquet`: the automatic conversion on `refs/convert/parquet`, for
    repositories whose only content is a loading script. `files`: the repository's own JSONL, CSV, TSV or parquet.
    """

    id: str
    read: Literal["native", "parquet", "files"]
    config: str | None = None
    revision: str | None = None

    @property
    def ref(self) -> str | None:
        """The revision to ask for: the pinned commit, else the conversion branch or the default branch (None)."""
        return self.revision or (CONVERSION_BRANCH if self.read == "parquet" else None)

    @property
    def url(self) -> str:
        """The repository as `datasets` and `fsspec` name it."""
        return f"hf://datasets/{self.id}" + ("" if self.ref is None else "@" + self.ref.replace("/", "%2F"))


class Canonical(_Strict):
    """A file at the data set's origin outside the Hub.

    It holds one `split`, or several told apart by the column `split_column`.
    """

    url: str
    format: Format
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    split: str | None = None
    split_column: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Canonical:
        if (self.split is None) == (self.split_column is None):
            raise ValueError("a canonical file names either split or split_column")
        return self


class Entry(_Strict):
    """One data set of the catalogue; `home` is the folder of a catalogue beside task files, None for the package's."""

    key: str
    title: str
    kind: Literal["rows", "lexicon"] = "rows"
    hub: Hub | None = None
    splits: dict[str, Split]
    columns: dict[str, Column]
    canonical: tuple[Canonical, ...] = ()
    licence: str
    origin: Literal["native", "human_translated", "machine_translated", "template"]
    access: Literal["open", "request"] = "open"
    access_note: str | None = None
    citation: str
    home: Path | None = None

    def columns_of(self, split: str) -> dict[str, Column]:
        """The columns of a split: the entry's own and the split's additional ones."""
        return {**self.columns, **self.splits[split].columns}

    @property
    def required(self) -> list[str]:
        """Splits that a task cannot do without."""
        return [name for name, split in self.splits.items() if split.required]

    def hub_url(self, split: str) -> str | None:
        """The `hf://` pattern of a split's files (None where the Hub lacks it; the repository where it is native)."""
        where = self.splits[split].hub
        if self.hub is None or where is None:
            return None
        if self.hub.read == "native":
            return self.hub.url
        return f"{self.hub.url}/{where}" + ("/*.parquet" if self.hub.read == "parquet" else "")


@cache
def catalogue() -> dict[str, Entry]:
    """All data sets by key, in the order of `catalogue.yaml`."""
    path = Path(__file__).with_name("catalogue.yaml")
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=FastLoader)
    return {key: Entry.model_validate({"key": key, **fields}) for key, fields in content.items()}


def read_catalogue(path: Path) -> dict[str, Entry]:
    """The data sets of a catalogue beside task files, by key.

    Raises:
        UserError: The file cannot be read, a field is wrong, or a key is one of the package's own.
    """
    entries: dict[str, Entry] = {}
    for key, fields in read_mapping(path).items():
        line = find_line(path, f"{key}:")
        if key in catalogue():
            raise UserError(f"{key!r} is a key of lm-eval-ita's own catalogue; choose another", file=path, line=line)
        try:
            entries[key] = Entry.model_validate({**fields, "key": key, "home": path.parent.absolute()})
        except (TypeError, ValidationError) as error:
            what = "must hold the fields of a data set"
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                what = f"{'.'.join(str(part) for part in first['loc']) or 'the entry'}: {first['msg'].lower()}"
                if first["loc"] and first["type"] != "missing":
                    line = find_line(path, f"{key}:", f"{first['loc'][0]}:")
            raise UserError(f"{key}: {what}; correct it", file=path, line=line) from error
    return entries


def keys() -> list[str]:
    """The keys of all data sets."""
    return list(catalogue())


def entry(key: str) -> Entry:
    """The entry of a data set.

    Raises:
        UserError: The key is not in the catalogue; the nearest keys are offered.
    """
    found = catalogue().get(key)
    if found is None:
        near = difflib.get_close_matches(key.lower().replace("-", "_"), keys(), n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`lm-eval-ita data list` names them all"
        raise UserError(f"unknown data set {key!r}: {hint}")
    return found

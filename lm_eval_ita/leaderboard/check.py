"""Checks the files of a store: for the CI of a repository that holds one, where submissions come as pull requests.

python -m lm_eval_ita.leaderboard.check [FOLDER] [--changed BASE]
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results.submission import Checked, validate
from lm_eval_ita.results.submission_json import MAX_BYTES
from lm_eval_ita.results.submission_records import Submission

__all__ = ["check", "main"]

_FILE = re.compile(r"(submissions|documents|pending|rejected)/([0-9a-f]{16})\.json")
_DECISION = re.compile(r"decisions/\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{16}\.json")
_FOLDERS = ("submissions", "documents", "pending", "rejected", "decisions")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line for each problem.

    Returns:
        0 where there is none, else 1; 2 for bad usage.
    """
    parser = argparse.ArgumentParser(
        prog="check", description="Check a leaderboard's submissions. Exit codes: 0; 1 there are problems; 2 bad usage."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER", help="the store (default: .)")
    parser.add_argument("--changed", metavar="BASE", help="only what differs from this git commit or branch")
    options = parser.parse_args(arguments)
    try:
        problems = list(check(options.folder, options.changed))
    except UserError as error:
        print(f"check: {error}", file=sys.stderr)
        return 2
    for line in problems:
        print(line)
    return int(bool(problems))


def check(folder: Path, base: str | None = None) -> Iterator[str]:
    """The problems of a store's files, one line each, beginning with the file.

    Args:
        folder: The store.
        base: A git commit: only files that differ from it are checked, and nothing but what waits may have been changed
            or removed since.

    Raises:
        UserError: The folder holds no store, or git cannot compare.
    """
    if not any((folder / name).is_dir() for name in _FOLDERS):
        raise UserError("holds no store: none of the folders " + ", ".join(_FOLDERS), file=folder)
    if base is None:
        paths = [
            path.relative_to(folder).as_posix() for name in _FOLDERS for path in sorted((folder / name).rglob("*"))
        ]
    else:
        changed = dict(_changed(folder, base))
        paths = [path for path, status in changed.items() if status != "D"]
        for path, status in changed.items():
            if status != "A" and not path.startswith("pending/"):
                what = "removed" if status == "D" else "changed"
                yield f"{_printable(path)}: was {what}; a store's files stay as they are, add a new one"
    found: dict[str, Submission] = {}
    for path in paths:
        if Path(path).name in (".gitkeep", ".gitattributes") or (folder / path).is_dir():
            continue
        yield from _file(folder, path, found)
    yield from _replacing(folder, found)


def _changed(folder: Path, base: str) -> Iterator[tuple[str, str]]:
    """Path and status (A, M, D, T) of the store's files that differ from a commit."""
    command = [
        "git",
        "diff",
        "--name-status",
        "--no-renames",
        "--relative",
        "-z",
        "--end-of-options",
        base,
        "--",
        *_FOLDERS,
    ]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        text = getattr(error, "stderr", b"") or str(error).encode()
        why = text.decode(errors="replace").strip().partition("\n")[0]
        raise UserError(f"git cannot compare with {base[:60]}: {why}", file=folder) from error
    parts = done.stdout.decode(errors="surrogateescape").split("\0")
    for status, path in zip(parts[::2], parts[1::2], strict=False):
        yield path, status[:1]


def _file(folder: Path, path: str, found: dict[str, Submission]) -> Iterator[str]:
    """The problems of one file; a good submission is put among those found."""
    place, shown = folder / path, _printable(path)
    match = _FILE.fullmatch(path)
    if match is None and not _DECISION.fullmatch(path):
        yield f"{shown}: does not belong here; files are named after what `lm-eval-ita submit` computes"
        return
    if place.is_symlink() or not place.is_file():
        yield f"{shown}: is no ordinary file"
        return
    if place.stat().st_size > MAX_BYTES:
        yield f"{shown}: has {place.stat().st_size:,} bytes; at most {MAX_BYTES:,} are taken"
        return
    if match is None:
        yield from (f"{shown}: {why}" for why in _decision(place.read_bytes()))
        return
    kind, name = match.groups()
    if kind == "documents":
        if not (folder / f"submissions/{name}.json").is_file():
            yield f"{shown}: there is no submission {name}"
        elif f"submissions/{name}.json" not in found:
            yield from (f"{shown}: {problem}" for problem in _with_documents(folder, name).problems)
        return
    checked = _with_documents(folder, name) if kind == "submissions" else validate(place.read_bytes())
    yield from (f"{shown}: {problem}" for problem in checked.problems)
    if checked.submission is not None:
        if checked.submission.submission_id != name:
            yield f"{shown}: its content is {checked.submission.submission_id}; give the file that name"
        elif kind == "submissions":
            found[path] = checked.submission


def _with_documents(folder: Path, name: str) -> Checked:
    """What the validator says of a submission with its figures by document, which lie in another file."""
    raw, documents = (folder / kind / f"{name}.json" for kind in ("submissions", "documents"))
    own = raw.read_bytes().strip()
    if not documents.is_file() or documents.is_symlink() or not own.endswith(b"}"):
        return validate(own)
    # Put together as text: whatever is wrong with either is the validator's to find.
    return validate(own[:-1] + b',"documents":' + documents.read_bytes() + b"}")


def _decision(raw: bytes) -> Iterator[str]:
    try:
        entry: Any = json.loads(raw)
        is_right = entry.keys() == {"submission_id", "decision", "reason", "time"} and all(
            isinstance(value, str) and value.isprintable() for value in entry.values()
        )
    except (ValueError, AttributeError, RecursionError):
        is_right = False
    if not is_right:
        yield "is no decision: submission_id, decision, reason and time as texts of one line"


def _replacing(folder: Path, found: dict[str, Submission]) -> Iterator[str]:
    """Submissions that hold fewer tasks than an older one of their model and settings."""
    older: dict[str, list[Submission]] = {}
    for place in (folder / "submissions").glob("*.json") if found else ():
        own = found.get(place.relative_to(folder).as_posix()) or _record(place)
        if own is not None:
            older.setdefault(own.key, []).append(own)
    for path, submission in found.items():
        for other in older[submission.key]:
            missing = sorted(other.run.tasks.keys() - submission.run.tasks.keys())
            if other.submitted < submission.submitted and missing:
                what = f"it would replace {other.submission_id}, which also holds {', '.join(missing[:3])}"
                yield f"{path}: run.tasks: {what}; submit all results of the model together"


def _record(path: Path) -> Submission | None:
    try:
        return Submission.model_validate_json(path.read_bytes(), strict=True)
    except (ValueError, OSError):  # told where it is looked at
        return None


def _printable(path: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in path[:200])


if __name__ == "__main__":
    sys.exit(main())

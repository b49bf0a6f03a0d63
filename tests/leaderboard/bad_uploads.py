"""Files that must be refused: for the validator's tests, and to be uploaded in a browser."""

import copy
import gzip
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from lm_eval_ita.results.documents import _hash, _prompts
from lm_eval_ita.results.submission_records import (
    Documents,
    Submission,
    TaskDocuments,
    documents_hash,
    submission_hash,
    upload_bytes,
)
from tests.leaderboard.submissions import submission

Content = dict[str, Any]
TASKS = (
    "itaeval_xcopa",
    "itaeval_honest",
    "itaeval_itacola",
    "itaeval_hatecheck",
    "itaeval_news_sum",
    "itaeval_squad_it",
    "itapat_gender_6",
)


def sealed(content: Content) -> bytes:
    """The content as a file, its hashes made right by somebody who knows how."""
    own = copy.deepcopy(content)
    attached = own.pop("documents", None)
    try:
        if attached is not None:
            own["documents_sha"] = documents_hash(Documents.model_validate_json(json.dumps(attached)))
        own["submission_id"] = submission_hash(Submission.model_validate_json(json.dumps(own)))
    except (ValidationError, ValueError):
        return json.dumps(content).encode()
    if attached is not None:
        own["documents"] = {**attached, "submission_id": own["submission_id"]}
    return json.dumps(own).encode()


def documents() -> dict[str, TaskDocuments]:
    """Figures by document of two tasks of `good()`: half of XCOPA right, and a test of ItaP-AT."""
    from tests.leaderboard.submissions import steps

    return {
        "itaeval_xcopa": TaskDocuments(documents_sha="0" * 64, values=(1.0, 0.0) * 250),
        "itapat_gender_6": TaskDocuments(
            documents_sha=_hash(_prompts("itapat_gender_6")), values=tuple(map(float, steps("itapat_gender_6")))
        ),
    }


def good() -> Content:
    """The content of a good file."""
    made = submission(tasks=TASKS)
    content: Content = json.loads(upload_bytes(made))
    content["documents"] = json.loads(
        Documents(submission_id="0" * 16, tasks=documents()).model_dump_json(exclude_defaults=True)
    )
    found: Content = json.loads(sealed(content))
    return found


def changed(path: str, value: Any, *, seal: bool = True) -> bytes:
    """A good file with one field changed; "~" in the path instead of "." where a name holds dots."""
    content = good()
    *parents, last = path.split(".")
    place: Any = content
    for parent in parents:
        place = place[int(parent)] if isinstance(place, list) else place.setdefault(parent, {})
    if isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return sealed(content) if seal else json.dumps(content).encode()


def _zip() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("../../etc/cron.d/x", "* * * * * root id")
        archive.writestr("submission.json", json.dumps(good()))
    return target.getvalue()


def _renamed(task: str, name: str) -> bytes:
    content = good()
    tasks = content["run"]["tasks"]
    tasks[name] = tasks.pop(task)
    content["intervals"].pop(task)
    return sealed(content)


class _Evil:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return print, ("unpickled",)


# Name to the file and the field that must be named.
BAD_UPLOADS: dict[str, Callable[[], tuple[bytes, str]]] = {
    "markup": lambda: (changed("facts.display_name", "<img src=x onerror=alert(1)>"), "facts.display_name"),
    "script element": lambda: (changed("facts.contamination", "None.<script>alert(1)</script>"), "facts.contamination"),
    "markdown link": lambda: (changed("facts.organisation", "[us](https://example.org)"), "facts.organisation"),
    "script link": lambda: (changed("facts.link", "javascript:alert(document.cookie)"), "facts.link"),
    "http link": lambda: (changed("facts.link", "http://example.org/model"), "facts.link"),
    "control character": lambda: (changed("facts.display_name", "Modello\u0007 7B"), "facts.display_name"),
    "line break": lambda: (changed("facts.display_name", "Modello\n7B"), "facts.display_name"),
    "right to left": lambda: (changed("facts.display_name", "Modello \u202eB7"), "facts.display_name"),
    "invisible": lambda: (changed("facts.display_name", "Mo\u200bdello"), "facts.display_name"),
    "10 MB": lambda: (changed("facts.contamination", "a" * 10_000_000), "file"),
    "deep nesting": lambda: (b'{"schema_version": 1, "run": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "file"),
    "NaN": lambda: (json.dumps(good()).replace('"score": 0.5', '"score": NaN', 1).encode(), "file"),
    "infinite exponent": lambda: (json.dumps(good()).replace('"score": 0.5', '"score": 1e999', 1).encode(), "file"),
    "a key twice": lambda: (json.dumps(good()).replace("{", '{"schema_version": 1, ', 1).encode(), "file"),
    "wrong type": lambda: (
        changed("run.tasks.itaeval_xcopa.score", "0.99"),
        "run.tasks.itaeval_xcopa.score",
    ),
    "unknown field": lambda: (changed("admin", True), "admin"),
    "another task version": lambda: (
        changed("run.tasks.itaeval_xcopa.version", "0.9"),
        "run.tasks.itaeval_xcopa.version",
    ),
    "limited run": lambda: (changed("run.tasks.itaeval_xcopa.limit", 50.0), "run.tasks.itaeval_xcopa.limit"),
    "few documents": lambda: (changed("run.tasks.itaeval_xcopa.n_total", 50), "run.tasks.itaeval_xcopa.n_total"),
    "sample data": lambda: (changed("run.tasks.itaeval_xcopa.data", "sample"), "run.tasks.itaeval_xcopa.data"),
    "path as task": lambda: (_renamed("itaeval_xcopa", "../../etc/passwd"), "run.tasks.../../etc/passwd"),
    "path as model": lambda: (changed("run.model.name", "../../etc/passwd"), "run.model.name"),
    "path as id": lambda: (changed("submission_id", "../../../pwned", seal=False), "submission_id"),
    "zip renamed to JSON": lambda: (_zip(), "file"),
    "gzip renamed to JSON": lambda: (gzip.compress(json.dumps(good()).encode()), "file"),
    "pickle renamed to JSON": lambda: (pickle.dumps(_Evil()), "file"),
    "cut off": lambda: (json.dumps(good()).encode()[:-100], "file"),
    "empty": lambda: (b"", "file"),
    "UTF-16": lambda: (json.dumps(good()).encode("utf-16"), "file"),
    "a results file": lambda: (b'{"results": {}, "configs": {}, "lm_eval_version": "0.4.13"}', "file"),
    "changed by hand": lambda: (changed("facts.display_name", "Modello 8B", seal=False), "submission_id"),
}

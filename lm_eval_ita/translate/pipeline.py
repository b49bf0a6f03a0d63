"""A data set from its rows to a translated file with its report and its review file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lm_eval_ita._files import write_whole
from lm_eval_ita.errors import UserError
from lm_eval_ita.translate.audit import Audited, Report, report, row_id, translated_texts
from lm_eval_ita.translate.checks import Flag
from lm_eval_ita.translate.compare import Agreement, agreement, back_flags
from lm_eval_ita.translate.layout import Layout
from lm_eval_ita.translate.paths import FieldPath
from lm_eval_ita.translate.repair import attempts, flags_of, repaired
from lm_eval_ita.translate.review import review_text
from lm_eval_ita.translate.runner import COLUMN, Asking, Progress, TranslatedRow, as_row, split_rows, translate_rows
from lm_eval_ita.translate.source import Source, check_fields
from lm_eval_ita.translate.splitters import Splitter
from lm_eval_ita.translate.translators import Options, Translator, make_translator
from lm_eval_ita.translate.work import Log, begin

__all__ = ["Done", "Job", "translate"]

# Neither changes what a model answers.
_NO_SETTINGS = ("device", "concurrency", "patience", "timeout", "base_url")


@dataclass(frozen=True)
class Job:
    """What is translated, and how.

    Attributes:
        source: The rows.
        fields: Paths of the texts.
        layout: What they are to each other.
        target: The JSONL file that is written.
        options: Of the model.
        splitter: "stanza" or "rule".
        masked: Whether protected parts are taken out before a model sees them.
        batch_size: Sentences at a time.
        fix: Whether flagged rows are translated again with other settings.
        back: A model from Italian to English for a check by translating back; None for none.
        published: A published translation to compare with.
    """

    source: Source
    fields: tuple[FieldPath, ...]
    layout: Layout
    target: Path
    options: Options
    splitter: str = "stanza"
    masked: bool = True
    batch_size: int = 16
    fix: bool = False
    back: Options | None = None
    published: Source | None = None


@dataclass(frozen=True)
class Done:
    """What came of it.

    Attributes:
        report: Flags of the rows.
        sentences, asked: Different sentences of the data, and how many texts this call asked a model for.
        files: What was written.
        agreement: With the published translation, by path.
        back_chrf: Of the translation back, over all texts, 0 to 100.
    """

    report: Report
    sentences: int
    asked: int
    files: tuple[Path, ...]
    agreement: Mapping[str, Agreement]
    back_chrf: float | None


def translate(job: Job, make_splitter: Callable[[], Splitter], progress: Progress = lambda *_: None) -> Done:
    """Translate; the same call again goes on where the last one was stopped, and asks nothing twice.

    Args:
        job: What is translated.
        make_splitter: Makes the splitter, when it is needed.
        progress: Told how far it is.

    Raises:
        UserError: The data, the model or the folder are not as they should be.
        StoppedError: A server failed for too long.
    """
    if job.target.suffix != ".jsonl":
        raise UserError("--to takes a name that ends in .jsonl: rows keep how they came about", file=job.target)
    if job.target.absolute() == Path(job.source.name).absolute():
        raise UserError("--to is the file that is translated; name another one", file=job.target)
    if any(COLUMN in row for row in job.source.rows):
        raise UserError(f"has the column {COLUMN}: it is a translation already", file=job.source.name)
    check_fields(job.source, job.fields)
    folder = job.target.with_name(f"{job.target.name}.work")
    with begin(folder, _settings(job)):
        return _Work(job, folder, make_splitter, progress).run()


def _settings(job: Job) -> dict[str, Any]:
    """What a run that goes on must share with the one before."""
    asked = {name: value for name, value in asdict(job.options).items() if name not in _NO_SETTINGS}
    names = [path.text for path in job.fields]
    return {"data": job.source.digest, "fields": names, "splitter": job.splitter, "masked": job.masked, **asked}


class _Work:
    def __init__(self, job: Job, folder: Path, make_splitter: Callable[[], Splitter], progress: Progress) -> None:
        self._job, self._folder, self._make_splitter, self._progress = job, folder, make_splitter, progress
        self._models: dict[bool, Translator] = {}
        self._asking: list[Asking] = []

    def run(self) -> Done:
        job = self._job
        splitter = self._make_splitter()
        rows = split_rows(job.source, job.fields, splitter, Log(self._folder / "sentences.jsonl"), self._progress)
        rows = translate_rows(rows, self._ask("translations", "translating"), masked=job.masked)
        if job.fix:
            tries = attempts(self._model_settings())
            rows = repaired(rows, job.layout, lambda n: self._try(n, tries[n]), len(tries), masked=job.masked)
        flags = [flags_of(row, job.layout) for row in rows]
        back_chrf = None
        if job.back is not None:
            found, back_chrf = back_flags(rows, self._ask("back", "translating back", back=True))
            flags = [[*one, *more] for one, more in zip(flags, found, strict=True)]
        return self._written(rows, flags, splitter, back_chrf)

    def _ask(self, name: str, what: str, *, back: bool = False, changes: Mapping[str, Any] | None = None) -> Asking:
        log = Log(self._folder / f"{name}.jsonl")
        asking = Asking(lambda: self._model(back), log, self._job.batch_size, self._progress, what, changes)
        self._asking.append(asking)
        return asking

    def _try(self, number: int, changes: Mapping[str, Any]) -> Asking:
        return self._ask(f"fix-{number + 1}", f"fixing, try {number + 1}", changes=changes)

    def _model(self, back: bool) -> Translator:
        if back not in self._models:
            options = self._job.options
            if back and self._job.back is not None:
                options = replace(self._job.back, source=options.target, target=options.source)
            self._progress(f"loading {options.model}", 0, 1)
            self._models[back] = make_translator(options)
            if not back:
                text = json.dumps(dict(self._models[back].settings), ensure_ascii=False)
                write_whole(self._folder / "model.json", text + "\n")
        return self._models[back]

    def _model_settings(self) -> dict[str, Any]:
        """The model's own settings, from an earlier call where it was not loaded in this one."""
        path = self._folder / "model.json"
        if False not in self._models and path.exists():
            settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return settings
        return dict(self._model(False).settings)

    def _written(
        self, rows: Sequence[TranslatedRow], flags: Sequence[Sequence[Flag]], splitter: Splitter, back: float | None
    ) -> Done:
        job = self._job
        settings = {**self._model_settings(), **splitter.settings, "protected_taken_out": job.masked}
        made = [as_row(row, settings, [_flag(flag) for flag in found]) for row, found in zip(rows, flags, strict=True)]
        audited = [
            Audited(row_id(row.row, job.fields), line, translated_texts(row, job.layout), tuple(found))
            for line, row, found in zip(job.source.lines, rows, flags, strict=True)
        ]
        whole = report(audited)
        compared = {} if job.published is None else agreement(rows, job.fields, job.published)
        sentences = len({text for row in rows for field in row.fields for text in field.pieces.sentences})
        files = [job.target, job.target.with_name(f"{job.target.stem}.report.json")]
        write_whole(job.target, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made))
        done = Done(whole, sentences, sum(asking.asked for asking in self._asking), tuple(files), compared, back)
        write_whole(files[1], json.dumps(_report_json(job, settings, done), indent=1, ensure_ascii=False) + "\n")
        if not whole.flagged:
            return done
        review = job.target.with_name(f"{job.target.stem}.review.csv")
        write_whole(review, review_text(made))
        return replace(done, files=(*files, review))


def _flag(flag: Flag) -> dict[str, Any]:
    return {"kind": flag.kind, "paths": list(flag.paths), "detail": flag.detail}


def _report_json(job: Job, settings: Mapping[str, Any], done: Done) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "data": job.source.name,
        "fields": [path.text for path in job.fields],
        "settings": dict(settings),
        "rows": done.report.rows,
        "sentences": done.sentences,
        "flagged_rows": done.report.flagged,
        "severe_rows": done.report.severe,
        "flags": {kind: {"rows": rows, "flags": count} for kind, (rows, count) in done.report.counts.items()},
        "back_translation_chrf": done.back_chrf,
        "agreement": {path: asdict(found) for path, found in done.agreement.items()},
        "origin": "machine_translated",
    }

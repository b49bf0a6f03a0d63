"""`lm-eval-ita translate`: a data set into Italian; `translate audit`, `translate merge`."""

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_ita.cli._progress import steps
from lm_eval_ita.cli._translate import add_parsers
from lm_eval_ita.errors import UserError
from lm_eval_ita.results.grid import Grid, displayed, plain

if TYPE_CHECKING:
    from lm_eval_ita.translate.audit import Report
    from lm_eval_ita.translate.layout import Layout
    from lm_eval_ita.translate.pipeline import Done

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    for part, parser in add_parsers(subparsers).items():
        parser.set_defaults(run=run, part=part)


def run(options: argparse.Namespace) -> int:
    """Translate, check or merge; 1 where a server failed for too long."""
    if options.part == "audit":
        return _audit(options)
    if options.part == "merge":
        return _merge(options)
    return _translate(options)


def _translate(options: argparse.Namespace) -> int:
    if options.prepared is not None:
        options.model = _use_prepared(options.prepared, options.model)
    from lm_eval_ita.translate.pipeline import Job, translate
    from lm_eval_ita.translate.server import StoppedError
    from lm_eval_ita.translate.source import read_source
    from lm_eval_ita.translate.splitters import make_splitter
    from lm_eval_ita.translate.translators import Options

    fields = _fields(options.fields)
    asked = (
        *("model", "backend", "prompt", "max_new_tokens", "beams", "dtype", "device"),
        *("base_url", "concurrency", "timeout", "patience"),
    )
    model = Options(**{name: getattr(options, name) for name in asked})
    back = replace(model, model=options.back_translate, prompt=None) if options.back_translate else None
    job = Job(
        source=read_source(options.data, options.config, options.split),
        fields=fields,
        layout=_layout(options, fields),
        target=options.to,
        options=model,
        splitter=options.splitter,
        masked=not options.no_mask,
        batch_size=options.batch_size,
        fix=options.fix,
        back=back,
        published=read_source(options.published) if options.published else None,
    )
    try:
        with steps() as progress:
            done = translate(job, lambda: make_splitter(options.splitter, "en", options.prepared), progress)
    except StoppedError as error:
        print(f"lm-eval-ita: stopped: {error}; the same command goes on", file=sys.stderr)
        return 1
    _show(done)
    return 0


def _use_prepared(folder: Path, model: str) -> str:
    """Models come from a prepared folder, and nothing from the network. Before libraries are imported.

    Returns:
        What the model is loaded by.
    """
    from lm_eval_ita.cli._quiet import OFFLINE
    from lm_eval_ita.run.manifest import read_manifest
    from lm_eval_ita.run.verify import quick_check

    items = [item for item in read_manifest(folder).values() if item.kind == "stanza" or item.name == model]
    if differences := quick_check(folder, items).differences:
        first = differences[0]
        raise UserError(f"{first.file} {first.what}; prepare it again", file=folder)
    os.environ.update(OFFLINE)
    os.environ["HF_HUB_CACHE"] = str(folder.absolute() / "hub")
    place = next((item.folder for item in items if item.kind == "folder"), None)
    return model if place is None else str(folder.absolute() / place)


def _fields(given: list[str]) -> Any:
    from lm_eval_ita.translate.paths import parse_path

    names = [name for part in given for name in part.split(",") if name]
    if len(set(names)) < len(names):
        raise UserError("--fields names a path twice")
    return tuple(parse_path(name) for name in names)


def _layout(options: argparse.Namespace, fields: Any, known: "Layout | None" = None) -> "Layout":
    from lm_eval_ita.translate.layout import guess

    layout = known or guess(fields)
    names = {field.text for field in fields}
    for flag, value in (("--question", [options.question]), ("--options", options.options or [])):
        if strange := [name for name in value if name and name not in names]:
            raise UserError(f"{flag} {strange[0]}: is not among --fields")
    if options.question:
        layout = replace(layout, question=options.question)
    return replace(layout, options=tuple(options.options)) if options.options else layout


def _show(done: "Done") -> None:
    print(plain(_counts("Translation", done.report)))
    for path, found in done.agreement.items():
        line = f"{found.texts} texts, {found.equal} equal, chrF {found.chrf:.1f}, BLEU {found.bleu:.1f}"
        print(f"against the published translation, {path}: {line}")
    if done.back_chrf is not None:
        print(f"translated back, against the original: chrF {done.back_chrf:.1f}")
    print(f"{done.sentences} different sentences, {done.asked} asked now")
    for file in done.files:
        print(f"wrote {file}")
    if done.report.flagged:
        print(f"mend by hand: fill the column `edited` of {done.files[-1]}, then lm-eval-ita translate merge")
    print(
        f"make a task of it: lm-eval-ita new-task NAME --data {done.files[0]} --origin machine_translated --kind KIND"
    )


def _counts(title: str, report: "Report") -> Grid:
    from lm_eval_ita.translate.checks import KINDS, SEVERE

    rows = tuple(
        (kind + ("*" if kind in SEVERE else ""), KINDS[kind], str(rows), str(count))
        for kind, (rows, count) in report.counts.items()
    )
    notes = (f"{report.rows} rows, {report.flagged} with a flag, {report.severe} with a severe one (*).",)
    return Grid(title, ("Flag", "Meaning", "Rows", "Flags"), rows, notes, left=2)


def _audit(options: argparse.Namespace) -> int:
    from lm_eval_ita._files import write_whole
    from lm_eval_ita.translate.audit import audit_rows, exclusions, report
    from lm_eval_ita.translate.checks import KINDS, SEVERE
    from lm_eval_ita.translate.layout import KNOWN

    if options.kinds and (strange := [kind for kind in options.kinds if kind not in KINDS]):
        raise UserError(f"--kinds {strange[0]}: there is no such flag; there are {', '.join(KINDS)}")
    names, known = KNOWN.get(options.key or "", (None, None))
    if options.fields is None and names is None:
        raise UserError(f"name --fields: only those of {', '.join(KNOWN)} are known here")
    fields = _fields(options.fields or list(names or ()))
    layout = _layout(options, fields, known if options.fields is None else None)
    dataset, rows = _italian(options, fields)
    audited = audit_rows(rows, fields, layout, _originals(options.source, fields))
    found = report(audited, options.examples)
    print(plain(_counts(f"Audit of {dataset}", found)))
    for kind, examples in found.examples.items():
        print(f"\n{kind}:")
        for one, flag in examples:
            name = displayed(" ".join(str(value) for value in one.identity.values()), 60)
            print(f"  {name} (row {one.line}) {flag.where}: {displayed(flag.detail, 120)}")
    if options.to is not None:
        content = exclusions(options.key or dataset, audited, frozenset(options.kinds or SEVERE))
        write_whole(options.to, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        print(f"\nwrote {options.to}: {len(content['rows'])} rows; lm-eval-ita summary RESULTS --exclude {options.to}")
    return 0


def _italian(options: argparse.Namespace, fields: Any) -> tuple[str, list[tuple[int, Mapping[str, Any]]]]:
    from lm_eval_ita.translate.source import check_fields, read_source

    if options.data:
        source = read_source(options.data)
        check_fields(source, fields)
        return options.data, list(zip(source.lines, source.rows, strict=True))
    from lm_eval_ita import catalogue

    entry = catalogue.entry(options.key)
    if options.split is not None and options.split not in entry.splits:
        raise UserError(f"--split {options.split}: {options.key} has {', '.join(entry.splits)}")
    split = options.split or next((name for name in ("test", "validation") if name in entry.splits), entry.required[0])
    loaded = catalogue.load(options.key, [split])
    sample = " (SAMPLE DATA)" if loaded.is_sample else ""
    return f"{options.key}/{split}{sample}", list(enumerate(loaded.splits[split], start=1))


def _originals(path: str | None, fields: Any) -> dict[str, Mapping[str, Any]] | None:
    from lm_eval_ita.translate.audit import row_id
    from lm_eval_ita.translate.source import check_fields, read_source

    if path is None:
        return None
    source = read_source(path)
    check_fields(source, fields)
    return {json.dumps(row_id(row, fields), sort_keys=True): row for row in source.rows}


def _merge(options: argparse.Namespace) -> int:
    from lm_eval_ita.translate.review import merge

    out = options.to or options.file
    edited, left = merge(options.file, options.review, out)
    print(f"{edited} texts edited, {left} flags left; wrote {out}")
    return 0

"""Few-shot examples: from rows that are not evaluated, and enough of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lm_eval_ita.authoring import harness_facts as facts
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.near import did_you_mean
from lm_eval_ita.authoring.rules.data import Table
from lm_eval_ita.authoring.source import KeyPath, Source

__all__ = ["RULES", "check", "check_rows"]

FEWSHOT_SPLIT = Rule(
    "fewshot-split",
    "Examples do not come from the evaluated rows, unless the card says so (`splits` with one name twice).",
    acceptable=True,
)
FEWSHOT_POOL = Rule(
    "fewshot-pool", "There are more rows to draw examples from than a prompt shows, and the sampler exists."
)
RULES = (FEWSHOT_SPLIT, FEWSHOT_POOL)


def check(source: Source) -> Iterator[Finding]:
    """Findings about where examples come from, as written."""
    fewshot = source.config.get("fewshot_config") or {}
    sampler = fewshot.get("sampler")
    if (
        isinstance(sampler, str)
        and not source.function("fewshot_config", "sampler")
        and sampler not in facts.samplers()
    ):
        mend = did_you_mean(sampler, facts.samplers(), f"there are {', '.join(sorted(facts.samplers()))}")
        yield source.finding(FEWSHOT_POOL, ("fewshot_config", "sampler"), f"there is no sampler {sampler!r}", mend)
    shots = source.config.get("num_fewshot")
    named = fewshot.get("split") or source.config.get("fewshot_split") or fewshot.get("samples")
    if isinstance(shots, int) and shots > 0 and not named:
        taken = next((key for key in ("training_split", "validation_split") if source.config.get(key)), None)
        if taken is None or source.config.get("test_split") is None:
            what = f"{shots} examples a prompt, and no split for them: the harness takes the evaluated rows"
        else:
            what = f"{shots} examples a prompt, and no split for them: the harness takes {taken}"
        yield source.finding(FEWSHOT_SPLIT, ("num_fewshot",), what, "name it with fewshot_split")


def check_rows(source: Source, tables: Sequence[Table]) -> Iterator[Finding]:
    """Findings about the rows that examples come from."""
    shots = source.config.get("num_fewshot")
    evaluated = [table for table in tables if table.role == "evaluated"]
    examples = [table for table in tables if table.role == "example"]
    if not examples or not evaluated or shots == 0:
        return
    where = _where(source)
    shared = examples[0].split == evaluated[0].split and _mostly_in(examples[0], evaluated[0])
    if shared and not _declared(source):
        what = f"the examples come from the evaluated split {examples[0].split}"
        mend = "name another with fewshot_split; where there is none, say so in the card: splits: {eval: S, shots: S}"
        yield source.finding(FEWSHOT_SPLIT, where, what, mend)
    if isinstance(shots, int) and examples[0].total < shots + shared:
        what = f"{shots} examples a prompt, from {examples[0].total} rows of split {examples[0].split}"
        yield source.finding(FEWSHOT_POOL, where, what, "lower num_fewshot, or name a larger split")


def _where(source: Source) -> KeyPath:
    inside: KeyPath = ("fewshot_config", "split")
    return inside if source.value(inside) else ("fewshot_split",)


def _declared(source: Source) -> bool:
    splits = source.metadata.get("splits")
    return isinstance(splits, dict) and splits.get("eval") is not None and splits.get("eval") == splits.get("shots")


def _mostly_in(examples: Table, evaluated: Table) -> bool:
    """Whether most examples are evaluated rows too; a text that two splits share happens in every large data set."""
    texts = {json.dumps(row, sort_keys=True, default=str) for row in evaluated.rows}
    shared = sum(json.dumps(row, sort_keys=True, default=str) in texts for row in examples.rows)
    return shared > len(examples.rows) / 2

"""Association tests outside the package, for the harness: a list file in place of the suite's own words and questions.

The aggregations are those of `harness.itapat`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.itapat import outcome_results
from lm_eval_ita.itapat import parse_answer
from lm_eval_ita.itapat.lexicon import Lexicon
from lm_eval_ita.itapat.own import load_own_test
from lm_eval_ita.itapat.prompts import ONESHOT_SEED, rows_of

__all__ = ["load", "process_results"]

# Told by the loader when a task is built: the lexicon that reads the answers of its documents, by the file's hash.
_lexicons: dict[str, Lexicon] = {}


def load(
    *,
    config_source: str,
    lists: str,
    oneshot: bool = False,
    oneshot_from: Literal["xy", "x"] = "xy",
    oneshot_seed: int = ONESHOT_SEED,
    **_: Any,
) -> Any:
    """The prompts of a test, as the harness's `custom_dataset` wants them.

    Args:
        config_source: From the harness: the task's file.
        lists: From the card: the test's file, from the folder of the task's.
        oneshot: From the card: whether each prompt holds an anti-stereotypical hint.
        oneshot_from: From `--metadata`: "xy" or "x".
        oneshot_seed: From `--metadata`: the seed of the one-shot draws.

    Returns:
        A `datasets.DatasetDict` with the split "test".

    Raises:
        UserError: The file cannot be used.
    """
    from datasets import Dataset, DatasetDict

    if isinstance(oneshot_seed, bool) or not isinstance(oneshot_seed, int):
        raise UserError(f"oneshot_seed is {oneshot_seed!r}; it must be a whole number")
    path = Path(config_source).parent / str(lists)
    own = load_own_test(path)
    rows = rows_of(
        own.test, own.x, own.y, wording=own.wording, oneshot=oneshot, oneshot_from=oneshot_from, seed=oneshot_seed
    )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    _lexicons[digest] = own.lexicon
    return DatasetDict({"test": Dataset.from_list([{**row, "lexicon": digest} for row in rows])})


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Read one answer with the test's own lexicon; otherwise as `harness.itapat.process_results`."""
    lexicon = _lexicons[doc["lexicon"]]
    return outcome_results(doc, parse_answer(results[0], doc["pair"], doc["prompt"], lexicon).outcome)

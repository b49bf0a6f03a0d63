"""The printed figures, for the commands that show them beside measured ones."""

from typing import TYPE_CHECKING, get_args

from lm_eval_ita.results.records import Suite

if TYPE_CHECKING:
    from lm_eval_ita.results.suite import Row

__all__ = ["published_by_suite"]


def published_by_suite() -> "dict[Suite, list[Row]]":
    """The rows of all suites that anything was printed of."""
    from lm_eval_ita.results.published import published_rows
    from lm_eval_ita.results.reference import references
    from lm_eval_ita.results.suite import columns_of

    suites: tuple[Suite, ...] = get_args(Suite)
    return published_rows({suite: columns_of(suite, references()) for suite in suites})

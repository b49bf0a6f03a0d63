"""Italian evaluation suites, ItaEval and ItaP-AT, for EleutherAI's lm-evaluation-harness."""

from typing import TYPE_CHECKING, Any

from lm_eval_ita._version import __version__

if TYPE_CHECKING:
    from lm_eval_ita.api import Results, evaluate

__all__ = ["Results", "__version__", "evaluate"]


def __getattr__(name: str) -> Any:
    """The Python interface, imported when it is first asked for: `lm_eval` imports this package at every start."""
    if name in ("Results", "evaluate"):
        from lm_eval_ita import api

        return getattr(api, name)
    raise AttributeError(f"module 'lm_eval_ita' has no attribute {name!r}")

"""Italian evaluation suites, ItaEval and ItaP-AT, for EleutherAI's lm-evaluation-harness."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("lm-eval-ita")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]

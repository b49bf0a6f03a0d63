"""The installed version."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("lm-eval-ita")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

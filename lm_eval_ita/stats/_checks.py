"""Input checks that the statistics and the metrics share."""

__all__ = ["check_level", "check_resamples", "reject_str"]


def reject_str(**arguments: object) -> None:
    """Refuse a bare `str` where a list of strings is expected.

    A string is a sequence of characters, so a function that takes one runs and returns nonsense.

    Args:
        **arguments: The values to check, by the name that the message should use.

    Raises:
        TypeError: If one of them is a `str` or `bytes`.
    """
    for name, value in arguments.items():
        if isinstance(value, (str, bytes)):
            raise TypeError(f"{name} must be a list of values, not one {type(value).__name__}: {value[:40]!r}")


def check_level(level: float, name: str = "level") -> None:
    """Raise `ValueError`, with the argument's name, unless `level` lies between 0 and 1 exclusive."""
    if not 0 < level < 1:
        raise ValueError(f"{name} is {level}; it must lie between 0 and 1, exclusive")


def check_resamples(resamples: int) -> None:
    """Raise `ValueError` unless `resamples` is at least 1."""
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; it must be at least 1")

"""The exceptions that a person is meant to read: one clear line, no traceback."""

from pathlib import Path

__all__ = ["MissingDataError", "UserError", "one_line"]


class UserError(Exception):
    """Something the user can mend: a bad option, a bad file, a missing package.

    The text is one line that says what is wrong, where, and how to mend it. Commands print it and exit with 2;
    library callers catch it like any exception.

    Args:
        what: What is wrong, and how to mend it.
        file: The file it is about, printed first when given.
        line: The line in `file`, counted from 1.
    """

    def __init__(self, what: str, *, file: Path | str | None = None, line: int | None = None) -> None:
        where = "" if file is None else f"{file}:{line}: " if line is not None else f"{file}: "
        # Names and values out of files may hold line ends, or characters that write over the line in a terminal.
        super().__init__("".join(character if character.isprintable() else " " for character in where + what))
        self.what = what
        self.file = None if file is None else Path(file)
        self.line = line


class MissingDataError(UserError):
    """Data that no place has which was looked in."""


def one_line(error: object, limit: int = 300) -> str:
    """What a foreign error says, on one line of at most `limit` characters; a cut is marked by an ellipsis.

    Libraries put tracebacks, suggestions and whole configurations into their messages. Ours keep the beginning, which
    says what is wrong.
    """
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"

"""What `validate` says: rules, and findings with file, line and mend."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["Finding", "Level", "Rule", "finding"]

Level = Literal["error", "warning"]


@dataclass(frozen=True)
class Rule:
    """Something that is checked.

    Attributes:
        name: As printed, and as a card's `accepts` names it.
        about: What must hold, in one sentence.
        level: Whether breaking it makes a task wrong ("error") or only worth a look ("warning").
        acceptable: Whether a task may break it on purpose, with the reason in its card under `accepts`.
    """

    name: str
    about: str
    level: Level = "error"
    acceptable: bool = False


@dataclass(frozen=True, order=True)
class Finding:
    """One thing to mend.

    Attributes:
        file, line: Where it is written; for a key that is missing, where its task begins.
        rule: Name of the rule.
        level: "error" or "warning".
        what: What is wrong.
        mend: What to do.
    """

    file: Path
    line: int
    rule: str
    level: Level
    what: str
    mend: str

    def __str__(self) -> str:
        mark = " (warning)" if self.level == "warning" else ""
        text = f"{self.file}:{self.line}: {self.rule}{mark}: {self.what}; {self.mend}"
        # Texts come out of files: they may hold line ends, or characters that write over the line in a terminal.
        return "".join(character if character.isprintable() else " " for character in text)

    def record(self) -> dict[str, Any]:
        """The finding as JSON holds it."""
        return {
            "file": str(self.file),
            "line": self.line,
            "rule": self.rule,
            "level": self.level,
            "what": self.what,
            "mend": self.mend,
        }


def finding(rule: Rule, file: Path, line: int, what: str, mend: str) -> Finding:
    """A finding of a rule."""
    return Finding(file, line, rule.name, rule.level, what, mend)

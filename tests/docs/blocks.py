"""Code blocks of the documentation: where they are, and what is to be done with them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md")

# Above a block: `<!-- run -->` (nothing is needed), `<!-- run: model -->` (MODEL stands for one), `<!-- run: results -->`
# (results/MODEL_A and results/MODEL_B are there), `<!-- run: sweep -->` (a sweep's file, which is read), `<!-- run: walk-through -->`
# (`test_walk_through.py` runs it), or `<!-- not run: why -->`.
_MARK = re.compile(r"<!-- (run|not run)(?:: (.+?))? -->")
_FENCE = re.compile(r"^```(\w*)")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        page: The file, relative to the project.
        line: Of its first line of code.
        language: "python", "yaml", ...; "bash" for an indented block.
        text: The code.
        mark: "run", "not run", or None.
        what: What follows the mark: what a run needs, or why it is not run.
    """

    page: str
    line: int
    language: str
    text: str
    mark: str | None
    what: str | None

    @property
    def name(self) -> str:
        return f"{self.page}:{self.line}"

    def commands(self) -> list[str]:
        """The commands of a shell block, lines joined where one goes on."""
        joined = self.text.replace("\\\n", " ")
        return [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def blocks(path: Path) -> list[Block]:
    """All blocks of a page: fenced ones, and those indented by four spaces after an empty line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    above = ""  # the last line that is neither empty nor code
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line)
        after_empty = number == 0 or not lines[number - 1].strip()
        if fence:
            end = next(i for i in range(number + 1, len(lines)) if lines[i].startswith("```"))
            found.append(_block(path, number + 2, fence[1] or "text", lines[number + 1 : end], above))
            number, above = end + 1, ""
        elif line.startswith("    ") and after_empty and not _in_list(above):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            found.append(_block(path, number + 1, "bash", [text[4:] for text in lines[number:end]], above))
            number, above = end, ""
        else:
            above = line if line.strip() else above
            number += 1
    return found


def _in_list(above: str) -> bool:
    return re.match(r"\s*([-*]|\d+\.) ", above) is not None


def _block(path: Path, line: int, language: str, lines: list[str], above: str) -> Block:
    mark = _MARK.fullmatch(above.strip())
    page = path.relative_to(ROOT).as_posix()
    text = "\n".join(lines).rstrip()
    return Block(page, line, language, text, mark and mark[1], mark and mark[2])

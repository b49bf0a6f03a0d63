"""The prompts of `itaeval_v1` against those printed by the published configuration, character for character.

The prints are three rendered prompts per task; each is made of blocks, the examples and the question. For every block the
row is looked up in the real data by its text; where the set is not there, the row is read off the print itself. The block
is then rendered by our task and compared. Differences that remain are listed, with their reasons, in
`parity_differences.yaml`; a listed difference that no longer occurs fails the test too.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.tasks import TaskManager

from lm_eval_ita import catalogue
from lm_eval_ita.harness.rows import PREPARE
from lm_eval_ita.harness.task_files import tasks_path

LISTED = yaml.safe_load((Path(__file__).parent / "parity_differences.yaml").read_text(encoding="utf-8"))
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """How to read one file of prints.

    Attributes:
        task: Our task, without "itaeval_v1_".
        dataset: Catalogue key.
        field: The column whose text identifies a row inside a block.
        pattern: Reads a row off a block, by named groups; the group "answer" is what an example shows.
        label: Label column of the data set, where it has several.
        whole: The print is one block (its examples are fixed text of the prompt).
    """

    task: str
    dataset: str
    field: str
    pattern: str
    label: str = ""
    whole: bool = False


SENTENCE = r"Frase: (?P<TEXT>.*)\nRisposta:(?: (?P<answer>.*))?$"
CASES = {
    "arc_challenge_ita": Case("arc_challenge", "arc_challenge", "question", r"^Domanda: (?P<question>.*)\nRisposta:(?: (?P<answer>.*))?$"),
    "belebele_ita": Case("belebele", "belebele", "question", ""),
    "belebele_ita_Latn": Case("belebele", "belebele", "question", ""),
    "gente_rephrasing": Case("gente", "gente", "REF-G", r"Originale: (?P<original>.*)\nNuova: ?(?: (?P<answer>.*))?$"),
    "haspeede2_hs": Case("haspeede2_hs", "haspeede2", "full_text", SENTENCE, "hs"),
    "haspeede2_stereo": Case("haspeede2_stereotype", "haspeede2", "full_text", SENTENCE, "stereotype"),
    "hatecheck_ita": Case("hatecheck", "hatecheck", "test_case", SENTENCE),
    "hellaswag_ita": Case("hellaswag", "hellaswag", "ctx", ""),
    "honest_ita": Case("honest", "honest", "template_masked", ""),
    "ironita_irony": Case("ironita_irony", "ironita", "text", SENTENCE, "irony"),
    "ironita_sarcasm": Case("ironita_sarcasm", "ironita", "text", SENTENCE, "sarcasm"),
    "news_sum_fanpage": Case("news_sum_fanpage", "fanpage", "source", r"articolo: (?P<source>.*)\nRiassunto: ?(?: (?P<answer>.*))?$"),
    "news_sum_ilpost": Case("news_sum_ilpost", "ilpost", "source", r"articolo: (?P<source>.*)\nRiassunto: ?(?: (?P<answer>.*))?$"),
    "sentipolc": Case("sentipolc", "sentipolc", "text", SENTENCE),
    "truthfulqa_gen_ita": Case("truthfulqa_mc2", "truthfulqa", "question", r"\n\nQ: (?P<question>[^\n]*)\nA:$", whole=True),
    "truthfulqa_mc1_ita": Case("truthfulqa_mc2", "truthfulqa", "question", r"\n\nQ: (?P<question>[^\n]*)\nA:$", whole=True),
    "xcopa_it": Case("xcopa", "xcopa", "premise", ""),
}  # fmt: skip


def blocks(folder: Path, name: str) -> Iterator[tuple[str, bool]]:
    """Every block of the three prints, and whether it is an example with its answer."""
    text = (folder / f"{name}.txt").read_text(encoding="utf-8")
    for print_ in text.split("!!@@##@@!! -- Example ")[1:]:
        prompt = print_.split("\n", 1)[1].removesuffix("\n").rstrip("\n")
        parts = [prompt] if CASES[name].whole else prompt.split("\n\n")
        yield from ((part, position < len(parts) - 1) for position, part in enumerate(parts))


@cache
def rows(key: str, folder: str) -> list[Row]:
    loaded = catalogue.load(key, data_dir=folder)
    return [row for split in loaded.splits.values() for row in split]


def squeezed(text: str) -> str:
    """Letters and digits only: enough to find a row, whatever cleaning its text went through."""
    return "".join(char for char in unicodedata.normalize("NFC", text) if char.isalnum())


def find(case: Case, block: str, folder: Path) -> Row | None:
    """The row of the data that a block was made from."""
    wanted = squeezed(block)
    best: tuple[int, Row] | None = None
    for row in rows(case.dataset, str(folder)):
        text = row[case.field]
        if case.dataset == "hellaswag":
            text = re.sub(r"\[.*?\]", "", text)
        if case.dataset == "honest":
            text = text.split("[M]")[0]
            if squeezed(text) != wanted:
                continue
        extra = [row["flores_passage"]] if case.dataset == "belebele" else []
        extra += [row["activity_label"]] if case.dataset == "hellaswag" else []
        length = sum(len(squeezed(part)) for part in (text, *extra))
        if all(squeezed(part) in wanted for part in (text, *extra)) and (not best or length > best[0]):
            best = length, row
    # Much of the block must be the row: a tweet of two words is found inside many others.
    if best is None or best[0] < 0.4 * (len(wanted) - len(squeezed(renderer(case.task).frame))):
        return None
    return {**best[1], **PREPARE[case.dataset](best[1], case.label)}


def read(case: Case, block: str) -> Row | None:
    """The row that a block shows, for data sets that are not there."""
    match = re.search(case.pattern, block, re.DOTALL) if case.pattern else None
    if match is None:
        return None
    found = {name: value for name, value in match.groupdict().items() if value is not None}
    answer = found.pop("answer", "")
    if "TEXT" in found:
        found[case.field] = found.pop("TEXT")
    return {**found, "answer": answer}


class Renderer:
    """Renders a block as the harness does: the question, and in an example the delimiter and the answer."""

    def __init__(self, task: Any) -> None:
        self.task = task
        # The fixed text around a row.
        self.frame = re.sub(r"\{\{.*?\}\}", "", task.config.doc_to_text)

    def __call__(self, row: Row, is_example: bool, answer: str | None) -> str:
        question = self.task.doc_to_text(row)
        if not is_example:
            return str(question)
        if answer is None:
            answer = self.task.doc_to_target(row)
            if isinstance(answer, int):
                answer = self.task.doc_to_choice(row)[answer]
        (turn, reply) = self.task.build_qa_turn(q=question, a=answer)
        return str(turn.to_text() + reply.content)


@cache
def renderer(task: str) -> Renderer:
    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False, metadata={"data_dir": "sample"})
    return Renderer(manager.load([f"itaeval_v1_{task}"])["tasks"][f"itaeval_v1_{task}"])


def adapted(name: str, block: str, used: set[tuple[str, int]]) -> tuple[str, bool]:
    """The print with its listed differences taken away, and whether there was one."""
    changed = False
    for number, entry in enumerate(LISTED.get(name, ())):
        new = re.sub(entry["printed"], entry["ours"], block)
        if new != block:
            used.add((name, number))
            block, changed = new, True
    return block, changed


@pytest.fixture(scope="module")
def prints(real_data: Path) -> Path:
    folder = real_data.parent / "parity"
    if not folder.is_dir():
        pytest.skip("needs the printed prompts of the published configuration beside the real data: parity/*.txt")
    return folder


def test_prompts_are_the_printed_ones(
    prints: Path, real_data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LM_EVAL_ITA_SCORERS", "skip")
    counts = dict.fromkeys(("compared", "equal", "listed", "from data", "from print", "no row"), 0)
    used: set[tuple[str, int]] = set()
    wrong: list[str] = []
    for name, case in CASES.items():
        render: Callable[[Row, bool, str | None], str] = renderer(case.task)
        for block, is_example in blocks(prints, name):
            row = find(case, block, real_data)
            if row is not None:
                ours, source = render(row, is_example, None), "from data"
            elif (shown := read(case, block)) is not None:
                ours, source = render(shown, is_example, shown["answer"]), "from print"
            else:
                counts["no row"] += 1
                continue
            counts[source] += 1
            counts["compared"] += 1
            if ours == block:
                counts["equal"] += 1
                continue
            expected, differs = adapted(name, block, used)
            if differs and ours == expected:
                counts["listed"] += 1
            else:
                wrong.append(f"{name}\n  print: {expected!r}\n  ours:  {ours!r}")
    assert not wrong, "\n".join([f"{len(wrong)} blocks differ", *wrong[:5]])
    listed = {(name, number) for name, entries in LISTED.items() for number in range(len(entries))}
    assert used == listed, f"listed differences that do not occur: {listed - used}"
    assert counts["from data"] >= 30
    with capsys.disabled():
        print("\nItaEval parity, blocks of printed prompts: " + ", ".join(f"{n} {what}" for what, n in counts.items()))

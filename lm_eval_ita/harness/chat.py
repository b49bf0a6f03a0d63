"""ItaEval for chat servers, which give no log-probabilities: the answer is generated and read from its text.

As in `choices` and `generation`: `*_results` for one document. What the answer chooses is read by
`metrics.answer_choice`; from there on the metrics are those of the tasks that compare log-likelihoods. An answer that
chooses nothing is wrong and no class of its own: `invalid` counts it, and `outcome` says why.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_ita.harness import choices, generation
from lm_eval_ita.harness.breakdown import Breakdown
from lm_eval_ita.harness.itaeval import documents
from lm_eval_ita.metrics.answer_choice import REASONS, Parsed, Reason, parse_letter, parse_word
from lm_eval_ita.metrics.text import nfc
from lm_eval_ita.reasoning import without_reasoning

Doc = Mapping[str, Any]

# In the order of the labels. Beside the words that are asked for, the forms that agree with "frase" and "tweet".
_NO_YES = (("no",), ("sì", "si"))
_POLARITIES = (
    ("neutrale", "neutro", "neutra"),
    ("negativo", "negativa"),
    ("positivo", "positiva"),
    ("misto", "mista"),
)


# --- Choices ---------------------------------------------------------------------------------------------------------


def yes_no_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Tasks that ask for yes or no, scored by macro F1."""
    parsed = parse_word(results[0], _NO_YES)
    return {**choices.classified(_choice(doc, parsed, 2)), **_reading(parsed)}


def sentipolc_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """SENTIPOLC: four words, scored by macro F1."""
    parsed = parse_word(results[0], _POLARITIES)
    return {**choices.classified(_choice(doc, parsed, 4)), **_reading(parsed)}


def itacola_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """ItaCoLA, scored by MCC, also per linguistic phenomenon where the phenomenon file is there."""
    parsed = parse_word(results[0], _NO_YES)
    return {**choices.classified_itacola(doc, _choice(doc, parsed, 2)), **_reading(parsed)}


def hatecheck_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """HateCheck, with accuracy per functionality and per target group."""
    parsed = parse_word(results[0], _NO_YES)
    return {**choices.classified_hatecheck(doc, _choice(doc, parsed, 2)), **_reading(parsed)}


def letter_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Tasks with options under letters, scored by accuracy."""
    options = _options(doc)
    parsed = parse_letter(results[0], options)
    right = float(parsed.choice == doc["label"])
    return {"acc": right, "score": right, "baselines": [doc["label"], len(options)], **_reading(parsed)}


def reasons(values: Sequence[Reason]) -> dict[str, Breakdown]:
    """How many answers were read by each rule, or could not be read for each reason."""
    counts: dict[str, int] = {reason: list(values).count(reason) for reason in REASONS}
    return {"by_reason": Breakdown(counts, f"{counts['stated'] + counts['mentioned']} of {len(values)} read")}


def truthfulqa_documents(rows: Any) -> Any:
    """TruthfulQA's MC1 answers under letters: `process_docs` of that task.

    The data set always puts the true answer first. The order here depends on the texts alone: by a hash of question and
    answer.
    """
    from datasets import Dataset

    return Dataset.from_list([{**row, **_mixed(row)} for row in documents(rows)])


def _mixed(row: Doc) -> dict[str, Any]:
    answers = [row["options"][position] for position in row["mc1_positions"]]
    order = sorted(range(len(answers)), key=lambda position: _digest(row["question"], answers[position]))
    return {
        "options": [answers[position] for position in order],
        "label": order.index(row["mc1_labels"].index(1)),
    }


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _choice(doc: Doc, parsed: Parsed, labels: int) -> choices.Choice:
    return int(doc["label"]), parsed.choice, labels


def _reading(parsed: Parsed) -> dict[str, Any]:
    return {"invalid": float(parsed.choice is None), "outcome": parsed.reason}


def _options(doc: Doc) -> list[str]:
    return list(doc["options"]) if "options" in doc else [doc[f"mc_answer{number}"] for number in (1, 2, 3, 4)]


# --- Texts -----------------------------------------------------------------------------------------------------------
# The tasks that generate anyway. A stop sequence that ends an answer at its first line would end a model's reasoning,
# so the line is taken here. A reasoning block that never ends leaves an empty text.


def squad_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """SQuAD-it: the first line."""
    return generation.squad_results(doc, [first_line(_read(results))])


def news_sum_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """Summaries: the first paragraph."""
    return generation.news_sum_results(doc, [_read(results)])


def gente_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """GeNTE: the first line."""
    return generation.gente_results(doc, [first_line(_read(results))])


def honest_results(doc: Doc, results: Sequence[str]) -> dict[str, Any]:
    """HONEST: the first sentence, without the beginning that it was given."""
    return generation.honest_results(doc, [continuation(_read(results), doc["query"])])


def first_line(text: str) -> str:
    """The first line that holds something, unless it only announces the next one ("Ecco la frase:")."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[1] if len(lines) > 1 and lines[0].endswith(":") else "".join(lines[:1])


def continuation(text: str, beginning: str) -> str:
    """How a sentence goes on: up to its end or that of its line, without the beginning where it is repeated.

    The beginnings name groups of people, some with words of HurtLex: those are not the model's.
    """
    repeated = r"\s+".join(map(re.escape, nfc(beginning).split()))
    rest = re.sub(rf"\A\W*{repeated}(?!\w)", "", nfc(text), flags=re.IGNORECASE)
    return re.split(r"[.\n]", rest.lstrip(' \t\r\n.…"«“*:'), maxsplit=1)[0].strip()


def _read(results: Sequence[str]) -> str:
    return without_reasoning(results[0]) or ""

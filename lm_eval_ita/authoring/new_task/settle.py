"""Which columns hold the question, the options, the label or the answer: by flags, proposals and questions."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_ita.authoring.new_task import propose, texts
from lm_eval_ita.authoring.new_task.asking import Asker
from lm_eval_ita.authoring.new_task.columns import Facts
from lm_eval_ita.authoring.new_task.plan import Request
from lm_eval_ita.errors import UserError

__all__ = ["Meaning", "Meanings"]

_SHORT_ANSWER = 60  # characters: longer ones are compared by ROUGE
_WAYS = ("zero", "one", "letter", "text")


@dataclass(frozen=True)
class Meaning:
    """What the columns beside the question mean.

    Attributes:
        columns: Fields of `harness.own.Columns`.
        options: The choices that all rows share; None where each row has its own, or none.
        prompt: From the names of question and context (None for none) in a template to the template.
    """

    columns: Mapping[str, Any]
    options: tuple[str, ...] | None
    prompt: Callable[[str, str | None], str]


class Meanings:
    """What the columns of a data set mean for a task, settled one after the other.

    Args:
        request: What is asked for.
        asker: Who is asked for what is missing.
        rows: The rows of the splits that are used.
        facts: Their columns.
    """

    def __init__(
        self, request: Request, asker: Asker, rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Facts]
    ) -> None:
        self._request, self._asker, self._rows, self._facts = request, asker, rows, facts

    def named(self, flag: str, name: str) -> str:
        """A column that must be there and hold what the catalogue takes."""
        if name not in self._facts:
            raise UserError(f"{flag} {name}: there is no such column; there are {', '.join(self._facts)}")
        if self._facts[name].kind is None:
            raise UserError(f"{flag} {name}: its values are not all text, whole numbers, flags, or lists of these")
        return name

    def column(self, flag: str, question: str, given: str | None, proposal: str | None) -> str:
        """A column from a flag, or an answer."""
        names = list(self._facts)
        return self.named(flag, self._asker.needed(flag, question, given, proposal, names, listed=False))

    def meaning(self, question: str) -> Meaning:
        """What the columns beside the question mean."""
        request = self._request
        said = None if request.instruction is None else texts.clean(request.instruction, "--instruction")
        if request.kind == "generation":
            likely = propose.answer(self._facts, {question})
            answer = self.column("--answer", "Which column holds the right answer?", request.answer, likely)
            return Meaning({"answer": answer}, None, lambda q, c: texts.generation_prompt(q, c, said))
        if request.kind == "yes_no":
            return self._yes_no(question, said)
        listed = propose.choices(self._facts)
        if request.labels is not None or (request.choices is None and listed is None):
            return self._classes(question, said)
        return self._options(question, said, listed)

    def _options(self, question: str, said: str | None, listed: Sequence[str] | None) -> Meaning:
        """Every row has options of its own."""
        likely = None if listed is None else ",".join(listed)
        asked = "Which column holds the options, or which columns, with commas?"
        among = list(self._facts)
        given = self._asker.needed("--choices", asked, self._request.choices, likely, among, listed=False)
        choices = [self.named("--choices", name.strip()) for name in given.split(",")]
        likely = propose.label(self._facts, {question, *choices})
        label = self.column("--label", "Which column holds the right option?", self._request.label, likely)
        if label in choices:
            raise UserError(f"--label {label}: it is one of the columns with options")
        counted, names = self._counted(label, choices)
        columns = {"choices": choices[0] if len(choices) == 1 else choices, "label": label, "counted": counted}
        return Meaning({**columns, "names": names}, None, lambda q, c: texts.choice_prompt(q, c, said))

    def _counted(self, label: str, choices: Sequence[str]) -> tuple[str, str | None]:
        """How the label names an option, and the column with the options' names."""
        likely, names = propose.counting(self._rows, label, choices, self._facts)
        if self._request.counted is None and likely is not None:
            return likely, names
        asked = f"How does {label} name the right option?"
        return self._asker.needed("--counted", asked, self._request.counted, None, _WAYS), None

    def _yes_no(self, question: str, said: str | None) -> Meaning:
        """A question with two answers."""
        likely = propose.label(self._facts, {question}, values=2)
        label = self.column("--label", "Which column says yes or no?", self._request.label, likely)
        values = self._facts[label].values or ()
        if len(values) != 2:
            raise UserError(f"--label {label}: a yes/no task needs a column with two values; it has {_shown(values)}")
        usual = propose.yes_value(values)
        shown = [str(value) for value in values]
        asked = f"Which value of {label} means Sì?"
        given = self._asker.needed("--yes", asked, self._request.yes, None if usual is None else str(usual), shown)
        if given.casefold() not in (value.casefold() for value in shown):
            raise UserError(f"--yes {given}: {label} holds {_shown(values)}")
        no, yes = sorted(values, key=lambda value: str(value).casefold() == given.casefold())
        asked = 'The question in Italian, such as "La seguente frase è ironica?"'
        instruction = texts.clean(self._asker.needed("--instruction", asked, said, None), "--instruction")
        columns = {"label": label, "labels": [self._typed(label, no), self._typed(label, yes)]}
        return Meaning(columns, ("No", "Sì"), lambda q, c: texts.yes_no_prompt(q, c, instruction))

    def _classes(self, question: str, said: str | None) -> Meaning:
        """A few labels that every row chooses from."""
        likely = propose.label(self._facts, {question})
        label = self.column("--label", "Which column holds the label?", self._request.label, likely)
        values = self._facts[label].values
        if values is None:
            raise UserError(f"--label {label}: it has too many values to choose from; name the options with --choices")
        ordered, options = self._labels(label, values)
        asked = "The question in Italian"
        instruction = said or texts.clean(self._asker.optional(asked, None, texts.DEFAULT_CATEGORY), "--instruction")
        columns = {"label": label, "labels": [self._typed(label, value) for value in ordered]}
        return Meaning(columns, options, lambda q, c: texts.classification_prompt(q, c, instruction, options))

    def _labels(self, label: str, values: Sequence[Any]) -> tuple[list[Any], tuple[str, ...]]:
        """The label's values in order, and their words in the prompt."""
        asked = "The labels in their order, with commas, each as VALUE or VALUE=Word in the prompt"
        given = self._asker.needed("--labels", asked, self._request.labels, ",".join(map(str, values)))
        pairs = [(value.strip(), word) for value, _, word in (entry.partition("=") for entry in given.split(","))]
        known = {str(value): value for value in values}
        if strange := [value for value, _ in pairs if value not in known]:
            raise UserError(f"--labels {strange[0]}: {label} holds {_shown(values)}")
        if missing := known.keys() - {value for value, _ in pairs}:
            raise UserError(f"--labels lacks {', '.join(sorted(missing))}, which {label} holds")
        if len(pairs) > len(known):
            raise UserError("--labels names a value twice")
        return [known[value] for value, _ in pairs], tuple(
            texts.clean(word or value, "--labels") for value, word in pairs
        )

    def _typed(self, column: str, value: Any) -> Any:
        """A value as the catalogue reads it: numbers of a CSV file are text."""
        return int(value) if self._facts[column].kind == "int" else value

    def generation(self, prepared: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
        """The metric and the longest answer in tokens, of a task that generates."""
        golds = [gold for row in prepared for gold in row["golds"]]
        if not golds:
            raise UserError(f"--answer {self._request.answer}: no row has a right answer")
        short = statistics.median(map(len, golds)) <= _SHORT_ANSWER and not any("\n" in gold.strip() for gold in golds)
        metric = self._request.metric or ("exact_match" if short else "rougeL")
        # A token of Italian is two to four characters; half as much again is room enough.
        needed = max(32, -(-max(map(len, golds)) // 2 // 16) * 16)
        return metric, self._request.max_gen_toks or needed


def _shown(values: Sequence[Any] | None) -> str:
    return "more than can be listed" if not values else ", ".join(map(str, values))

"""Where the answers come from: flags, a person at a terminal, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lm_eval_ita.errors import UserError

__all__ = ["Asker"]


@dataclass(frozen=True)
class Asker:
    """Asks for what no flag says.

    Attributes:
        read: Shows a question and gives the line that was typed; None where nobody is there to be asked.
        show: Shows a text to whoever is asked.
    """

    read: Callable[[str], str] | None = None
    show: Callable[[str], object] = print

    def tell(self, text: str) -> None:
        """Show what helps to answer; nothing where nobody is asked."""
        if self.read is not None:
            self.show(text)

    def needed(
        self,
        flag: str,
        question: str,
        given: str | None,
        proposal: str | None,
        among: Sequence[str] | None = None,
        *,
        listed: bool = True,
    ) -> str:
        """What a task cannot do without: the flag's value, else the answer, asked for again until it is one.

        Args:
            flag: For the message where nobody can be asked.
            question: What to ask.
            given: The flag's value, which is not checked.
            proposal: What an empty line means.
            among: What there is to choose from, one or several with commas; any text where None.
            listed: Whether a question lists these, or whoever answers has seen them.

        Raises:
            UserError: No flag, and nobody to ask; or the input ends.
        """
        if given is not None:
            return given
        if self.read is None:
            offer = "" if not among else f" There are {', '.join(among)}"
            likely = "" if proposal is None else f"; {proposal} looks right"
            raise UserError(f"{flag} is missing: {question}{offer}{likely}")
        asked = f"{question} ({', '.join(among)})" if among and listed else question
        while True:
            answer = self._answer(asked, proposal)
            strange = [part for part in answer.split(",") if among and part.strip() not in among]
            if answer and not strange:
                return answer
            if answer:
                self.show(f"There is no {strange[0].strip()!r}; there are {', '.join(among or ())}.")

    def optional(self, question: str, given: str | None, default: str) -> str:
        """What has a default: the flag's value, else the answer, else the default."""
        if given is not None:
            return given
        return default if self.read is None else self._answer(question, default)

    def agreed(self, question: str, given: bool | None) -> bool:
        """A permission: the flag, else the answer, else no."""
        if given is not None or self.read is None:
            return bool(given)
        return self._answer(f"{question} (y/n)", "n").lower() in ("y", "yes", "s", "sì", "si")

    def _answer(self, question: str, proposal: str | None) -> str:
        assert self.read is not None
        try:
            typed = self.read(f"{question}{'' if proposal is None else f' [{proposal}]'}: ").strip()
        except EOFError as error:
            raise UserError("the input ended before all was answered; nothing was written") from error
        return typed or (proposal or "")

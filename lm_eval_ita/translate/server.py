"""Translation by a server with OpenAI's chat protocol: several requests at a time, and patience where it fails."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import requests

from lm_eval_ita.errors import UserError
from lm_eval_ita.translate.prompts import chosen_prompt, message
from lm_eval_ita.translate.translators import Options, Output, clean

__all__ = ["ServerTranslator", "StoppedError"]

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0  # seconds between two tries, doubled each time
_PASSING = (408, 409, 425, 429)  # besides all of 500 and more


class StoppedError(Exception):
    """The translation stopped halfway, for a reason that may pass; the same command goes on."""


class ServerTranslator:
    """A model behind a server."""

    def __init__(self, options: Options) -> None:
        if not options.base_url:
            raise UserError("--backend openai needs --base-url, such as http://localhost:8000/v1")
        if options.prompt == "fewshot":
            raise UserError("--prompt fewshot: a chat server takes messages; use tower or instruct")
        self._options = options
        self._url = options.base_url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self._prompt = chosen_prompt(options.model, options.prompt, chat=True)
        kept = ("model", "backend", "source", "target", "max_new_tokens", "temperature")
        self.settings = {name: getattr(options, name) for name in kept} | {"prompt": self._prompt}

    def translate(self, sentences: Sequence[str]) -> list[Output]:
        """As `Translator.translate`.

        Raises:
            StoppedError: The server failed for as long as the patience lasts.
            UserError: It refuses the request.
        """
        with ThreadPoolExecutor(self._options.concurrency) as pool:
            return list(pool.map(self._one, sentences))

    def _one(self, sentence: str) -> Output:
        failing_since, wait = time.monotonic(), _FIRST_WAIT
        while True:
            try:
                return self._asked(sentence)
            except _PassingError as error:
                gone = time.monotonic() - failing_since
                if gone + wait > self._options.patience:
                    raise StoppedError(f"{self._url}: {error}, for {gone:.0f} seconds") from error
                time.sleep(max(wait, error.wait))
                wait = min(2 * wait, _LONGEST_WAIT)

    def _asked(self, sentence: str) -> Output:
        options = self._options
        content = message(self._prompt, sentence, options.source, options.target)
        body: dict[str, Any] = {
            "model": options.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": options.temperature,
            "max_tokens": max(options.max_new_tokens, len(sentence)),  # a token is more than a character
            "seed": options.seed,
        }
        key = os.environ.get("OPENAI_API_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            answer = requests.post(self._url, json=body, headers=headers, timeout=options.timeout)
        except (
            requests.exceptions.InvalidURL,
            requests.exceptions.MissingSchema,
            requests.exceptions.InvalidSchema,
        ) as error:
            raise UserError(f"--base-url {options.base_url}: {error}") from error
        except requests.RequestException as error:
            raise _PassingError(f"no answer ({type(error).__name__})") from error
        if answer.status_code >= 500 or answer.status_code in _PASSING:
            raise _PassingError(f"status {answer.status_code}", _seconds(answer.headers.get("Retry-After")))
        if answer.status_code != 200:
            text = " ".join(answer.text.split())[:200]
            raise UserError(f"{self._url} refuses the request: status {answer.status_code}: {text}")
        return self._read(answer)

    def _read(self, answer: requests.Response) -> Output:
        try:
            choice: Any = answer.json()["choices"][0]
            text = choice["message"]["content"] or ""
            return Output(clean(text, self._prompt), choice.get("finish_reason") != "length")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise _PassingError("an answer that is none of the protocol") from error


class _PassingError(Exception):
    """Something that may be over at the next try, with the seconds that the server asks to wait."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


def _seconds(text: str | None) -> float:
    try:
        return min(float(text or 0), _LONGEST_WAIT)
    except ValueError:  # a date
        return 0.0

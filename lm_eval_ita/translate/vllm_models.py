"""Translation by vLLM: the same prompts and settings; it forms batches itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lm_eval_ita.errors import UserError, one_line
from lm_eval_ita.translate.prompts import few_shot, message
from lm_eval_ita.translate.translators import (
    TOP_P,
    Options,
    Output,
    base_settings,
    chat_or_examples,
    clean,
    limit_of,
)

__all__ = ["VllmTranslator"]


class VllmTranslator:
    """A decoder served by vLLM in this process."""

    def __init__(self, options: Options) -> None:
        import vllm

        self._options = options
        more: dict[str, Any] = {} if options.dtype == "auto" else {"dtype": options.dtype}
        try:
            self._model = vllm.LLM(model=options.model, seed=options.seed, **more)
        except (OSError, ValueError) as error:
            raise UserError(f"--model {options.model} cannot be loaded by vLLM: {one_line(error)}") from error
        self._tokenizer = self._model.get_tokenizer()
        self._prompt = chat_or_examples(options, self._tokenizer)
        self.settings = base_settings(options, prompt=self._prompt, dtype=str(self._model.model_config.dtype))

    def translate(self, sentences: Sequence[str]) -> list[Output]:
        """As `Translator.translate`."""
        import vllm

        options = self._options
        stop = ["\n"] if self._prompt == "fewshot" else None
        way: dict[str, Any] = {"temperature": options.temperature, "seed": options.seed, "stop": stop}
        if options.temperature > 0:
            way["top_p"] = TOP_P
        counts = [len(self._tokenizer(sentence)["input_ids"]) for sentence in sentences]
        settings = [vllm.SamplingParams(max_tokens=limit_of(options, count), **way) for count in counts]
        if self._prompt == "fewshot":
            prompts = [few_shot(sentence, options.source, options.target) for sentence in sentences]
            made = self._model.generate(prompts, settings, use_tqdm=False)
        else:
            asked = [message(self._prompt, sentence, options.source, options.target) for sentence in sentences]
            chats: Any = [[{"role": "user", "content": text}] for text in asked]
            made = self._model.chat(chats, settings, use_tqdm=False)
        outputs = [result.outputs[0] for result in made]
        return [Output(clean(out.text, self._prompt), out.finish_reason == "stop") for out in outputs]

"""What translates sentences: models of transformers here, of vLLM and of servers in their own modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lm_eval_ita._quiet import quiet_transformers
from lm_eval_ita.errors import UserError, one_line
from lm_eval_ita.translate.prompts import Codes, Prompt, chosen_prompt, few_shot, language_codes, message

__all__ = [
    "TOP_P",
    "Options",
    "Output",
    "Translator",
    "base_settings",
    "chat_or_examples",
    "clean",
    "limit_of",
    "make_translator",
]

# Of the likeliest tokens from which a translation is drawn where it is sampled.
TOP_P = 0.9


@dataclass(frozen=True)
class Options:
    """How sentences are translated.

    Attributes:
        model: Hub id, folder, or a server's name for it.
        backend: "hf", "vllm" or "openai".
        prompt: "tower", "instruct" or "fewshot"; None for the one that fits the model.
        source, target: Languages, "en" and "it".
        max_new_tokens: The most tokens of a translation; longer sentences get twice their own tokens.
        beams: Of the search; 1 is greedy. Only sequence-to-sequence models.
        temperature, seed: 0 is greedy; `--fix` samples.
        dtype, device: Of a model of transformers; "auto" and None leave them to it.
        base_url: Of a server.
        concurrency: Requests to a server at a time.
        patience: Seconds for which a server may fail before the run stops.
        timeout: Seconds that a server may take for one answer.
    """

    model: str
    backend: str = "hf"
    prompt: str | None = None
    source: str = "en"
    target: str = "it"
    max_new_tokens: int = 256
    beams: int = 1
    temperature: float = 0.0
    seed: int = 0
    dtype: str = "auto"
    device: str | None = None
    base_url: str | None = None
    concurrency: int = 8
    patience: float = 1800.0
    timeout: float = 120.0


@dataclass(frozen=True)
class Output:
    """A translation, and whether the model ended it itself."""

    text: str
    finished: bool = True


class Translator(Protocol):
    """Something that translates."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What its results depend on, for the output and for a run that goes on."""
        ...

    def translate(self, sentences: Sequence[str]) -> list[Output]:
        """One output for each sentence, in order."""
        ...


def clean(text: str, prompt: Prompt | None) -> str:
    """A model's answer without what is around the translation."""
    text = text.strip()
    if prompt == "fewshot":
        text = text.split("\n", 1)[0].strip()
    return text


def make_translator(options: Options) -> Translator:
    """Load a model, or look whether a server is there.

    Raises:
        UserError: It cannot be had.
    """
    try:
        if options.backend == "openai":
            from lm_eval_ita.translate.server import ServerTranslator

            return ServerTranslator(options)
        if options.backend == "vllm":
            from lm_eval_ita.translate.vllm_models import VllmTranslator

            return VllmTranslator(options)
        return _local(options)
    except ModuleNotFoundError as error:
        extra = "vllm" if options.backend == "vllm" else "translate"
        raise UserError(f"needs the package '{error.name}'; install it: pip install 'lm-eval-ita[{extra}]'") from error


def _local(options: Options) -> Translator:
    from transformers import AutoConfig

    try:
        with quiet_transformers():
            config = AutoConfig.from_pretrained(options.model)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"--model {options.model} cannot be loaded: {one_line(error)}") from error
    return SequenceTranslator(options) if config.is_encoder_decoder else CausalTranslator(options)


def _loaded(options: Options, kind: str) -> tuple[Any, Any]:
    """A model, and its tokenizer padding on the side that its kind needs."""
    import transformers

    side = {"padding_side": "left"} if kind == "AutoModelForCausalLM" else {}
    try:
        with quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(options.model, **side)
            model = getattr(transformers, kind).from_pretrained(options.model, dtype=options.dtype)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise UserError(f"--model {options.model} cannot be loaded: {one_line(error)}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model.to(_device(options.device)).eval(), tokenizer


def _device(asked: str | None) -> str:
    import torch

    return asked or ("cuda" if torch.cuda.is_available() else "cpu")


def _generated(model: Any, inputs: Mapping[str, Any], options: Options, limit: int, **more: Any) -> Any:
    import torch

    sampled = {"do_sample": True, "temperature": options.temperature, "top_p": TOP_P}
    greedy = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    way = sampled if options.temperature > 0 else greedy
    length = {"max_new_tokens": limit, "max_length": None, "num_beams": options.beams}
    torch.manual_seed(options.seed)
    with torch.inference_mode(), quiet_transformers():
        return model.generate(**inputs, **length, **way, **more)


def limit_of(options: Options, tokens: int) -> int:
    """The most new tokens for a sentence. Documented are 256; a longer sentence would be cut off there."""
    return max(options.max_new_tokens, 2 * tokens + 16)


def _within(ids: Sequence[int], limit: int, ends: Sequence[int]) -> tuple[list[int], bool]:
    """An output up to its end or its own limit (its batch has that of the longest sentence), and whether it ended."""
    end = next((place for place, token in enumerate(ids) if token in ends), None)
    return (list(ids[:end]), True) if end is not None and end < limit else (list(ids[:limit]), len(ids) < limit)


def _ends(model: Any) -> list[int]:
    ends = model.generation_config.eos_token_id
    ends = model.config.eos_token_id if ends is None else ends
    return ends if isinstance(ends, list) else [ends]


def base_settings(options: Options, **more: Any) -> dict[str, Any]:
    """What results of every model depend on, and what its own kind adds."""
    kept = ("model", "backend", "source", "target", "max_new_tokens", "temperature")
    settings: dict[str, Any] = {name: getattr(options, name) for name in kept}
    if options.temperature > 0:
        settings["seed"] = options.seed
    return {**settings, **more}


def chat_or_examples(options: Options, tokenizer: Any) -> Prompt:
    """The prompt for a decoder.

    Raises:
        UserError: One was asked for that needs a chat template, and the model has none.
    """
    chat = tokenizer.chat_template is not None
    prompt = chosen_prompt(options.model, options.prompt, chat=chat)
    if prompt != "fewshot" and not chat:
        raise UserError(f"--prompt {prompt}: {options.model} has no chat template; use --prompt fewshot")
    return prompt


class CausalTranslator:
    """A decoder: through its chat template, or by four examples where it has none."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._model, self._tokenizer = _loaded(options, "AutoModelForCausalLM")
        self._prompt = chat_or_examples(options, self._tokenizer)
        self.settings = base_settings(options, prompt=self._prompt, dtype=str(self._model.dtype))

    def translate(self, sentences: Sequence[str]) -> list[Output]:
        """As `Translator.translate`."""
        texts = [self._asked(sentence) for sentence in sentences]
        # A template writes its own tokens of beginning; a plain prompt gets the tokenizer's.
        batch = self._tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=self._prompt == "fewshot")
        limits = [limit_of(self._options, len(self._tokenizer(sentence)["input_ids"])) for sentence in sentences]
        inputs = {key: value.to(self._model.device) for key, value in batch.items() if key != "token_type_ids"}
        begin = batch["input_ids"].shape[1]
        stop = {"stopping_criteria": [self._line_ends(begin)]} if self._prompt == "fewshot" else {}
        more = {"pad_token_id": self._tokenizer.pad_token_id, **stop}
        made = _generated(self._model, inputs, self._options, max(limits), **more)[:, begin:]
        outputs = []
        for ids, limit in zip(made.tolist(), limits, strict=True):
            kept, ended = _within(ids, limit, _ends(self._model))
            text = self._tokenizer.decode(kept, skip_special_tokens=True)
            stopped = self._prompt == "fewshot" and "\n" in text.lstrip()
            outputs.append(Output(clean(text, self._prompt), ended or stopped))
        return outputs

    def _line_ends(self, begin: int) -> Any:
        """Which rows of a batch have ended their line. transformers' own stop strings fail on some tokenizers."""
        import torch

        def ended(ids: Any, scores: Any, **_: Any) -> Any:
            texts = self._tokenizer.batch_decode(ids[:, begin:], skip_special_tokens=True)
            return torch.tensor(["\n" in text.lstrip() for text in texts], device=ids.device)

        return ended

    def _asked(self, sentence: str) -> str:
        source, target = self._options.source, self._options.target
        if self._prompt == "fewshot":
            return few_shot(sentence, source, target)
        asked = [{"role": "user", "content": message(self._prompt, sentence, source, target)}]
        return str(self._tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True))


class SequenceTranslator:
    """An encoder with a decoder: NLLB, Opus-MT (Marian), mBART, M2M-100, MADLAD."""

    def __init__(self, options: Options) -> None:
        if options.prompt is not None:
            raise UserError(f"--prompt: {options.model} is no language model that is asked; leave it out")
        self._options = options
        self._model, self._tokenizer = _loaded(options, "AutoModelForSeq2SeqLM")
        kind = self._model.config.model_type
        vocabulary = self._tokenizer.get_vocab()
        self._codes: Codes = language_codes(kind, vocabulary, options.source, options.target)
        if self._codes.source is not None:
            self._tokenizer.src_lang = self._codes.source
        self._forced = None if self._codes.forced is None else vocabulary[self._codes.forced]
        languages = {"codes": [self._codes.source, self._codes.forced or self._codes.prefix.strip()]}
        self.settings = base_settings(options, beams=options.beams, dtype=str(self._model.dtype), **languages)

    def translate(self, sentences: Sequence[str]) -> list[Output]:
        """As `Translator.translate`."""
        texts = [self._codes.prefix + sentence for sentence in sentences]
        positions = getattr(self._model.config, "max_position_embeddings", None)
        cut = {"truncation": positions is not None, "max_length": positions}
        batch = self._tokenizer(texts, return_tensors="pt", padding=True, **cut)
        most = float("inf") if positions is None else positions - 1
        limits = [int(min(limit_of(self._options, count), most)) for count in batch["attention_mask"].sum(1).tolist()]
        inputs = {key: value.to(self._model.device) for key, value in batch.items() if key != "token_type_ids"}
        forced = {} if self._forced is None else {"forced_bos_token_id": self._forced}
        made = _generated(self._model, inputs, self._options, max(limits), **forced)
        outputs = []
        for ids, limit in zip(made.tolist(), limits, strict=True):
            # The first token is the decoder's start, which is the end's in some models.
            kept, ended = _within(ids[1:], limit, _ends(self._model))
            outputs.append(Output(clean(self._tokenizer.decode(kept, skip_special_tokens=True), None), ended))
        return outputs

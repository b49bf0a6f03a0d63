"""A model with another tokenizer: its embeddings built anew, everything else untouched."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval_ita._quiet import quiet_transformers
from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.embeddings import Init, new_rows
from lm_eval_ita.tweety.folders import whole_folder
from lm_eval_ita.tweety.mapping import Sources
from lm_eval_ita.tweety.train_tokenizer import save_tokenizer

__all__ = ["convert", "load_model", "load_tokenizer", "swap"]

_ROLES = ("bos", "eos", "pad")
# Read wrongly by any class that sets its own rules for spaces, apostrophes, accents or digits.
_PROBE = " L'amico dell’uomo  è arrivato nel 2024:\n\tperché no?"


def load_tokenizer(name: str) -> Any:
    """A fast tokenizer of transformers.

    Raises:
        UserError: There is none under this name, or it is not of the `tokenizers` library.
    """
    from transformers import AutoTokenizer

    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"{name}: its tokenizer cannot be loaded: {_first_line(error)}") from error
    if not getattr(tokenizer, "is_fast", False):
        raise UserError(f"{name}: its tokenizer is not one of the `tokenizers` library (tokenizer.json)")
    return tokenizer


def load_model(name: str) -> Any:
    """A causal language model of transformers, in the type that it was saved in.

    Raises:
        UserError: There is none under this name.
    """
    from transformers import AutoModelForCausalLM

    try:
        with quiet_transformers():
            return AutoModelForCausalLM.from_pretrained(name, dtype="auto")
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"{name}: the model cannot be loaded: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def convert(
    name: str,
    tokenizer: Any,
    tokens: Sequence[Sources],
    out: Path,
    *,
    init: Init = "mapping",
    multiple: int = 1,
    seed: int = 0,
) -> None:
    """Convert a model and save it as an ordinary folder of transformers, whole or not at all.

    Needs memory for the model and its new embeddings: old ones stay in their file, where transformers maps them from.

    Args:
        name: The model.
        tokenizer: The new tokenizer.
        tokens: The sources of each of its tokens.
        out: The folder.
        init: As `embeddings.new_rows`.
        multiple: The number of rows is filled up to a multiple of this.
        seed: For `init="random"`.

    Raises:
        UserError: The model cannot be loaded or converted, `out` exists, or the disk is full.
    """
    with whole_folder(out) as folder:
        model = load_model(name)
        swap(model, load_tokenizer(name), tokenizer, tokens, init=init, multiple=multiple, seed=seed)
        with quiet_transformers():
            model.save_pretrained(folder)
        save_tokenizer(tokenizer, folder)
        _check_tokenizer(folder, tokenizer, name)


def _check_tokenizer(folder: Path, tokenizer: Any, name: str) -> None:
    """Some kinds of models have a tokenizer class of their own in transformers, which would be taken for ours."""
    if load_tokenizer(str(folder))(_PROBE)["input_ids"] != tokenizer(_PROBE)["input_ids"]:
        raise UserError(f"{name}: transformers reads the new tokenizer as another one beside a model of this kind")


def swap(
    model: Any,
    old_tokenizer: Any,
    tokenizer: Any,
    tokens: Sequence[Sources],
    *,
    init: Init = "mapping",
    multiple: int = 1,
    seed: int = 0,
) -> None:
    """Give a model in memory new embeddings, in its place. Arguments and errors as `convert`."""
    if multiple < 1:
        raise UserError(f"--pad-to-multiple {multiple}: it must be 1 or more")
    if len(tokens) != len(tokenizer):
        raise UserError(
            f"the mapping has {len(tokens)} tokens, and the new tokenizer {len(tokenizer)}: it is another's"
        )
    _check(model, len(old_tokenizer), tokens)
    size = -(-len(tokens) // multiple) * multiple
    tied = _is_tied(model)
    _replace(model.get_input_embeddings(), len(old_tokenizer), tokens, size, init, seed)
    head = model.get_output_embeddings()
    if tied:
        head.weight = model.get_input_embeddings().weight
        head.out_features = size
    else:
        _replace(head, len(old_tokenizer), tokens, size, init, seed + 1)
    if getattr(head, "bias", None) is not None:
        head.bias = _parameter(new_rows(head.bias.data[: len(old_tokenizer)], tokens, size, init, seed + 2), head.bias)
    text = model.config.get_text_config()
    text.vocab_size = model.config.vocab_size = size
    model.vocab_size = size
    for config in {
        id(part): part for part in (model.config, text, model.generation_config) if part is not None
    }.values():
        for role in _ROLES:
            setattr(config, f"{role}_token_id", getattr(tokenizer, f"{role}_token_id"))


def _is_tied(model: Any) -> bool:
    head = model.get_output_embeddings()
    return bool(head.weight.data_ptr() == model.get_input_embeddings().weight.data_ptr())


def _check(model: Any, old_size: int, tokens: Sequence[Sources]) -> None:
    """Refuse what cannot be converted, before anything is changed."""
    head, table = model.get_output_embeddings(), model.get_input_embeddings()
    if head is None:
        raise UserError(f"{model.config.name_or_path}: the model has no head that predicts tokens")
    rows = table.weight.shape[0]
    if rows < old_size:
        raise UserError(
            f"{model.config.name_or_path}: its tokenizer has {old_size} tokens and its embeddings only {rows} rows: "
            "they do not belong together"
        )
    most = max((token for sources in tokens for token in sources.tokens), default=0)
    if most >= old_size:
        raise UserError(f"the mapping names token {most} of the model, whose tokenizer has {old_size}: it is another's")
    known = {id(table.weight), id(head.weight), id(getattr(head, "bias", None))}
    for name, parameter in model.named_parameters():
        if rows in parameter.shape and id(parameter) not in known and rows not in _widths(model):
            raise UserError(
                f"{model.config.name_or_path}: {name} has a row for each token too; models with more such matrices "
                "than the embeddings and the head cannot be converted"
            )


def _widths(model: Any) -> set[int]:
    """Sizes that have nothing to do with the vocabulary, and may equal it in tiny models."""
    config = model.config.get_text_config()
    return {
        value for name in ("hidden_size", "intermediate_size") if isinstance(value := getattr(config, name, None), int)
    }


def _replace(module: Any, old_size: int, tokens: Sequence[Sources], size: int, init: Init, seed: int) -> None:
    """Put a new matrix in the place of a module's weight; the old one's memory is free after."""
    module.weight = _parameter(new_rows(module.weight.data[:old_size], tokens, size, init, seed), module.weight)
    for name in ("num_embeddings", "out_features"):
        if hasattr(module, name):
            setattr(module, name, size)
    if getattr(module, "padding_idx", None) is not None:
        module.padding_idx = None


def _parameter(values: Any, like: Any) -> Any:
    import torch

    return torch.nn.Parameter(values, requires_grad=like.requires_grad)

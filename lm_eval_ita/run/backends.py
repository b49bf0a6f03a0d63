"""Models by name: our own backends and the harness's."""

import difflib
from typing import Any

from lm_eval_ita._memory import is_out_of_memory
from lm_eval_ita._quiet import quiet_transformers
from lm_eval_ita.backend import register
from lm_eval_ita.errors import UserError, one_line
from lm_eval_ita.run.failures import RunFailedError
from lm_eval_ita.run.settings import Settings

__all__ = ["check_model_type", "default_batch_size", "install_hint", "load_model"]

# They schedule requests themselves, and are idle most of the time where they get one after another.
_SCHEDULERS = ("vllm", "vllm-vlm", "sglang", "sglang-generate")
# What our extras bring, by the module that is missed.
_EXTRAS = {"torch": "hf", "transformers": "hf", "accelerate": "hf", "vllm": "vllm", "aiohttp": "api", "tenacity": "api"}
# More than any block holds. Not "auto": vLLM then shows a bar for every block.
_ALL_AT_ONCE = "1000000"


def default_batch_size(model: str) -> str:
    """The batch size of a backend where the user names none: the harness's 1, but for those that form their own."""
    return "auto" if model in _SCHEDULERS else "1"


def check_model_type(name: str) -> None:
    """Register our own backends, and check that `--model` names a backend.

    Raises:
        UserError: It does not; the nearest names are offered.
    """
    from lm_eval.api.registry import model_registry

    register()
    if name not in model_registry:
        near = difflib.get_close_matches(name, list(model_registry.keys()), n=3, cutoff=0.5)
        raise UserError(f"there is no model type {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))


def install_hint(error: Exception) -> str:
    """What to install where an error says that a package of one of our extras is missing; else nothing."""
    extra = _EXTRAS.get(error.name or "") if isinstance(error, ModuleNotFoundError) else None
    return "" if extra is None else f'; install what it needs: pip install "lm-eval-ita[{extra}]"'


def load_model(settings: Settings) -> Any:
    """Load the model as the harness does.

    Raises:
        UserError: It cannot be loaded as asked for, or has no chat template to apply.
        RunFailedError: It does not fit into memory.
    """
    from lm_eval.api.registry import get_model

    schedules = settings.model in _SCHEDULERS
    options = {
        "batch_size": _ALL_AT_ONCE if schedules and settings.batch_size.startswith("auto") else settings.batch_size,
        "max_batch_size": settings.max_batch_size,
        "device": None if schedules else settings.device,  # they choose it, and warn
    }
    try:
        with quiet_transformers():
            lm = get_model(settings.model).create_from_arg_obj(settings.load_args, options)
    except UserError:
        raise
    except Exception as error:
        reason = one_line(error) or "no reason given"
        text = f"{settings.model_name} cannot be loaded ({type(error).__name__}): {reason}"
        if is_out_of_memory(error):
            raise RunFailedError(text) from error
        raise UserError(text + install_hint(error)) from error
    if settings.apply_chat_template and lm.chat_template(settings.apply_chat_template) is None:
        raise UserError(f"{settings.model_name} has no chat template; leave out --apply_chat_template")
    return lm

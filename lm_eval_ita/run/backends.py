"""Models by name: our own backends and the harness's."""

import difflib
import errno
from typing import Any

from lm_eval_ita._quiet import quiet_transformers
from lm_eval_ita.errors import UserError
from lm_eval_ita.run.failures import RunFailedError
from lm_eval_ita.run.settings import Settings

__all__ = ["check_model_type", "is_out_of_memory", "load_model"]

# Name to "module:Class" of our own backends, which the harness cannot find by itself.
_OWN: dict[str, str] = {}


def check_model_type(name: str) -> None:
    """Register our own backends, and check that `--model` names a backend.

    Raises:
        UserError: It does not; the nearest names are offered.
    """
    import lm_eval.models  # noqa: F401  # fills the registry
    from lm_eval.api.registry import model_registry

    for own, target in _OWN.items():
        if own not in model_registry:
            model_registry.register(own, target=target)
    if name not in model_registry:
        near = difflib.get_close_matches(name, list(model_registry.keys()), n=3, cutoff=0.5)
        raise UserError(f"there is no model type {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))


def load_model(settings: Settings) -> Any:
    """Load the model as the harness does.

    Raises:
        UserError: It cannot be loaded as asked for, or has no chat template to apply.
        RunFailedError: It does not fit into memory.
    """
    from lm_eval.api.registry import get_model

    options = {
        "batch_size": settings.batch_size,
        "max_batch_size": settings.max_batch_size,
        "device": settings.device,
    }
    try:
        with quiet_transformers():
            lm = get_model(settings.model).create_from_arg_obj(dict(settings.model_args), options)
    except UserError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or "no reason given"
        text = f"{settings.model_name} cannot be loaded ({type(error).__name__}): {reason}"
        if is_out_of_memory(error):
            raise RunFailedError(text) from error
        raise UserError(text) from error
    if settings.apply_chat_template and lm.chat_template(settings.apply_chat_template) is None:
        raise UserError(f"{settings.model_name} has no chat template; leave out --apply_chat_template")
    return lm


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that a GPU, or the machine, has too little memory."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)

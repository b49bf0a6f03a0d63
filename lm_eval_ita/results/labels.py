"""Names of models that tell them apart in a table."""

from collections.abc import Sequence

from lm_eval_ita.results.grid import displayed
from lm_eval_ita.results.records import ModelIdentity

__all__ = ["model_labels", "table_label"]

# What two rows of one name may differ in, in the order in which it is shown.
_TELLING = (
    "backend",
    "revision",
    "sha",
    "dtype",
    "quantisation",
    "adapter",
    "chat_template_sha",
    "system_instruction_sha",
)


def model_labels(models: Sequence[ModelIdentity]) -> list[str]:
    """The models' names, each with the settings that tell it from another model of that name."""
    namesakes: dict[str, list[ModelIdentity]] = {}
    for model in models:
        namesakes.setdefault(_last(model.name), []).append(model)
    telling = {name: _telling(group) for name, group in namesakes.items()}
    labels = []
    for model in models:
        short = _last(model.name)
        whole = len({other.name for other in namesakes[short]}) > 1
        settings = [_shown(model, setting) for setting in telling[short]]
        labels.append((model.name if whole else short) + (f" ({', '.join(settings)})" if settings else ""))
    return labels


def table_label(label: str, *, published: bool) -> str:
    """A model's name in a table, of bounded length; † marks printed figures."""
    return displayed(label, 40) + (" †" if published else "")


def _telling(group: Sequence[ModelIdentity]) -> list[str]:
    return [setting for setting in _TELLING if len({getattr(model, setting) for model in group}) > 1]


def _last(name: str) -> str:
    """A Hub id as it is; of a path the last folder."""
    is_path = name.startswith(("/", ".", "~")) or name.count("/") > 1
    return name.rstrip("/").rsplit("/", 1)[-1] or name if is_path else name


def _shown(model: ModelIdentity, setting: str) -> str:
    value = getattr(model, setting)
    if setting in ("chat_template_sha", "system_instruction_sha"):
        name = setting.removesuffix("_sha").replace("_", " ")
        return f"no {name}" if value is None else f"{name} {value[:6]}"
    return f"{setting} {value or 'unknown'}"

"""Functions that a file names: there, and of the shape in which the harness calls them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lm_eval_ita.authoring.calling import attempt
from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.near import did_you_mean
from lm_eval_ita.authoring.source import KeyPath, Reference, Source

__all__ = ["RULES", "Functions", "check", "resolve"]

FUNCTION = Rule("function", "Every `!function` can be imported and called.")
SIGNATURE = Rule(
    "signature", "Every function takes what the harness gives it; a loader also takes keywords it does not know."
)
RULES = (FUNCTION, SIGNATURE)

Functions = Mapping[KeyPath, Any]

# What the harness gives to the function of a key, by name. Keys of `fewshot_config` are those of the task.
_GIVEN = {
    "process_docs": ("the data set",),
    "process_results": ("a document", "the model's answers"),
    "doc_to_text": ("a document",),
    "doc_to_target": ("a document",),
    "doc_to_choice": ("a document",),
    "doc_to_image": ("a document",),
    "doc_to_audio": ("a document",),
    "doc_to_decontamination_query": ("a document",),
    "aggregation": ("the list of a metric's values",),
    "samples": (),
}


def resolve(source: Source) -> tuple[Functions, list[Finding]]:
    """The functions that a file names, and findings about those that cannot be had."""
    functions: dict[KeyPath, Any] = {}
    found: list[Finding] = []
    for where, reference in source.functions.items():
        outcome = attempt(_import, reference)
        if outcome.error is not None:
            found.append(
                source.finding(
                    FUNCTION, where, f"{reference.text} cannot be imported ({outcome.reason})", _mend(reference)
                )
            )
        elif not callable(outcome.value):
            what = f"{reference.text} is {type(outcome.value).__name__}, nothing that can be called"
            found.append(source.finding(FUNCTION, where, what, "name a function"))
        else:
            functions[where] = outcome.value
    return functions, found


def _import(reference: Reference) -> Any:
    # The harness's own: beside the file first, then anything that can be imported.
    from lm_eval.tasks._yaml_loader import _import_func_in_yml

    return _import_func_in_yml(reference.text, reference.folder)


def _mend(reference: Reference) -> str:
    """The nearest function of the module, where it is the name that is wrong."""
    module, _, name = reference.text.rpartition(".")
    beside = reference.folder / f"{module.replace('.', '/')}.py"
    otherwise = f"write MODULE.FUNCTION, of an installed package or of a .py file in {reference.folder}"
    if not module:
        return otherwise
    found = attempt(_module_of, reference) if beside.exists() else attempt(importlib.import_module, module)
    if found.error is not None:
        return otherwise
    functions = [known for known, value in vars(found.value).items() if callable(value) and not known.startswith("__")]
    return did_you_mean(name, functions, f"the module {module} has no such function: correct the name")


def _module_of(reference: Reference) -> Any:
    from lm_eval.tasks._yaml_loader import _load_module_with_cache

    module = reference.text.rpartition(".")[0]
    return _load_module_with_cache((reference.folder / f"{module.replace('.', '/')}.py").resolve())


def check(source: Source, functions: Functions) -> Iterator[Finding]:
    """Findings about the parameters of functions."""
    for where, function in functions.items():
        key = str(where[-1])
        name = source.functions[where].text
        if key == "sampler":
            yield from _sampler(source, where, function, name)
        elif key == "custom_dataset":
            yield from _loader(source, where, function, name)
        elif key in _GIVEN and (where[0] in ("metric_list", "fewshot_config") or len(where) == 1):
            given = _GIVEN[key]
            if not _takes(function, len(given)):
                what = f"{name}{_parameters(function)} cannot be called with {' and '.join(given) or 'nothing'}"
                yield source.finding(
                    SIGNATURE, where, what, f"it must take {len(given)} positional argument{'s' * (len(given) != 1)}"
                )


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a built-in without a signature
        return True
    return True


def _parameters(function: Callable[..., Any]) -> str:
    names = list(inspect.signature(function).parameters)
    return f"({', '.join(names)})"


def _sampler(source: Source, where: KeyPath, sampler: Any, name: str) -> Iterator[Finding]:
    from lm_eval.api.samplers import ContextSampler

    if not (isinstance(sampler, type) and issubclass(sampler, ContextSampler)):
        mend = "name a subclass of lm_eval.api.samplers.ContextSampler"
        yield source.finding(SIGNATURE, where, f"{name} is no sampler", mend)


def _loader(source: Source, where: KeyPath, loader: Callable[..., Any], name: str) -> Iterator[Finding]:
    parameters = inspect.signature(loader).parameters.values()
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        what = (
            f"{name} takes only its own keywords; the harness gives it the card, --metadata and the model's arguments"
        )
        yield source.finding(SIGNATURE, where, what, "add **_ to its parameters")
        return
    given = {**source.metadata, **(source.config.get("dataset_kwargs") or {}), "config_source": ""}
    outcome = attempt(inspect.signature(loader).bind, **{str(key): value for key, value in given.items()})
    if outcome.error is not None:
        mend = "write it in the card, or give the parameter a default"
        yield source.finding(SIGNATURE, where, f"{name} cannot be called: {outcome.error}", mend)

"""The suites' metrics as modules of Hugging Face's `evaluate`, for use outside the harness and without a network.

    import evaluate
    from lm_eval_ita.evaluate_modules import module_path

    evaluate.load(module_path("squad_it")).compute(predictions=["a Roma"], references=[["Roma", "a Roma"]])

Each is a folder with one file, as `evaluate.load` takes it. They call the functions that the harness tasks call.
"""

from pathlib import Path

from lm_eval_ita.errors import UserError

__all__ = ["MODULES", "module_path"]

MODULES = ("bias_score", "f1_macro_it", "honest_it", "neutral_rate", "squad_it")


def module_path(name: str) -> str:
    """The folder of a module, for `evaluate.load`.

    Raises:
        UserError: There is no module of that name.
    """
    if name not in MODULES:
        raise UserError(f"there is no evaluate module {name!r}; there are {', '.join(MODULES)}")
    return str(Path(__file__).parent / name)

"""Model types of our own for the harness, which has no plug-in point for them.

`lm-eval-ita run` registers them by itself. In Python:

    import lm_eval
    from lm_eval_ita.backend import register

    register()
    lm_eval.simple_evaluate(model="hf-packed", model_args={"pretrained": "MODEL"}, tasks=["itaeval_arc_challenge"])
"""

__all__ = ["MODELS", "register"]

# Name to "module:Class", as the harness's registry takes it.
MODELS = {"hf-packed": "lm_eval_ita.backend.packed:PackedLM"}


def register() -> None:
    """Tell the harness about our model types; again does nothing."""
    import lm_eval.models  # noqa: F401  # fills the registry
    from lm_eval.api.registry import model_registry

    for name, target in MODELS.items():
        if name not in model_registry:
            model_registry.register(name, target=target)

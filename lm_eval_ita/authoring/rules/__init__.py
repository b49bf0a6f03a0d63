"""The rules, a family a file."""

from lm_eval_ita.authoring import source
from lm_eval_ita.authoring.findings import Rule
from lm_eval_ita.authoring.rules import (
    build,
    card,
    choices,
    data,
    fewshot,
    functions,
    generation,
    groups,
    keys,
    metrics,
    names,
    prompts,
)

__all__ = ["ACCEPTABLE", "RULES"]

_FAMILIES = (source, keys, names, functions, card, data, fewshot, prompts, choices, generation, metrics, build, groups)
# In the order in which they are looked at.
RULES: dict[str, Rule] = {rule.name: rule for family in _FAMILIES for rule in family.RULES}
ACCEPTABLE = frozenset(rule.name for rule in RULES.values() if rule.acceptable)

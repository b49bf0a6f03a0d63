"""How text is generated: where it ends, and that it is the same each time."""

from __future__ import annotations

from collections.abc import Iterator

from lm_eval_ita.authoring.findings import Finding, Rule
from lm_eval_ita.authoring.source import Source

__all__ = ["RULES", "check"]

UNTIL = Rule("until", "A task that generates says what ends an answer.", acceptable=True)
MAX_GEN_TOKS = Rule("max-gen-toks", "A task that generates says how long an answer may be, in tokens.")
GREEDY = Rule(
    "greedy",
    "`do_sample: false` and `temperature: 0.0` stand together: one alone is greedy in some backends only.",
    level="warning",
)
MISPLACED = Rule("generation-kwargs", "Only a task that generates has `generation_kwargs`.", level="warning")
RULES = (UNTIL, MAX_GEN_TOKS, GREEDY, MISPLACED)

# Other names that backends know for max_gen_toks.
_LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")


def check(source: Source) -> Iterator[Finding]:
    """Findings about `generation_kwargs`."""
    given = source.config.get("generation_kwargs")
    where = ("generation_kwargs",)
    if source.config.get("output_type", "generate_until") != "generate_until":
        if given:
            yield source.finding(
                MISPLACED,
                where,
                "nothing is generated here",
                "take generation_kwargs out, or set output_type: generate_until",
            )
        return
    options = given if isinstance(given, dict) else {}
    until = options.get("until")
    ends = [until] if isinstance(until, str) else until
    if "until" not in options:
        mend = 'write until: ["\\n"], or what begins the next question'
        yield source.finding(
            UNTIL, where, "nothing says where an answer ends: the harness takes fewshot_delimiter", mend
        )
    elif not isinstance(ends, list) or not ends or not all(isinstance(end, str) and end for end in ends):
        yield source.finding(
            UNTIL, (*where, "until"), f"until is {until!r:.60}", "write a list of texts, none of them empty"
        )
    length = next((options[name] for name in _LENGTHS if name in options), None)
    if length is None:
        mend = "write max_gen_toks: N, a little more than the longest right answer"
        yield source.finding(
            MAX_GEN_TOKS, where, "nothing says how long an answer may be: each backend has its own default", mend
        )
    elif type(length) is not int or length < 1:
        name = next(name for name in _LENGTHS if name in options)
        yield source.finding(MAX_GEN_TOKS, (*where, name), f"{name} is {length!r:.60}", "write a whole number above 0")
    sampled = options.get("do_sample")
    temperature = options.get("temperature")
    if sampled is not True and not (sampled is False and temperature == 0):
        what = f"do_sample is {_shown(sampled)} and temperature {_shown(temperature)}"
        yield source.finding(GREEDY, where, what, "write do_sample: false and temperature: 0.0")


def _shown(value: object) -> str:
    return "not set" if value is None else str(value).lower()

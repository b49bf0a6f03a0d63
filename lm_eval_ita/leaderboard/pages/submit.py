"""Sending results, and the answer to it."""

from dataclasses import dataclass
from typing import Any

from lm_eval_ita.leaderboard.scene import Scene
from lm_eval_ita.results.submission import Problem

__all__ = ["Answer", "content"]

_RUN = "lm-eval-ita run --model hf --model_args pretrained=MODEL \\\n    --tasks itaeval,itapat --batch_size 16"
_TEMPLATE = "lm-eval-ita submit --template model.yaml"
_SUBMIT = "lm-eval-ita submit results/MODEL-HASH --info model.yaml --to submission.json"


@dataclass(frozen=True)
class Answer:
    """What became of an upload.

    Attributes:
        is_accepted: Whether it waits for approval now.
        title: In one sentence.
        problems: Why it was refused, field by field.
    """

    is_accepted: bool
    title: str
    problems: tuple[Problem, ...] = ()


def content(scene: Scene) -> dict[str, Any]:
    """What the template shows."""
    t = scene.t
    size = f"{t.number(scene.largest_upload / 1e6, 0)} MB"
    return {
        "steps": [
            (t["submit_step_1"], _RUN),
            (t["submit_step_2"], _TEMPLATE),
            (t["submit_step_3"], _SUBMIT),
            (t["submit_step_4"], ""),
        ],
        "rules": t["submit_rules"].format(size=size),
    }

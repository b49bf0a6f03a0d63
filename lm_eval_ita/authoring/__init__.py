"""Making tasks and checking them: `lm-eval-ita validate` and `lm-eval-ita new-task`."""

from lm_eval_ita.authoring.check import Checked, validate
from lm_eval_ita.authoring.findings import Finding, Rule

__all__ = ["Checked", "Finding", "Rule", "validate"]

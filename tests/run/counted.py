"""The harness's own model type under the name "counted": it also writes down every request that it is asked.

Environment variables: COUNT_FILE, the file; SLOW, seconds to wait before each block; FAIL_IN, a task in which it fails, and
FAIL_WITH=memory to fail by asking for more memory than there is.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lm_eval.evaluator  # imported once, in the server that all processes of these tests are forked from
import lm_eval.loggers.utils
import lm_eval.tasks  # noqa: F401
import torch
from lm_eval.api.registry import register_model
from lm_eval.models.huggingface import HFLM

import lm_eval_ita.cli.main
import lm_eval_ita.run.plan
import lm_eval_ita.run.runner
import lm_eval_ita.stats.bootstrap  # noqa: F401
from lm_eval_ita.run.answers import request_keys


@register_model("counted")
class Counted(HFLM):
    def _count(self, kind: str, requests: Sequence[Any]) -> None:
        with Path(os.environ["COUNT_FILE"]).open("a", encoding="utf-8") as file:
            file.write("".join(f"{key}\n" for key in request_keys(kind, requests)))
        time.sleep(float(os.environ.get("SLOW", "0")))
        if os.environ.get("FAIL_IN") == requests[0].task_name:
            if os.environ.get("FAIL_WITH") == "memory":
                torch.empty(10**15)
            raise ValueError("made to fail")

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> Any:
        self._count("loglikelihood", requests)
        return super().loglikelihood(requests, disable_tqdm)

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> Any:
        self._count("generate_until", requests)
        return super().generate_until(requests, disable_tqdm)

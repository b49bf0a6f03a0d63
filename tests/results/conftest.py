import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PAPERS


@pytest.fixture(scope="session")
def papers() -> list[dict[str, Any]]:
    """The printed rows of ItaP-AT."""
    rows: list[dict[str, Any]] = json.loads((PAPERS / "itapat_tables.json").read_text(encoding="utf-8"))
    return rows


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file of all of ItaEval and two subsets of ItaP-AT, with samples; scorers skipped."""
    from tests.results.runs import save, sometimes_right

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LM_EVAL_ITA_SCORERS", "skip")
        tasks = ["itaeval", "itapat_gender", "itapat_oneshot_gender_6", "itapat_oneshot_gender_7"]
        return save(tmp_path_factory.mktemp("runs"), sometimes_right, tasks)

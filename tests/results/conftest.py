import json
from typing import Any

import pytest

from tests.conftest import PAPERS


@pytest.fixture(scope="session")
def papers() -> list[dict[str, Any]]:
    """The printed rows of ItaP-AT."""
    rows: list[dict[str, Any]] = json.loads((PAPERS / "itapat_tables.json").read_text(encoding="utf-8"))
    return rows

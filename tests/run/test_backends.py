"""What a machine without a model library is told."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from lm_eval_ita.run.backends import _EXTRAS, install_hint

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.parametrize("module", sorted(_EXTRAS))
def test_a_missing_package_names_its_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module(module)
    extra = _EXTRAS[module]
    assert install_hint(caught.value) == f'; install what it needs: pip install "lm-eval-ita[{extra}]"'
    listed = re.search(rf"^{extra} = \[(.*)\]$", PROJECT.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed is not None, "there is no such extra"
    assert f'"{module}>=' in listed[1]


def test_other_errors_have_no_hint() -> None:
    assert install_hint(ValueError("transformers")) == ""
    assert install_hint(ModuleNotFoundError("no module", name="theirs")) == ""

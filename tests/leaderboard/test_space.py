"""The Space's files."""

import ast
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
SPACE = ROOT / "leaderboard"


def pins(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "==" in line and line[0] != "#"]
    return {line.split("==")[0].lower(): line.split("==")[1] for line in lines}


def test_the_card() -> None:
    _, front, text = (SPACE / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    card = yaml.safe_load(front)
    assert card["sdk"] == "gradio"
    assert (SPACE / card["app_file"]).is_file()
    assert card["sdk_version"] == pins(SPACE / "requirements.txt")["gradio"]
    assert len(card["short_description"]) <= 60, "the Hub takes no longer one"
    assert "LM_EVAL_ITA_STORE" in text
    assert "HF_TOKEN" in text


def test_the_pins_are_those_that_are_tested() -> None:
    tested = pins(ROOT / "constraints.txt")
    own = pins(SPACE / "requirements.txt")
    from lm_eval_ita import __version__

    assert own.pop("lm-eval-ita[leaderboard]") == __version__
    assert {name: tested[name] for name in own} == own


def test_the_app_is_small() -> None:
    tree = ast.parse((SPACE / "app.py").read_text(encoding="utf-8"))
    assert len(tree.body) <= 5

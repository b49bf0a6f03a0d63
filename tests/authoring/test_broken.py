"""Task files that are broken on purpose, one for each rule and kind of mistake: each gives its finding and no other.

The first lines of each file in `tests/data/broken_tasks` say what is expected: `# expects: RULE at line N`, with
`of FILE` where the mistake is in another one, and `# and: ...` for what cannot be wrong alone.
"""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from lm_eval_ita.authoring import validate
from lm_eval_ita.authoring.rules import RULES

FOLDER = Path(__file__).parents[1] / "data" / "broken_tasks"
FILES = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "catalogue.yaml")
_EXPECTED = re.compile(r"# (?:expects|and): (\S+) at line (\d+)(?: of (\S+))?")
Expected = tuple[str, int, str]


def expected(path: Path) -> list[Expected]:
    found: list[Expected] = []
    for line in path.read_bytes().decode("utf-8", "replace").splitlines():
        match = _EXPECTED.fullmatch(line)
        if match is None:
            break
        found.append((match[1], int(match[2]), match[3] or path.name))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_broken_task_gives_its_finding_and_no_other(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER.parents[2])  # one of them names its data from here, as a run started here would find them
    checked = validate([path])
    found = [(one.rule, one.line, os.path.relpath(one.file, FOLDER)) for one in checked.findings]
    assert sorted(found) == sorted(expected(path)), "\n".join(map(str, checked.findings))
    for one in checked.findings:
        assert "\n" not in str(one)
        assert one.level == RULES[one.rule].level
        assert one.what.strip() == one.what
        assert one.mend
        assert not re.search(r"0x[0-9a-f]{6}", one.what), "an address in memory says nothing"


def test_every_rule_has_a_broken_task() -> None:
    covered = Counter(rule for path in FILES for rule, _, _ in expected(path))
    assert set(covered) == set(RULES)
    assert len(FILES) >= 50


def test_the_published_habits_are_among_them() -> None:
    habits = {path.stem: expected(path)[0][0] for path in FILES if path.stem.startswith("published_")}
    assert habits == {
        "published_examples_from_test": "fewshot-split",
        "published_trailing_space": "trailing-space",
        "published_fullwidth_colon": "fullwidth",
        "published_macro_f1": "ignored-option",
        "published_function_for_one_row": "process-docs",
    }


def test_a_rule_that_is_accepted_with_a_reason_is_not_told(tmp_path: Path) -> None:
    text = (FOLDER / "published_fullwidth_colon.yaml").read_text(encoding="utf-8")
    base = (FOLDER / "_sound_yaml").read_text(encoding="utf-8")
    (tmp_path / "functions.py").write_text((FOLDER / "functions.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "_sound_yaml").write_text(base + "  accepts: {fullwidth: as published}\n", encoding="utf-8")
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    assert validate([tmp_path / "task.yaml"]).findings == ()
    (tmp_path / "_sound_yaml").write_text(base + "  accepts: {fullwidth: ''}\n", encoding="utf-8")
    rules = {one.rule for one in validate([tmp_path / "task.yaml"]).findings}
    assert "card" in rules, "a reason must be given"


def test_two_tasks_of_one_name(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.yaml").write_text("group: twice\ntask: [itaeval_xcopa]\n", encoding="utf-8")
    found = validate([tmp_path]).findings
    assert [(one.rule, one.file.name) for one in found] == [("name-taken", "first.yaml"), ("name-taken", "second.yaml")]

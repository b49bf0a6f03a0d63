"""The LaTeX files, compiled."""

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat.suite import load_tests
from lm_eval_ita.report.latex import write_latex
from lm_eval_ita.results.instruction_summary import instruction_grids
from lm_eval_ita.results.latex import PORTRAIT, latex
from lm_eval_ita.results.latex_text import breakable_latex
from lm_eval_ita.results.published import published, published_rows
from lm_eval_ita.results.reader import run_record
from lm_eval_ita.results.records import RunRecord
from lm_eval_ita.results.suite import SuiteTable, columns_of, suite_tables
from lm_eval_ita.results.summary import grids
from tests.results.files import content
from tests.results.test_suite import REFERENCES, entry

HOSTILE = [
    "<script>alert(1)</script>|*b*_",
    r"\input{/etc/passwd}\end{document}",
    "$x^2$ 100% #1 & {a}_b~c",
    "😀" * 60,
    "עברית العربية",
    "W" * 10_000,
    "[a] --trust ''x'' ``y``\x1b[31m",
    "*star/with-a-very-long_name.and:parts/that-goes/on",
]
# In points: what nobody sees.
TOLERANCE = 1.0


def figures(rng: random.Random) -> dict[str, Any]:
    shares = [rng.random() for _ in range(4)]
    rates = [share / sum(shares) for share in shares]
    names = [f"prob_{outcome}" for outcome in ("attribute_1", "attribute_2", "neutral", "error")]
    reading = rng.choice(["unable", "neutral", "biased"])
    interval = {"bias_score_ci_low": -0.5, "bias_score_ci_high": 0.5}
    return {
        "bias_score": rng.uniform(-1, 1),
        **interval,
        "p_value": 0.2 * rng.random(),
        **dict(zip(names, rates, strict=True)),
        "reading": reading,
    }


def run(model: str, seed: int) -> RunRecord:
    """Figures for all tasks, some of them not comparable."""
    rng = random.Random(seed)
    texts = {test.name: [instruction.text for instruction in test.instructions] for test in load_tests()}
    tasks = {}
    for name, reference in REFERENCES.items():
        if reference.suite == "itapat":
            whole = figures(rng)
            parts = texts[name.removeprefix("itapat_").removeprefix("oneshot_")]
            given: dict[str, Any] = {f"{key},none": value for key, value in whole.items()}
            given["instructions,none"] = {
                str(number): {"instruction": text, **figures(rng)} for number, text in enumerate(parts, start=1)
            }
            tasks[name] = entry(name, whole["bias_score"], title="nomi femminili / nomi maschili", figures=given)
        elif reference.suite == "itaeval":
            tasks[name] = entry(name, rng.random(), **({"version": 0.9} if rng.random() < 0.2 else {}))
    return run_record(content(tasks, model), Path("r.json"))


def tables(names: list[str], published: bool = False) -> tuple[SuiteTable, ...]:
    columns = {suite: columns_of(suite, REFERENCES) for suite in ("itaeval", "itapat")}
    rows = published_rows(columns) if published else {}  # type: ignore[arg-type]
    return suite_tables([run(name, seed) for seed, name in enumerate(names)], REFERENCES, rows)


def compiled(document: Path) -> str:
    """The log of pdflatex, its lines not broken; fails where it fails."""
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex (Debian: texlive-latex-base, texlive-latex-recommended)")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", document.name],
        cwd=document.parent, capture_output=True, check=False, env={"PATH": f"{Path(shutil.which('pdflatex') or '').parent}:/usr/bin:/bin", "HOME": str(document.parent), "max_print_line": "10000"},
    )  # fmt: skip
    log = document.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    return log


def assert_clean(log: str) -> None:
    too_wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert not [points for points in too_wide if points > TOLERANCE], log
    assert "Missing character" not in log
    assert not re.findall(r"^.*(?:Float too large|Too many unprocessed).*$", log, re.MULTILINE)


@pytest.mark.parametrize(
    ("names", "published", "files"),
    [
        (["org/model"], False, 2 + 8),
        (HOSTILE[5:6], False, 2 + 8),
        (HOSTILE[:3], False, 1 + 8 + 8),
        (HOSTILE[3:6], False, 1 + 8 + 8),
        ([*HOSTILE, *(f"organisation-{i}/Some-Model-{i}-7B-Instruct" for i in range(9))], True, 4 + 8 + 8),
    ],
    ids=["one", "one-hostile", "three-hostile", "three-wide", "seventeen-and-published"],
)
def test_the_document_compiles_and_fits(tmp_path: Path, names: list[str], published: bool, files: int) -> None:
    written = write_latex(tables(names, published), tmp_path)
    assert len(written) == files + 1
    assert written[-1].name == "all.tex"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in written)
    for path in written[:-1]:
        assert rf"\input{{{path.stem}}}" in written[-1].read_text(encoding="utf-8")
        assert not path.read_text(encoding="utf-8").startswith("% wider")
    log = compiled(tmp_path / "all.tex")
    # A longtable's columns find their widths in a second run.
    log = compiled(tmp_path / "all.tex")
    assert_clean(log)
    assert "passwd)" not in log  # no file of that name was read


@pytest.mark.parametrize("count", [1, 3, 8])
def test_fragments_fit_an_upright_page(tmp_path: Path, count: int) -> None:
    made = [grid for table in tables(HOSTILE[:count]) for grid in grids(table)]
    fragments = [latex(grid) for grid in made]
    fitting = [text for text in fragments if not text.startswith("% wider")]
    # Too wide are all figures of ItaP-AT, and ten tests beside each other.
    assert len(fragments) - len(fitting) == (1 if count == 1 else 2)
    document = tmp_path / "upright.tex"
    packages = r"\usepackage[utf8]{inputenc}\usepackage{booktabs,longtable}"
    page = rf"\usepackage[a4paper,textwidth={PORTRAIT.width}pt,textheight={PORTRAIT.height}pt]{{geometry}}"
    body = "\n\\clearpage\n".join(fitting)
    document.write_text(
        rf"\documentclass[10pt]{{article}}{packages}{page}\begin{{document}}{body}\end{{document}}", encoding="utf-8"
    )
    compiled(document)
    assert_clean(compiled(document))


def test_every_character_can_be_set(tmp_path: Path) -> None:
    points = [*range(0x3000), 0xFFFD, 0x1F600, 0x10FFFF]
    body = "\n\n".join(breakable_latex("".join(map(chr, points[i : i + 100]))) for i in range(0, len(points), 100))
    for name, fonts in (("standard", ""), ("t1", r"\usepackage[T1]{fontenc}")):
        document = tmp_path / f"{name}.tex"
        head = rf"\documentclass{{article}}\usepackage[utf8]{{inputenc}}{fonts}\begin{{document}}\raggedright"
        document.write_text(f"{head}\n{body}\n\\end{{document}}", encoding="utf-8")
        assert "Missing character" not in compiled(document)


def test_figures_by_instruction() -> None:
    (table,) = [table for table in tables(["m", "n"]) if table.suite == "itapat"]
    made = {grid.name: grid for grid in instruction_grids(table)}
    assert list(made) == [
        f"itapat_{oneshot}{subset}_instructions"
        for oneshot in ("", "oneshot_")
        for subset in ("base", "race", "gender", "age")
    ]
    grid = made["itapat_age_instructions"]
    assert [row[:3] for row in grid.rows[:6]] == [
        *(("10", "m", instruction.text) for instruction in load_tests()[-1].instructions),
        ("10", "m", "All five"),
    ]
    assert [row[1] for row in grid.rows] == ["m"] * 6 + ["n"] * 6
    assert grid.rules == (6,)
    record = run("m", 0).tasks["itapat_age_10"]
    second = record.breakdowns.instructions["2"]
    p_value, score = second["p_value"], second["bias_score"]
    assert isinstance(p_value, float)
    shown = f"{score:+.2f}{'**' if p_value < 0.05 else '*' if p_value < 0.1 else ''}"
    assert grid.rows[1][3] == (f"({shown})" if second["reading"] == "unable" else shown)
    assert grid.rows[1][4:] == tuple(
        f"{second[f'prob_{outcome}']:.2f}" for outcome in ("attribute_1", "attribute_2", "neutral", "error")
    )
    assert grid.rows[5][4] == f"{record.metrics['prob_attribute_1']:.2f}"


def test_one_model_stands_in_the_title_and_sample_data_is_said_aloud() -> None:
    data = entry("itapat_age_10", 0.5, data_dir="sample", figures={"instructions,none": {"1": {"instruction": "I"}}})
    record = run_record(content({"itapat_age_10": data}, "org/m"), Path("r.json"))
    (table,) = suite_tables([record], REFERENCES)
    (grid,) = instruction_grids(table)
    assert grid.title == "ItaP-AT, age, by instruction: org/m - SAMPLE DATA, NOT COMPARABLE"
    assert grid.header[:2] == ("Test", "Instruction")
    assert grid.rows[0] == ("10", "I", "n/a +", *["n/a"] * 4)


def test_printed_figures_stand_beside_them_marked() -> None:
    (table,) = [table for table in tables(["m"], published=True) if table.suite == "itapat"]
    made = {grid.name: grid for grid in instruction_grids(table)}
    grid = made["itapat_base_instructions"]
    assert {row[1] for row in grid.rows} == {"m", *(f"{model.name} †" for model in published()["itapat"].models)}
    # The first of the known anomalies: printed with one star where its counts give two.
    text = "Giudica se una parola trasmette un sentimento positivo o negativo"
    (row,) = [row for row in grid.rows if row[:3] == ("2", "LLaMA2-Chat †", text)]
    assert row[3:] == ("+0.42* ‡", "0.72", "0.26", "0.00", "0.02")
    assert any(note.startswith("‡ ") for note in grid.notes)
    assert any(note.startswith("† not comparable: printed in a paper") for note in grid.notes)
    # The paper prints nothing by instruction for one-shot prompts.
    assert {row[1] for row in made["itapat_oneshot_age_instructions"].rows} == {"m"}


def test_without_details_there_are_no_instructions(tmp_path: Path) -> None:
    data = content({"itapat_age_10": entry("itapat_age_10", 0.5, figures={"instructions,none": {"1": {}}})})
    (table,) = suite_tables([run_record(data, Path("r.json"), details=False)], REFERENCES)
    assert instruction_grids(table) == []
    assert [path.name for path in write_latex([table], tmp_path)] == ["itapat.tex", "all.tex"]


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to write"):
        write_latex([], tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a file where a folder should be")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match=r"file.*cannot be written"):
        write_latex(tables(["m"]), tmp_path / "file")

from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.results import collect
from tests.results.files import content, task, write

OLD, NEW = "results_2026-01-01T00-00-00.000001.json", "results_2026-01-02T00-00-00.000001.json"


def test_bad_files_are_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    write(tmp_path / "a", "{", OLD)
    write(tmp_path / "b", [1], OLD)
    good = write(tmp_path / "c", content({"itaeval_xcopa": task()}), OLD)
    found = collect([tmp_path, good])  # named twice, read once
    assert [run.source for run in found.runs] == [good]
    assert len(found.problems) == 2
    assert all("\n" not in line for line in found.problems)


def test_a_link_is_the_same_file_and_a_dangling_one_is_reported(tmp_path: Path) -> None:
    good = write(tmp_path / "a", content({"itaeval_xcopa": task()}), OLD)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / OLD).symlink_to(good)
    (tmp_path / "b" / NEW).symlink_to(tmp_path / "gone")
    found = collect([tmp_path])
    assert [run.source for run in found.runs] == [good]
    (line,) = found.problems
    assert line.startswith(f"{tmp_path / 'b' / NEW}: cannot be read: No such file")


def test_of_two_files_of_one_run_the_newer_wins(tmp_path: Path) -> None:
    new = write(tmp_path, content({"itaeval_xcopa": task(0.2)}, date=200.0), OLD)
    old = write(tmp_path, content({"itaeval_xcopa": task(0.1), "itaeval_squad_it": task(0.7)}, date=100.0), NEW)
    found = collect([tmp_path])
    assert [(run.source, list(run.tasks)) for run in found.runs] == [
        (old, ["itaeval_squad_it"]),
        (new, ["itaeval_xcopa"]),
    ]
    (left_out,) = found.superseded
    assert (left_out.task, left_out.source, left_out.by, left_out.why) == ("itaeval_xcopa", old, new, "newer")


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"sizes": {"effective": 10}}, "all documents"), ({"data_dir": "sample"}, "not sample data")],
)
def test_a_newer_trial_does_not_hide_a_full_run(tmp_path: Path, changes: dict[str, object], why: str) -> None:
    full = write(tmp_path, content({"itaeval_xcopa": task(0.1)}, date=100.0), OLD)
    write(tmp_path, content({"itaeval_xcopa": task(0.9, **changes)}, date=200.0), NEW)
    found = collect([tmp_path])
    assert [run.source for run in found.runs] == [full]
    assert [left.why for left in found.superseded] == [why]


def test_another_dtype_is_another_model(tmp_path: Path) -> None:
    write(tmp_path, content({"itaeval_xcopa": task()}), OLD)
    write(tmp_path, content({"itaeval_xcopa": task()}, config={"model_dtype": "torch.bfloat16"}), NEW)
    assert len(collect([tmp_path]).runs) == 2


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no results"):
        collect([tmp_path])
    with pytest.raises(UserError, match="no such file"):
        collect([tmp_path / "x"])

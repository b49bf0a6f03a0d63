"""A sweep's file: what it may say, and one line with the mend for everything else."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_ita.cli.main import main
from lm_eval_ita.errors import UserError
from lm_eval_ita.run.sweep import open_sweep
from lm_eval_ita.run.sweep_file import RunOptions, Slurm, read_sweep

GOOD = """\
models:
  - name: one
    model_args: {pretrained: /nowhere/one, dtype: bfloat16}
    batch_size: 16
    limit: 5
  - name: two
    model_args:
      pretrained: /nowhere/two
    apply_chat_template: true
    fewshot_as_multiturn: false
    slurm:
      gpus: 2
      time: 2-12:00:00
tasks:
  nlu: [itaeval_nlu]
  bias: itapat,itaeval_bfs
options:
  limit: 100
  system_instruction: "-- Rispondi."
  metadata: {data_dir: sample}
slurm:
  partition: gpu
  time: 1:30:00
  gpus: 1
  extra: {account: abc}
environment:
  OMP_NUM_THREADS: 4
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_sweep(tmp_path: Path) -> None:
    sweep = open_sweep(written(tmp_path, GOOD))
    assert [cell.name for cell in sweep.cells] == ["one/nlu", "one/bias", "two/nlu", "two/bias"]
    one, _, _, two = sweep.cells
    assert one.folder == tmp_path / "results" / "one" / "nlu"
    assert "--limit=5.0" in one.arguments, "a model's own option goes before the common one"
    assert "--limit=100.0" in two.arguments
    assert "--system_instruction=-- Rispondi." in two.arguments
    assert "--fewshot_as_multiturn=false" in two.arguments
    assert "--tasks=itapat,itaeval_bfs" in two.arguments
    assert (one.slurm.time, one.slurm.gpus, one.slurm.partition) == (90, 1, "gpu")
    assert (two.slurm.time, two.slurm.gpus, two.slurm.partition) == (3600, 2, "gpu")
    assert sweep.environment == {"OMP_NUM_THREADS": "4"}


def test_the_command_reads_the_arguments(tmp_path: Path) -> None:
    """Every option that the file knows is one of `lm-eval-ita run`."""
    import argparse

    from lm_eval_ita.cli import run

    parser = argparse.ArgumentParser()
    run.add_parser(parser.add_subparsers())
    everything: dict[str, Any] = {
        **{"model": "hf", "batch_size": "auto:4", "max_batch_size": 8, "device": "cpu", "trust_remote_code": True},
        **{"apply_chat_template": True, "fewshot_as_multiturn": True, "system_instruction": "sì", "num_fewshot": 2},
        **{"limit": 0.5, "gen_kwargs": {"a": 1}, "seed": "1,2,3,4", "metadata": {"b": "c d"}},
        **{"include_path": "x", "log_samples": False, "offline": True},
    }
    assert everything.keys() == RunOptions.model_fields.keys()
    (cell,) = open_sweep(
        written(tmp_path, yaml.safe_dump({
            "models": [{"name": "one", "model_args": {"pretrained": "/nowhere"}, **everything}], "tasks": {"a": "b"},
        }))
    ).cells  # fmt: skip
    options = parser.parse_args(cell.arguments)
    assert (options.seed, options.limit, options.log_samples) == ((1, 2, 3, 4), 0.5, False)
    assert (options.apply_chat_template, options.fewshot_as_multiturn) == (True, True)
    assert options.metadata == ['{"b": "c d"}']


def test_a_changed_cell_is_another(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    before = [cell.digest for cell in open_sweep(path).cells]
    assert before == [cell.digest for cell in open_sweep(path).cells]
    assert len(set(before)) == 4
    after = [cell.digest for cell in open_sweep(written(tmp_path, GOOD.replace("limit: 5", "limit: 6"))).cells]
    assert [first == second for first, second in zip(before, after, strict=True)] == [False, False, True, True]
    slower = [cell.digest for cell in open_sweep(written(tmp_path, GOOD.replace("1:30:00", "2:30:00"))).cells]
    assert slower == before, "what SLURM gives changes no figure"


def test_a_model_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "lm").mkdir()
    path = written(tmp_path, "models: [{name: one, model_args: {pretrained: lm}}]\ntasks: {a: b}\n")
    (cell,) = open_sweep(path).cells
    assert f'"pretrained": "{tmp_path}/lm"' in cell.arguments[1]
    digest = cell.digest
    (tmp_path / "lm" / "config.json").write_text("{}", encoding="utf-8")
    assert open_sweep(path).cells[0].digest != digest, "other files, another model"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("limit: 100", "rows: 100", 19, "options.rows: unknown field; there are apply_chat_template,"),
        ("gpus: 2", "gpu: 2", 13, "models.1.slurm.gpu: unknown field; there are array_parallelism, cpus,"),
        ("partition: gpu", "partitions: gpu", 23, "slurm.partitions: unknown field; there are array_parallelism"),
        ("gpus: 1", "gpus: -1", 25, "slurm.gpus: input should be greater than or equal to 0"),
        ("time: 1:30:00", "time: soon", 24, "slurm.time: write minutes (90), hours:minutes:seconds"),
        ("time: 2-12:00:00", "time: 0", 14, "models.1.slurm.time: input should be greater than or equal to 1"),
        ("name: two", "name: one", 6, "models.1.name: 'one' is taken"),
        ("name: two", "name: a/b", 6, "models.1.name: 'a/b' names a folder: letters"),
        ("name: two", "nome: two", 6, "models.1.name: is missing"),
        ("{pretrained: /nowhere/one, dtype: bfloat16}", "pretrained=one", 3, "model_args: write a mapping, as in {pre"),
        ("apply_chat_template: true", "limit: 3", 6, "models.1: fewshot_as_multiturn needs apply_chat_template"),
        ("batch_size: 16", "batch_size: many", 4, "models.0.batch_size: many is neither a number from 1, nor auto"),
        ("bias: itapat,itaeval_bfs", "bias: []", 17, "tasks.bias: value should have at least 1 item"),
        ("models:", "model:", 1, "models: is missing"),
        ("environment:", "environment: [", 27, "is no YAML"),
    ],
)  # fmt: skip
def test_one_line_says_the_mend(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    assert GOOD.count(old) == 1
    text = GOOD.replace("fewshot_as_multiturn: false", "fewshot_as_multiturn: true").replace(old, new)
    with pytest.raises(UserError) as raised:
        open_sweep(written(tmp_path, text))
    message = str(raised.value)
    assert said in message
    assert abs((raised.value.line or 0) - line) <= 1, message
    assert "\n" not in message


def test_options_that_do_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path, GOOD))
    for options in (("--json",), ("--status", "--dry-run"), ("--cancel", "--retry-failed")):
        assert main(["sweep", path, *options]) == 2
        assert "not go with" in (err := capsys.readouterr().err) or "goes with --status" in err


def test_what_is_no_sweep(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_sweep(tmp_path / "nowhere.yaml")
    for text in ("", "- 1", "seven"):
        with pytest.raises(UserError, match="holds no sweep"):
            read_sweep(written(tmp_path, text))


@given(days=st.integers(0, 9), hours=st.integers(0, 99), minutes=st.integers(0, 59), seconds=st.integers(0, 59))
def test_times(days: int, hours: int, minutes: int, seconds: int) -> None:
    whole = ((days * 24 + hours) * 60 + minutes) + (1 if seconds else 0)
    if whole:
        assert Slurm.model_validate({"time": f"{days}-{hours}:{minutes:02d}:{seconds:02d}"}).time == whole


@settings(deadline=None, max_examples=50)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["models", "tasks", "options", "slurm", "name", "model_args", "time", "limit"]) | st.text(max_size=3),
        inner, max_size=4,
    ),
))  # fmt: skip
def test_anything_else_is_refused_in_one_line(content: Any) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), yaml.safe_dump(content))
        try:
            read_sweep(path)
        except UserError as error:
            said = str(error)
        else:
            return  # by chance a sweep
    assert said.startswith(str(path))
    assert "\n" not in said

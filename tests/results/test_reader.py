import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.task_files import read_task_files
from lm_eval_ita.results import iter_samples, read_run
from lm_eval_ita.results.aliases import old_tasks
from lm_eval_ita.results.reader import run_record
from lm_eval_ita.results.records import RunRecord, TaskRecord, as_number
from tests.results.files import content, old_task, task, write

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "N/A", "0.5", "", [], [0.5], {}, True, 10**400])
def test_what_is_no_number_is_missing(value: object) -> None:
    assert as_number(value) is None


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"N/A"', "[0.9]", "null", '"0.9"', "true"])
def test_a_score_that_is_no_number_is_missing_in_a_file(tmp_path: Path, value: str) -> None:
    text = json.dumps(content({"itaeval_xcopa": task(0.123456)})).replace("0.123456", value)
    record = read_run(write(tmp_path, text)).tasks["itaeval_xcopa"]
    assert (record.score, record.primary_value, record.metrics["acc"]) == (None, None, None)


def test_a_whole_record(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    entry = task(0.536, sizes={"effective": 100}, figures={"invalid,none": 0.25, "empty,none": 0.0})
    entry["figures"]["baselines,none"] = {"chance": {"acc": 0.5}, "majority": {"acc": 0.55}}
    path = write(folder, content({"itaeval_xcopa": entry}, config={"limit": 100}, chat_template_sha="ab"))
    samples = folder / "samples_itaeval_xcopa_2026-01-01T00-00-00.000001.jsonl"
    samples.write_text('{"doc": {"a": "x\\u2028y"}}\n\n{"doc": {}}\n', encoding="utf-8")
    (folder / "samples_itaeval_xcopa_2025-01-01T00-00-00.000001.jsonl").write_text("{}", encoding="utf-8")
    run = read_run(path)
    assert run.model.name == "org/model"
    assert (run.model.backend, run.model.dtype, run.model.revision, run.model.sha) == ("hf", "float32", "main", None)
    assert run.model.chat_template_sha == "ab"
    assert run.software == {"lm_eval": "0.4.13", "transformers": "5.0", "torch": "2.13.0", "python": "3.11.7"}
    assert run.hardware.gpu == "GPU 0: NVIDIA A100\nGPU 1: NVIDIA A100"
    assert (run.hardware.device, run.hardware.cpu, run.hardware.platform) == ("cpu", "AMD EPYC", "Debian")
    assert run.run_seconds == 12.5
    assert run.date is not None
    assert run.date.isoformat() == "2023-11-14T22:13:20.500000+00:00"
    record = run.tasks["itaeval_xcopa"]
    assert (record.suite, record.category, record.layout) == ("itaeval", "cfk", "lm_eval_ita")
    assert (record.n_evaluated, record.n_total, record.limit, record.limited) == (100, 500, 100, True)
    assert (record.unparsable_rate, record.empty_rate) == (0.25, 0.0)
    assert (record.baseline("chance"), record.baseline("majority")) == (0.5, 0.55)
    assert record.stderrs == {"acc": None, "score": 0.01}
    assert (record.samples, record.shots, record.fewshot_seed, record.version) == (samples, 0, 1234, "1.0")
    assert [sample["doc"] for sample in iter_samples(samples)] == [{"a": "x\u2028y"}, {}]
    assert RunRecord.model_validate_json(run.model_dump_json()) == run


@pytest.mark.parametrize("value", [math.nan, math.inf, "0.5", "N/A", [0.5]])
def test_a_record_takes_no_other_number(value: object) -> None:
    with pytest.raises(ValidationError):
        TaskRecord.model_validate({"name": "t", "task": "t", "layout": "other", "score": value})


def test_an_environment_that_says_little(tmp_path: Path) -> None:
    run = read_run(
        write(
            tmp_path,
            content({"itaeval_xcopa": task()}, pretty_env_info="GPU models and configuration: Could not collect"),
        )
    )
    assert (run.hardware.gpu, run.hardware.cpu, run.software.get("torch")) == (None, None, None)


def test_without_details_the_figures_are_the_same(sample_run: Path) -> None:
    whole, bare = read_run(sample_run), read_run(sample_run, details=False)
    assert whole.tasks["itaeval_hatecheck"].breakdowns.functionality
    left_out = {"stderrs", "breakdowns", "truncated", "gen_kwargs", "task_hash", "samples"}
    for name, record in whole.tasks.items():
        empty = TaskRecord(name="t", task="t", layout="other").model_dump(include=left_out)
        assert bare.tasks[name].model_dump() == {**record.model_dump(), **empty}


def test_no_samples_is_no_error(tmp_path: Path) -> None:
    assert read_run(write(tmp_path, content({"itaeval_xcopa": task()}))).tasks["itaeval_xcopa"].samples is None


def test_samples_of_a_renamed_file(tmp_path: Path) -> None:
    path = write(tmp_path, content({"itaeval_xcopa": task(), "itaeval_xcopa_b": task()}), "results.json")
    one = tmp_path / "samples_itaeval_xcopa_2026-01-01T00-00-00.000001.jsonl"
    one.touch()
    (tmp_path / "samples_itaeval_xcopa_b_2026-01-01T00-00-00.000001.jsonl").touch()
    assert read_run(path).tasks["itaeval_xcopa"].samples == one
    (tmp_path / "samples_itaeval_xcopa_2026-01-02T00-00-00.000001.jsonl").touch()
    assert read_run(path).tasks["itaeval_xcopa"].samples is None  # two of them: there is no telling


def test_published_layout(tmp_path: Path) -> None:
    tasks = {
        "itacola": old_task(**{"acc,none": 0.8, "f1,none": 0.6, "mcc,none": 0.26, "mcc_stderr,none": "N/A"}),
        "sentipolc": old_task(**{"f1,none": 0.444, "f1_stderr,none": "N/A"}),
        "honest_ita": old_task(**{"acc,none": 1.0, "acc_stderr,none": 0.0}),
        "truthfulqa_mc1_ita": old_task(**{"acc,none": 0.3}),
        "hellaswag": old_task(**{"acc,none": 0.3}),
    }
    data = content(tasks, config={"model_args": "pretrained=org/old,dtype=bfloat16,load_in_4bit=True"})
    del data["lm_eval_version"], data["n-samples"], data["model_name"]
    run = read_run(write(tmp_path, data))
    assert run.model.name == "org/old"
    assert run.model.quantisation == "load_in_4bit=True"
    records = run.tasks
    assert records["itacola"].task == "itaeval_v1_itacola"
    assert (records["itacola"].suite, records["itacola"].score) == ("itaeval_v1", 0.26)
    assert records["sentipolc"].score == 0.444
    assert records["honest_ita"].defect is not None
    assert (records["truthfulqa_mc1_ita"].suite, records["hellaswag"].layout) == (None, "other")
    assert records["hellaswag"].score is None


def test_every_published_task_has_an_old_name() -> None:
    ours = {file.name for file in read_task_files() if file.card is not None and file.card.suite == "itaeval_v1"}
    assert {old.task for old in old_tasks().values() if old.task} == ours


GOOD = content({"itaeval_xcopa": task()})
REFUSED = {
    "cut off": (json.dumps(GOOD)[:-200], "not valid JSON"),
    "empty": ("", "not valid JSON"),
    "a huge integer": ('{"results": ' + "9" * 5000 + "}", "not valid JSON"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "a list": ([GOOD], "its top level is a list"),
    "a text": ('"results"', "its top level is a str"),
    "something else": ({"acc": 0.5}, "no 'results'"),
    "results are a list": ({**GOOD, "results": [{"acc,none": 1}]}, "no 'results'"),
    "figures are a number": ({**GOOD, "results": {"itaeval_xcopa": 0.5}}, "no 'results'"),
    "lm_eval 0.3": (
        {"results": {"xcopa_it": {"acc": 0.5, "acc_stderr": 0.01}}, "versions": {"xcopa_it": 0}, "config": {}},
        "before 0.4",
    ),
    "lm_eval 0.3, no versions": ({"results": {"xcopa_it": {"acc": 0.5, "acc_stderr": 0.01}}}, "before 0.4"),
    "no versions": ({key: value for key, value in GOOD.items() if key != "versions"}, "no 'versions'"),
    "no configs": ({key: value for key, value in GOOD.items() if key != "configs"}, "no 'configs'"),
    "lm_eval 0.5": ({**GOOD, "lm_eval_version": "0.5.0"}, "written by lm_eval 0.5.0"),
    "lighteval": ({"config_general": {}, "results": {"xcopa|0": {"acc": 0.5}}, "versions": {}}, "lighteval"),
    "no task": ({**GOOD, "results": {}}, "holds no task"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_foreign_layouts_are_refused_by_name(tmp_path: Path, case: str) -> None:
    data, expected = REFUSED[case]
    path = write(tmp_path, data)
    with pytest.raises(UserError, match=expected) as caught:
        read_run(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(UserError, match="UTF-8"):
        read_run(path)


def test_groups_are_no_tasks(tmp_path: Path) -> None:
    data = content({"itaeval_xcopa": task()})
    data["results"]["itaeval_cfk"] = {"score,none": 0.9, "alias": "itaeval_cfk"}
    assert list(read_run(write(tmp_path, data)).tasks) == ["itaeval_xcopa"]


def test_a_long_task_name_with_markup_is_read(tmp_path: Path) -> None:
    name = "<b>" + "x" * 10_000
    assert read_run(write(tmp_path, content({name: task()}))).tasks[name].score == 0.5


@pytest.mark.parametrize(
    ("line", "expected"), [('{"doc": {}', "cut off"), ("[1]", "no 'doc'"), ('{"a": 1}', "no 'doc'")]
)
def test_a_bad_line_of_samples_is_named(tmp_path: Path, line: str, expected: str) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text('{"doc": {}}\n' + line + "\n", encoding="utf-8")
    stream = iter_samples(path)
    assert next(stream) == {"doc": {}}
    with pytest.raises(UserError, match=rf":2: .*{expected}"):
        next(stream)


PARTS = ["results", "configs", "versions", "n-shot", "n-samples", "config", "date", "pretty_env_info", "task_hashes"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    part=st.sampled_from(PARTS), inner=st.sampled_from([None, "itaeval_xcopa", "metadata", "model_args"]), value=JSON
)
def test_any_part_may_be_anything(tmp_path: Path, part: str, inner: str | None, value: object) -> None:
    """A damaged part gives a record or one clear line, never another exception."""
    data = json.loads(json.dumps(GOOD))
    if inner is None or not isinstance(data.get(part), dict):
        data[part] = value
    elif inner == "metadata" and part == "configs":
        data["configs"]["itaeval_xcopa"]["metadata"] = value
    else:
        data[part][inner] = value
    lines: list[str] = []
    try:
        run = read_run(write(tmp_path, json.dumps(data)))
    except UserError as error:
        lines = str(error).split("\n")
    else:
        for record in run.tasks.values():
            assert record.score is None or math.isfinite(record.score)
    assert len(lines) <= 1


@settings(max_examples=200, deadline=None)
@given(
    figures=st.dictionaries(
        st.sampled_from(
            [
                "score,none",
                "acc,none",
                "reading,none",
                "outcome,none",
                "instructions,none",
                "honest_parts,none",
                "functionality,none",
                "bertscore_parts,none",
                "baselines,none",
                "invalid,none",
                "sample_len",
            ]
        ),
        JSON,
    )
)
def test_any_figure_may_be_anything(figures: dict[str, object]) -> None:
    record = run_record(content({"itaeval_xcopa": task(figures=figures)}), Path("results.json")).tasks["itaeval_xcopa"]
    score = figures.get("score,none", 0.5)
    assert record.score == as_number(score)

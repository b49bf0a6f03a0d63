import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lm_eval_ita.results.records import BOARD_SUITES
from lm_eval_ita.results.reference import references
from lm_eval_ita.results.submission import Checked, validate
from lm_eval_ita.results.submission_json import MAX_BYTES, MAX_DEPTH
from lm_eval_ita.results.submission_records import Documents, Submission, lean, submission_hash, upload_bytes, with_id
from tests.leaderboard.bad_uploads import BAD_UPLOADS, changed, documents, good, sealed
from tests.leaderboard.submissions import submission, task

GOOD = good()
RAW = json.dumps(GOOD).encode()

# On a busy machine making and trying examples takes longer than hypothesis expects.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=20,
)


def fields(checked: Checked) -> list[str]:
    return [problem.field for problem in checked.problems]


def refused(raw: bytes) -> Checked:
    checked = validate(raw)
    assert checked.submission is None
    assert checked.documents is None
    assert checked.problems
    for problem in checked.problems:
        line = str(problem)
        assert line.isprintable(), line
        assert problem.field
        assert problem.mend
        assert len(line) < 1000
    return checked


def test_every_task_of_the_leaderboards_suites_may_be_submitted() -> None:
    made = submission(tasks=tuple(name for name, own in references().items() if own.suite in BOARD_SUITES))
    raw = upload_bytes(made)
    checked = validate(raw)
    assert checked.problems == ()
    assert checked.submission == made
    assert len(raw) < MAX_BYTES / 10


def test_with_documents() -> None:
    checked = validate(RAW)
    assert checked.problems == ()
    assert checked.submission is not None
    assert checked.documents is not None
    assert set(checked.documents.tasks) == {"itaeval_xcopa", "itapat_gender_6"}
    again = validate(upload_bytes(checked.submission, checked.documents))
    assert (again.submission, again.documents) == (checked.submission, checked.documents)


def test_the_id_is_of_the_content_and_not_of_the_moment_or_the_spelling() -> None:
    made = submission()
    later = made.model_copy(update={"submitted": made.submitted.replace(year=2027)})
    assert submission_hash(later) == made.submission_id
    assert submission(score=0.25).submission_id != made.submission_id
    spelled = json.dumps(json.loads(upload_bytes(made)), indent=4, ensure_ascii=True).encode()
    assert validate(spelled).submission == made


def test_the_key_is_the_model_and_how_it_was_used() -> None:
    made = submission()
    assert submission(score=0.25, tasks=("itaeval_xcopa", "itaeval_honest")).key == made.key
    assert submission("org/other").key != made.key
    model = made.run.model.model_copy(update={"chat_template_sha": "0" * 64})
    assert made.model_copy(update={"run": made.run.model_copy(update={"model": model})}).key != made.key
    warm = task("itapat_gender_6").model_copy(update={"gen_kwargs": {"temperature": 0.7}})
    assert made.model_copy(update={"run": made.run.model_copy(update={"tasks": {warm.name: warm}})}).key != made.key
    assert lean(made).key == made.key


@pytest.mark.parametrize("name", BAD_UPLOADS)
def test_bad_uploads_name_the_field(name: str) -> None:
    raw, field = BAD_UPLOADS[name]()
    assert field in fields(refused(raw))


XCOPA, ITACOLA, HATE, NEWS, SQUAD, HONEST, GENDER = (
    f"run.tasks.{name}"
    for name in (
        "itaeval_xcopa",
        "itaeval_itacola",
        "itaeval_hatecheck",
        "itaeval_news_sum",
        "itaeval_squad_it",
        "itaeval_honest",
        "itapat_gender_6",
    )
)
# Field, another value, and the field that the refusal names where it is not the same one.
MUTATIONS: list[tuple[Any, ...]] = [
    ("schema_version", 2),
    ("schema_version", True),
    ("schema_version", "1"),
    ("submitted", "2026-01-02T03:04:05"),
    ("submitted", "2026-01-02T03:04:05+02:00"),
    ("submitted", "1970-01-01T00:00:00Z"),
    ("submitted", 1700000000),
    ("facts.display_name", ""),
    ("facts.display_name", " Modello"),
    ("facts.display_name", "M" * 81),
    ("facts.display_name", "/models/secret"),
    ("facts.display_name", "../x"),
    ("facts.display_name", "C:\\models"),
    ("facts.display_name", "e\u0301"),  # é as two characters
    ("facts.display_name", "e\u0323\u0323\u0323\u0323"),
    ("facts.display_name", "\u05d0\u05d1"),
    ("facts.display_name", "a\u00a0b"),
    ("facts.display_name", "\ud800"),
    ("facts.display_name", "&lt;b&gt;"),
    ("facts.display_name", "{{7*7}}"),
    ("facts.parameters", 7),
    ("facts.parameters", 10**15),
    ("facts.parameters", 7.5e9),
    ("facts.parameters", True),
    ("facts.parameters", 70_000_000_000),  # ten times what the harness counted
    ("facts.kind", "instruct"),
    ("facts.languages", []),
    ("facts.languages", ["it", "it"]),
    ("facts.languages", ["it", "Italian"], "facts.languages.1"),
    ("facts.licence", ""),
    ("facts.contamination", "c" * 1501),
    ("facts.contamination", "in /home/me/data"),
    ("facts.contamination", "see ftp://example.org"),
    ("facts.open_weights", "yes"),
    ("facts.link", "https://user:pass@example.org"),
    ("facts.link", "https://example"),
    ("facts.link", 'https://example.org/"onclick="x'),
    ("facts.link", "https://example.org/" + "a" * 300),
    ("facts.samples", "data:text/html,x"),
    ("run.schema_version", 2),
    ("run.source", "/home/me/results.json"),
    ("run.source", "results_2026.json"),
    ("run.model.name", "org/model/more"),
    ("run.model.name", "org/.."),
    ("run.model.backend", "hf; rm"),
    ("run.model.revision", "a/../../b"),
    ("run.model.sha", "main"),
    ("run.model.dtype", "float32 "),
    ("run.model.adapter", "/adapters/a"),
    ("run.model.chat_template_sha", "abc"),
    ("run.model.parameters", 0),
    ("run.software.lm_eval", "0.4.13 && id"),
    ("run.software.evil", "1.0"),
    ("run.software", {}, "run.software.lm_eval"),
    ("run.hardware.gpu", "G" * 301),
    ("run.date", "0001-01-01T00:00:00Z"),
    ("run.run_seconds", -1.0),
    ("run.batch_size", "b" * 41),
    ("run.tasks", {}),
    ("run.tasks.mmlu", GOOD["run"]["tasks"]["itaeval_xcopa"]),
    ("cost.wall_seconds", -1.0),
    ("cost.euros", 1.0),
    ("intervals.itaeval_xcopa", [0.6, 0.7]),
    ("intervals.itaeval_xcopa", [0.6, 0.4]),
    ("intervals.itaeval_xcopa", [-3.0, 3.0]),
    ("intervals.itaeval_xcopa", [0.4], "intervals.itaeval_xcopa.1"),
    ("intervals.itaeval_arc_challenge", [0.4, 0.6]),
    ("intervals.itapat_gender_6", [-1.0, 1.0]),
    (f"{XCOPA}.name", "itaeval_arc_challenge"),
    (f"{XCOPA}.task", "itaeval_arc_challenge"),
    (f"{XCOPA}.layout", "published"),
    (f"{XCOPA}.suite", "itapat"),
    (f"{XCOPA}.category", "nlu"),
    (f"{XCOPA}.title", "a / b"),
    (f"{XCOPA}.oneshot", True),
    (f"{XCOPA}.version", None),
    (f"{XCOPA}.version", "2.0"),
    (f"{XCOPA}.shots", 5),
    (f"{XCOPA}.shots", 0.0),
    (f"{XCOPA}.shots", None),
    (f"{XCOPA}.fewshot_seed", -1),
    (f"{XCOPA}.limit", 0.5),
    (f"{XCOPA}.limit", 500.0),
    (f"{XCOPA}.n_evaluated", 499),
    (f"{XCOPA}.n_evaluated", None),
    (f"{XCOPA}.n_total", 501),
    (f"{XCOPA}.data", "unknown"),
    (f"{XCOPA}.text_origin", "native"),
    (f"{XCOPA}.primary_metric", "acc_norm"),
    (f"{XCOPA}.primary_value", 0.75),
    (f"{XCOPA}.primary_value", None),
    (f"{XCOPA}.score", 0.75),
    (f"{XCOPA}.score", 2.0),
    (f"{XCOPA}.metrics.score", 0.75),
    (f"{XCOPA}.metrics.acc", 0.75, f"{XCOPA}.primary_value"),
    (f"{XCOPA}.metrics.acc", 1.5),
    (f"{XCOPA}.metrics.acc", -0.5),
    (f"{XCOPA}.metrics.acc", None),
    (f"{XCOPA}.metrics.acc_norm", 0.4321),  # no number of 500 documents
    (f"{XCOPA}.metrics.mcc", 0.5),
    (f"{XCOPA}.metrics.average", 0.5),
    (f"{XCOPA}.stderrs.acc", -0.1),
    (f"{XCOPA}.stderrs.rouge1", 0.1),
    (f"{XCOPA}.reading", "<i>", f"{XCOPA}.reading"),
    (f"{XCOPA}.chance_level", 0.25),
    (f"{XCOPA}.baselines.oracle", {"acc": 1.0}),
    (f"{XCOPA}.baselines.chance", {"acc": 2.0}),
    (f"{XCOPA}.unparsable_rate", 0.5),
    (f"{XCOPA}.empty_rate", 0.5),
    (f"{XCOPA}.truncated.clipped_texts", -1),
    (f"{XCOPA}.truncated.others", 1),
    (f"{XCOPA}.gen_kwargs", {"until": ["."]}, f"{XCOPA}.gen_kwargs.until"),
    (f"{XCOPA}.gen_kwargs", {"prompt": "x"}, f"{XCOPA}.gen_kwargs.prompt"),
    (f"{XCOPA}.options", {"itapat_lists": "mine"}),
    (f"{XCOPA}.deviations", ["none"]),
    (f"{XCOPA}.defect", "x"),
    (f"{XCOPA}.task_hash", "x"),
    (f"{XCOPA}.samples", "samples"),
    (f"{XCOPA}.breakdowns.outcome", {"read": 499}),
    (f"{XCOPA}.breakdowns.functionality", {"x": {"acc": 0.25, "n": 500}}),
    (f"{XCOPA}.breakdowns.functionality", {"x": {"acc": 0.25}}, f"{XCOPA}.breakdowns.functionality.x"),
    (f"{HONEST}.metrics.honest", 0.25, f"{HONEST}.primary_value"),
    (f"{HONEST}.breakdowns.honest_gender.male", 1.5, f"{HONEST}.breakdowns.honest_gender"),
    (f"{ITACOLA}.metrics.mcc", -1.5),
    (
        f"{ITACOLA}.breakdowns.phenomena.wh-islands_violations.n",
        30.5,
        f"{ITACOLA}.breakdowns.phenomena.wh-islands_violations",
    ),
    (
        f"{ITACOLA}.breakdowns.phenomena.wh-islands_violations.n",
        976,
        f"{ITACOLA}.breakdowns.phenomena.wh-islands_violations",
    ),
    (f"{HATE}.breakdowns.functionality.derog_neg_emote_h.acc", 0.25, f"{HATE}.breakdowns.functionality"),
    (f"{NEWS}.breakdowns.newspapers.ilpost.bertscore", 0.25, f"{NEWS}.breakdowns.newspapers"),
    (f"{NEWS}.breakdowns.newspapers.ilpost.raw_f1", 2.0, f"{NEWS}.breakdowns.newspapers.ilpost"),
    (f"{NEWS}.breakdowns.scorer.encoder", "my/encoder"),
    (f"{NEWS}.breakdowns.scorer.rescaled", False),
    (f"{SQUAD}.n_total", 7000),
    (f"{GENDER}.score", 0.5),
    (f"{GENDER}.reading", "neutral"),
    (f"{GENDER}.metrics.bias_score", 0.0, f"{GENDER}.primary_value"),
    (f"{GENDER}.metrics.abs_bias_score", 0.0),
    (f"{GENDER}.metrics.prob_error", 0.0, f"{GENDER}.unparsable_rate"),
    (f"{GENDER}.metrics.p_value", None),
    (f"{GENDER}.metrics.bias_score_ci_low", 1.0),
    (f"{GENDER}.breakdowns.outcome.error", 0, f"{GENDER}.breakdowns.outcome"),
    (f"{GENDER}.breakdowns.instructions.1.n", 15, f"{GENDER}.breakdowns.instructions"),
    (f"{GENDER}.breakdowns.instructions.1.bias_score", 0.9, f"{GENDER}.breakdowns.instructions"),
    (f"{GENDER}.breakdowns.instructions.1.rating", 1.0, f"{GENDER}.breakdowns.instructions.1"),
    (f"{GENDER}.breakdowns.instructions", {}),
    ("documents.tasks.itaeval_xcopa.values", [1.0] * 500),
    ("documents.tasks.itaeval_xcopa.values", [1.0, 0.0]),
    ("documents.tasks.itaeval_xcopa.values", [0.5] * 499 + [2.0]),
    ("documents.tasks.itaeval_xcopa.values.0", "1"),
    ("documents.tasks.itaeval_xcopa.golds", [1], "documents.tasks.itaeval_xcopa.values"),
    ("documents.tasks.itaeval_xcopa.documents_sha", "x"),
    ("documents.tasks.itaeval_honest", {"documents_sha": "0" * 64}, "documents.tasks.itaeval_honest.values"),
    (
        "documents.tasks.itaeval_itacola",
        {"documents_sha": "0" * 64, "values": [1.0]},
        "documents.tasks.itaeval_itacola.golds",
    ),
    ("documents.tasks.itaeval_belebele", {"documents_sha": "0" * 64, "values": [1.0]}),
    ("documents.tasks.itapat_gender_6.documents_sha", "0" * 64),
    ("documents.tasks.itapat_gender_6.values.0", 0.5, "documents.tasks.itapat_gender_6.values"),
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation[0]}={str(mutation[1])[:20]!r}")
def test_a_mutation_is_refused_by_its_field(mutation: tuple[Any, ...]) -> None:
    """Even where the hashes were made right again."""
    path, value, *other = mutation
    found = fields(refused(changed(path, value)))
    assert (other or [path])[0] in found


def test_choices_by_document() -> None:
    golds, chosen = [0, 1, 0, 1] * 250, [0, 1, 1, -1] * 250
    content = good()
    record = content["run"]["tasks"]["itaeval_ami_misogyny"] = json.loads(
        task("itaeval_ami_misogyny", 0.5).model_dump_json(exclude_defaults=True)
    )
    own = {"documents_sha": "1" * 64, "golds": golds, "chosen": chosen, "labels": 2}
    content["documents"]["tasks"]["itaeval_ami_misogyny"] = own
    # Label 0: precision and recall 1/2, F1 1/2 (250 right, 250 chosen wrongly, 250 missed). Label 1: 250 right, 250
    # chosen wrongly, 250 missed: the same.
    assert fields(validate(sealed(content))) == ["documents.tasks.itaeval_ami_misogyny.values"]
    own["golds"], own["chosen"] = [0, 1] * 500, [0, 1] * 500
    record["metrics"]["f1_macro"] = record["metrics"]["score"] = record["score"] = record["primary_value"] = 1.0
    content["intervals"].pop("itaeval_ami_misogyny", None)
    assert validate(sealed(content)).problems == ()
    for name, value in (("labels", 1), ("labels", 21), ("golds", [2] * 1000), ("chosen", [-2] * 1000), ("chosen", [0])):
        content["documents"]["tasks"]["itaeval_ami_misogyny"] = {**own, name: value}
        assert fields(refused(sealed(content)))[0].startswith("documents.tasks.itaeval_ami_misogyny")


def test_hand_edited_documents_do_not_fit_their_hash() -> None:
    content = good()
    values = content["documents"]["tasks"]["itaeval_xcopa"]["values"]
    values[0], values[1] = values[1], values[0]
    assert fields(refused(json.dumps(content).encode())) == ["documents_sha"]
    without = good()
    del without["documents"]
    assert fields(refused(json.dumps(without).encode())) == ["documents_sha"]
    other = good()
    other["documents"]["submission_id"] = "0" * 16
    assert fields(refused(json.dumps(other).encode())) == ["documents.submission_id"]


@given(st.binary(max_size=200))
@patient
def test_arbitrary_bytes(raw: bytes) -> None:
    refused(raw)


@given(st.integers(0, len(RAW) - 1), st.binary(min_size=1, max_size=3))
@settings(patient, max_examples=50)
def test_damaged_files(position: int, damage: bytes) -> None:
    """A cut, and bytes written over: where they change nothing that counts, the file is still the same submission."""
    refused(RAW[:position])
    raw = RAW[:position] + damage + RAW[position + len(damage) :]
    checked = validate(raw)
    if checked.submission is not None:
        whole = validate(RAW)
        moment = {"submitted": None}
        assert whole.submission is not None
        assert checked.submission.model_copy(update=moment) == whole.submission.model_copy(update=moment)


@given(json_values)
@patient
def test_arbitrary_json(value: Any) -> None:
    refused(json.dumps(value).encode())
    if isinstance(value, dict):
        refused(json.dumps({**value, "schema_version": 1}).encode())


def _leaves(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [path] if path else []
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        found += _leaves(value, (*path, key))
    return found


LEAVES = _leaves({**GOOD, "documents": None})


likely = st.floats(-2, 2) | st.integers(-1, 600) | st.dictionaries(st.sampled_from(["n", "acc", "x"]), st.floats(-2, 2))


@given(st.sampled_from(LEAVES), json_values | likely, st.booleans())
@settings(patient, max_examples=100)
def test_any_field_may_hold_anything(path: tuple[Any, ...], value: Any, seal: bool) -> None:
    """Whatever stands in a field, the answer is a refusal or a submission that is all that its hash says."""
    content = good()
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    if place[path[-1]] == value:
        return
    place[path[-1]] = value
    checked = validate(sealed(content) if seal else json.dumps(content).encode())
    if checked.submission is None:
        assert checked.problems
        assert all(str(problem).isprintable() for problem in checked.problems)
    else:
        assert seal or path == ("submitted",)
        assert submission_hash(checked.submission) == checked.submission.submission_id


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=40))
@patient
def test_a_name_that_passes_is_plain(name: str) -> None:
    content = json.loads(upload_bytes(submission()))
    content["facts"]["display_name"] = name
    checked = validate(sealed(content))
    if checked.submission is not None:
        assert name.isprintable()
        assert not set(name) & set("<>`\\")
        assert name == " ".join(name.split())


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, 100, 10_000])
def test_depth(depth: int) -> None:
    raw = b'{"schema_version": 1, "facts": ' + b"[" * depth + b"]" * depth + b"}"
    found = refused(raw)
    assert fields(found)[0] == ("file" if depth >= MAX_DEPTH else "submission_id")


BOMBS = {
    "keys": b'{"schema_version": 1' + b"".join(b',"%06d":1' % i for i in range(300_000)) + b"}",
    "keys, the last twice": b'{"schema_version": 1'
    + b"".join(b',"%06d":1' % i for i in range(300_000))
    + b',"299999":1}',
    "wrong values": b'{"schema_version": 1, "documents": {"submission_id": "'
    + b"0" * 16
    + b'", "tasks": {"x": {"values": ['
    + b'"",' * 500_000
    + b'""]}}}}',
    "empty lists": b'{"schema_version": 1, "x": [' + b"[]," * 1_000_000 + b"[]]}",
    "a long number": b'{"schema_version": ' + b"1" * 1_000_000 + b"}",
    "a long text": b'{"schema_version": 1, "x": "' + b"<" * 3_000_000 + b'"}',
    "slashes": b'{"schema_version": 1, "x": "' + b"/a" * 750 + b'"}',
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_would_take_long_does_not(name: str) -> None:
    assert len(BOMBS[name]) < MAX_BYTES
    start = time.process_time()
    refused(BOMBS[name])
    assert time.process_time() - start < 10  # of a busy machine; half a second otherwise


def test_size() -> None:
    padded = RAW + b" " * (MAX_BYTES - len(RAW))
    assert validate(padded).problems == ()
    assert fields(refused(padded + b" ")) == ["file"]


def test_records_read_back() -> None:
    made = with_id(submission(tasks=("itaeval_xcopa", "itapat_gender_6")))
    assert Submission.model_validate_json(made.model_dump_json(exclude_defaults=True), strict=True) == made
    own = Documents(submission_id=made.submission_id, tasks=documents())
    assert Documents.model_validate_json(own.model_dump_json(exclude_defaults=True), strict=True) == own

"""Each check on an example made by hand, and on one that it must leave alone."""

import json
from pathlib import Path

import pytest

from lm_eval_ita.translate.agreement import disagreement
from lm_eval_ita.translate.audit import audit_rows, default_fields, exclusions, report
from lm_eval_ita.translate.checks import KINDS, SEVERE, check_row, repeated
from lm_eval_ita.translate.language import other_language
from lm_eval_ita.translate.layout import KNOWN, Layout, Text, guess, right_options
from lm_eval_ita.translate.paths import parse_path

LONG = "The farmer planted a row of tomatoes behind the old barn."
LUNGA = "Il contadino piantò una fila di pomodori dietro il vecchio granaio."


NONE = Layout()


def kinds(*texts: Text, layout: Layout = NONE) -> list[str]:
    return [flag.kind for flag in check_row(texts, layout)]


def one(source: str | None, target: str, **more: bool) -> list[str]:
    return kinds(Text("q", "q", None, target, source, **more))


@pytest.mark.parametrize(
    ("kind", "source", "target"),
    [
        ("empty", "House", " "),
        ("empty", None, ""),
        ("untranslated", LONG, LONG.upper().capitalize()),
        ("language", None, LONG),
        ("language", LONG, "El granjero plantó una hilera de tomates detrás del viejo granero."),
        ("length", LONG, "Il contadino."),
        ("length", "Why?", "Perché il contadino piantò una fila di pomodori?"),
        ("protected_lost", "The ___ is blue.", "Il cielo è blu."),
        ("protected_added", "The sky is blue.", "Il cielo è blu 42."),
        ("repetition", LONG, "Il contadino piantò una fila, una fila, una fila di pomodori dietro il granaio."),
        ("damaged", "Why is it so?", "PerchÃ© è così?"),
        ("damaged", None, "L&#39;uomo"),
    ],
)
def test_one_text(kind: str, source: str | None, target: str) -> None:
    assert one(source, target) == [kind]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (LONG, LUNGA),
        (None, LUNGA),
        ("", ""),
        ("New York City Police Department", "New York City Police Department"),
        ("pH", "pH"),
        ("Mass", "Massa"),
        ("Gas", "Sostanza gassosa"),
        ("It is 1,500.5 km from [1]", "Dista 1.500,5 km da [1]"),
        (None, "no no no"),
        ("a very, very, very long way", "una strada molto, molto, molto lunga"),
        ("1 1 1 1 1 1", "1 1 1 1 1 1"),
        ("AT&T; &amp; co", "AT&T; &amp; co"),
        (None, "Papà, perché? È già lì: AT&T."),
    ],
)
def test_one_text_that_is_right(source: str | None, target: str) -> None:
    assert one(source, target) == []


def test_what_the_run_says() -> None:
    assert one(LONG, LUNGA, unfinished=True) == ["unfinished"]
    assert one("x" * 2000, "x" * 2000, too_long=True) == ["too_long"]


def test_repeated() -> None:
    assert repeated("e poi e poi e poi basta") == "e poi"
    assert repeated("la la la la") == "la"
    assert repeated("la la la") is None
    assert repeated("dalle 3 alle 3 e dalle 3") is None


def test_other_language() -> None:
    assert other_language(LUNGA) is None
    assert other_language(LONG) == "en"
    assert other_language("sodium chloride") is None, "too short to tell"


def options(
    *pairs: tuple[str | None, str], right: int = 0, question: tuple[str | None, str] | None = None
) -> list[str]:
    texts = [Text("o[]", f"o[{n}]", n, target, source, n == right) for n, (source, target) in enumerate(pairs)]
    asked = [] if question is None else [Text("q", "q", None, question[1], question[0])]
    return kinds(*asked, *texts, layout=Layout("q", ("o[]",)))


def test_options_that_became_equal() -> None:
    assert options(("quick", "veloce"), ("fast", "Veloce."), ("slow", "lento"), right=2) == ["equal_options"]
    assert options(("quick", "veloce"), ("fast", "veloce")) == ["right_equals_wrong"]
    assert options((None, "veloce"), (None, "veloce")) == ["right_equals_wrong"]
    assert options(("fast", "veloce"), ("fast", "veloce")) == [], "they were equal before"
    assert options((None, "RR"), (None, "Rr"), (None, "rr")) == [], "genes"
    assert options((None, "CO2"), (None, "CO")) == []


def test_an_option_in_another() -> None:
    assert options((None, "solo la luna"), (None, "solo la luna piena")) == ["option_in_option"]
    assert options(("only the moon", "solo la luna"), ("only the moon at night", "solo la luna di notte")) == []
    assert options((None, "luna"), (None, "solo la luna")) == [], "one word tells nothing"
    assert options((None, "200 grammi"), (None, "1.200 grammi")) == []


def test_the_answer_in_the_question() -> None:
    question = ("What do plants give off?", "Che cosa emettono le piante verdi?")
    assert options(("shrubs", "le piante"), ("cats", "i gatti"), question=question) == ["answer_in_question"]
    assert options(("shrubs", "le piante"), ("cats", "i gatti"), right=1, question=question) == []
    both = ("Plants or cats?", "Le piante o i gatti?")
    assert options((None, "le piante"), (None, "i gatti"), question=both) == []


@pytest.mark.parametrize(
    ("question", "option", "seen"),
    [
        ("Il cambio di stato è un", "tendenza", "«un» before a feminine noun: «tendenza»"),
        ("Questo processo si chiama la ____.", "cambiamento", "«la» before a masculine noun: «cambiamento»"),
        ("Serve a misurare la", "la velocità", "two articles: «la la»"),
        ("È il risultato della", "un fiume", "two articles: «della un»"),
        ("Si osservano le", "evaporazione dell'acqua", "«le» before a singular noun: «evaporazione»"),
        ("La causa principale è", "le maree", "«è» before a plural: «le»"),
        ("Le parti che la compongono sono", "il fusto", "«sono» before a singular: «il»"),
    ],
)
def test_disagreement(question: str, option: str, seen: str) -> None:
    assert disagreement(question, option) == seen


@pytest.mark.parametrize(
    ("question", "option"),
    [
        ("Il cambio di stato è un", "movimento"),
        ("Questo processo si chiama la", "evaporazione"),
        ("Quale di questi è?", "le maree"),
        ("Le parti sono", "il fusto e le foglie"),
        ("La causa principale è", "la marea"),
        ("Si trova di là", "la casa"),
        ("È composta di", "un atomo"),
        ("Il suo colore è il", "problema"),
        ("", "la casa"),
        ("La", ""),
    ],
)
def test_what_agrees(question: str, option: str) -> None:
    assert disagreement(question, option) is None


def test_agreement_with_the_question() -> None:
    question = ("A change of state is a", "Il cambio di stato è un")
    assert options((None, "movimento"), (None, "tendenza"), question=question) == ["agreement"]


def test_answers_in_a_passage() -> None:
    layout = KNOWN["squad_it"][1]
    passage = Text("context", "context", None, "La torre fu costruita nel 1889 a Parigi.")

    def answer(text: str, start: int | None) -> list[str]:
        return kinds(passage, Text("answers.text[]", "answers.text[0]", 0, text, start=start), layout=layout)

    assert answer("nel 1889", 22) == []
    assert answer("Nel 1889", 22) == [], "case does not count"
    assert answer("nel 1889", 3) == ["answer_start"]
    assert answer("nel 1890", 22) == ["answer_not_in_context"]


def test_right_options() -> None:
    arc = {"choices": {"text": ["a", "b"], "label": ["1", "2"]}, "answerKey": "2"}
    assert right_options(arc, "choices.text[]") == {1}
    tqa = {"mc1_targets": {"choices": ["a", "b", "c"], "labels": [1, 0, 1]}}
    assert right_options(tqa, "mc1_targets.choices[]") == {0, 2}
    assert right_options({"endings": ["a", "b"], "label": "1"}, "endings[]") == {1}
    assert right_options({"endings": ["a", "b"]}, "endings[]") == set()


def test_guess() -> None:
    paths = [parse_path(path) for path in ("context", "question", "answers.text[]")]
    assert guess(paths) == Layout("question", (), "context", "answers.text[]")
    assert guess([parse_path("stem"), parse_path("choices.text[]")]) == Layout("stem", ("choices.text[]",))


def test_every_flag_has_an_example_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f'"{kind}"' not in text and kind != "back_translation"] == []
    assert set(KINDS) > SEVERE


def test_audit_against_originals() -> None:
    fields, layout = default_fields(["question", "choices.text[]"]), Layout("question", ("choices.text[]",))
    rows = [
        (1, {"id": "a", "question": LUNGA, "choices": {"text": ["veloce", "veloce"]}, "answerKey": "A"}),
        (2, {"id": "b", "question": LUNGA, "choices": {"text": ["uno", "due"]}}),
    ]
    before = {json.dumps({"id": "a"}): {"id": "a", "question": LONG, "choices": {"text": ["quick", "quick"]}}}
    assert [len(one.flags) for one in audit_rows(rows, fields, layout)] == [1, 0]
    assert [len(one.flags) for one in audit_rows(rows, fields, layout, before)] == [0, 0]
    audited = audit_rows(rows, fields, layout)
    assert report(audited).counts == {"equal_options": (1, 1)}
    content = exclusions("arc_challenge", audited, SEVERE)
    assert content["rows"] == [{"match": {"id": "a"}, "kinds": ["equal_options"]}]
    assert exclusions("arc_challenge", audited, frozenset(("length",)))["rows"] == []


def test_real_translations_are_mostly_left_alone(real_data: Path) -> None:
    """Of 300 sentences that people translated, what each check flags: its rate of false alarms."""
    folder = real_data / "parallel_en_it"
    pairs = [
        path.read_text(encoding="utf-8").split("\n")[:300]
        for path in (folder / "pud_ud.converted.eng", folder / "pud_ud.converted.ita")
    ]
    found: dict[str, int] = {}
    for source, target in zip(*pairs, strict=True):
        for kind in one(source, target):
            found[kind] = found.get(kind, 0) + 1
    print(found)
    assert all(
        found.get(kind, 0) <= 1 for kind in ("empty", "untranslated", "language", "length", "repetition", "damaged")
    )
    assert found.get("protected_lost", 0) <= 15

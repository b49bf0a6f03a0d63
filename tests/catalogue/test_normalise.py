"""Hub layout and canonical layout of every data set come out as the same row."""

from pathlib import Path

import pytest

from lm_eval_ita.catalogue.readers import RowError
from lm_eval_ita.catalogue.rows import parse
from lm_eval_ita.catalogue.schema import entry


def normalised(key: str, raw: dict[str, object], split: str | None = None) -> dict[str, object]:
    found = entry(key)
    ((_, row),) = parse(found, split or found.required[0], [(1, raw)])
    if isinstance(row, RowError):
        raise row
    return row


ARC = {"id": "x", "question": "Chi?", "choices": {"text": ["io", "tu"], "label": ["A", "B"]}, "answerKey": "B"}
SQUAD = {"id": "1", "context": "Roma è qui.", "question": "Dove?", "answers": {"text": ["qui"], "answer_start": [7]}}
TARGETS = {"choices": ["sì", "no"], "labels": [1, 0]}
TRUTHFUL = {"question": "Vero?", "mc1_targets": TARGETS, "mc2_targets": TARGETS}
HONEST = {
    "template_masked": " lei è una [M].",
    "raw": "[I] è una [M]",
    "identity": "lei",
    "number": "singular",
    "category": "female",
    "type": "occupation",
}
HATECHECK = {
    "mhc_case_id": "italian-9",
    "functionality": "profanity_nh",
    "test_case": "Accidenti!",
    "label_gold": "non-hateful",
    "target_ident": "",
    "ref_case_id": "12",
    "ref_templ_id": "242.0",
    "templ_id": "262",
    "case_templ": "",
    "gender_male": "",
    "gender_female": "",
    "label_annotated": "['non-hateful']",
    "label_annotated_maj": "non-hateful",
    "disagreement_in_case": "False",
    "disagreement_in_template": "True",
}
ITACOLA = {"unique_id": 5, "source": "Graffi", "acceptability": 0, "sentence": "Il mio sorella."}
FLAGS = {
    "cleft_construction": 0,
    "copular_construction": 1,
    "subject-verb_agreement": 1,
    "wh-islands_violations": 0,
    "simple": 0,
    "question": 0,
    "auxiliary": 0,
    "bind": 0,
    "indefinite_pronouns": 0,
}
XCOPA = {"premise": "P.", "choice1": "A.", "choice2": "B.", "question": "cause", "label": 1, "idx": 3, "changed": False}
HELLASWAG = {"ind": 1, "activity_label": "Sci", "ctx": "Lei", "endings": ["a", "b", "c", "d"], "label": "2"}
BELEBELE = {
    "link": "l",
    "question_number": 1,
    "flores_passage": "Brano.",
    "question": "Chi?",
    "mc_answer1": "a",
    "mc_answer2": "b",
    "mc_answer3": "c",
    "mc_answer4": "d",
    "correct_answer_num": "3",
    "dialect": "ita_Latn",
    "ds": "2023",
}
GENTE = {"ID": "7", "SET": "Set-N", "REF-G": "I cittadini.", "REF-N": "La cittadinanza."}
AMI = {"id": "3", "text": "Ciao.", "misogynous": 0, "aggressiveness": 0}
SENTIPOLC = {"text": "Bello!", "subj": 1, "opos": 1, "oneg": 0, "iro": 0, "lpos": 1, "lneg": 0, "top": 2}
MMMLU = {
    "Question": "2 + 2?",
    "A": "3",
    "B": "4",
    "C": "",
    "D": "NA",
    "Answer": "B",
    "Subject": "elementary_mathematics",
}

CASES = [
    ("arc_easy", ARC, ARC),
    ("mmmlu", {"": "0", **MMMLU}, MMMLU),
    ("arc_challenge", ARC, ARC),
    (
        "arc_challenge",
        {"id": "x", "question": "Chi?", "option_a": "io", "option_b": "tu", "option_c": "", "answer": "B"},
        ARC,
    ),
    ("arc_challenge", ARC | {"choices": [{"text": "io", "label": "A"}, {"text": "tu", "label": "B"}]}, ARC),
    ("arc_challenge", {**ARC, "question": {"stem": "Chi?", "choices": ARC["choices"]}, "choices": None}, ARC),
    ("arc_challenge", ARC | {"choices": '{"text": ["io", "tu"], "label": ["A", "B"]}'}, ARC),
    (
        "arc_challenge",
        {
            "id": "x",
            "question": "Chi?",
            "choices.text": '["io", "tu"]',
            "choices.label": '["A", "B"]',
            "answerKey": "B",
        },
        ARC,
    ),
    ("squad_it", SQUAD, SQUAD),
    ("squad_it", SQUAD | {"answers": [{"text": "qui", "answer_start": 7}]}, SQUAD),
    ("squad_it", SQUAD | {"answers": {"text": [" ", "qui"], "answer_start": [0, 7]}}, SQUAD),
    ("truthfulqa", TRUTHFUL, TRUTHFUL),
    ("truthfulqa", TRUTHFUL | {"mc1_targets": {"sì": 1, "no": 0}}, TRUTHFUL),
    ("truthfulqa", TRUTHFUL | {"mc2_targets": '{"choices": ["sì", "no"], "labels": [1, 0]}'}, TRUTHFUL),
    ("honest", HONEST, HONEST),
    ("honest", {"mf" if k == "category" else k: v for k, v in HONEST.items()}, HONEST),
    ("hatecheck", HATECHECK, HATECHECK),
    (
        "hatecheck",  # what the Hub's type inference makes of the CSV
        HATECHECK
        | {"ref_case_id": 12, "ref_templ_id": 242.0, "templ_id": 262, "target_ident": None, "case_templ": None}
        | {"gender_male": None, "gender_female": None, "disagreement_in_case": False, "disagreement_in_template": True},
        HATECHECK,
    ),
    ("itacola", ITACOLA, ITACOLA),
    (
        "itacola",
        {
            "UniqueIndexID": "5",
            "Source": "Graffi",
            "Acceptability": "0",
            "Sentence": "Il mio sorella.",
            "Split": "train",
        },
        ITACOLA,
    ),
    ("xcopa", XCOPA, XCOPA),
    ("xcopa", {k: str(v) for k, v in XCOPA.items()}, XCOPA),
    ("hellaswag", HELLASWAG, HELLASWAG),
    ("hellaswag", HELLASWAG | {"label": 2, "endings": '["a", "b", "c", "d"]', "ctx_a": "Lei"}, HELLASWAG),
    ("belebele", BELEBELE, BELEBELE),
    ("belebele", BELEBELE | {"correct_answer_num": 3, "question_number": "1"}, BELEBELE),
    ("gente", GENTE, GENTE),
    ("gente", {"ID": 7, "SET": "Set-N", "REF_G": "I cittadini.", "REF_N": "La cittadinanza."}, GENTE),
    ("gente", GENTE | {"REF-N": None}, GENTE | {"REF-N": ""}),
    ("ami_2020", AMI, AMI),
    ("ami_2020", {"id": 3, "text": "Ciao.", "misogyny": "0", "aggressiveness": "0"}, AMI),
    ("haspeede2", {"full_text": "Ciao.", "hs": 1, "stereotype": 0}, {"full_text": "Ciao.", "hs": 1, "stereotype": 0}),
    (
        "haspeede2",
        {"id": "9", "text": "Ciao.", "hs": "1", "stereotype": "0"},
        {"full_text": "Ciao.", "hs": 1, "stereotype": 0},
    ),
    (
        "ironita",
        {"id": "1", "text": "Ciao.", "irony": "1", "sarcasm": "0"},
        {"text": "Ciao.", "irony": 1, "sarcasm": 0, "topic": None},
    ),
    ("sentipolc", {"idtwitter": "1", **{k: str(v) for k, v in SENTIPOLC.items()}}, SENTIPOLC),
    ("ilpost", {"source": "Notizia.", "target": "Sunto.", "url": "x"}, {"source": "Notizia.", "target": "Sunto."}),
    ("fanpage", {"source": "Notizia.", "target": "Sunto."}, {"source": "Notizia.", "target": "Sunto."}),
]


@pytest.mark.parametrize(("key", "raw", "expected"), CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_layouts(key: str, raw: dict[str, object], expected: dict[str, object]):
    before = repr(raw)
    assert normalised(key, raw) == expected
    assert list(normalised(key, raw)) == list(expected), "the column order differs"
    assert repr(raw) == before, "the raw row was changed"


def test_every_data_set_has_a_layout_case():
    from lm_eval_ita.catalogue.schema import keys

    assert {case[0] for case in CASES} == set(keys()) - {"hurtlex"}  # a lexicon is handed out as its file


@pytest.mark.parametrize(
    "names",
    [
        lambda name: name,
        lambda name: name.capitalize(),  # canonical: Subject-verb_agreement
        lambda name: name.replace("-", "_"),  # Hub
    ],
)
def test_itacola_phenomena(names):
    raw = ITACOLA | {names(name): value for name, value in FLAGS.items()}
    assert normalised("itacola", raw, "phenomena") == ITACOLA | FLAGS


def test_a_question_whose_only_answer_is_blank_stays():
    row = SQUAD | {"answers": {"text": [" "], "answer_start": [0]}}
    assert normalised("squad_it", row) == row


@pytest.mark.parametrize(
    ("key", "raw", "message"),
    [
        ("arc_challenge", ARC | {"answerKey": "C"}, "answerKey: 'C' is not among the labels"),
        ("arc_challenge", ARC | {"choices": {"text": ["io"], "label": ["A", "B"]}}, "choices: two lists of 1 and 2"),
        ("arc_challenge", ARC | {"choices": {"text": ["io"], "label": ["B"]}}, "1 options where 2 to 5"),
        ("arc_challenge", ARC | {"choices": "{broken"}, "choices: not valid JSON"),
        ("squad_it", SQUAD | {"answers": {"text": ["qui"], "answer_start": [7, 8]}}, "two lists of 1 and 2"),
        ("squad_it", SQUAD | {"answers": []}, "answers.text: expected a list with at least one item"),
        ("truthfulqa", TRUTHFUL | {"mc1_targets": {"choices": ["a", "b"], "labels": [1, 1]}}, "exactly one choice"),
        ("truthfulqa", TRUTHFUL | {"mc2_targets": {"choices": ["a"], "labels": [1]}}, "one true and one false"),
        ("hellaswag", HELLASWAG | {"endings": ["a", "b", "c"]}, "3 endings where 4"),
        ("honest", HONEST | {"template_masked": "lei è una."}, "exactly one \\[M\\]"),
        ("xcopa", XCOPA | {"question": "perché"}, "question: 'perché' is not one of 'cause', 'effect'"),
        ("gente", {"ID": "1", "REF-G": "x"}, "REF-N: the column is missing"),
        ("belebele", BELEBELE | {"correct_answer_num": 5}, "'5' is not one of"),
        ("hatecheck", HATECHECK | {"test_case": None}, "test_case: the text is empty"),
    ],
)
def test_what_is_wrong_is_said(key: str, raw: dict[str, object], message: str):
    with pytest.raises(RowError, match=message):
        normalised(key, raw)


def test_the_source_files_are_read_in_their_own_format(tmp_path: Path):
    """HONEST's TSV and HateCheck's CSV, header and all."""
    from lm_eval_ita.catalogue.rows import checked

    tsv = tmp_path / "it_template.tsv"
    header = [name if name != "category" else "mf" for name in HONEST]
    tsv.write_text("\t".join(header) + "\n" + "\t".join(HONEST.values()) + "\n", encoding="utf-8")
    assert checked(entry("honest"), "test", tsv) == [HONEST]

    table = tmp_path / "cases.csv"
    quoted = ['"' + value.replace('"', '""') + '"' for value in HATECHECK.values()]
    table.write_text(",".join(HATECHECK) + "\n" + ",".join(quoted) + "\n", encoding="utf-8")
    assert checked(entry("hatecheck"), "test", table) == [HATECHECK]

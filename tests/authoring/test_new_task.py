"""`lm-eval-ita new-task` from data to a task that runs: the four kinds, by flags and by questions."""

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from lm_eval_ita.authoring import validate
from lm_eval_ita.authoring.new_task import Asker, Request, new_task
from lm_eval_ita.errors import UserError
from lm_eval_ita.harness.task_files import TaskLoader, tasks_path
from tests.catalogue.test_hub import cached

NOBODY = Asker()
QUIZ = [
    {"domanda": f"Quanto fa {n} più {n}?", "a": str(2 * n), "b": str(2 * n + 1), "c": str(n), "giusta": "A"}
    for n in range(2, 9)
] + [{"domanda": "Dov'è il Colosseo?", "a": "a Milano", "b": "a Roma", "c": "", "giusta": "B"}]
TWEETS = [{"testo": f"Che bella giornata numero {n}!", "ironia": n % 2, "fonte": "inventata"} for n in range(12)]
ANSWERS = [{"domanda": f"Qual è il {n}º mese?", "risposta": [f"mese {n}", f"il {n}º"]} for n in range(1, 9)]
CITIES = """# Capoluoghi.
nord: {title: northern cities, source: invented, words: [Milano, Torino]}
sud: {title: southern cities, source: invented, words: [Napoli, Palermo]}
"""


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def quiz(folder: Path, **more: Any) -> Request:
    data = jsonl(folder / "dati" / "quiz.jsonl", QUIZ)
    return Request(
        name="prova_quiz", kind="multiple_choice", data=str(data), into=folder / "tasks", question="domanda",
        **{"choices": "a,b,c", "label": "giusta", "origin": "native", "licence": "CC0", "keep_samples": True, **more},
    )  # fmt: skip


def irony(folder: Path, **more: Any) -> Request:
    jsonl(folder / "dati" / "tweet" / "train.jsonl", TWEETS[6:])
    data = jsonl(folder / "dati" / "tweet" / "test.jsonl", TWEETS[:6])
    return Request(
        name="prova_ironia", kind="yes_no", data=str(data), into=folder / "tasks", question="testo", label="ironia", yes="1",
        **{"instruction": "Il seguente tweet è ironico?", "origin": "native", "shots": 3, **more},
    )  # fmt: skip


def answers(folder: Path, **more: Any) -> Request:
    data = jsonl(folder / "dati" / "domande.jsonl", ANSWERS)
    return Request(
        name="prova_domande", kind="generation", data=str(data), into=folder / "tasks", question="domanda",
        **{"answer": "risposta", "origin": "native", "keep_samples": True, "shots": 2, **more},
    )  # fmt: skip


def cities(folder: Path, **more: Any) -> Request:
    data = folder / "citta.yaml"
    data.write_text(CITIES, encoding="utf-8")
    return Request(
        name="prova_citta", kind="association", data=str(data), into=folder / "tasks",
        **{"instructions": "valenza", "origin": "native", **more},
    )  # fmt: skip


KINDS = [quiz, irony, answers, cities]


def config(folder: Path, name: str) -> dict[str, Any]:
    content = yaml.load((folder / "tasks" / f"{name}.yaml").read_text(encoding="utf-8"), Loader=TaskLoader)
    assert isinstance(content, dict)
    return content


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_of_each_kind_has_no_finding(kind: Any, tmp_path: Path) -> None:
    made = new_task(kind(tmp_path), NOBODY)
    assert "\n".join(map(str, made.checked.findings)) == ""
    assert all(path.is_file() for path in made.files)
    assert made.files[-1].name == f"{kind(tmp_path).name}.yaml"
    assert not list((tmp_path / "tasks").rglob(".*")), "nothing half-written is left"


def test_the_first_prompts(tmp_path: Path) -> None:
    assert new_task(quiz(tmp_path), NOBODY).example == "Domanda: Quanto fa 2 più 2?\nRisposta: [4]"
    assert new_task(irony(tmp_path), NOBODY).example == (
        "Il seguente tweet è ironico? Rispondi Sì o No.\nTweet: Che bella giornata numero 0!\nRisposta: [No]"
    )
    assert new_task(answers(tmp_path), NOBODY).example == "Domanda: Qual è il 1º mese?\nRisposta: [mese 1]"
    assert new_task(cities(tmp_path), NOBODY).example.startswith(
        "Considera l'input: Milano.\nRispondi con una sola parola"
    )


def test_the_tests_that_are_written_pass(tmp_path: Path) -> None:
    for kind in KINDS:
        new_task(kind(tmp_path), NOBODY)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tmp_path / "tasks", env=environment, capture_output=True, text=True, check=False)
    assert "8 passed" in done.stdout, done.stdout
    # Without the data, the sample rows are enough where they were kept; where not, the test says what is missing.
    for path in (tmp_path / "dati").rglob("*.jsonl"):
        path.unlink()
    done = subprocess.run(command, cwd=tmp_path / "tasks", env=environment, capture_output=True, text=True, check=False)
    assert "1 failed, 6 passed, 1 skipped" in done.stdout, done.stdout
    assert "data-missing" in done.stdout


def test_sample_rows_only_where_the_licence_allows(tmp_path: Path) -> None:
    new_task(quiz(tmp_path, keep_samples=False), NOBODY)
    assert not (tmp_path / "tasks" / "samples").exists()
    text = (tmp_path / "tasks" / "test_prova_quiz.py").read_text(encoding="utf-8")
    assert "Quanto" not in text, "a prompt in the test would be a row of the data"
    new_task(irony(tmp_path, keep_samples=True, licence="CC BY 4.0", paper="un articolo"), NOBODY)
    folder = tmp_path / "tasks" / "samples" / "prova_ironia"
    assert sorted(path.name for path in folder.iterdir()) == ["LICENCE.txt", "test.jsonl", "train.jsonl"]
    assert "CC BY 4.0" in (folder / "LICENCE.txt").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in (folder / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(row in TWEETS for row in rows)


def test_metrics_are_those_of_our_own_tasks(tmp_path: Path) -> None:
    for kind in KINDS:
        new_task(kind(tmp_path), NOBODY)
    for ours, name in (
        ("itaeval/_multiple_choice_yaml", "prova_quiz"),
        ("itaeval/_yes_no_yaml", "prova_ironia"),
        ("itapat/_common_yaml", "prova_citta"),
    ):
        packaged = yaml.load((tasks_path() / ours).read_text(encoding="utf-8"), Loader=TaskLoader)
        assert config(tmp_path, name)["metric_list"] == packaged["metric_list"]
    assert config(tmp_path, "prova_citta")["generation_kwargs"] == packaged["generation_kwargs"]


def test_the_card_is_filled(tmp_path: Path) -> None:
    new_task(quiz(tmp_path, paper="Rossi (2025)", title="Quiz"), NOBODY)
    card = config(tmp_path, "prova_quiz")["metadata"]
    # 7 questions with 3 options, 1 with 2: (7/3 + 1/2) / 8
    assert card["chance"] == pytest.approx(0.354)
    assert (card["primary_metric"], card["origin"], card["paper"]) == ("acc_norm", "native", "Rossi (2025)")
    new_task(irony(tmp_path), NOBODY)
    card = config(tmp_path, "prova_ironia")["metadata"]
    assert card["splits"] == {"eval": "test", "shots": "train"}
    assert card["columns"]["labels"] == [0, 1]
    assert card["deviations"] == []
    new_task(answers(tmp_path), NOBODY)
    card = config(tmp_path, "prova_domande")["metadata"]
    assert card["splits"] == {"eval": "test", "shots": "test"}
    assert card["deviations"] == ["examples come from the evaluated split, never the same text"]
    assert card["chance"] is None


def test_labels_that_all_rows_share(tmp_path: Path) -> None:
    rows = [{"testo": f"Notizia {n}", "tema": ["SPO", "POL", "ECO"][n % 3]} for n in range(9)]
    data = jsonl(tmp_path / "dati" / "notizie.jsonl", rows)
    request = Request(
        "prova_temi", "multiple_choice", str(data), tmp_path / "tasks", question="testo", label="tema",
        labels="POL=Politica,SPO=Sport,ECO=Economia", origin="native",
    )  # fmt: skip
    made = new_task(request, NOBODY)
    assert made.checked.findings == ()
    assert made.example == (
        "Qual è la categoria del seguente testo? Rispondi con Politica, Sport o Economia.\nTesto: Notizia 0\nRisposta: [Sport]"
    )
    assert config(tmp_path, "prova_temi")["doc_to_choice"] == ["Politica", "Sport", "Economia"]
    for labels, told in (
        ("POL,SPO", "--labels lacks ECO"),
        ("POL,SPO,ECO,CRO", "--labels CRO: tema holds SPO, POL, ECO"),
    ):
        with pytest.raises(UserError, match=told):
            new_task(replace(request, labels=labels, force=True), NOBODY)


def test_long_answers(tmp_path: Path) -> None:
    rows = [{"articolo": f"Articolo {n}", "riassunto": f"Un riassunto {'lungo ' * 20}{n}."} for n in range(4)]
    data = jsonl(tmp_path / "dati" / "articoli.jsonl", rows)
    request = Request(
        "prova_riassunti", "generation", str(data), tmp_path / "tasks", question="articolo", answer="riassunto", origin="native",
        shots=0, instruction="Riassumi il seguente articolo.",
    )  # fmt: skip
    made = new_task(request, NOBODY)
    assert made.checked.findings == ()
    written = config(tmp_path, "prova_riassunti")
    assert written["generation_kwargs"]["until"] == ["\n\n"]
    assert [entry["metric"] for entry in written["metric_list"]] == ["rougeL", "rouge1", "score", "empty"]
    assert written["generation_kwargs"]["max_gen_toks"] >= len(rows[0]["riassunto"]) / 2


def test_what_the_data_break_is_in_the_card(tmp_path: Path) -> None:
    rows = [*QUIZ, {**QUIZ[0], "domanda": "E tre più uno?", "b": QUIZ[0]["a"]}]
    request = replace(quiz(tmp_path), data=str(jsonl(tmp_path / "dati" / "doppie.jsonl", rows)))
    assert new_task(request, NOBODY).checked.findings == ()
    card = config(tmp_path, "prova_quiz")["metadata"]
    assert card["accepts"] == {"duplicate-choice": "1 of 9 rows of the data hold an option twice"}
    open_ended = [*ANSWERS, {"domanda": "E poi?", "risposta": [""]}]
    request = replace(answers(tmp_path), data=str(jsonl(tmp_path / "dati" / "aperte.jsonl", open_ended)))
    assert new_task(request, NOBODY).checked.findings == ()
    written = config(tmp_path, "prova_domande")
    assert written["metadata"]["deviations"][-1] == "1 of 9 rows have no right answer, and are left out of the means"
    assert written["metric_list"][0]["aggregation"] == "lm_eval_ita.harness.generation.mean_defined"


@pytest.mark.parametrize(
    ("kind", "lacks", "told"),
    [
        (quiz, {"question": None}, "--question is missing: Which column holds the text that is asked about? There are domanda, a, b, c, giusta; domanda looks right"),
        (quiz, {"choices": None}, "--choices is missing: Which column holds the options, or which columns, with commas? There are domanda, a, b, c, giusta; a,b,c looks right"),
        (quiz, {"label": None}, "--label is missing: Which column holds the right option? There are domanda, a, b, c, giusta; giusta looks right"),
        (quiz, {"origin": None}, "--origin is missing: How did the text come about? There are native, human_translated, machine_translated, template"),
        (quiz, {"origin": "nativo"}, "--origin is 'nativo'"),
        (quiz, {"question": "domande"}, "--question domande: there is no such column; there are domanda, a, b, c, giusta"),
        (quiz, {"split": "dev"}, "--split dev: there is no such split; there are test"),
        (quiz, {"shots": 8}, "--shots 8: the split test has 7 rows for examples"),
        (quiz, {"label": "a"}, "--label a: it is one of the columns with options"),
        (quiz, {"label": "domanda"}, "--counted is missing: How does domanda name the right option? There are zero, one, letter, text"),
        (quiz, {"counted": "one"}, "row 1 of split test: the label 'A' is none of its 3 options"),
        (irony, {"yes": None}, "--yes is missing: Which value of ironia means Sì? There are 0, 1; 1 looks right"),
        (irony, {"yes": "sì"}, "--yes sì: ironia holds 0, 1"),
        (irony, {"instruction": None}, "--instruction is missing"),
        (irony, {"label": "testo"}, "--label testo: a yes/no task needs a column with two values"),
        (irony, {"instruction": "{{testo}}?"}, "--instruction holds braces"),
        (answers, {"answer": None}, "--answer is missing: Which column holds the right answer? There are domanda, risposta; risposta looks right"),
        (cities, {"instructions": None}, "--instructions is missing"),
        (cities, {"instructions": "valenze"}, "no instructions 'valenze'"),
        (cities, {"x": "est"}, "'x' is 'est'"),
        (quiz, {"name": "xcopa_it"}, "xcopa_it is the name of a task of the harness"),
        (quiz, {"name": "itaeval"}, "itaeval is the name of a group of lm-eval-ita"),
        (quiz, {"name": "xcopa"}, "xcopa is the name of"),
        (quiz, {"name": "due parole"}, "must be a letter and then"),
        (quiz, {"name": "2prove"}, "must be a letter and then"),
        (quiz, {"yes": "1"}, "--yes is of --kind yes_no, not multiple_choice; leave it out"),
        (quiz, {"max_gen_toks": 9}, "--max-gen-toks is of --kind generation, not"),
        (quiz, {"labels": "A,B"}, "exclude each other"),
        (irony, {"answer": "testo"}, "--answer is of --kind generation, not yes_no"),
        (cities, {"shots": 2}, "--shots is of --kind multiple_choice and yes_no and generation, not association"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_one_line_and_writes_nothing(
    kind: Any, lacks: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as caught:
        new_task(replace(kind(tmp_path), **lacks), NOBODY)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "tasks").exists()


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    new_task(quiz(tmp_path), NOBODY)
    new_task(irony(tmp_path), NOBODY)
    path = tmp_path / "tasks" / "prova_quiz.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    with pytest.raises(UserError, match="is there already; --force replaces it"):
        new_task(quiz(tmp_path, shots=1), NOBODY)
    assert path.read_text(encoding="utf-8").endswith("# mine\n")
    for file in (path, tmp_path / "tasks" / "test_prova_quiz.py"):
        file.unlink()
    with pytest.raises(UserError, match=r"is there already|has a data set prova_quiz already"):
        new_task(quiz(tmp_path, keep_samples=False), NOBODY)
    new_task(quiz(tmp_path, force=True, shots=1), NOBODY)
    assert config(tmp_path, "prova_quiz")["num_fewshot"] == 1
    assert validate([tmp_path / "tasks"]).findings == (), "the other task's entry is still there"


def test_instructions_are_written_in_nfc(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Il seguente tweet è così ironico?")
    new_task(irony(tmp_path, instruction=decomposed), NOBODY)
    assert "è così" in (tmp_path / "tasks" / "prova_ironia.yaml").read_text(encoding="utf-8")


def test_columns_that_templates_cannot_name(tmp_path: Path) -> None:
    rows = [{"Frase (it)": f"Frase {n}", "meta": {"voto": n % 2}, "in": "x", "role": "utente"} for n in range(8)]
    data = jsonl(tmp_path / "dati" / "frasi.jsonl", rows)
    request = Request(
        "prova_nomi", "yes_no", str(data), tmp_path / "tasks", question="Frase (it)", context="in", label="meta.voto", yes="1",
        instruction="La frase è vera?", origin="native",
    )  # fmt: skip
    made = new_task(request, NOBODY)
    assert made.checked.findings == ()
    assert made.example == "La frase è vera? Rispondi Sì o No.\nTesto: x\nFrase: Frase 0\nRisposta: [No]"


def test_a_csv_with_numbers_and_semicolons(tmp_path: Path) -> None:
    data = tmp_path / "dati.csv"
    data.write_text("testo;voto\n" + "".join(f"Frase {n};{n % 2}\n" for n in range(6)), encoding="utf-8-sig")
    made = new_task(
        Request("prova_csv", "yes_no", str(data), tmp_path / "tasks", question="testo", label="voto", yes="1", origin="native",
                instruction="La frase è vera?"), NOBODY,
    )  # fmt: skip
    assert made.checked.findings == ()


def test_a_repository_of_the_hub_is_pinned_to_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    snapshot = cached(tmp_path / "hub", "qualcuno/quiz", "main")
    jsonl(snapshot / "test.jsonl", QUIZ)
    jsonl(snapshot / "train.jsonl", [{**row, "domanda": f"{row['domanda']} Perché?"} for row in QUIZ[:3]])
    (snapshot / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n# Quiz\n", encoding="utf-8")
    made = new_task(replace(quiz(tmp_path, licence=None, shots=1), data="qualcuno/quiz"), NOBODY)
    assert made.checked.findings == ()
    entry = yaml.safe_load((tmp_path / "tasks" / "catalogue.yaml").read_text(encoding="utf-8"))["prova_quiz"]
    assert entry["hub"] == {"id": "qualcuno/quiz", "read": "native", "revision": snapshot.name}
    assert entry["splits"] == {"test": {"rows": 8, "hub": "test"}, "train": {"rows": 3, "hub": "train"}}
    assert entry["licence"] == "cc-by-4.0"
    with pytest.raises(
        UserError, match=r"qualcuno/altro cannot be had from the Hub \(no copy of qualcuno/altro; the network"
    ):
        new_task(replace(quiz(tmp_path, force=True), data="qualcuno/altro"), NOBODY)


def test_questions_at_a_terminal(tmp_path: Path) -> None:
    """Only what no flag says is asked; an empty line takes the proposal."""
    request = replace(irony(tmp_path), question=None, label=None, yes=None, instruction=None, origin=None, shots=None)
    typed: Iterator[str] = iter(["", "2", "", "", "", "Il tweet è ironico?", "nativo", "native", "", "CC0", "", "s"])
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return next(typed)

    shown: list[str] = []
    made = new_task(request, Asker(answer, shown.append))
    assert made.checked.findings == ()
    assert shown[0] == "Rows: test 6, train 6"
    assert "ironia  whole numbers: 0, 1" in shown[1]
    assert asked == [
        "Which split is evaluated? [test]: ",
        "How many examples a prompt, from split train? [5]: ",
        "Which column holds the text that is asked about? [testo]: ",
        "Which column says yes or no? [ironia]: ",
        "Which value of ironia means Sì? (0, 1) [1]: ",
        'The question in Italian, such as "La seguente frase è ironica?": ',
        "How did the text come about? (native, human_translated, machine_translated, template): ",
        "How did the text come about? (native, human_translated, machine_translated, template): ",
        "A title for the data set [prova ironia]: ",
        "The licence of the data [not stated]: ",
        "The paper or page that they come from [not published]: ",
        "Does the licence allow ten rows of each split to be kept beside the task? (y/n) [n]: ",
    ]
    assert config(tmp_path, "prova_ironia")["num_fewshot"] == 2
    assert (tmp_path / "tasks" / "samples" / "prova_ironia" / "test.jsonl").is_file()


def test_an_association_test_in_another_language(tmp_path: Path) -> None:
    here = Path(__file__).parents[1] / "data" / "associations" / "english.yaml"
    made = new_task(Request("prova_cats", "association", str(here), tmp_path / "tasks", origin="native"), NOBODY)
    assert made.checked.findings == ()
    assert made.example.startswith("Consider the input: Siamese.")
    assert "description" not in config(tmp_path, "prova_cats")
    assert (tmp_path / "tasks" / "lists" / "english_lexicon.yaml").is_file()
    assert (
        (tmp_path / "tasks" / "lists" / "prova_cats.yaml")
        .read_text(encoding="utf-8")
        .startswith("# An association test")
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nord: {words: [Milano]}\n", "two lists are needed"),
        ("nord: {words: [Milano]}\nsud: {words: [Napoli, Bari]}\n", "unequal size"),
        ("x: nord\nlists:\n  nord: {words: [Milano]}\n", "two lists are needed"),
        ("x: nord\nnord: {words: [Milano]}\nsud: {words: [Bari]}\n", "'x' is there without"),
        ("- nord\n", "must hold a mapping"),
    ],
)
def test_lists_that_make_no_test(text: str, told: str, tmp_path: Path) -> None:
    request = cities(tmp_path)
    Path(request.data).write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        new_task(request, NOBODY)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("data", "flags"),
    [
        ("arc_challenge", {"kind": "multiple_choice", "question": "question", "choices": "choices.text", "label": "answerKey"}),
        ("belebele", {"kind": "multiple_choice", "question": "question", "context": "flores_passage",
                      "choices": "mc_answer1,mc_answer2,mc_answer3,mc_answer4", "label": "correct_answer_num", "shots": 1}),
        ("itacola", {"kind": "yes_no", "question": "sentence", "label": "acceptability", "yes": "1",
                     "split": "test", "instruction": "La seguente frase è accettabile?"}),
        ("squad_it", {"kind": "generation", "question": "question", "context": "context", "answer": "answers.text"}),
    ],
)  # fmt: skip
def test_real_data(data: str, flags: dict[str, Any], real_data: Path, tmp_path: Path) -> None:
    request = Request(
        name=f"prova_{data}", data=str(real_data / data), into=tmp_path / "tasks", origin="native", **flags
    )
    assert "\n".join(map(str, new_task(request, NOBODY).checked.findings)) == ""


@pytest.mark.slow
def test_they_run_through_the_plain_harness_and_through_run(tmp_path: Path) -> None:
    from tests.models import tiny_lm

    for kind in KINDS:
        new_task(kind(tmp_path), NOBODY)
    model = tiny_lm(tmp_path / "model")
    names = ["prova_quiz", "prova_ironia", "prova_domande", "prova_citta"]
    plain = (
        "import lm_eval.tasks.manager as m, functools\n"
        "m.TaskManager.__init__ = functools.partialmethod(m.TaskManager.__init__, include_defaults=False)\n"
        "from lm_eval.__main__ import cli_evaluate; cli_evaluate()"
    )
    options = [
        "--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu", "--batch_size", "4",
        "--include_path", str(tmp_path / "tasks"), "--limit", "4", "--apply_chat_template",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}

    def run(*command: str) -> dict[str, Any]:
        # From another folder: the tasks find their data all the same.
        done = subprocess.run(
            [sys.executable, *command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        (path,) = (tmp_path / command[-1]).rglob("results_*.json")
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        assert isinstance(results, dict)
        return results

    ours = run("-m", "lm_eval_ita", "run", "--tasks", ",".join(names), "--output", "ours")
    theirs = run("-c", plain, "run", "--tasks", ",".join(names), "--output_path", "theirs")
    assert set(ours) == set(theirs) == set(names)
    for name in names:
        metric = {"prova_citta": "prob_error,none"}.get(name, "score,none")
        assert ours[name][metric] == theirs[name][metric]

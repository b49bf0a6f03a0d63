"""What the broken tasks name: some of it is broken on purpose."""

import math

ROWS = [
    {"question": "Quanto fa due più due?", "options": ["quattro", "cinque"], "label": 0, "answer": "quattro"},
    {"question": "Dov'è il Colosseo?", "options": ["a Milano", "a Roma"], "label": 1, "answer": "a Roma"},
    {"question": "Di che colore è la neve?", "options": ["bianca", "nera"], "label": 0, "answer": "bianca"},
]
SHOTS = [{**row, "question": f"{row['question']} Perché?"} for row in ROWS]
NUMBER = 3


def splits(test, train=SHOTS):
    from datasets import Dataset, DatasetDict

    return DatasetDict({"train": Dataset.from_list(train), "test": Dataset.from_list(test)})


def load(**_):
    return splits(ROWS)


def load_strictly(version, dataset, origin, primary_metric, chance, range, paper, deviations, config_source):
    return splits(ROWS)


def load_with_size(size, **_):
    return splits(ROWS[:size])


def load_nothing(**_):
    raise FileNotFoundError("dati.jsonl")


def load_empty(**_):
    return splits([row for row in ROWS if row["label"] > 1], SHOTS) if False else splits(ROWS).filter(lambda row: False)


def load_renamed_shots(**_):
    return splits(ROWS, [{"domanda": row["question"], **{k: row[k] for k in row if k != "question"}} for row in SHOTS])


def load_blank_question(**_):
    return splits([{**row, "question": ""} for row in ROWS])


def load_float_labels(**_):
    return splits([{**row, "label": float(row["label"])} for row in ROWS], [{**row, "label": 0.0} for row in SHOTS])


def load_wrong_label(**_):
    return splits([*ROWS, {**ROWS[0], "label": 2}])


def load_text_labels(**_):
    return splits([{**row, "label": str(row["label"])} for row in ROWS], [{**row, "label": "0"} for row in SHOTS])


def load_options(*options):
    return splits([{**row, "options": list(options), "label": 0} for row in ROWS])


def load_empty_choice(**_):
    return load_options("sì", " ")


def load_same_choice(**_):
    return load_options("sì", "no", "sì")


def load_one_choice(**_):
    return load_options("sì")


def load_spaced_choice(**_):
    return load_options(" sì", " no")


def load_spaced_answer(**_):
    return splits([{**row, "answer": f" {row['answer']}"} for row in ROWS])


def load_answers(**_):
    return splits([{**row, "answer": [row["answer"], row["answer"].upper()]} for row in ROWS])


def one_row(row):
    row["question"] = row["question"].strip()
    return row


def one_row_from_scratch(row):
    return {"question": row["question"], "options": row["options"], "label": row["label"]}


def keep_none(rows):
    return rows.filter(lambda row: False)


def fail_on_the_split(rows):
    return rows.rename_column("domanda", "question")


def failing_text(row):
    return row["question"] + row["nothing"]


def number_text(row):
    return 3.5


def two_documents(first, second):
    return first["question"]


def results(doc, results):
    return {"right": float(results[0] == doc["answer"])}


def results_without_answers(doc):
    return {"right": 1.0}


def failing_results(doc, results):
    return {"right": float(results[0] == doc["risposta"])}


def number_results(doc, results):
    return float(results[0] == doc["answer"])


def more_results(doc, results):
    return {"right": 1.0, "length": len(results[0])}


def mean_of_some(values):
    return sum(values) / len(values)


def of_two(values):
    return values[0] - values[1] if values else math.nan


def nothing(values):
    return sum(values) / len(values) if values else None


class NoSampler:
    pass

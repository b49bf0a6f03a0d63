"""What the sound tasks of this folder name."""

import math

ROWS = [
    {"question": "Quanto fa due più due?", "options": ["quattro", "cinque"], "label": 0, "answer": "quattro"},
    {"question": "Dov'è il Colosseo?", "options": ["a Milano", "a Roma"], "label": 1, "answer": "a Roma"},
    {"question": "Di che colore è la neve?", "options": ["bianca", "nera"], "label": 0, "answer": "bianca"},
]


def load(**_):
    from datasets import Dataset, DatasetDict

    shots = [{**row, "question": f"{row['question']} Perché?"} for row in ROWS]
    return DatasetDict({"train": Dataset.from_list(shots), "test": Dataset.from_list(ROWS)})


def shout(rows):
    return rows.map(lambda row: {**row, "question": row["question"].upper()})


def text(doc):
    return f"D: {doc['question']}\nR:"


def examples():
    return [{**ROWS[0], "question": "Quanti giorni ha una settimana?", "options": ["sette", "otto"]}]


def results(doc, results):
    return {"right": float(results[0].strip() == doc["answer"]), "parts": [doc["label"], results[0]]}


def share(values):
    return sum(label for label, _ in values) / len(values) if values else math.nan


def words(values):
    return {"first": values[0][1] if values else ""}

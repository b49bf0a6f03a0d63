"""From a row of a data set to a document of a task: the gold label, the choices, the text of the question.

One function per data set. Each returns the columns that it adds to the row; the row's own columns stay as they are.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["PREPARE", "clean_hellaswag", "shot_key"]

Row = Mapping[str, Any]
Added = dict[str, Any]


def shot_key(text: str) -> str:
    """A short name for the text that makes two rows the same one, for the few-shot sampler."""
    return hashlib.sha256(" ".join(text.split()).casefold().encode()).hexdigest()[:12]


def _ami_2020(row: Row, label: str) -> Added:
    return {"label": row[label], "shot_key": shot_key(row["text"])}


def _arc_challenge(row: Row, _: str) -> Added:
    choices = row["choices"]
    return {
        "options": list(choices["text"]),
        "label": list(choices["label"]).index(row["answerKey"]),
        "shot_key": shot_key(row["question"]),
    }


def _belebele(row: Row, _: str) -> Added:
    # The passage, not the question: another question about it would give away what it says.
    return {"label": int(row["correct_answer_num"]) - 1, "shot_key": shot_key(row["flores_passage"])}


def _gente(row: Row, _: str) -> Added:
    return {"original": row["REF-G"], "neutral": row["REF-N"], "shot_key": shot_key(row["REF-G"])}


def _haspeede2(row: Row, label: str) -> Added:
    return {"label": row[label], "shot_key": shot_key(row["full_text"])}


def _hatecheck(row: Row, _: str) -> Added:
    return {"label": int(row["label_gold"] == "hateful"), "shot_key": shot_key(row["test_case"])}


def _hellaswag(row: Row, _: str) -> Added:
    return {
        "query": f"{row['activity_label']}: {clean_hellaswag(row['ctx'])}",
        "options": [clean_hellaswag(ending) for ending in row["endings"]],
        "label": int(row["label"]),
        "shot_key": shot_key(row["ctx"]),
    }


def clean_hellaswag(text: str) -> str:
    """Remove the WikiHow artefacts: "[title]" becomes a full stop, other bracketed marks and double spaces go."""
    return " ".join(re.sub(r"\[.*?\]", "", text.strip().replace(" [title]", ". ")).split())


def _honest(row: Row, _: str) -> Added:
    query = " ".join(row["template_masked"].split("[M]")[0].split())
    return {"query": query, "gender": row["category"], "shot_key": shot_key(row["template_masked"])}


def _ironita(row: Row, label: str) -> Added:
    return {"label": row[label], "shot_key": shot_key(row["text"])}


def _itacola(row: Row, _: str) -> Added:
    return {"label": row["acceptability"], "shot_key": shot_key(row["sentence"])}


def _news(row: Row, _: str) -> Added:
    return {"shot_key": shot_key(row["source"])}


def _sentipolc(row: Row, _: str) -> Added:
    # Neutrale, Negativo, Positivo, Misto: the order of the choices in the task file.
    return {"label": row["oneg"] + 2 * row["opos"], "shot_key": shot_key(row["text"])}


def _squad_it(row: Row, _: str) -> Added:
    # One question of the official test set has a blank answer and no other.
    golds = [text for text in dict.fromkeys(row["answers"]["text"]) if text.strip()]
    return {"golds": golds, "answer": golds[0] if golds else "", "shot_key": shot_key(row["context"])}


def _truthfulqa(row: Row, _: str) -> Added:
    """Both answer lists as one list of choices: MC2's as they are, then those of MC1 that are not among them.

    MC1's answers are part of MC2's in the original; a translation may word them differently in the two lists.
    """
    first, second = row["mc1_targets"], row["mc2_targets"]
    options = list(second["choices"])
    options += [choice for choice in first["choices"] if choice not in options]
    return {
        "options": options,
        "mc1_positions": [options.index(choice) for choice in first["choices"]],
        "mc1_labels": list(first["labels"]),
        "mc2_labels": list(second["labels"]),
        "label": options.index(first["choices"][list(first["labels"]).index(1)]),
        "shot_key": shot_key(row["question"]),
    }


def _xcopa(row: Row, _: str) -> Added:
    connective = {"cause": "perché", "effect": "quindi"}[row["question"]]
    return {
        "query": f"{row['premise'].strip().rstrip('.')} {connective}",
        "options": [_lower_first(row["choice1"]), _lower_first(row["choice2"])],
        "label": row["label"],
        "shot_key": shot_key(row["premise"]),
    }


def _lower_first(text: str) -> str:
    stripped = unicodedata.normalize("NFC", text.strip())
    return stripped[:1].lower() + stripped[1:]


# Data set to the function that prepares its rows. The second argument is the label column that the task's card names.
PREPARE: dict[str, Callable[[Row, str], Added]] = {
    "ami_2020": _ami_2020,
    "arc_challenge": _arc_challenge,
    "belebele": _belebele,
    "fanpage": _news,
    "gente": _gente,
    "haspeede2": _haspeede2,
    "hatecheck": _hatecheck,
    "hellaswag": _hellaswag,
    "honest": _honest,
    "ilpost": _news,
    "ironita": _ironita,
    "itacola": _itacola,
    "sentipolc": _sentipolc,
    "squad_it": _squad_it,
    "truthfulqa": _truthfulqa,
    "xcopa": _xcopa,
}

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

import lm_eval_ita.catalogue.schema as schema
from lm_eval_ita.catalogue.normalise import CONSISTENT, NORMALISERS
from lm_eval_ita.errors import UserError

KEYS = [
    *(
        "arc_challenge",
        "arc_easy",
        "mmmlu",
        "belebele",
        "fanpage",
        "gente",
        "haspeede2",
        "hatecheck",
        "hellaswag",
        "honest",
        "hurtlex",
    ),
    *("ilpost", "ironita", "itacola", "sentipolc", "squad_it", "truthfulqa", "xcopa", "ami_2020"),
]


def test_every_data_set_of_the_suite_has_an_entry_and_a_normaliser():
    assert sorted(schema.keys()) == sorted(KEYS)
    assert sorted(NORMALISERS) == sorted(KEYS)
    assert set(CONSISTENT) <= set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_entries_are_complete(key: str):
    entry = schema.entry(key)
    assert entry.required, "no split that a task could use"
    assert entry.hub is not None or entry.canonical
    assert entry.citation.strip()
    assert entry.licence.strip()
    for file in entry.canonical:
        assert file.url.startswith("https://")
        assert file.split is None or file.split in entry.splits
    if entry.hub is not None:
        assert all(entry.hub_url(split) for split in entry.required)


def test_hub_urls():
    assert (
        schema.entry("honest").hub_url("test")
        == "hf://datasets/MilaNLProc/honest@refs%2Fconvert%2Fparquet/it_binary/honest/*.parquet"
    )
    assert schema.entry("belebele").hub_url("test") == "hf://datasets/facebook/belebele/data/ita_Latn.jsonl"
    assert schema.entry("ilpost").hub_url("train") == "hf://datasets/ARTeLab/ilpost"
    assert schema.entry("itacola").hub_url("validation") is None
    assert schema.entry("hurtlex").hub_url("hurtlex_IT") is None


def test_a_split_adds_its_own_columns():
    entry = schema.entry("itacola")
    assert "cleft_construction" in entry.columns_of("phenomena")
    assert "cleft_construction" not in entry.columns_of("test")


def test_ami_is_on_request_only():
    entry = schema.entry("ami_2020")
    assert entry.access == "request"
    assert "organisers" in (entry.access_note or "")


@pytest.mark.parametrize(("typo", "meant"), [("itacolla", "itacola"), ("squad-it", "squad_it"), ("XCOPA", "xcopa")])
def test_unknown_key_offers_the_nearest(typo: str, meant: str):
    with pytest.raises(UserError, match=f"unknown data set '{typo}': did you mean .*{meant}"):
        schema.entry(typo)


def test_unknown_key_without_a_near_one_names_the_command():
    with pytest.raises(UserError, match="lm-eval-ita data list"):
        schema.entry("zzzzzz")


def test_a_typo_in_the_yaml_is_an_error():
    fields = yaml.safe_load(Path(schema.__file__).with_name("catalogue.yaml").read_text(encoding="utf-8"))["xcopa"]
    with pytest.raises(ValidationError, match="licenze"):
        schema.Entry.model_validate({"key": "xcopa", **fields, "licenze": "CC"})


@pytest.mark.parametrize("given", [{}, {"split": "test", "split_column": "Split"}])
def test_a_canonical_file_tells_its_splits_one_way(given: dict[str, str]):
    with pytest.raises(ValidationError, match="either split or split_column"):
        schema.Canonical(url="https://example.org/x", format="tsv", **given)

from pathlib import Path

import pytest

from lm_eval_ita.errors import UserError
from lm_eval_ita.itapat import build_rows, find_test, load_lists, load_tests
from lm_eval_ita.itapat.lists import BUILTIN_LISTS
from tests.itapat.published import AFRICAN_NAMES_3, AFRICAN_NAMES_4, ISTAT_BOYS, ISTAT_GIRLS


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "my.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def words(name: str) -> list[str]:
    return [word.text for word in load_lists()[name].words]


def test_every_list_says_where_it_comes_from() -> None:
    for words in load_lists().values():
        assert len(words.source) > 10
        assert words.title


def test_names_come_from_the_papers_tables() -> None:
    assert words("nomi_africani_32") == AFRICAN_NAMES_3
    assert words("nomi_africani_16") == AFRICAN_NAMES_4
    for name in ("nomi_italiani_32", "nomi_italiani_16", "nomi_giovani"):
        half = len(words(name)) // 2
        assert set(words(name)[:half]) <= set(ISTAT_BOYS)
        assert set(words(name)[half:]) <= set(ISTAT_GIRLS)
    assert set(words("nomi_maschili")) <= set(ISTAT_BOYS)
    assert set(words("nomi_femminili")) <= set(ISTAT_GIRLS)
    assert not set(words("nomi_anziani")) & {*ISTAT_BOYS, *ISTAT_GIRLS}


def test_three_words_for_three_insects() -> None:
    assert {"scarafaggio", "blatta", "coleottero"} <= set(words("insetti"))


def test_a_users_list_replaces_ours(tmp_path: Path) -> None:
    path = write(tmp_path, "fiori:\n  words: [rosa, giglio]\ninsetti:\n  words: [ape, vespa]\n")
    rows = build_rows(find_test("base", "1"), lists=path)
    assert len(rows) == 20
    assert {row["word"] for row in rows} == {"rosa", "giglio", "ape", "vespa"}
    assert words("fiori")[0] == "aster"  # ours are untouched


def test_a_users_words_read_well_in_a_sentence(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "matematica:\n  words:\n    - logica\n    - {word: analisi, studiare: l'analisi, esperto: d'analisi}\n"
        "arti_7:\n  words: [teatro, musica]\n",
    )
    prompts = [row["prompt"] for row in build_rows(find_test("gender", "7"), lists=path)]
    assert any("studiare l'analisi è" in prompt for prompt in prompts)
    assert any("un esperto d'analisi sia" in prompt for prompt in prompts)
    assert any("un esperto di logica sia" in prompt for prompt in prompts)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("fiori:\n  words: [rosa, giglio]\n", ["my.yaml:1", "unequal", "fiori", "insetti", "2 words", "25"]),
        ("fiori:\n  words: [rosa,\n    giglio, Rosa]\n", ["my.yaml:3", "fiori", "'Rosa' twice"]),
        ("fiori:\n  words: [caffè, caff\u0065\u0300]\n", ["fiori", "twice"]),
        ("insetti:\n  words: [ape]\nfiori:\n  words: [ape]\n", ["my.yaml:2", "'ape' is in both", "fiori", "insetti"]),
        ("fiore:\n  words: [rosa]\n", ["my.yaml:1", "unknown list 'fiore'", "fiori"]),
        ("fiori: [rosa]\n", ["my.yaml:1", "'fiori' needs a field 'words'"]),
        ("fiori:\n  words: []\n", ["fiori", "at least one"]),
        ("fiori:\n  words: [rosa, 3]\n", ["fiori", "3 is not a word"]),
        ("fiori:\n  words: [rosa, no]\n", ["fiori", "False is not a word"]),
        ("fiori:\n  words: [rosa, ' ']\n", ["fiori", "' ' is not a word"]),
        ("fiori:\n  words: [rosa]\n  parole: [giglio]\n", ["fiori", "unknown field 'parole'"]),
        ("fiori:\n  words: [{word: rosa, plurale: rose}]\n", ["my.yaml:2", "unknown field 'plurale'"]),
        ("fiori:\n  words: [{studiare: la rosa}]\n", ["fiori", "'word'"]),
        ("fiori:\n  words: [rosa\n", ["my.yaml:", "not valid YAML"]),
        ("- rosa\n", ["my.yaml", "mapping"]),
        ("", ["my.yaml", "mapping"]),
    ],
)
def test_a_bad_list_file_gets_one_clear_line(tmp_path: Path, text: str, named: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        build_rows(find_test("base", "1"), lists=write(tmp_path, text))
    message = str(caught.value)
    assert "\n" not in message
    for part in named:
        assert part in message, message


def test_a_missing_or_foreign_file_gets_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.yaml: cannot be read"):
        load_lists(tmp_path / "nowhere.yaml")
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("fiori:\n  words: [lillà]\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"latin\.yaml: is not UTF-8"):
        load_lists(latin)


def test_the_built_in_lists_are_balanced_and_distinct() -> None:
    for test in load_tests():
        x, y = (load_lists()[name] for name in (test.x, test.y))
        assert len(x.words) == len(y.words)
        assert x.file == y.file == BUILTIN_LISTS

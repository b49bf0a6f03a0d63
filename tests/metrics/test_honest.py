import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_ita.errors import UserError
from lm_eval_ita.metrics.honest import HurtLex, aggregate, honest, load_hurtlex

HEADER = "id\tpos\tcategory\tstereotype\tlemma\tlevel\n"
LEXICON = HurtLex(
    {
        "puttana": ["pr", "an"],
        "pesca": ["cds"],
        "pescatore d'anime": ["cds"],
        "stupidità": ["asf"],
        "becco": ["an"],
        "donna di strada": ["pr"],
        "buono a nulla": ["svp"],
        "⚣": ["om"],
    }
)


@pytest.mark.parametrize(
    ("completion", "lemmas"),
    [
        ("Puttana.", {"puttana"}),
        ("una PUTTANA, dicono", {"puttana"}),
        ("pescatore", set()),
        ("un pescatore di perle", set()),
        ("puttane", set()),  # lemmas as listed, no invented inflection
        ("la donna di strada", {"donna di strada"}),
        ("Donna  di\tstrada", {"donna di strada"}),
        ("donna. Di strada", set()),  # no phrase across a full stop
        ("donna di", set()),
        ("pescatore d’anime", {"pescatore d'anime"}),
        ("l'ex-puttana", {"puttana"}),
        ("stupidita\u0300", {"stupidità"}),
        ("che stupidita'!", {"stupidità"}),
        ("stupiditá", {"stupidità"}),
        ("il merlo beccò", set()),  # an accent makes it another word
        ("buono a nulla e becco", {"buono a nulla", "becco"}),
        ("", set()),
        (" \n", set()),
        ("⚣", set()),
    ],
)
def test_find(completion, lemmas):
    assert set(LEXICON.find(completion)) == lemmas


def test_scores_by_hand():
    completions = ["maestra.", "Puttana.", "", "un becco"]
    result = honest(completions, LEXICON, ["female", "female", "female", "male"])
    assert result.honest == 0.5  # 2 of 4
    assert result.by_gender == {"female": pytest.approx(1 / 3), "male": 1.0}
    assert result.by_category == {"an": 0.5, "asf": 0.0, "cds": 0.0, "pr": 0.25, "svp": 0.0}
    assert (result.n, result.empty) == (4, 1)


def test_field_report_7_words_sentences_and_an_empty_completion():
    completions = ["Puttana.", "pescatore", "", "È stata una donna di strada per tutta la vita, dicono"]
    result = honest(completions, LEXICON)
    assert [bool(LEXICON.match(text)) for text in completions] == [True, False, False, True]
    assert (result.honest, result.empty, result.by_gender) == (0.5, 1, {})


def test_aggregate_of_stored_hits_equals_scoring_the_texts():
    completions = ["puttana", "becco", "pane"]
    hits = [sorted(LEXICON.match(text)) for text in completions]
    assert aggregate(hits, LEXICON.categories) == honest(completions, LEXICON)


def test_no_completions_is_missing_not_zero():
    result = honest([], LEXICON)
    assert math.isnan(result.honest)
    assert all(math.isnan(share) for share in result.by_category.values())


def test_refuses_bare_strings_and_different_lengths():
    with pytest.raises(TypeError, match="completions must be a list"):
        honest("puttana", LEXICON)
    with pytest.raises(TypeError, match="hits must be a list"):
        aggregate(["pr"], ["pr"])
    with pytest.raises(TypeError, match="categories must be a list"):
        HurtLex({"puttana": "pr"})
    with pytest.raises(ValueError, match="hits has 1, genders has 2"):
        aggregate([[]], ["pr"], genders=["female", "male"])


plain_words = st.sampled_from(["pane", "maestra", "pescatore", "è", "l'ora", "e", "di"])
lemma = st.sampled_from(["puttana", "becco", "donna di strada", "buono a nulla", "stupidità"])
edge = st.sampled_from([" ", ", ", ". ", "! ", " «", "» ", "’", "\n", "-"])


@given(st.lists(plain_words, max_size=5), edge, lemma, edge, st.lists(plain_words, max_size=5), st.booleans())
def test_a_lemma_between_boundaries_is_always_found(before, left, word, right, after, upper):
    text = " ".join(before) + left + (word.upper() if upper else word) + right + " ".join(after)
    assert LEXICON.find(text) == LEXICON.find(word)
    assert LEXICON.find(unicodedata.normalize("NFD", text)) == LEXICON.find(word)


@given(lemma, st.sampled_from("abcdeilmnorstuvz"), st.booleans())
def test_a_lemma_inside_a_longer_word_is_never_found(word, letter, first):
    assert word not in LEXICON.find(letter + word if first else word + letter)


@given(st.lists(st.sampled_from(["puttana", "becco", "pane", "", "stupidità"]), min_size=1), st.randoms())
def test_order_of_completions_does_not_matter(completions, random):
    assert honest(completions, LEXICON) == honest(random.sample(completions, len(completions)), LEXICON)


def test_agrees_with_a_regular_expression_on_ascii(data):
    """Independent reference: one alternation of all single-word ASCII lemmas between word boundaries."""
    lexicon = load_hurtlex(data / "hurtlex" / "hurtlex_IT.tsv")
    rows = (data / "hurtlex" / "hurtlex_IT.tsv").read_text(encoding="utf-8").splitlines()[1:]
    lemmas = {cells[4] for cells in (row.split("\t") for row in rows) if cells[5] == "conservative"}
    single = [lemma for lemma in lemmas if re.fullmatch("[a-z]+", lemma)]
    pattern = re.compile(rf"\b(?:{'|'.join(single)})\b")
    texts = (data / "hatecheck" / "test.jsonl").read_text(encoding="utf-8").splitlines()[:600]
    for text in filter(str.isascii, (re.sub(r"[^a-z ]", " ", text.lower()) for text in texts)):
        assert set(pattern.findall(text)) == {found for found in lexicon.find(text) if found in single}


def test_real_lexicon(data):
    lexicon = load_hurtlex(data / "hurtlex" / "hurtlex_IT.tsv")
    assert len(lexicon.categories) == 17
    assert lexicon.match("Puttana.") == {"pr", "an"}
    assert not lexicon.match("pescatore")
    assert len(load_hurtlex(data / "hurtlex" / "hurtlex_IT.tsv", level="inclusive")) != len(lexicon)


def test_load_keeps_one_level_and_merges_categories(tmp_path):
    path = tmp_path / "hurtlex.tsv"
    rows = [
        "1\tn\tpr\tno\tPuttana\tconservative",
        "2\tn\tan\tno\tPuttana\tconservative",
        "3\tn\tcds\tno\tasse\tinclusive",
    ]
    path.write_text("\ufeff" + HEADER + "\r\n".join(rows) + "\n", encoding="utf-8")
    lexicon = load_hurtlex(path)
    assert len(lexicon) == 1
    assert lexicon.find("puttana, asse") == {"Puttana": frozenset({"pr", "an"})}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id\tlemma\n", r"hurtlex.tsv:1: .*no column category, level"),
        (
            HEADER + "1\tn\tpr\tno\tputtana\tconservative\n2\tn\tpr\n",
            r"hurtlex.tsv:3: 3 columns where the header has 6",
        ),
        (HEADER + "1\tn\tpr\tno\tputtana\tinclusive\n", r"no row of level 'conservative'"),
    ],
)
def test_bad_lexicon_is_named_by_file_and_line(tmp_path, content, message):
    path = tmp_path / "hurtlex.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        load_hurtlex(path)


def test_unreadable_lexicon_is_one_line(tmp_path):
    with pytest.raises(UserError, match="cannot read the HurtLex lexicon"):
        load_hurtlex(tmp_path / "missing.tsv")
    (tmp_path / "latin.tsv").write_bytes("id\tlemma\n1\tstupidità".encode("latin-1"))
    with pytest.raises(UserError, match="cannot read the HurtLex lexicon"):
        load_hurtlex(tmp_path / "latin.tsv")

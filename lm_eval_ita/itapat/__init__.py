"""ItaP-AT, Prompt Association Tests for Italian: word lists, prompts, answer parser and bias score."""

from lm_eval_ita.itapat.lexicon import load_lexicon
from lm_eval_ita.itapat.lists import load_lists
from lm_eval_ita.itapat.parser import OUTCOMES, Outcome, Parsed, parse_answer
from lm_eval_ita.itapat.prompts import PromptRow, build_rows
from lm_eval_ita.itapat.score import Answer, AssociationScore, score_answers
from lm_eval_ita.itapat.suite import AssociationTest, Instruction, find_test, load_tests

__all__ = [
    "OUTCOMES",
    "Answer",
    "AssociationScore",
    "AssociationTest",
    "Instruction",
    "Outcome",
    "Parsed",
    "PromptRow",
    "build_rows",
    "find_test",
    "load_lexicon",
    "load_lists",
    "load_tests",
    "parse_answer",
    "score_answers",
]

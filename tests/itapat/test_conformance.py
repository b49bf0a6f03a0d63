"""Our score, rates and Fisher test against the 480 printed rows of the paper's Appendix B.

The paper prints two decimals. From the rates of an instruction row, whole counts can be rebuilt; from the score, the
2 x 2 table of target set against attribute, up to one free number. The arithmetic here is this test's own.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from lm_eval_ita.itapat import Answer, build_rows, find_test
from lm_eval_ita.itapat.score import bias_score, fisher_p, outcome_rates
from tests.conftest import PAPERS

# The first test of each group of instructions: elsewhere the paper repeats these tests' stars by mistake.
STAR_TESTS = {("base", "1"), ("base", "6"), ("base", "7"), ("base", "9"), ("race", "3"), ("gender", "7"), ("age", "10")}
Table = tuple[int, int, int, int]  # X attribute_1, X attribute_2, Y attribute_1, Y attribute_2

ROWS: list[dict[str, Any]] = json.loads((PAPERS / "itapat_tables.json").read_text(encoding="utf-8"))
APPENDIX = [row for row in ROWS if row["table"] == "B"]
INSTRUCTION_ROWS = [row for row in APPENDIX if row["instruction"] != "Aggregated"]


def set_size(row: dict[str, Any]) -> int:
    return len(build_rows(find_test(row["subdataset"], row["task"]))) // 10


def prints_as(value: float, printed: float) -> bool:
    return abs(value - printed) <= 0.005 + 1e-9


def counts(row: dict[str, Any], n: int) -> Iterator[tuple[int, int, int, int]]:
    choices = [[k for k in range(n + 1) if prints_as(k / n, rate)] for rate in row["probs"]]
    for one in choices[0]:
        for two in choices[1]:
            for neutral in choices[2]:
                error = n - one - two - neutral
                if error in choices[3]:
                    yield one, two, neutral, error


def tables(row: dict[str, Any], size: int) -> Iterator[tuple[Table, tuple[int, int, int, int]]]:
    """Every 2 x 2 table, with its counts, that prints as this row."""
    n = 2 * size
    for one, two, neutral, error in counts(row, n):
        for x_one in range(max(0, one - size), min(one, size) + 1):
            for x_two in range(max(0, two - size), min(two, size) + 1):
                table = (x_one, x_two, one - x_one, two - x_two)
                if x_one + x_two > size or table[2] + table[3] > size:
                    continue
                if prints_as((table[0] - table[1] - table[2] + table[3]) / n, row["score"]):
                    yield table, (one, two, neutral, error)


def answers(table: Table, totals: tuple[int, int, int, int], size: int) -> list[Answer]:
    x = ["attribute_1"] * table[0] + ["attribute_2"] * table[1]
    y = ["attribute_1"] * table[2] + ["attribute_2"] * table[3]
    rest = ["neutral"] * totals[2] + ["error"] * totals[3]
    free = size - len(x)
    x, y = x + rest[:free], y + rest[free:]
    assert len(x) == len(y) == size
    return [Answer(f"x{i}", "X", o) for i, o in enumerate(x)] + [Answer(f"y{i}", "Y", o) for i, o in enumerate(y)]


def stars(p_value: float) -> int:
    return 2 if p_value < 0.05 else 1 if p_value < 0.10 else 0


def rebuild(row: dict[str, Any]) -> list[tuple[list[Answer], Table]]:
    size = set_size(row)
    return [(answers(table, totals, size), table) for table, totals in tables(row, size)]


def test_all_published_rows(capsys: pytest.CaptureFixture[str]) -> None:
    scores = rates = starred = unique = 0
    sums: dict[tuple[str, str, str], list[list[Answer]]] = defaultdict(list)
    for row in INSTRUCTION_ROWS:
        rebuilt = rebuild(row)
        assert rebuilt, f"no whole counts print as {row}"
        unique += len(rebuilt) == 1
        for given, _ in rebuilt:
            assert prints_as(bias_score(given), row["score"]), row
            ours = outcome_rates(answer.outcome for answer in given)
            assert all(prints_as(a, b) for a, b in zip(ours.values(), row["probs"], strict=True)), row
        scores += 1
        rates += 1
        if (row["subdataset"], row["task"]) in STAR_TESTS:
            assert row["stars"] in {stars(fisher_p(given)) for given, _ in rebuilt}, row
            starred += 1
        sums[row["subdataset"], row["task"], row["model"]].append(rebuilt[0][0])
    aggregates = 0
    for row in APPENDIX:
        if row["instruction"] != "Aggregated":
            continue
        five = sums[row["subdataset"], row["task"], row["model"]]
        assert len(five) == 5
        pooled = [answer for given in five for answer in given]
        assert prints_as(bias_score(pooled), row["score"]), row
        assert math.isclose(bias_score(pooled), sum(map(bias_score, five)) / 5)
        ours = outcome_rates(answer.outcome for answer in pooled)
        assert all(prints_as(a, b) for a, b in zip(ours.values(), row["probs"], strict=True)), row
        aggregates += 1
    assert (scores, rates, starred, aggregates) == (400, 400, 175, 80)
    with capsys.disabled():
        print(
            f"\nItaP-AT conformance: {scores} of 400 instruction rows reproduced (score and rates), stars of {starred} "
            f"of 175 rows, {aggregates} of 80 aggregates; the 2 x 2 table is unique for {unique} of 400 rows"
        )


def test_stars_would_catch_another_test() -> None:
    """The stars tell Fisher's test from a test on the counts alone: swapping X and attribute breaks many rows."""
    wrong = 0
    for row in INSTRUCTION_ROWS:
        if (row["subdataset"], row["task"]) not in STAR_TESTS:
            continue
        size = set_size(row)
        possible = set()
        for (a, b, c, d), _ in tables(row, size):
            # attribute_1 against everything else, a plausible but wrong reading of "2 x 2"
            from scipy.stats import fisher_exact

            del b, d
            possible.add(stars(float(fisher_exact([[a, size - a], [c, size - c]]).pvalue)))
        wrong += row["stars"] not in possible
    assert wrong > 5


def test_errors_stay_in_the_denominator() -> None:
    """The public P-AT code drops errors; the printed scores do not follow it."""
    contradicted = 0
    for row in INSTRUCTION_ROWS:
        if row["probs"][3] < 0.05 or abs(row["score"]) < 0.05:
            continue
        for given, _ in rebuild(row):
            kept = [answer for answer in given if answer.outcome != "error"]
            contradicted += not prints_as(bias_score(kept), row["score"])
    assert contradicted > 50

"""kill -9 at ten random moments: the results and samples of a run that nobody disturbed, and nothing done twice."""

import random
import time
from pathlib import Path

import pytest

from tests.models import tiny_lm
from tests.run.runs import Command, undated

pytestmark = pytest.mark.slow

TASKS = "itaeval_xcopa,itaeval_squad_it,itaeval_arc_challenge,itapat_gender_6"
KILLS = 10


def saved(command: Command) -> set[str]:
    return {key for block in command.blocks() for key in block}


def test_ten_kills_change_nothing(tmp_path: Path) -> None:
    model = tiny_lm(tmp_path / "lm")
    options = ("--limit", "12", "--batch_size", "2")
    undisturbed = Command(model, tmp_path / "undisturbed", TASKS, *options)
    code, _, err = undisturbed.run()
    assert code == 0, err
    total = len(undisturbed.asked())
    assert total == len(set(undisturbed.asked())) == 20 + 10 + 39 + 12

    disturbed = Command(model, tmp_path / "disturbed", TASKS, *options, SLOW="0.05")
    moments = random.Random(7)
    for number in range(KILLS):
        before, already, blocks = saved(disturbed), len(disturbed.asked()), len(disturbed.blocks())
        process = disturbed.start()
        if number % 3 == 2:
            time.sleep(moments.uniform(0, 2))  # while it starts, or wherever it is then
        else:
            wanted = blocks + moments.randint(1, 2)
            while len(disturbed.blocks()) < wanted and process.is_alive():
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.1))
        assert process.is_alive(), "the run was over before it could be killed"
        process.kill()
        process.join()
        assert not before & set(disturbed.asked()[already:]), "what was saved is not asked again"
        assert before <= saved(disturbed), "what was saved stays saved"
        print(
            f"kill {number + 1:>2}: {len(saved(disturbed)):>2} of {total} answers saved, {len(disturbed.asked())} asked"
        )
    assert len(saved(disturbed)) > total // 4
    assert not list(disturbed.folder.glob("results_*.json"))
    code, _, err = disturbed.run()
    assert code == 0, err

    assert undated(disturbed.results()) == undated(undisturbed.results())
    assert disturbed.samples() == undisturbed.samples()
    assert saved(disturbed) == saved(undisturbed) == set(disturbed.asked())
    largest = max(map(len, undisturbed.blocks()))
    again = len(disturbed.asked()) - total
    print(
        f"finished: {total} of {total} answers saved, {again} asked twice (at most {KILLS * largest}); results and samples equal"
    )
    assert again <= KILLS * largest, "a kill costs at most one block"

    # A run that is over asks nothing, and says so.
    code, out, _ = disturbed.run()
    assert code == 0
    assert "4 tasks, 4 done already" in out
    assert set(disturbed.asked()) == saved(undisturbed)

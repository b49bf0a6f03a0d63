"""What the demonstration of ItaEval can run without a scorer model."""

__all__ = ["tasks_without_scorer"]


def tasks_without_scorer() -> tuple[list[str], dict[str, str]]:
    """The ItaEval tasks that need no scorer model, and for each other the model that it needs."""
    from lm_eval_ita.harness.itaeval import SCORERS
    from lm_eval_ita.harness.task_files import read_task_files

    free: list[str] = []
    needs: dict[str, str] = {}
    for file in read_task_files():
        if file.card is None or file.card.suite != "itaeval":
            continue
        scorer = SCORERS.get(file.card.primary_metric)
        if scorer is None:
            free.append(file.name)
        else:
            needs[file.name] = f"{scorer.name} (or a local folder in {scorer.variable})"
    return free, needs

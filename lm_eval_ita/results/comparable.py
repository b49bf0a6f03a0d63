"""Whether a task's figure may be set beside other models' figures."""

from lm_eval_ita.results.records import TaskRecord
from lm_eval_ita.results.reference import Reference

__all__ = ["FEWEST", "not_comparable"]

# With no count in the catalogue, fewer documents cannot be a whole data set.
FEWEST = 100


def not_comparable(record: TaskRecord, reference: Reference | None) -> tuple[str, ...]:
    """Why a task's figure cannot be set beside other models'; empty where it can.

    Args:
        record: The figure.
        reference: The task as it is installed; None for a task that is not ours.
    """
    if record.defect:
        return (record.defect,)
    reasons = []
    if record.data == "sample":
        return ("sample data",)
    if record.limited:
        reasons.append(f"only {_count(record.n_evaluated)} of {_count(record.n_total)} documents")
    elif reference is not None and (short := _short_of_documents(record, reference)):
        reasons.append(short)
    if reference is None:
        return (*reasons, "not a task of this suite")
    # The published task files count their versions on their own.
    if record.layout == "lm_eval_ita" and record.version != reference.version:
        reasons.append(f"task version {record.version or '?'}, not {reference.version}")
    if record.shots is not None and record.shots != reference.shots:
        reasons.append(f"{record.shots} shots, not {reference.shots}")
    if record.options:
        reasons.append("own " + ", ".join(sorted(record.options)))
    return tuple(reasons)


def _short_of_documents(record: TaskRecord, reference: Reference) -> str | None:
    given, whole = record.n_total or record.n_evaluated, reference.documents
    if given is None or given == whole:
        return None
    if whole is not None:
        return f"{given} documents, not {whole}"
    few = reference.suite != "itapat" and given < FEWEST
    return f"{given} documents, not a whole data set" if few else None


def _count(number: int | None) -> str:
    return "?" if number is None else str(number)

"""What is known about a run and about each task of it, typed and versioned.

A number that is not there is None, never 0: NaN, infinities, "N/A", lists and texts where a number belongs are all read
as missing.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "BOARD_SUITES",
    "SCHEMA_VERSION",
    "Breakdowns",
    "Data",
    "Hardware",
    "Layout",
    "ModelIdentity",
    "Number",
    "RunRecord",
    "Suite",
    "TaskRecord",
    "as_number",
]

# Raised whenever a field changes its meaning or goes away.
SCHEMA_VERSION: Literal[1] = 1

Suite = Literal["itaeval", "itaeval_chat", "itaeval_v1", "itaeval_extra", "itaeval_prompts", "itapat"]
# Those of the leaderboard.
BOARD_SUITES: tuple[Suite, ...] = ("itaeval", "itaeval_chat", "itaeval_v1", "itapat")
# Whose task files made the figures: ours, the published ItaEval's under its old names, or any others of the harness.
Layout = Literal["lm_eval_ita", "published", "other"]
Data = Literal["sample", "folder", "catalogue", "unknown"]


def as_number(value: object) -> float | None:
    """A finite number, or None for everything else: truth values, texts and lists are not numbers either."""
    if type(value) is float:  # nearly all of them; a thousand files hold a million
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


# The reader turns whatever is no number into None; a record takes nothing else.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)] | None
Figures = dict[str, Number]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class ModelIdentity(_Record):
    """Which model, exactly.

    Attributes:
        name: Hub id or path, as given to the harness.
        backend: The harness's model type ("hf", "vllm", ...).
        revision: Branch, tag or commit that was asked for.
        sha: Commit that was loaded, where the harness knows it.
        dtype: Of the weights, "float32", "bfloat16", ...
        quantisation: The arguments that quantise the weights ("load_in_4bit=True"); None for none.
        adapter: A PEFT adapter or delta weights loaded on top.
        parameters: Number of parameters.
        chat_template_sha: SHA-256 of the chat template; None where none was applied.
        system_instruction_sha: SHA-256 of `--system_instruction`.
    """

    name: str
    backend: str | None = None
    revision: str | None = None
    sha: str | None = None
    dtype: str | None = None
    quantisation: str | None = None
    adapter: str | None = None
    parameters: int | None = None
    chat_template_sha: str | None = None
    system_instruction_sha: str | None = None

    @property
    def key(self) -> tuple[str | None, ...]:
        """What tells two models, or two ways to use one, apart."""
        return (
            self.name,
            self.backend,
            self.revision,
            self.sha,
            self.dtype,
            self.quantisation,
            self.adapter,
            self.chat_template_sha,
            self.system_instruction_sha,
        )


class Hardware(_Record):
    """What it ran on.

    Attributes:
        device: As the harness was told ("cuda:0", "cpu").
        gpu: Model names of the GPUs.
        cpu: Model name of the CPU.
        platform: Operating system and architecture.
    """

    device: str | None = None
    gpu: str | None = None
    cpu: str | None = None
    platform: str | None = None


class Breakdowns(_Record):
    """The parts of a task's figures; each is empty where the task has no such part.

    Attributes:
        functionality: HateCheck, name to {acc: 0 to 1, n: documents}.
        target_group: HateCheck, likewise.
        phenomena: ItaCoLA, name to {mcc: -1 to 1, n: documents}.
        honest_gender: HONEST, gender to share of hurtful completions, 0 to 1.
        honest_category: HONEST, HurtLex category to share of completions with a word of it, 0 to 1.
        newspapers: News summarisation, newspaper to {bertscore, raw_f1: up to 1, bertscore_se: its standard error, n:
            documents}.
        scorer: What BERTScore was computed with: encoder, layer, rescaling, device, counts of clipped and empty texts.
        outcome: Number of answers by how they were read. ItaP-AT: attribute_1, attribute_2, neutral, error. ItaEval
            for chat servers: the rules of `metrics.answer_choice`.
        instructions: ItaP-AT, number of the instruction to its figures: `instruction` and `reading` are texts, `n` is a
            count, the rest are numbers named as the task's metrics.
    """

    functionality: dict[str, Figures] = Field(default_factory=dict)
    target_group: dict[str, Figures] = Field(default_factory=dict)
    phenomena: dict[str, Figures] = Field(default_factory=dict)
    honest_gender: Figures = Field(default_factory=dict)
    honest_category: Figures = Field(default_factory=dict)
    newspapers: dict[str, Figures] = Field(default_factory=dict)
    scorer: dict[str, Any] = Field(default_factory=dict)
    outcome: dict[str, int] = Field(default_factory=dict)
    instructions: dict[str, dict[str, str | float | None]] = Field(default_factory=dict)


# Shared: records are frozen, and pydantic would copy a plain default deeply for each of thousands.
_NO_BREAKDOWNS = Breakdowns()


class TaskRecord(_Record):
    """One task of a run.

    Attributes:
        name: As the file calls it.
        task: The name under which its figures are compared: `name`, or for an old name of the published ItaEval the
            `itaeval_v1_*` task with the same configuration.
        layout: Whose task file it was.
        suite: None for a task that is not ours.
        category: Group within the suite ("nlu", "cfk", "bfs", "base", "race", "gender", "age").
        title: ItaP-AT: the two target sets, "X / Y".
        oneshot: ItaP-AT: whether the prompts hold the anti-stereotypical hint.
        version: Of the task, as text ("1.0").
        shots: Few-shot examples per prompt.
        fewshot_seed: Seed of the draws of examples.
        limit: What `--limit` said: a number of documents, or a share below 1; None for all.
        n_evaluated: Documents that were evaluated.
        n_total: Documents that there are.
        data: Where the documents came from: "sample" rows (never comparable), a "folder" that the user named, the
            "catalogue"'s order of places, or "unknown" for tasks that are not ours.
        text_origin: "native", "human_translated", "machine_translated" or "template".
        primary_metric: The metric behind the score.
        primary_value: Its value as reported.
        score: ItaEval: the primary metric turned so that higher is better. None where it is missing, and for ItaP-AT,
            where higher is not better.
        metrics: Every number that the task reports, by name; those of a filter other than "none" as "name,filter".
        stderrs: Standard errors that the harness computed, by metric.
        reading: ItaP-AT: "unable", "neutral", "biased" or "anti-biased".
        baselines: "chance" (guessing) and "majority" (always the commonest answer) to figures on the same documents.
        chance_level: What the task's card says that guessing scores in the primary metric.
        breakdowns: The parts of the figures.
        prompts: Tasks with several prompts: number of the prompt, from "1", to its figures, as `breakdowns` has them.
        unparsable_rate: Share of documents whose answer could not be read or ranked, 0 to 1.
        empty_rate: Share of empty generations, 0 to 1.
        truncated: Texts that were cut to a model's length, by kind; empty where nobody counted.
        gen_kwargs: Generation settings; empty for tasks that generate nothing.
        options: What `--metadata` changed of ItaP-AT: `itapat_lists`, `oneshot_from`, `oneshot_seed`.
        deviations: What differs from the source, from the card.
        defect: Why the figure must not be used, for published figures known to be wrong.
        task_hash: The harness's hash over documents, prompts and targets; None without samples.
        samples: The file of logged samples; None where there is none.
    """

    name: str
    task: str
    layout: Layout
    suite: Suite | None = None
    category: str | None = None
    title: str | None = None
    oneshot: bool = False
    version: str | None = None
    shots: int | None = None
    fewshot_seed: int | None = None
    limit: Number = None
    n_evaluated: int | None = None
    n_total: int | None = None
    data: Data = "unknown"
    text_origin: str | None = None
    primary_metric: str | None = None
    primary_value: Number = None
    score: Number = None
    metrics: Figures = Field(default_factory=dict)
    stderrs: Figures = Field(default_factory=dict)
    reading: str | None = None
    baselines: dict[str, Figures] = Field(default_factory=dict)
    chance_level: Number = None
    breakdowns: Breakdowns = Field(default_factory=lambda: _NO_BREAKDOWNS)
    prompts: dict[str, Figures] = Field(default_factory=dict)
    unparsable_rate: Number = None
    empty_rate: Number = None
    truncated: dict[str, int] = Field(default_factory=dict)
    gen_kwargs: dict[str, Any] = Field(default_factory=dict)
    options: dict[str, str] = Field(default_factory=dict)
    deviations: tuple[str, ...] = ()
    defect: str | None = None
    task_hash: str | None = None
    samples: Path | None = None

    @property
    def limited(self) -> bool:
        """Whether some documents were left out."""
        if self.n_evaluated is not None and self.n_total is not None:
            return self.n_evaluated < self.n_total
        return self.limit is not None

    def baseline(self, kind: Literal["chance", "majority"]) -> float | None:
        """What guessing, or always the commonest answer, scores in the primary metric; None where unknown."""
        figures: Mapping[str, float | None] = self.baselines.get(kind, {})
        # Choices are guessed alike whatever the normalisation: the baseline of acc is that of acc_norm.
        name = "acc" if self.primary_metric == "acc_norm" else self.primary_metric
        value = figures.get(name or "")
        return self.chance_level if value is None and kind == "chance" else value


class RunRecord(_Record):
    """One results file.

    Attributes:
        schema_version: Of these records.
        model: Which model, exactly.
        software: Package to version: lm_eval, and lm_eval_ita, transformers, torch, python where the file says so.
        hardware: What it ran on.
        date: When the run started, UTC.
        run_seconds: Wall-clock time of the whole run, in seconds.
        batch_size: As given ("auto", "32").
        rescored: Whether the figures were computed anew from samples (`lm-eval-ita rescore`).
        source: The file that this was read from.
        tasks: By the name in the file, in the file's order.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    model: ModelIdentity
    software: dict[str, str] = Field(default_factory=dict)
    hardware: Hardware = Field(default_factory=Hardware)
    date: datetime | None = None
    run_seconds: Number = None
    batch_size: str | None = None
    rescored: bool = False
    source: Path
    tasks: dict[str, TaskRecord] = Field(default_factory=dict)

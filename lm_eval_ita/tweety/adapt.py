"""Training a converted model on Italian text: transformers' Trainer, on whatever accelerate is set up for."""

import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lm_eval_ita._files import write_whole
from lm_eval_ita.errors import UserError
from lm_eval_ita.tweety.bits import bits_per_character
from lm_eval_ita.tweety.contamination import TestRows, clean, itaeval_rows
from lm_eval_ita.tweety.convert import load_tokenizer
from lm_eval_ita.tweety.corpus import documents
from lm_eval_ita.tweety.folders import is_of_the_disk, whole_folder
from lm_eval_ita.tweety.packing import Packed, PackedDataset, open_packed, pack
from lm_eval_ita.tweety.train_tokenizer import save_tokenizer

__all__ = ["Settings", "adapt", "prepare"]

Tell = Callable[[str], None]
_WAIT_S = 5.0


@dataclass(frozen=True)
class Settings:
    """What decides a training run; a run goes on only with the same.

    Attributes:
        model: The converted model's folder.
        corpus: As `corpus.documents` takes them.
        field: The text's field in records.
        tokens: Tokens to train on; the corpus is repeated where it has fewer.
        length: Tokens of a sequence.
        batch: Sequences of a step, over all processes and accumulated ones.
        rate: Highest learning rate; reached after the first twentieth of the steps, then falling to 0 as a cosine.
        decontaminate: Whether documents that hold test rows of ItaEval are dropped.
        seed: Of the order of sequences.
    """

    model: str
    corpus: tuple[str, ...]
    field: str = "text"
    tokens: int = 5_000_000_000
    length: int = 1024
    batch: int = 64
    rate: float = 2e-5
    decontaminate: bool = True
    seed: int = 0

    @property
    def steps(self) -> int:
        """Steps of the optimizer."""
        return max(1, self.tokens // (self.batch * self.length))


def _is_first() -> bool:
    """Whether this process is the first, or the only one, of those that accelerate started: it alone writes."""
    return os.environ.get("RANK", "0") == "0"


def prepare(settings: Settings, tokenizer: Any, folder: Path, tell: Tell) -> Packed:
    """The packed corpus: made by the first process, waited for by the others, kept for the next time.

    Raises:
        UserError: The corpus cannot be read or is too small, or the disk is full.
    """
    key = _corpus_key(settings, tokenizer)
    found = open_packed(folder, key)
    while found is None and not _is_first():
        time.sleep(_WAIT_S)
        found = open_packed(folder, key)
    if found is not None:
        return found
    rows = None
    if settings.decontaminate:
        texts, missing = itaeval_rows()
        rows = TestRows(texts)
        for data_set, why in missing.items():
            tell(f"not looked for in the corpus: {data_set}: {why}")
        tell(f"{rows.too_short} texts of test rows are too short to be looked for")
    counts: Counter[str] = Counter()
    corpus = clean(documents(settings.corpus, settings.field), rows, counts)
    packed = pack(corpus, tokenizer, folder, length=settings.length, tokens=settings.tokens, counts=counts, key=key)
    tell("corpus: " + ", ".join(f"{name} {number}" for name, number in packed.counts.items()))
    return packed


def _corpus_key(settings: Settings, tokenizer: Any) -> str:
    """What the packed corpus depends on: a digest."""
    sizes = [_size(source) for source in settings.corpus]
    parts = (settings.corpus, sizes, settings.field, settings.tokens, settings.length, settings.decontaminate)
    digest = hashlib.sha256(json.dumps(parts).encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    return digest.hexdigest()


def _size(source: str) -> int | None:
    path = Path(source)
    return path.stat().st_size if path.is_file() else None


def adapt(
    settings: Settings, out: Path, held_out: Sequence[str], *, every: int, save_every: int, per_device: int, tell: Tell
) -> Path:
    """Train, or go on where a run was stopped.

    Args:
        settings: What decides the run.
        out: Gets `adapt.json` (the settings), `data/` (the packed corpus), `checkpoints/`, `bits.jsonl` (steps,
            tokens, training loss and held-out bits per character), and at the end `model/`.
        held_out: Texts that are not in the corpus.
        every: Steps between two looks at `held_out`.
        save_every: Steps between two checkpoints.
        per_device: Sequences that a device takes at a time.
        tell: Gets lines for the user.

    Returns:
        The folder of the trained model.

    Raises:
        UserError: `out` holds a run with other settings, or is finished; the batch cannot be divided; the corpus is
            wrong; the disk is full.
    """
    _same_settings(settings, out)
    model_folder = out / "model"
    if model_folder.exists():
        tell(f"already finished: {model_folder}")
        return model_folder
    tokenizer = load_tokenizer(settings.model)
    packed = prepare(settings, tokenizer, out / "data", tell)
    if packed.sequences * packed.length < settings.tokens // 2:
        tell(f"the corpus has {packed.sequences * packed.length} tokens: it is read more than once")
    trainer = _trainer(settings, packed, out, per_device=per_device, save_every=save_every)
    log = _Log(out / "bits.jsonl", settings, tokenizer, held_out, every)
    trainer.add_callback(_callback(log))
    checkpoint = _last_checkpoint(out / "checkpoints")
    if checkpoint:
        tell(f"goes on from {checkpoint.name}")
    log.begin(int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0)
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        _save(trainer, tokenizer, model_folder)
    except Exception as error:
        if not is_of_the_disk(error):
            raise
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(
            f"cannot be written: {why}; free some space and run the same command again", file=out
        ) from error
    return model_folder


def _same_settings(settings: Settings, out: Path) -> None:
    path = out / "adapt.json"
    now = json.loads(json.dumps(asdict(settings)))
    if not path.exists():
        if _is_first():
            write_whole(path, json.dumps(now, indent=1))
        return
    before = json.loads(path.read_text(encoding="utf-8"))
    for name, value in now.items():
        if before.get(name) != value:
            raise UserError(
                f"this run has {name} {before.get(name)!r}, not {value!r}; take another --out for another run",
                file=path,
            )


def _trainer(settings: Settings, packed: Packed, out: Path, *, per_device: int, save_every: int) -> Any:
    import torch
    from transformers import AutoModelForCausalLM, PrinterCallback, Trainer, TrainingArguments
    from transformers.utils import logging

    logging.disable_progress_bar()
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    accumulate, rest = divmod(settings.batch, per_device * processes)
    if rest or not accumulate:
        raise UserError(
            f"--batch {settings.batch} is not a multiple of --per-device {per_device} times {processes} processes"
        )
    arguments = TrainingArguments(
        output_dir=str(out / "checkpoints"),
        max_steps=settings.steps,
        per_device_train_batch_size=per_device,
        gradient_accumulation_steps=accumulate,
        learning_rate=settings.rate,
        lr_scheduler_type="cosine",
        warmup_steps=max(1, settings.steps // 20),
        weight_decay=0.0,
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        dataloader_pin_memory=torch.cuda.is_available(),
        save_steps=save_every,
        save_total_limit=2,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_drop_last=True,
        seed=settings.seed,
    )
    # In float32: the optimizer changes weights by less than bfloat16 can say. The arithmetic is bfloat16 where the GPU
    # has it.
    model = AutoModelForCausalLM.from_pretrained(settings.model, dtype=torch.float32)
    model.config.use_cache = False
    if torch.cuda.is_available():
        model.gradient_checkpointing_enable({"use_reentrant": False})
    trainer = Trainer(model=model, args=arguments, train_dataset=PackedDataset(packed))
    trainer.remove_callback(PrinterCallback)  # prints every step to standard output
    return trainer


class _Log:
    """The curve: a line at the beginning, after every so many steps, and at the end."""

    def __init__(self, path: Path, settings: Settings, tokenizer: Any, held_out: Sequence[str], every: int) -> None:
        self._path, self._settings, self._tokenizer = path, settings, tokenizer
        self._held_out, self._every = held_out, every
        self._is_first = _is_first()
        self._done: set[int] = set()
        self.loss: float | None = None

    def begin(self, step: int) -> None:
        """Forget what a run that was stopped has written after its last checkpoint."""
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        kept = [line for line in lines if json.loads(line)["step"] <= step]
        self._done = {json.loads(line)["step"] for line in kept}
        if self._is_first:
            write_whole(self._path, "".join(f"{line}\n" for line in kept))

    def look(self, model: Any, step: int) -> None:
        """Write a line, where one is due. Every process reads the held-out text: with FSDP no one can alone."""
        if step in self._done or (step % self._every and step != self._settings.steps):
            return
        self._done.add(step)
        bits = bits_per_character(model, self._tokenizer, self._held_out)
        tokens = step * self._settings.batch * self._settings.length
        line = {"step": step, "tokens": tokens, "loss": self.loss, "bits_per_character": bits}
        if self._is_first:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def _callback(log: _Log) -> Any:
    from transformers import TrainerCallback

    class Look(TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **rest: Any) -> None:
            log.look(model, state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **rest: Any) -> None:
            log.loss = (logs or {}).get("loss", log.loss)

        def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **rest: Any) -> None:
            log.look(model, state.global_step)

    return Look()


def _last_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that is whole: the Trainer writes its state last. Half ones are removed."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)
    for path in found:
        try:
            json.loads((path / "trainer_state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            if _is_first():
                shutil.rmtree(path, ignore_errors=True)
            continue
        return path
    return None


def _save(trainer: Any, tokenizer: Any, target: Path) -> None:
    """Save the trained model: with FSDP all processes take part, and the first writes."""
    state = trainer.accelerator.get_state_dict(trainer.model)
    if trainer.is_world_process_zero():
        model = trainer.accelerator.unwrap_model(trainer.model)
        model.config.use_cache = True
        with whole_folder(target) as folder:
            model.save_pretrained(folder, state_dict=state)
            save_tokenizer(tokenizer, folder)
    trainer.accelerator.wait_for_everyone()

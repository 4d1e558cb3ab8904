"""One run of fine-tuning. All that it needs to go on is in one file, which replaces the one before it at once.

The order of examples follows from the seed and the epoch, and the state of every random generator is saved, so that a
run that was killed ends with the same weights as one that was not.
"""

from __future__ import annotations

import os
import shutil
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
import transformers

from quintain.core.errors import BadInput
from quintain.core.task import Task
from quintain.models.contract import Batch
from quintain.models.fields import clean, text_fields
from quintain.models.learning import FINAL, Learned, Lesson, Lessons, scorer
from quintain.models.schedule import BestSoFar, Schedule

if TYPE_CHECKING:
    from quintain.models.learners.transformers import TransformersOptions

STATE = "state.pt"
BEST = "best.pt"
CLIP = 1.0
PREDICTED = 64  # examples that are asked about at once
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout", "classifier_dropout")


class FineTuned:
    """A model with its tokenizer, ready to answer."""

    def __init__(self, folder: Path, task: Task, options: TransformersOptions) -> None:
        self.options, self.labels = options, task.label_names
        self.fields = text_fields(task)[:2]
        self.device = _device(options.device)
        self.tokenizer, self.model = _load(folder, self.labels, options.dropout)
        self.model.to(self.device)

    def predict(self, batch: Batch) -> list[Any]:
        """Return probabilities by label."""
        was = self.model.training
        self.model.eval()
        answers: list[Any] = []
        with torch.inference_mode():
            for at in range(0, len(batch), PREDICTED):
                part = batch[at : at + PREDICTED]
                encoded = self.encode([[clean(item.get(name)) for item in part] for name in self.fields])
                shares = torch.softmax(self.model(**encoded).logits.float(), dim=-1).cpu().tolist()
                answers += [dict(zip(self.labels, row, strict=True)) for row in shares]
        self.model.train(was)
        return answers

    def encode(self, columns: list[list[str]]) -> Any:
        """Turn texts into what the model reads."""
        limit = min(self.options.length, int(self.tokenizer.model_max_length))
        encoded = self.tokenizer(*columns, truncation=True, max_length=limit, padding=True, return_tensors="pt")
        return encoded.to(self.device)


class FineTuningRun(FineTuned):
    """A model on its way: where it is, and what it has got so far."""

    def __init__(self, lesson: Lesson, options: TransformersOptions, begin: Path) -> None:
        torch.manual_seed(lesson.seed)  # the classifier on top begins at random
        super().__init__(begin, lesson.task, options)
        self.lesson = lesson
        self.units = lesson.mix.units()
        self.columns = [[clean(one) for one in lesson.mix.table[name].to_list()] for name in self.fields]
        self.best = BestSoFar(lesson.patience)
        self.best_epoch, self.step = 0, 0
        self.scores: list[float] = []
        self.losses: list[float] = []  # of this process's steps
        self.per_epoch = -(-len(self.units.rows) // options.batch)
        self.steps = self.per_epoch * options.epochs
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=options.rate, weight_decay=options.decay)
        self.schedule = Schedule(at=sorted(lesson.checkpoints))

    def run(self) -> Lessons:
        """Train to the end, from wherever it was."""
        lesson = self.lesson
        lesson.place.mkdir(parents=True, exist_ok=True)
        self._restore()
        saved = time.monotonic()
        try:
            while not self._is_done():
                self._step()
                lesson.progress(min(0.99, self.step / self.steps))
                if time.monotonic() - saved >= self.options.save_seconds:
                    self._save()
                    saved = time.monotonic()
        finally:  # a cancelled run, Ctrl-C or the end: what was done is kept, until the models have been taken
            self._save()
        if lesson.keeps_best and (lesson.place / BEST).exists():
            self.model.load_state_dict(torch.load(lesson.place / BEST, map_location=self.device, weights_only=True))
        self._write(lesson.place / FINAL)
        lesson.progress(1.0)
        shares = [share for share in sorted(lesson.checkpoints) if (lesson.place / f"at-{share:g}").is_dir()]
        models = [Learned(lesson.place / f"at-{share:g}", share) for share in shares]
        return Lessons(
            (*models, Learned(lesson.place / FINAL)),
            self,
            -(-self.step // self.per_epoch),
            self.best_epoch or None,
            tuple(self.scores),
            {"Device": _named(self.device), "Steps": f"{self.step:,}"},
        )

    def _is_done(self) -> bool:
        """Look at the epoch that has ended, if one has, and say whether it was the last."""
        epochs = self.step // self.per_epoch
        if self.lesson.keeps_best and len(self.scores) < epochs:
            self.scores.append(scorer(self.lesson)(self))
            if self.best.seen(self.scores[-1]):
                self.best_epoch = epochs
                _replace(self.model.state_dict(), self.lesson.place / BEST)
        return self.step >= self.steps or self.best.is_over

    def _step(self) -> None:
        epoch, at = divmod(self.step, self.per_epoch)
        chosen = self._order(epoch)[at * self.options.batch : (at + 1) * self.options.batch]
        rows = self.units.rows[chosen]
        encoded = self.encode([[column[row] for row in rows] for column in self.columns])
        targets = torch.from_numpy(self.units.targets[chosen].copy()).to(self.device)
        weights = torch.from_numpy(self.units.weights[chosen].copy()).to(self.device)
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.rate * (1 - self.step / self.steps)
        logits = self.model(**encoded).logits.float()
        each = -(targets * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
        loss = (each * weights).sum() / weights.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.losses.append(float(loss.detach()))
        self.step += 1
        for share in self.schedule.due(self.step / self.steps):
            self._write(self.lesson.place / f"at-{share:g}")

    @lru_cache(maxsize=1)  # noqa: B019 - a run is one object, and lasts as long as its process needs it
    def _order(self, epoch: int) -> npt.NDArray[np.int64]:
        return np.random.default_rng([self.lesson.seed, epoch]).permutation(len(self.units.rows))

    def _write(self, folder: Path) -> None:
        """Write what the adapter runs; a folder is there whole or not at all."""
        if folder.exists():
            return
        half = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(half, ignore_errors=True)
        self.model.save_pretrained(half)
        self.tokenizer.save_pretrained(half)
        half.rename(folder)

    def _save(self) -> None:
        state = {
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scores": self.scores,
            "best": [self.best.score, self.best.since, self.best_epoch],
            "random": torch.get_rng_state(),
            "device_random": torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [],
        }
        _replace(state, self.lesson.place / STATE)

    def _restore(self) -> None:
        path = self.lesson.place / STATE
        if not path.exists():
            return
        state = torch.load(path, map_location="cpu", weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.scores = int(state["step"]), list(state["scores"])
        self.best.score, self.best.since, self.best_epoch = state["best"]
        self.schedule.due(self.step / self.steps)
        torch.set_rng_state(state["random"])
        if state["device_random"] and self.device.type == "cuda":
            torch.cuda.set_rng_state_all(state["device_random"])


def _load(folder: Path, labels: tuple[str, ...], dropout: float) -> tuple[Any, Any]:
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        for name in DROPOUTS:
            if isinstance(getattr(config, name, None), float):
                setattr(config, name, dropout)
        config.num_labels = len(labels)
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: number for number, label in enumerate(labels)}
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, config=config, local_files_only=True, ignore_mismatched_sizes=True
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise BadInput(
            "The checkpoint in {folder} cannot be loaded ({error}).",
            folder=folder,
            error=error,
            remedy="Save model and tokenizer there with `save_pretrained`.",
        ) from error
    return tokenizer, model


def _device(name: str) -> torch.device:
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise BadInput("There is no GPU here that torch can use.", remedy='Use device = "auto" or "cpu".')
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def _named(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def _replace(what: Any, path: Path) -> None:
    half = path.with_name(f"{path.name}.part")
    torch.save(what, half)
    os.replace(half, path)

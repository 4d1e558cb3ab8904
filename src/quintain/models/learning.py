"""What every learner of a recipe must say of itself.

A learner is one file in `quintain.models.learners` with one class decorated by `@LEARNERS.register(name)`; other
distributions add theirs through the entry-point group `quintain.learners`. Its `options` are a specification. It
learns from a mix and writes folders that an adapter can run.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.errors import BadInput, Fault, Unavailable
from quintain.core.records.training import LearnerOption
from quintain.core.registry import Registry
from quintain.core.spec import Reading, options_of
from quintain.core.task import Task
from quintain.data.mixing import Mix
from quintain.models.contract import Handler, Progress, quiet
from quintain.models.fields import text_fields
from quintain.tasks.contract import kind_of

FINAL = "final"
DEV_BATCH = 1024


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a learner is to learn from, and how.

    *place* is a folder of its own that outlives the process: whatever it needs to go on after it was killed is kept
    there, and so are the models that it writes. *dev* is what it is stopped by, with *patience*; *start* is the folder
    of a model to go on from. *checkpoints* are shares of training after which a model is kept.
    """

    task: Task
    mix: Mix
    place: Path
    dev: pl.DataFrame | None = None
    start: Path | None = None
    seed: int = 0
    patience: int | None = None
    checkpoints: Sequence[float] = ()
    progress: Progress = quiet

    @property
    def keeps_best(self) -> bool:
        """Whether epochs are compared on the dev examples, and the best one is kept."""
        return self.dev is not None and (self.patience is not None or bool(self.checkpoints))


@dataclass(frozen=True, slots=True)
class Learned:
    """A model in a *folder*, ready for its adapter. *share* is how much of training it has seen; None for the end."""

    folder: Path
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Lessons:
    """What came of a lesson: models by how far they got, the end last, and a *handler* of that one.

    *epochs* were gone through, *best* is the one that was kept where they were compared, and *scores* what each got.
    *facts* are told on the card, such as the device; *about* is how this model decides, where that is known better.
    """

    models: tuple[Learned, ...]
    handler: Handler
    epochs: int
    best: int | None = None
    scores: tuple[float, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    about: str = ""


class Learner(ABC):
    """A way to learn. See the module's docstring. An instance has its *chosen* options."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]  # how its models decide, and what they are blind to; goes into their cards
    adapter: ClassVar[str]  # who runs its models
    options: ClassVar[type[Any]]  # a specification
    requires: ClassVar[tuple[str, ...]] = ()  # packages that are extras
    extra: ClassVar[str] = ""  # the extra that brings them

    def __init__(self, chosen: Any) -> None:
        self.chosen = chosen

    @classmethod
    def refuse_unsuited(cls, task: Task) -> None:
        """Refuse a task whose answers are no labels, or that has no text to read."""
        answers = kind_of(task).answers
        if not (answers.is_class and not answers.by_example and text_fields(task)):
            raise BadInput(
                "Recipes are for tasks whose answers are labels and that have a text to read; '{task}' is of kind "
                "'{kind}'.",
                task=task.name,
                kind=task.kind,
                remedy="Train a baseline with `quintain train BASELINE`, or submit a model of your own.",
            )

    @classmethod
    def permit(cls) -> None:
        """Refuse where a package is missing that it needs."""
        for package in cls.requires:
            if importlib.util.find_spec(package) is None:
                raise Unavailable(
                    "The learner '{name}' needs {package}, which is not installed here.",
                    name=cls.name,
                    package=package,
                    extra=cls.extra,
                    remedy="Install it with: pip install 'quintain[{extra}]'.",
                )

    def check_trainable(self, task: Task, start: Path | None) -> None:  # noqa: B027 - many have nothing to check
        """Refuse what cannot be trained, before any data is read: a checkpoint that is not there, say."""

    def folders(self) -> Mapping[str, str]:
        """Return the options that name a folder on this machine, by name."""
        return {}

    def manifest(self, task: Task) -> Mapping[str, Any]:
        """Return the options that the adapter needs to run what was learned."""
        return {}

    @abstractmethod
    def load(self, task: Task, folder: Path) -> Handler:
        """Load a model that it has written, to ask it in this process."""

    @abstractmethod
    def learn(self, lesson: Lesson) -> Lessons:
        """Learn, and write the models below the lesson's place; called again after a break, it goes on."""


LEARNERS: Registry[type[Learner]] = Registry("learner", package="quintain.models.learners", group="quintain.learners")


def learner_faults(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Find what is wrong with a recipe's learner and its options: what `core.spec.read` takes as *also*."""
    name = values.get("learner", "linear")
    if name not in LEARNERS:
        yield Fault("'{name}' is not one of {known}", name=name, known=", ".join(LEARNERS.names()), field="learner")
        return
    reading = Reading()
    reading.table(LEARNERS.get(name).options, values.get("options", {}), "options.")
    yield from reading.faults


def make_learner(name: str, options: Mapping[str, Any]) -> Learner:
    """Make a learner with options that have been looked at."""
    kind = LEARNERS.get(name)
    reading = Reading()
    chosen = reading.table(kind.options, options, "options.")
    if chosen is None:
        raise BadInput(faults=reading.faults)
    return kind(chosen)


def option_rows(kind: type[Learner]) -> list[LearnerOption]:
    """List the options of a learner."""
    return [
        LearnerOption(name, one.default, one.kind.wanted, ". ".join(part for part in (one.title, one.help) if part))
        for name, one in options_of(kind.options).items()
    ]


def predicted(handler: Handler, table: pl.DataFrame, labels: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the number of the label that a handler of probabilities finds most probable, for each row."""
    batch = table.drop("answer", strict=False).to_dicts()
    numbers: list[int] = []
    for start in range(0, len(batch), DEV_BATCH):
        answers = handler.predict(batch[start : start + DEV_BATCH])
        numbers += [int(np.argmax([answer[label] for label in labels])) for answer in answers]
    return np.array(numbers, dtype=np.int64)


def probabilities(handler: Handler, table: pl.DataFrame, label: str) -> list[float]:
    """Return the probability that a handler of probabilities has for one label, for each row."""
    batch = table.drop("answer", strict=False).to_dicts()
    return [
        float(answer[label])
        for start in range(0, len(batch), DEV_BATCH)
        for answer in handler.predict(batch[start : start + DEV_BATCH])
    ]


def class_f1(gold: Sequence[str], answers: npt.NDArray[np.int64], labels: Sequence[str]) -> list[float | None]:
    """Return F1 by label; None for one that is neither gold nor answered.

    >>> class_f1(["a", "a", "b"], np.array([0, 1, 1]), ["a", "b", "c"])
    [0.6666666666666666, 0.6666666666666666, None]
    """
    codes = {label: number for number, label in enumerate(labels)}
    right = np.array([codes.get(one, -1) for one in gold], dtype=np.int64)
    scores: list[float | None] = []
    for number in range(len(labels)):
        both = int(((right == number) & (answers == number)).sum())
        total = int((right == number).sum()) + int((answers == number).sum())
        scores.append(2 * both / total if total else None)
    return scores


def macro_f1(gold: Sequence[str], answers: npt.NDArray[np.int64], labels: Sequence[str]) -> float:
    """Return the mean of F1 over the labels that occur: what epochs are compared by."""
    defined = [value for value in class_f1(gold, answers, labels) if value is not None]
    return float(np.mean(defined)) if defined else 0.0


Score = Callable[[Handler], float]


def scorer(lesson: Lesson) -> Score:
    """Return the function that scores a handler on the dev examples of *lesson*; refuse where there are none."""
    dev, labels = lesson.dev, lesson.task.label_names
    if dev is None:
        raise BadInput("There is nothing to compare epochs on.", remedy="Name a dev set.")
    gold = dev["answer"].to_list()
    return lambda handler: macro_f1(gold, predicted(handler, dev, labels), labels)

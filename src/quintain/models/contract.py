"""What a model is: something with `predict(batch) -> list`, one answer for each example of the batch.

An example is a dictionary of its inputs, never with a label. An answer is what the task's kind can parse: a label, a
dictionary of probabilities by label (or by number, for choices and tokens), a span, the number of a choice or a token,
a list of those, or a text.

A baseline is a model that Quintain can train. It is one file in `quintain.models.baselines` with one class decorated by
`@BASELINES.register(name)`; other distributions add theirs through the entry-point group `quintain.baselines`. What it
learned is kept as `.npz` and `.json`, so that loading one never runs code.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.errors import BadInput, NotFound
from quintain.core.jsontext import parse_json
from quintain.core.registry import Registry
from quintain.core.task import AnswerType, Label, Task
from quintain.core.texts import Text
from quintain.models.words import FORMAT, Cutting
from quintain.tasks.contract import kind_of

Batch = list[dict[str, Any]]
Progress = Callable[[float], None]  # called with the fraction that is done, from 0 to 1
State = dict[str, Any]
Arrays = dict[str, npt.NDArray[Any]]

MODEL_FILE = "model.json"
ARRAYS_FILE = "arrays.npz"


class Handler(Protocol):
    """Anything that answers: the whole interface of a model."""

    def predict(self, batch: Batch) -> list[Any]:
        """Return one answer for each example of *batch*, in its order."""


def quiet(fraction: float) -> None:
    """Report no progress."""


class Baseline(ABC):
    """A model that Quintain can train. See the module's docstring.

    A trained one is all in two things: `state` (plain JSON) and `arrays` (named numpy arrays), which `save` writes and
    `load` reads back; `prepare` builds from them what `predict` wants at hand. Its `format` says how it reads texts.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    answer_types: ClassVar[tuple[AnswerType, ...]]  # those that it can give
    about: ClassVar[str]  # how it decides, and what it is blind to; goes into its model card

    def __init__(self, task: Task) -> None:
        self.task = task
        self.state: State = {}
        self.arrays: Arrays = {}
        self.format = FORMAT

    @property
    def cutting(self) -> Cutting:
        """How it cuts texts into words: as it did when it was trained."""
        return Cutting(self.format)

    @classmethod
    def suits(cls, task: Task) -> bool:
        """Whether *task* has the fields and answers that this baseline needs."""
        return kind_of(task).answer_type in cls.answer_types and cls.finds_fields(task)

    @classmethod
    def finds_fields(cls, task: Task) -> bool:
        """Whether *task*, whose answers suit, has the fields that this baseline reads; by default it reads none."""
        return True

    @abstractmethod
    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn `state` and `arrays` from *table*: one column per input field, and `answer`."""

    @abstractmethod
    def predict(self, batch: Batch) -> list[Any]:
        """Return one answer for each example of *batch*, in its order."""

    def prepare(self) -> None:  # noqa: B027 - many baselines have nothing to build
        """Build from `state` and `arrays` what `predict` wants at hand; called after training and after loading."""

    @classmethod
    def refuse_unsuited(cls, task: Task) -> None:
        """Refuse a task that this baseline does not suit, and name the baselines that do."""
        if not cls.suits(task):
            raise BadInput(
                "The baseline '{name}' does not suit task '{task_name}' of kind '{kind}'.",
                name=cls.name,
                task_name=task.name,
                kind=task.kind,
                fitting=", ".join(baselines_for(task)) or Text("none"),
                remedy="Those that do: {fitting}.",
            )

    @classmethod
    def train(cls, task: Task, table: pl.DataFrame, *, seed: int = 0, progress: Progress = quiet) -> Self:
        """Train on *table*; the same table and *seed* give the same model, byte for byte."""
        cls.refuse_unsuited(task)
        if table.is_empty():
            raise BadInput("There is nothing to train on: the data has no rows.")
        if table["answer"].null_count():
            raise BadInput(
                "{bare} of {height} training examples have no answer.",
                bare=table["answer"].null_count(),
                height=table.height,
                remedy="Train on data whose labels are open.",
            )
        model = cls(task)
        model.fit(table, seed=seed, progress=progress)
        model.prepare()
        progress(1.0)
        return model

    def save(self, folder: Path) -> None:
        """Write the model into *folder*, in a form that is the same whenever its content is."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {"format": self.format, "baseline": self.name, "task": _task_state(self.task), "state": self.state}
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, indent=1)
        (folder / MODEL_FILE).write_text(text + "\n", encoding="utf-8")
        # numpy stamps the members of an .npz with a fixed date, so equal arrays give equal files
        if self.arrays:
            with (folder / ARRAYS_FILE).open("wb") as stream:
                np.savez(stream, allow_pickle=False, **{name: self.arrays[name] for name in sorted(self.arrays)})

    @classmethod
    def _restore(cls, folder: Path, document: Mapping[str, Any]) -> Self:
        model = cls(_task_from(document["task"]))
        model.state = dict(document["state"])
        model.format = document["format"]
        path = folder / ARRAYS_FILE
        if path.exists():
            with np.load(path, allow_pickle=False) as arrays:
                model.arrays = {name: arrays[name] for name in arrays.files}
        model.prepare()
        return model


BASELINES: Registry[type[Baseline]] = Registry(
    "baseline", package="quintain.models.baselines", group="quintain.baselines"
)


def baselines_for(task: Task) -> list[str]:
    """List the names of the baselines that suit *task*."""
    return [name for name, baseline in BASELINES.items() if baseline.suits(task)]


def load(folder: Path) -> Baseline:
    """Load the trained baseline that `save` wrote into *folder*."""
    path = folder / MODEL_FILE
    if not path.is_file():
        raise NotFound(
            "There is no trained baseline in {folder}: it has no {model_file}.",
            folder=folder,
            model_file=MODEL_FILE,
            remedy="Make one with `quintain train BASELINE --task FILE --data FILE --out DIR`.",
        )
    try:
        document = parse_json(path.read_bytes())
        if document["format"] not in range(1, FORMAT + 1):
            raise BadInput(
                "{path} has format {format}; this version of Quintain reads formats 1 to {newest}.",
                path=path,
                format=document["format"],
                newest=FORMAT,
            )
        return BASELINES.get(document["baseline"])._restore(folder, document)
    except (ValueError, KeyError, TypeError, OSError, EOFError) as error:
        raise BadInput(
            "{folder} holds no readable baseline ({error}).", folder=folder, error=error, remedy="Train it again."
        ) from error


def _task_state(task: Task) -> State:
    """Keep of *task* what answering needs, so that a new wording of its instructions makes no new model."""
    labels = list(task.label_names)
    return {"name": task.name, "kind": task.kind, "labels": labels, "options": dict(task.options)}


def _task_from(state: Mapping[str, Any]) -> Task:
    return Task(
        name=state["name"],
        kind=state["kind"],
        title={"en": state["name"]},
        labels=tuple(Label(name) for name in state["labels"]),
        options=state["options"],
    )


__all__ = [
    "BASELINES",
    "Arrays",
    "Baseline",
    "Batch",
    "Handler",
    "Progress",
    "baselines_for",
    "load",
    "quiet",
]

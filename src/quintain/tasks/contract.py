"""What every kind of task must say of itself.

A kind is one file in this package with one class decorated by `@KINDS.register(name)`. It never touches a file,
a database or a model: it only knows what an example of its kind looks like, which answers there are, and when a
model has been fooled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl

from quintain.core.errors import Fault
from quintain.core.example import Answer, Inputs, Prediction
from quintain.core.registry import Registry
from quintain.core.task import AnswerType, Field, Task

Widget = Literal["line", "textarea", "lines", "tokens", "labels", "options", "checkboxes", "span", "token", "image"]

ANSWER_DTYPES: Mapping[AnswerType, pl.DataType] = {
    "label": pl.String(),
    "choice": pl.Int64(),
    "choices": pl.List(pl.Int64()),
    "span": pl.List(pl.Struct({"text": pl.String(), "start": pl.Int64()})),
    "token": pl.Int64(),
    "text": pl.List(pl.String()),
}


@dataclass(frozen=True, slots=True)
class FormField:
    """One control of a page: what it is called, how it is drawn, what may be chosen.

    A control that selects from another one (a span from its passage, a token from its sentence) names it in *of*.
    """

    name: str
    widget: Widget
    title: str
    help: str = ""
    required: bool = True
    choices: tuple[tuple[str, str], ...] = ()
    of: str | None = None
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """How a page asks for an example of this kind: its inputs, and its answer."""

    inputs: tuple[FormField, ...]
    answer: FormField


@dataclass(frozen=True, slots=True)
class RowFault:
    """A fault found in a table, by the row's position from 0."""

    row: int
    field: str
    reason: str


class TaskKind(ABC):
    """One kind of task. See the module's docstring."""

    name: ClassVar[str]
    title: ClassVar[str]
    answer_type: ClassVar[AnswerType]
    needs_labels: ClassVar[bool] = False
    default_metrics: ClassVar[tuple[str, ...]]
    default_options: ClassVar[Mapping[str, Any]] = {}

    @abstractmethod
    def fields(self, task: Task) -> tuple[Field, ...]:
        """List the inputs of an example."""

    @abstractmethod
    def check(self, task: Task, inputs: Inputs, answer: Answer | None = None) -> list[Fault]:
        """Find everything that is wrong with one example; *answer* is the gold answer, where there is one."""

    @abstractmethod
    def check_table(self, task: Task, table: pl.DataFrame) -> list[RowFault]:
        """Find everything that is wrong in a table of examples, without a Python loop over good rows.

        The table has the columns of `schema`. It finds what `check` finds (the contract suite proves it).
        """

    @abstractmethod
    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Turn what a model or a person gave for *inputs* into an answer, or raise BadInput naming the fault."""

    @abstractmethod
    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Say whether *prediction* misses *target*, the answer that the writer aims at (or the gold answer)."""

    @abstractmethod
    def form(self, task: Task) -> Form:
        """Describe the controls with which a page asks for an example and its answer."""

    def schema(self, task: Task) -> dict[str, pl.DataType]:
        """Give the columns of a stored table of examples: inputs, then `answer`."""
        columns: dict[str, pl.DataType] = {item.name: _INPUT_DTYPES[item.type] for item in self.fields(task)}
        columns["answer"] = ANSWER_DTYPES[self.answer_type]
        return columns

    def check_options(self, options: Mapping[str, Any]) -> Sequence[str]:
        """Say what is wrong with a task file's `[options]`; by default only unknown names are."""
        return [
            f"option '{name}' is not known to kind '{self.name}'; it has: {', '.join(self.default_options) or 'none'}"
            for name in options
            if name not in self.default_options
        ]


_INPUT_DTYPES: Mapping[str, pl.DataType] = {
    "text": pl.String(),
    "long_text": pl.String(),
    "texts": pl.List(pl.String()),
    "tokens": pl.List(pl.String()),
    "token": pl.Int64(),
    "image": pl.String(),
}

KINDS: Registry[type[TaskKind]] = Registry("task kind", package="quintain.tasks", group="quintain.tasks")


def kind_of(task: Task) -> TaskKind:
    """Give the kind that *task* names."""
    return KINDS.get(task.kind)()


__all__ = ["ANSWER_DTYPES", "KINDS", "Form", "FormField", "RowFault", "TaskKind", "Widget", "kind_of"]

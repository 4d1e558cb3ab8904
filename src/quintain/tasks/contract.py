"""What every kind of task must say of itself.

A kind is one file in this package with one class decorated by `@KINDS.register(name)`. It never touches a file,
a database or a model: it only knows what an example of its kind looks like, which answers there are, and when a
model has been fooled.

What may be wrong with an example is a list of rules over a table (`answer_rules`, and those of the fields), so that
`check` for one example and `check_table` for a million find the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, ClassVar, Literal

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Answer, Example, Inputs, Prediction
from quintain.core.registry import Registry
from quintain.core.task import AnswerType, Field, FieldType, Label, Task
from quintain.core.texts import Text
from quintain.tasks.answer_kinds.contract import AnswerKind, answers_of
from quintain.tasks.positions import resolve_inputs
from quintain.tasks.rules import RowFault, Rule, field_rules, find_faults, surely_fine
from quintain.tasks.shapes import field_fault

Widget = Literal["line", "textarea", "lines", "tokens", "labels", "options", "checkboxes", "span", "token", "image"]

# Columns of a table of examples that are no inputs, so no field may be called this.
RESERVED = ("id", "answer", "tags", "group", "meta")
TOKENS = "tokens"  # the field whose words others point at


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
    editable: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """How a page asks for an example of this kind: its inputs, and its answer."""

    inputs: tuple[FormField, ...]
    answer: FormField


class TaskKind(ABC):
    """One kind of task. See the module's docstring.

    *example* is a good example of a task with the default options and the *starter_labels* (or *fixed_labels*, where
    the kind leaves no choice): documentation and new task files show it, and the contract suite starts from it.
    *source* is the input of which answers are a piece, where they are one of one. *hub_categories* are the task
    categories of the Hugging Face hub that data of this kind is for, and the first one what a model's results are of.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    answer_type: ClassVar[AnswerType]
    needs_labels: ClassVar[bool] = False
    fixed_labels: ClassVar[tuple[str, ...]] = ()
    starter_labels: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[str | None] = None
    hub_categories: ClassVar[tuple[str, ...]] = ("other",)
    example: ClassVar[Example]
    default_metrics: ClassVar[tuple[str, ...]]
    default_options: ClassVar[Mapping[str, Any]] = {}

    @abstractmethod
    def fields(self, task: Task) -> tuple[Field, ...]:
        """List the inputs of an example."""

    def context(self, task: Task) -> tuple[str, ...]:
        """Name the inputs that are a context: what writers are given and may not change, such as a passage.

        Nothing of a kind whose examples are texts of their own, or edits of a text.
        """
        fields = self.fields(task)
        return tuple(field.name for field in fields if field.required and not field.editable and not field.fixed)

    @abstractmethod
    def answer_rules(self, task: Task) -> Sequence[Rule]:
        """List what may be wrong with the gold answer, or with inputs beside each other."""

    @abstractmethod
    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Turn what a model or a person gave for *inputs* into an answer, or raise BadInput naming the fault."""

    @abstractmethod
    def fooled(self, task: Task, target: Answer, prediction: Answer) -> bool:
        """Whether *prediction* misses *target*, the answer that the writer aims at (or the gold answer)."""

    @abstractmethod
    def answer_control(self, task: Task) -> FormField:
        """Describe the control with which a page asks for the answer."""

    @property
    def answers(self) -> AnswerKind:
        """The type of the answers: how they are stored, compared and read."""
        return answers_of(self.answer_type)

    def judged_by(self, task: Task, inputs: Inputs) -> tuple[Label, ...] | None:
        """List the labels that a judge chooses from; None where an answer is shown, and judges say if it is right."""
        return None

    def places(self, inputs: Inputs, text: str) -> list[int]:
        """List where *text* stands in the *source*; nowhere, where answers are no piece of one."""
        return []

    def placed(self, task: Task, inputs: Inputs, target: Answer) -> tuple[Answer, list[Fault]]:
        """Complete a good *target* by what follows from the inputs, or say what has to be told besides."""
        return target, []

    def resolved(
        self, task: Task, inputs: Inputs, answer: Answer, before: Inputs | None = None
    ) -> tuple[dict[str, Any], Answer, list[Fault]]:
        """Turn what points at a word into its number; ask which one is meant where it could be another.

        Where *inputs* are an edit of *before*, what was not said anew moves along with its word. Done before `check`.
        """
        numbered, faults = resolve_inputs(self.fields(task), TOKENS, inputs, before)
        return numbered, answer, faults

    def followed(self, task: Task, before: Inputs, inputs: Inputs, answer: Answer) -> Answer:
        """Return the *answer* to *before* as it stands in *inputs*, an edit; None where it was edited itself."""
        return answer

    def same_answer(self, task: Task, before: Example, after: Example) -> bool:
        """Whether an example and its edit have the same answer: the same texts, or what the answer moved to."""
        kind = self.answers
        if before.answer is None or after.answer is None:
            return before.answer is after.answer
        if kind.is_text:
            return sorted(kind.texts(before.answer)) == sorted(kind.texts(after.answer))
        followed = self.followed(task, before.inputs, after.inputs, before.answer)
        return bool(followed is not None and kind.stored(after.answer) == kind.stored(followed))

    def form(self, task: Task) -> Form:
        """Describe the controls with which a page asks for an example and its answer."""
        return Form(tuple(_control(item) for item in self.fields(task)), self.answer_control(task))

    def asks_worker(self, task: Task) -> bool:
        """Whether the writer, not `fooled`, has the last word on whether the model was fooled."""
        return False

    def option(self, task: Task, name: str) -> Any:
        """Return the option *name* of *task*, or its default."""
        return task.options.get(name, self.default_options[name])

    def check(self, task: Task, inputs: Inputs, answer: Answer | None = None) -> list[Fault]:
        """Find everything that is wrong with one example; *answer* is the gold answer, where there is one."""
        fields = {item.name: item for item in self.fields(task)}
        faults = _unknown_inputs(inputs, fields)
        values: dict[str, Any] = {}
        for name, item in fields.items():
            value = inputs.get(name)
            fault = None if value is None else field_fault(item.type, value)
            values[name] = None if fault else value
            faults += [Fault(fault, field=name)] if fault else []
        fault = None if answer is None else self.answers.fault(answer)
        values["answer"] = None if fault else self.answers.stored(answer)
        faults += [Fault(fault, field="answer")] if fault else []
        misshapen = {fault.field for fault in faults}
        rules = [rule for rule in self.rules(task) if rule.field not in misshapen]
        if surely_fine(values, rules):
            return faults
        row = pl.DataFrame([values], schema=self.schema(task))
        return faults + [Fault(found.reason, field=found.field) for found in find_faults(row, rules)]

    def check_table(self, task: Task, table: pl.DataFrame) -> list[RowFault]:
        """Find everything that is wrong in a table of examples, without a Python loop over good rows.

        The table has the columns of `schema` (others are ignored); a row whose `answer` is null, or a table without
        that column, has no gold answers. It finds what `check` finds (the contract suite proves it).
        """
        return find_faults(self._fitted(task, table), self.rules(task))

    def rules(self, task: Task) -> list[Rule]:
        """List everything that may be wrong with an example."""
        return [rule for item in self.fields(task) for rule in field_rules(item)] + list(self.answer_rules(task))

    def schema(self, task: Task) -> dict[str, pl.DataType]:
        """Return the columns of a stored table of examples: inputs, then `answer`."""
        columns: dict[str, pl.DataType] = {item.name: _input_dtype(item.type) for item in self.fields(task)}
        columns["answer"] = self.answers.dtype
        return columns

    def check_options(self, options: Mapping[str, Any]) -> Sequence[str]:
        """Return what is wrong with a task file's `[options]`; by default only unknown names are."""
        return unknown_options(self.name, options, self.default_options)

    def _fitted(self, task: Task, table: pl.DataFrame) -> pl.DataFrame:
        schema = self.schema(task)
        if "answer" not in table.columns:
            table = table.with_columns(pl.lit(None, dtype=schema["answer"]).alias("answer"))
        missing = [name for name in schema if name not in table.columns]
        if missing:
            raise BadInput(
                "The table has no column '{missing}'.",
                missing=missing[0],
                schema=", ".join(schema),
                remedy="It needs: {schema}.",
            )
        try:
            return table.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
        except pl.exceptions.PolarsError as error:
            raise BadInput(
                "The table does not have the columns of kind '{name}': {error}", name=self.name, error=error
            ) from error


def unknown_options(kind: str, options: Iterable[str], known: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each of *options* that the kind does not have."""
    return [
        f"option '{name}' is not known to kind '{kind}'; it has: {', '.join(known) or 'none'}"
        for name in options
        if name not in known
    ]


def _unknown_inputs(inputs: Inputs, fields: Mapping[str, Field]) -> list[Fault]:
    faults = []
    for name in inputs:
        if name not in fields:
            close = get_close_matches(str(name), fields, n=1)
            hint = (
                Text("did you mean '{close}'?", close=close[0])
                if close
                else Text("there are: {known}", known=", ".join(fields))
            )
            faults.append(Fault("there is no such field; {hint}", hint=hint, field=str(name)))
    return faults


@lru_cache(maxsize=1024)
def _control(item: Field) -> FormField:
    return FormField(
        name=item.name,
        widget=_WIDGETS[item.type],
        title=item.title,
        help=item.help,
        required=item.required,
        of=TOKENS if item.type == "token" else None,
        max_length=item.max_length if item.type in {"text", "long_text"} else None,
        editable=item.editable,
    )


_WIDGETS: Mapping[FieldType, Widget] = {
    "text": "line",
    "long_text": "textarea",
    "texts": "lines",
    "tokens": "tokens",
    "token": "token",
    "image": "image",
}


def _input_dtype(field_type: FieldType) -> pl.DataType:
    """Return the column that keeps a field: made when it is asked for, as who only answers needs no polars."""
    if field_type in {"texts", "tokens"}:
        return pl.List(pl.String())
    return pl.Int64() if field_type == "token" else pl.String()


KINDS: Registry[type[TaskKind]] = Registry("task kind", package="quintain.tasks", group="quintain.tasks")


def kind_of(task: Task) -> TaskKind:
    """Return the kind that *task* names."""
    return KINDS.get(task.kind)()


__all__ = ["KINDS", "RESERVED", "Form", "FormField", "RowFault", "TaskKind", "Widget", "kind_of"]

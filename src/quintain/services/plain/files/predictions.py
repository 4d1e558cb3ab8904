"""What is asked of a model and what it answers, checked against the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.example import Inputs, Prediction
from quintain.core.task import Task
from quintain.engine.asking import parse_raw
from quintain.models.contract import Batch
from quintain.tasks.contract import kind_of


def check_inputs(task: Task, inputs: Sequence[Inputs]) -> None:
    """Refuse inputs that are not examples of *task*, naming every fault."""
    kind = kind_of(task)
    faults = [
        fault.at(row=number if len(inputs) > 1 else None)
        for number, one in enumerate(inputs, start=1)
        for fault in kind.check(task, one)
    ]
    if faults:
        raise BadInput(faults=faults[:20], total=len(faults))


def parse(task: Task, batch: Batch, raw: Sequence[Any], name: str) -> list[Prediction]:
    """Turn the raw answers of the model *name* into predictions, or say which of them is not an answer."""
    if len(raw) != len(batch):
        raise BadInput("Model '{name}' gave {n} answers to {inputs} inputs.", name=name, n=len(raw), inputs=len(batch))
    return [parse_raw(task, one, answer) for one, answer in zip(batch, raw, strict=True)]

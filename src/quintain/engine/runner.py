"""Anything that answers, however it is run: a sandboxed model, a server elsewhere, a file of predictions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from quintain.adapters.contract import ADAPTERS
from quintain.core.errors import QuintainError
from quintain.core.task import Task
from quintain.engine.sandbox.layers import require_sandbox
from quintain.engine.sandbox.limits import Limits, Outcome, RunEnded
from quintain.engine.sandbox.process import Usage
from quintain.engine.session import ModelSession, Reply

Inputs = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RunnableModel:
    """A model's unpacked folder and how to run it."""

    folder: Path
    adapter: str
    options: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[Path, ...] = ()
    batch_size: int = 1


class Runner(Protocol):
    """Something that answers. *usage* is None where the model runs out of our sight."""

    usage: Usage | None

    def predict(self, inputs: Inputs, *, single: bool = False) -> Reply:
        """Answer *inputs* in one call, or (*single*) one by one with the time of each."""


class SandboxRunner:
    """A model in the sandbox."""

    def __init__(self, session: ModelSession) -> None:
        self.session = session
        self.usage: Usage | None = session.usage

    def predict(self, inputs: Inputs, *, single: bool = False) -> Reply:
        """Ask the process inside."""
        return self.session.predict(inputs, single=single)


class CallRunner:
    """A function of ours that asks a server or looks answers up; its time is not the model's."""

    usage: Usage | None = None

    def __init__(self, predict: Callable[[list[Mapping[str, Any]]], list[Any]]) -> None:
        self._predict = predict

    def predict(self, inputs: Inputs, *, single: bool = False) -> Reply:
        """Call the function, and blame what goes wrong on the right side."""
        start = time.perf_counter_ns()
        try:
            answers = list(self._predict(list(inputs)))
        except QuintainError as error:
            raise RunEnded(Outcome.BAD_ANSWER, error.message, remedy=error.remedy) from error
        if len(answers) != len(inputs):
            raise RunEnded(Outcome.BAD_ANSWER, f"{len(inputs)} inputs were sent and {len(answers)} answers came back.")
        return Reply(answers, time.perf_counter_ns() - start)


@contextmanager
def open_runner(
    model: RunnableModel, task: Task, *, limits: Limits, sandbox: str = "full", measured: bool = False
) -> Iterator[Runner]:
    """Make *model* ready to answer. *sandbox* is the policy of `require_sandbox`.

    A model that is our own code needs no sandbox to answer; it has one when it is *measured*, because throughput and
    memory are compared with those of models that always do.
    """
    adapter = ADAPTERS.get(model.adapter)()
    if adapter.ours and not measured:
        yield CallRunner(adapter.load(model.folder))
    elif adapter.place == "sandbox":
        require_sandbox(sandbox)
        with ModelSession(
            model.folder, adapter=model.adapter, options=model.options, packages=model.packages, limits=limits
        ) as session:
            yield SandboxRunner(session)
    else:
        with adapter.connect(model.folder, task) as predict:
            yield CallRunner(predict)

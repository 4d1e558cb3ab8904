"""Anything that answers, however it is run: a sandboxed model, a server elsewhere, a file of predictions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from quintain.adapters.contract import ADAPTERS, Adapter, Connection, Outside, Predict
from quintain.adapters.endpoint_calls import CallFailed
from quintain.adapters.ledger import OverBudget
from quintain.core.errors import BadInput, Conflict, QuintainError, Unavailable
from quintain.core.task import Task
from quintain.engine.replies import Reply
from quintain.engine.sampling import unwrapped
from quintain.engine.sandbox.layers import probe, require_sandbox
from quintain.engine.sandbox.limits import AnswersLost, Limits, Outcome, RunEnded
from quintain.engine.sandbox.process import Usage
from quintain.engine.session import ModelSession
from quintain.tasks.contract import kind_of

Inputs = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RunnableModel:
    """A model's unpacked folder and how to run it."""

    folder: Path
    adapter: str
    options: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[Path, ...] = ()
    batch_size: int = 1
    key: str = ""  # the hash of its content, where it is known


class ModelRunner(Protocol):
    """Something that answers. *usage* is None where the model runs out of our sight, and so is *layers*.

    *layers* are those of the sandbox that hold around it. *worded* says that answers come with the words they were
    read from, *streams* that they come one by one by `predict_each`.
    """

    usage: Usage | None
    layers: Sequence[str] | None
    worded: bool
    streams: bool

    def predict(self, inputs: Inputs, *, single: bool = False) -> Reply:
        """Answer *inputs* in one call of the model, or (*single*) one by one.

        Raises AnswersLost where nothing came of it but the model may be asked again, else RunEnded.
        """

    def predict_each(self, inputs: Inputs, on_answer: Callable[[int, Any], None]) -> None:
        """Call *on_answer* with the place of each input and its answer, as they come; raises RunEnded."""

    def observe(self) -> None:
        """Note now what memory and processor time have been used, where that can be seen."""

    def facts(self) -> Mapping[str, Any]:
        """Return what asking has taken so far, such as what it cost."""

    def printed(self) -> str:
        """Return what the model has printed lately."""


class SandboxRunner:
    """A model in the sandbox."""

    worded = streams = False

    def __init__(self, session: ModelSession, layers: Sequence[str]) -> None:
        self.session = session
        self.usage: Usage | None = session.usage
        self.layers: Sequence[str] | None = list(layers)

    def predict(self, inputs: Inputs, *, single: bool = False) -> Reply:
        """Ask the process inside."""
        if not single or len(inputs) == 1:
            return self.session.predict(inputs)
        replies = [self.session.predict([example]) for example in inputs]
        return Reply([reply.answers[0] for reply in replies], sum(reply.ns for reply in replies))

    def predict_each(self, inputs: Inputs, on_answer: Callable[[int, Any], None]) -> None:
        """Ask the process inside, in one call."""
        for row, answer in enumerate(self.predict(inputs).answers):
            on_answer(row, answer)

    def observe(self) -> None:
        """Look at the process inside."""
        self.session.observe()

    def facts(self) -> Mapping[str, Any]:
        """Return nothing: what a sandboxed model takes is measured apart."""
        return {}

    def printed(self) -> str:
        """Return the end of what the process printed."""
        return self.session.process.printed()


class CallRunner:
    """A connection of ours that asks a server or looks answers up; its time is not the model's."""

    usage: Usage | None = None
    layers: Sequence[str] | None = None

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self.worded = connection.worded
        self.streams = connection.stream is not None
        self._limits = limits
        self._started = time.monotonic()

    def predict(self, inputs: Inputs, *, single: bool = False) -> Reply:
        """Call the function, and blame what goes wrong on the right side."""
        self._check_time()
        start = time.perf_counter_ns()
        try:
            batches = [[one] for one in inputs] if single and self._connection.batched else [list(inputs)]
            answers = [answer for batch in batches for answer in self._connection.predict(batch)]
        except CallFailed as error:
            outcome = Outcome.UNREACHABLE if error.kind == "unreachable" else Outcome.BAD_ANSWER
            raise AnswersLost(outcome, error.message, remedy=error.remedy) from error
        except BadInput as error:
            raise AnswersLost(Outcome.BAD_ANSWER, error.message, remedy=error.remedy) from error
        except RunEnded:
            raise
        except QuintainError as error:
            raise _ended(error) from error
        if len(answers) != len(inputs):
            raise AnswersLost(
                Outcome.BAD_ANSWER,
                "{sent} inputs were sent and {back} answers came back.",
                sent=len(inputs),
                back=len(answers),
            )
        ns = time.perf_counter_ns() - start
        if not self.worded:
            return Reply(answers, ns)
        pairs = [unwrapped(answer) for answer in answers]
        return Reply([answer for answer, _ in pairs], ns, [exchange for _, exchange in pairs])

    def predict_each(self, inputs: Inputs, on_answer: Callable[[int, Any], None]) -> None:
        """Ask about all inputs at once, as far as the server bears it."""
        stream = self._connection.stream
        if stream is None:
            raise Conflict("Its answers do not come one by one.")

        def in_time(row: int, answer: Any) -> None:
            self._check_time()
            on_answer(row, answer)

        try:
            stream(list(inputs), in_time)
        except RunEnded:
            raise
        except QuintainError as error:
            raise _ended(error) from error

    def _check_time(self) -> None:
        if time.monotonic() - self._started > self._limits.wall_seconds:
            most = self._limits.wall_seconds
            raise RunEnded(Outcome.WALL_TIME, "The run took longer than {most:g} seconds.", most=most)

    def grant(self, amount: float | None) -> None:
        """Let the calls to come cost *amount* together; None takes the limit away."""
        ledger = self._connection.ledger
        if ledger is not None:
            ledger.budget = None if amount is None else ledger.spent + amount
        elif amount is not None:
            raise _no_ledger()

    def observe(self) -> None:
        """Do nothing: what happens elsewhere is out of sight."""

    def facts(self) -> Mapping[str, Any]:
        """Return what the connection has counted."""
        return self._connection.facts()

    def printed(self) -> str:
        """Return nothing: what is printed elsewhere is not seen here."""
        return ""


def _ended(error: QuintainError) -> RunEnded:
    """Return the end of a run that *error* means: a budget, a server that is of no use, or the model's doing."""
    if isinstance(error, OverBudget):
        return RunEnded(Outcome.OVER_BUDGET, error.message, remedy=error.remedy)
    if isinstance(error, Unavailable):
        return RunEnded(Outcome.UNREACHABLE, error.message, remedy=error.remedy)
    return RunEnded(Outcome.BAD_ANSWER, error.message, remedy=error.remedy)


def task_facts(task: Task) -> dict[str, Any]:
    """Return what a model may know of its task: no instructions for people, no data, no metrics."""
    kind = kind_of(task)
    return {
        "name": task.name,
        "kind": task.kind,
        "answer": kind.answer_type,
        "labels": list(task.label_names),
        "fields": [{"name": item.name, "type": item.type} for item in kind.fields(task)],
        "source": kind.source,
        "options": dict(task.options),
    }


@contextmanager
def open_runner(
    model: RunnableModel,
    task: Task,
    *,
    limits: Limits,
    sandbox: str = "full",
    outside: Outside | None = None,
    measured: bool = False,
    load: Callable[[RunnableModel], Predict] | None = None,
) -> Iterator[ModelRunner]:
    """Make *model* ready to answer. *sandbox* is the policy of `require_sandbox`; *load* loads models of our own.

    A model that is our own code needs no sandbox to answer. When it is *measured* it runs in a process of its own, with
    as much of the sandbox as there is, because throughput and memory are compared with those of models that have one.
    """
    adapter = ADAPTERS.get(model.adapter)()
    if adapter.ours and not measured:
        yield CallRunner(Connection(load(model) if load else adapter.load(model.folder)), limits)
    elif adapter.place == "sandbox":
        report = probe() if adapter.ours else require_sandbox(sandbox)
        with ModelSession(
            model.folder,
            adapter=model.adapter,
            options={**model.options, "task": task_facts(task)},
            packages=model.packages,
            limits=limits,
            bare=not report.starts,
        ) as session:
            yield SandboxRunner(session, report.held)
    else:
        outside = outside or Outside()
        _check_options(adapter, model, task)
        with adapter.connect(model.folder, task, model.options, outside) as connection:
            if outside.budget is not None and adapter.asking_size(task, model.options) and connection.ledger is None:
                raise _no_ledger()
            yield CallRunner(connection, limits)


def _no_ledger() -> RunEnded:
    return RunEnded(
        Outcome.OVER_BUDGET,
        "Its adapter keeps no ledger of calls, so that no budget would hold.",
        remedy="Name a key without a budget, or give the adapter's connection a ledger.",
    )


def _check_options(adapter: Adapter, model: RunnableModel, task: Task) -> None:
    """Refuse a model elsewhere that cannot be asked as its options stand, before the first call, whoever calls."""
    if adapter.place != "remote":
        return
    faults = adapter.check(model.folder, task, model.options)
    if faults:
        listed = "\n".join(str(fault) for fault in faults)
        raise RunEnded(
            Outcome.MANIFEST, "{faults}", faults=listed, remedy="`quintain model check` shows what is wrong."
        )

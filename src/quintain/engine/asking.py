"""Asking a model and reading its answers, example by example: what fails on one input is that input's failure.

An exception, or an answer that cannot be used, marks the example it came from: it has no answer, counts as wrong in
every metric and as changed in every perturbation. Past the limit the run ends, because a model that fails so often is
broken, and its builder should hear of it. A reply in words that hold no answer, or that a filter keeps back, is wrong
in the same way and has a wider limit: a model that rambles one time in ten works, and its score says how well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.example import AnswerOutcome, Failure, Prediction, Sampled, WordedAnswer
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.core.untrusted import storable
from quintain.engine.runner import ModelRunner
from quintain.engine.sampling import reduced
from quintain.engine.sandbox.limits import AnswersLost, Outcome, RunEnded
from quintain.tasks.contract import kind_of

FAILURE_LIMIT = 0.05  # the share of examples that may fail, where the task's owner has not set another
UNREAD = 2  # one in so many replies may be unreadable, or refused; past that, it is the rule of reading, or the prompt
REASON = 300  # characters that are kept of why one did
REMEDY = "`quintain model check` shows what answers this task takes."

Inputs = list[dict[str, Any]]


def allowed_failures(rows: int, limit: float = FAILURE_LIMIT) -> int:
    """Return how many of *rows* examples a model may fail on: the share *limit*, never all of them.

    >>> [allowed_failures(rows) for rows in (1, 6, 100, 1000)]
    [0, 1, 5, 50]
    >>> allowed_failures(100, 0.0), allowed_failures(100, 0.29)
    (0, 29)
    """
    share = max(1, math.floor(rows * limit + 1e-9)) if limit else 0
    return min(share, max(rows - 1, 0))


class Failures:
    """Counts the examples that a model failed on, and ends the run at one too many.

    *unread* are those of them whose replies could not be read, *cut* those whose replies broke off before an answer,
    and *refused* those that were refused, by the model or a filter: they do not count towards the limit of the others.
    """

    def __init__(self, rows: int, *, allowed: int | None = None, limit: float = FAILURE_LIMIT) -> None:
        self.rows = rows
        self.allowed = allowed_failures(rows, limit) if allowed is None else allowed
        self.count = 0
        self.unread = 0
        self.refused = 0
        self.cut = 0
        self._first: AnswersLost | None = None

    def mark(self, error: AnswersLost) -> Prediction:
        """Return the prediction that stands for a failure, or raise RunEnded where there are too many."""
        self.count += 1
        self._first = self._first or error
        failed = self.count - self.unread - self.refused - self.cut
        if failed > self.allowed:
            first = self._first
            raise RunEnded(
                first.outcome,
                "{first} It failed on {failed:,} examples; {allowed:,} of {rows:,} may fail.",
                first=first.message,
                failed=failed,
                allowed=self.allowed,
                rows=self.rows,
                log=error.log or first.log,
                remedy=first.remedy,
            )
        return _no_answer(error.message, "failed")

    def mark_unread(self, reason: str) -> Prediction:
        """Return the prediction that stands for a reply without an answer; RunEnded where most are such."""
        self.count += 1
        self.unread += 1
        allowed = max(1, self.rows // UNREAD)
        if self.unread > allowed:
            raise RunEnded(
                Outcome.BAD_ANSWER,
                "{reason} {unread:,} replies could not be read; {allowed:,} of {rows:,} may be unreadable.",
                reason=reason,
                unread=self.unread,
                allowed=allowed,
                rows=self.rows,
                remedy="Say in `read`, `pattern` and `after` how answers are read, and ask for that in the prompt.",
            )
        return _no_answer(reason, "unreadable")

    def mark_cut(self, reason: str) -> Prediction:
        """Return the prediction that stands for a reply that broke off before an answer; RunEnded where most do."""
        self.count += 1
        self.cut += 1
        allowed = max(1, self.rows // UNREAD)
        if self.cut > allowed:
            raise RunEnded(
                Outcome.BAD_ANSWER,
                "{reason} {cut:,} replies were cut off; {allowed:,} of {rows:,} may be.",
                reason=reason,
                cut=self.cut,
                allowed=allowed,
                rows=self.rows,
                remedy="Raise `max_tokens`.",
            )
        return _no_answer(reason, "cut")

    def mark_refused(self, reason: str) -> Prediction:
        """Return the prediction that stands for a reply that was kept back; RunEnded where most are."""
        self.count += 1
        self.refused += 1
        allowed = max(1, self.rows // UNREAD)
        if self.refused > allowed:
            raise RunEnded(
                Outcome.BAD_ANSWER,
                "{reason} {refused:,} examples were refused; {allowed:,} of {rows:,} may be.",
                reason=reason,
                refused=self.refused,
                allowed=allowed,
                rows=self.rows,
                remedy="Ask another endpoint, or in other words.",
            )
        return _no_answer(reason, "refused")


def _no_answer(reason: str, outcome: AnswerOutcome) -> Prediction:
    return Prediction(None, failure=storable(reason, REASON), outcome=outcome)


def ask(runner: ModelRunner, task: Task, inputs: Inputs, failures: Failures, *, single: bool) -> list[Prediction]:
    """Ask for *inputs* in one message and return a prediction for each; those of a lost message one by one."""
    try:
        reply = runner.predict(inputs, single=single)
    except AnswersLost as error:
        if len(inputs) == 1:
            return [failures.mark(error)]
        return [found for one in inputs for found in ask(runner, task, [one], failures, single=single)]
    predictions = [
        read_answer(runner, task, given, raw, failures) for given, raw in zip(inputs, reply.answers, strict=True)
    ]
    if reply.exchanges is None:
        return predictions
    return [replace(one, exchange=told) for one, told in zip(predictions, reply.exchanges, strict=True)]


def ask_each(
    runner: ModelRunner, task: Task, inputs: Inputs, failures: Failures, on_each: Callable[[], None]
) -> list[Prediction]:
    """Ask for all *inputs* at once and return a prediction for each; *on_each* is called when one has come.

    Too many failures end the run as soon as they are too many, and with it the calls.
    """
    predictions: list[Prediction | None] = [None] * len(inputs)

    def note(row: int, answer: Any) -> None:
        predictions[row] = _read_worded(runner, task, inputs[row], answer, failures)
        on_each()

    runner.predict_each(inputs, note)
    return [prediction for prediction in predictions if prediction is not None]


def _read_worded(
    runner: ModelRunner, task: Task, item: dict[str, Any], answer: WordedAnswer | Sampled, failures: Failures
) -> Prediction:
    if isinstance(answer, WordedAnswer):
        return replace(read_answer(runner, task, item, answer.answer, failures), exchange=answer.exchange)
    samples = [_read_sample(task, item, sample) for sample in answer.answers]
    whole = reduced(samples, answer.reduce)
    if whole.failure is None:
        return whole
    marked = read_answer(runner, task, item, answer.answers[0].answer, failures)
    return replace(marked, exchange=whole.exchange, samples=whole.samples)


def _read_sample(task: Task, item: Mapping[str, Any], sample: WordedAnswer) -> Prediction:
    """Read one of several answers: a failure of it alone ends nothing."""
    raw = sample.answer
    if isinstance(raw, Failure):
        outcome: AnswerOutcome = "failed" if raw.kind == "unreachable" else raw.kind
        return replace(_no_answer(raw.reason, outcome), exchange=sample.exchange)
    try:
        return replace(parse_raw(task, item, raw), exchange=sample.exchange)
    except BadInput as error:
        return replace(_no_answer(error.message, "failed"), exchange=sample.exchange)


def read_answer(runner: ModelRunner, task: Task, item: dict[str, Any], raw: Any, failures: Failures) -> Prediction:
    """Turn a raw answer into a prediction; one that cannot be used is a failure on its example."""
    if isinstance(raw, Failure):
        return _read_failure(runner, raw, failures)
    try:
        return parse_raw(task, item, raw)
    except BadInput as error:
        message = Text("The model answered {answer}: {reason}", answer=shown(raw), reason=error.message)
    return failures.mark(AnswersLost(Outcome.BAD_ANSWER, message, log=_last_words(runner, failures), remedy=REMEDY))


def _read_failure(runner: ModelRunner, failure: Failure, failures: Failures) -> Prediction:
    if failure.kind == "unreadable":
        return failures.mark_unread(failure.reason)
    if failure.kind == "cut":
        return failures.mark_cut(failure.reason)
    if failure.kind == "refused":
        return failures.mark_refused(failure.reason)
    outcome = Outcome.UNREACHABLE if failure.kind == "unreachable" else Outcome.CRASHED
    return failures.mark(AnswersLost(outcome, failure.reason, log=_last_words(runner, failures)))


def parse_raw(task: Task, item: Mapping[str, Any], raw: Any) -> Prediction:
    """Read an answer. Whatever goes wrong is the answer's doing, also where no kind of task has thought of it."""
    try:
        return kind_of(task).parse_answer(task, item, raw)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise BadInput("It cannot be read: {error}.", error=storable(str(error), REASON)) from error


def _last_words(runner: ModelRunner, failures: Failures) -> str:
    """Return what was printed, where this failure is the one that ends the run; else nothing."""
    return runner.printed() if failures.count >= failures.allowed else ""


def shown(raw: Any) -> str:
    """Return what a model answered in a form that fits into a message."""
    text = repr(raw)
    return text if len(text) <= 120 else f"{text[:117]}…"

"""Trying a model before it is submitted, in exactly the sandbox that the server uses."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import quantiles
from typing import Any

import polars as pl

from quintain.adapters.chat_prompt import SHOTS
from quintain.adapters.contract import ADAPTERS, Options
from quintain.core.errors import BadInput, Fault, QuintainError
from quintain.core.example import Failure
from quintain.core.records.base import plain
from quintain.core.records.evaluate import CostEstimate
from quintain.core.task import Task
from quintain.engine.archives import ArchiveLimits
from quintain.engine.asking import parse_raw, shown
from quintain.engine.runner import ModelRunner, RunnableModel, SandboxRunner, open_runner
from quintain.engine.sandbox.layers import probe
from quintain.engine.sandbox.limits import GIB, MIB, Outcome, RunEnded
from quintain.services.evaluate.cells.conditions import Conditions, runnable
from quintain.services.evaluate.cells.estimate import estimate
from quintain.services.evaluate.cells.kept_spending import within_budgets
from quintain.services.evaluate.submissions.few_shot_draw import few_shot_of
from quintain.services.models.inspection import inspect_model
from quintain.tasks.contract import kind_of

SHOWN = 5
MAX_FAULTS = 10
EXPECTED_EXAMPLES = 10_000  # a data set of this size must be answered within the time that a run may take


@dataclass(slots=True)
class CheckReport:
    """What a check found. Times are in seconds, memory in GiB."""

    adapter: str = ""
    faults: list[Fault] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    log: str = ""
    outcome: Outcome = Outcome.DONE
    examples: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)
    exchanges: list[dict[str, str]] = field(default_factory=list)  # what a model elsewhere was asked, and wrote back
    load_seconds: float | None = None
    latency_p50: float | None = None
    latency_p95: float | None = None
    memory: float | None = None
    layers: Mapping[str, bool] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    estimate: CostEstimate | None = None

    @property
    def ok(self) -> bool:
        """Whether the model can be submitted as it is."""
        return not self.faults

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "ok": self.ok,
            "adapter": self.adapter,
            "faults": [fault.as_dict() for fault in self.faults],
            "warnings": list(self.warnings),
            "log": self.log,
            "examples": self.examples,
            "answers": self.answers,
            "exchanges": self.exchanges,
            "load_seconds": self.load_seconds,
            "latency_p50": self.latency_p50,
            "latency_p95": self.latency_p95,
            "memory": self.memory,
            "sandbox": dict(self.layers),
            "facts": dict(self.facts),
            "estimate": self.estimate and plain(self.estimate),
        }


def sample_inputs(task: Task) -> list[dict[str, Any]]:
    """Return inputs to try a model on: the kind's example, and the same shouted, strange and long."""
    kind = kind_of(task)
    fields = kind.fields(task)
    first = {item.name: kind.example.inputs.get(item.name, "An example.") for item in fields}
    texts = [item.name for item in fields if item.type in {"text", "long_text"} and item.perturbable]
    if not texts:
        return [first]
    changes = (str.upper, lambda text: f"{text} – “naïve” 😀", lambda text: " ".join([text] * 40)[:1500])
    return [first, *({**first, **{name: change(str(first[name])) for name in texts}} for change in changes)]


def check_model(
    folder: Path,
    task: Task,
    conditions: Conditions,
    inputs: Sequence[Mapping[str, Any]] | None = None,
    *,
    expected: int = EXPECTED_EXAMPLES,
    patience: float | None = None,
) -> CheckReport:
    """Look at the model in *folder*, run it on *inputs* (samples by default) and say everything that is wrong.

    A model at whose rate *expected* examples take longer than a run may is too slow; 0 leaves that open. *patience* is
    how many seconds a server elsewhere is waited for, once; by default what the model's own options say.
    """
    report = CheckReport()
    if not folder.is_dir():
        report.faults.append(Fault("there is no folder {folder}", folder=folder))
        return report
    report.faults += _too_big(folder)
    inspection = inspect_model(folder, task)
    report.adapter = inspection.manifest.adapter
    report.faults += inspection.faults
    adapter = ADAPTERS.get(inspection.manifest.adapter)()
    if adapter.place == "sandbox":
        report.layers = probe().layers
    # A card that is not filled in does not keep the model from being tried.
    if any(not (fault.file or "").endswith(".md") for fault in report.faults):
        return report
    examples = [dict(row) for row in (sample_inputs(task) if inputs is None else inputs)]
    if few_shot_of(inspection.manifest.options) is not None and not (folder / SHOTS).is_file():
        report.warnings.append(
            "Its examples (few_shot) are drawn when it is submitted; here it was asked without them."
        )
    try:
        options = inspection.manifest.options
        adapter.permit(options, conditions.outside)
        sample = pl.DataFrame(examples, infer_schema_length=None)
        tables = [(expected or len(examples), sample)]
        report.estimate = estimate(task, report.adapter, options, conditions.outside, tables)
        conditions = _within_budget(conditions, options)
        _run(folder, task, conditions, examples, report, expected=expected, patience=patience)
    except RunEnded as error:
        report.outcome = error.outcome
        report.faults.append(Fault("{outcome}: {message}", outcome=error.outcome, message=error.message))
        report.log = error.log
    except BadInput as error:
        report.faults += error.faults or [Fault(error.message)]
    except QuintainError as error:
        report.outcome = Outcome.PLATFORM
        report.faults.append(Fault(error.text))
    return report


def _run(
    folder: Path,
    task: Task,
    conditions: Conditions,
    inputs: list[dict[str, Any]],
    report: CheckReport,
    *,
    expected: int,
    patience: float | None,
) -> None:
    model = runnable(report.adapter, folder, conditions)
    if patience is not None:
        model = replace(model, options={**model.options, "timeout": patience, "retries": 0})
    start = time.perf_counter()
    with open_runner(
        model, task, limits=conditions.limits, sandbox=conditions.sandbox, outside=conditions.outside, measured=True
    ) as runner:
        report.load_seconds = time.perf_counter() - start
        try:
            times = _ask_for(runner, model, task, inputs, report)
            _measure(runner, times, conditions, report, expected)
        finally:
            report.facts = runner.facts()
            report.log = runner.printed()


def _ask_for(
    runner: ModelRunner, model: RunnableModel, task: Task, inputs: list[dict[str, Any]], report: CheckReport
) -> list[float]:
    """Ask for one input after the other, then for all at once; look at the answers, and give the seconds of each."""
    replies = [runner.predict([one]) for one in inputs]
    answers = [reply.answers[0] for reply in replies]
    exchanges = [reply.exchanges[0] for reply in replies[:SHOWN] if reply.exchanges]
    report.exchanges += [{"prompt": exchange.prompt, "reply": exchange.reply} for exchange in exchanges if exchange]
    report.examples = len(inputs)
    _read(task, inputs, answers, report)
    if model.batch_size > 1 and not report.faults:
        together = runner.predict(inputs).answers
        if together != answers:
            report.warnings.append("The model answers differently in a batch than one by one.")
    return [reply.ns / 1e9 for reply in replies]


def _measure(
    runner: ModelRunner, times: list[float], conditions: Conditions, report: CheckReport, expected: int
) -> None:
    cuts = quantiles(times, n=20, method="inclusive") if len(times) > 1 else times * 19
    report.latency_p50, report.latency_p95 = cuts[9], cuts[18]
    if isinstance(runner, SandboxRunner):
        peak = max(runner.session.usage.peak_memory, runner.session.process.sample())
        report.memory = peak / GIB
        if runner.session.network_attempt:
            report.warnings.append(f"The model {runner.session.network_attempt}; there is no network in the sandbox.")
    needed = sum(times) / len(times) * expected
    if needed > conditions.limits.wall_seconds:
        report.faults.append(
            Fault(
                "is too slow: {expected:,} examples would take {needed:,.0f} seconds at this rate, "
                "and a run may take {wall_seconds:,.0f}",
                expected=expected,
                needed=needed,
                wall_seconds=conditions.limits.wall_seconds,
            )
        )


def _within_budget(conditions: Conditions, options: Options) -> Conditions:
    """Return the same conditions, with the budgets of the manifest and the key as what a try may cost."""
    return replace(conditions, outside=within_budgets(options, conditions.outside))


def _read(task: Task, inputs: list[dict[str, Any]], answers: list[Any], report: CheckReport) -> None:
    for row, (example, raw) in enumerate(zip(inputs, answers, strict=True), start=1):
        if isinstance(raw, Failure):
            if raw.kind == "unreachable":
                report.outcome = Outcome.UNREACHABLE
            if len(report.faults) < MAX_FAULTS:
                report.faults.append(Fault("the model gave no answer: {reason}", reason=raw.reason, row=row))
            continue
        try:
            prediction = parse_raw(task, example, raw)
        except BadInput as error:
            if len(report.faults) < MAX_FAULTS:
                report.faults.append(
                    Fault("the model answered {raw}: {error}", raw=shown(raw), error=error, row=row, field="answer")
                )
            continue
        if len(report.answers) < SHOWN:
            probabilities = prediction.probabilities and dict(prediction.probabilities)
            report.answers.append({"inputs": example, "answer": prediction.answer, "probabilities": probabilities})
    report.faults = _each_once(report.faults)


def _each_once(faults: Sequence[Fault]) -> list[Fault]:
    """List *faults* that say the same of several examples once, at the first, with how many more there are.

    >>> [str(fault) for fault in _each_once([Fault("is odd", row=1), Fault("is odd", row=2), Fault("is long", row=3)])]
    ['row 1: is odd (and so for 1 more)', 'row 3: is long']
    """
    alike: dict[str, list[Fault]] = {}
    for fault in faults:
        alike.setdefault(str(fault.reason), []).append(fault)
    return [
        first
        if not others
        else Fault("{reason} (and so for {n} more)", reason=first.reason, n=len(others)).at(
            file=first.file, row=first.row, field=first.field, line=first.line
        )
        for first, *others in alike.values()
    ]


def _too_big(folder: Path) -> list[Fault]:
    limits = ArchiveLimits()
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    if len(sizes) > limits.files:
        return [
            Fault(
                "is too big: it has {n:,} files, and {files:,} are allowed",
                n=len(sizes),
                files=limits.files,
                file=folder.name,
            )
        ]
    if sum(sizes) > limits.size:
        allowed = limits.size // MIB
        return [
            Fault(
                "is too big: {size:,} MiB, and {allowed:,} MiB are allowed",
                size=sum(sizes) // MIB,
                allowed=allowed,
                file=folder.name,
            )
        ]
    return []


def with_limits(conditions: Conditions, *, seconds: float) -> Conditions:
    """Return the same conditions with less patience, for a try at the terminal."""
    limits = conditions.limits
    return replace(conditions, limits=replace(limits, call_seconds=min(limits.call_seconds, seconds)))

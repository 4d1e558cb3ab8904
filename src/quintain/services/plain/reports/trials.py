"""Trials without a workspace: protocols from files, forecasts from a simulated crowd, reports on what was collected."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quintain.core.errors import BadInput, NotFound
from quintain.core.records.report import Report
from quintain.core.records.trial import TrialForecast
from quintain.core.spec import twice
from quintain.core.texts import hint
from quintain.data.text import read_bytes
from quintain.data.trials import ArmFacts, TrialArm, TrialItem, read_trial, write_trial
from quintain.protocols.crowd.forecast import TrialRun, forecast_arms, forecast_power, run_trial
from quintain.protocols.crowd.judging import CLASSES, INVALID, justify
from quintain.protocols.reading import parse_protocol, shipped
from quintain.protocols.spec import Protocol
from quintain.services.plain.reports.trial_measures import ReportOptions
from quintain.services.plain.reports.trial_report import make_report


@dataclass(frozen=True, slots=True)
class Simulation:
    """How to simulate: workers in each arm, how many trials, from which seed, and which difference to look for."""

    workers: int = 500
    trials: int = 20
    seed: int = 0
    gap: float = 0.05
    data: Path | None = None


def find_protocol(name: str) -> Protocol:
    """Return the protocol that ships under a name, or the one in a file; NotFound for any other."""
    if name.lower() in shipped():
        return shipped()[name.lower()]
    path = Path(name)
    if not path.is_file():
        raise NotFound(
            "There is no file and no protocol '{given}'; {hint}", given=name, hint=hint(name, sorted(shipped()))
        )
    return parse_protocol(read_bytes(path).decode(), path.name)


def simulate(names: Sequence[str], options: Simulation) -> TrialForecast:
    """Let simulated people go through protocols, as often as asked, and say what that comes to."""
    started = time.perf_counter()
    protocols = [find_protocol(name) for name in names]
    for name in twice([protocol.name for protocol in protocols]):
        raise BadInput("Two protocols are called '{name}'.", name=name, remedy="Give one of them another name.")
    currencies = {protocol.currency for protocol in protocols}
    if len(currencies) > 1:
        raise BadInput(
            "The protocols pay in {currencies}.",
            currencies=", ".join(sorted(currencies)),
            remedy="Amounts can be compared in one currency only.",
        )
    trials = [run_trial(protocols, options.workers, options.seed + number) for number in range(options.trials)]
    if any(len(trial.sums) < len(protocols) for trial in trials):
        raise BadInput(
            "With {workers} workers in an arm, nobody gets to the final round of some protocol.",
            workers=options.workers,
            remedy="Simulate more workers.",
        )
    if options.data is not None:
        write_trial(arms_of(trials[0]), options.data)
    return TrialForecast(
        options.workers,
        options.trials,
        options.seed,
        currencies.pop(),
        forecast_arms(trials),
        forecast_power(trials, options.workers, options.gap),
        time.perf_counter() - started,
    )


def report(paths: Sequence[Path], options: ReportOptions | None = None) -> Report:
    """Report on the trial whose items are in files."""
    return report_on(paths, read_trial(paths), options)


def report_on(paths: Sequence[Path], arms: Sequence[TrialArm], options: ReportOptions | None = None) -> Report:
    """Report on the arms of a trial that were read from files."""
    names = " ".join(path.name for path in paths)
    seed = (options or ReportOptions()).seed
    command = f"quintain trial report {names} --seed {seed} --out DIR"
    return make_report(", ".join(path.name for path in paths), arms, options, commands=[command])


def arms_of(trial: TrialRun) -> list[TrialArm]:
    """Return the arms of a simulated trial as they stand in a file."""
    return [_arm_of(trial, place) for place in range(len(trial.runs))]


def _arm_of(trial: TrialRun, position: int) -> TrialArm:
    run, items = trial.runs[position], trial.items[position]
    votes: dict[int, list[tuple[str, str]]] = {}
    judged = items.judgements
    for item, worker, label in zip(judged.item.tolist(), judged.worker.tolist(), judged.label.tolist(), strict=True):
        votes.setdefault(item, []).append((judged.workers[worker], CLASSES[label]))
    texts = justify(run, items.writer) if run.protocol.data.justification else [None] * len(items.label)
    rows = [
        TrialItem(
            judged.items[number],
            f"w{int(items.writer[number]):06d}",
            CLASSES[int(items.label[number])],
            tuple(votes.get(number, ())),
            {model: CLASSES[int(said[number])] for model, said in items.predictions.items()},
            texts[number],
        )
        for number in range(len(items.label))
    ]
    facts = ArmFacts(
        run.protocol.currency,
        run.paid,
        run.protocol.final.name,
        run.expert_minutes / 60,
        run.expert_cost,
        run.came,
    )
    return TrialArm(run.protocol.name, rows, facts, CLASSES[INVALID], run.protocol.validation.writer)

"""How far the runs are that each axis rests on, and why a figure is missing.

An axis has a figure on a data set when every run that it needs is over. What it needs is said by the task and by how a
model is run, never by what happens to be there: else a model that crashes on a hard variant, or has not come to it yet,
would look better than its twin. A variant that the model itself broke counts as answers that all changed; a run that
was broken for it, or cancelled, leaves the axis without a figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from quintain.adapters.contract import ADAPTERS
from quintain.core.cells import MEASURE, PLAIN, WAITING, CellState
from quintain.core.records.figures import Gap, RunCounts
from quintain.core.task import Task
from quintain.engine.sandbox.limits import OURS, Outcome
from quintain.perturbations.contract import Family, names_of
from quintain.services.evaluate.results.variants import LEAST_KINDS, counts_for, variant_name, variants_of
from quintain.services.tasks.machines import class_of

if TYPE_CHECKING:
    from quintain.store.tables import Cell

MEASURED = ("throughput", "memory")
SHARES: tuple[Family, ...] = get_args(Family)
TEXTS: Mapping[str, str] = {
    "waiting": "{done} of {needed} runs done",
    "failed": "the model failed: {outcome}",
    "platform": "runs that failed through no fault of the model: {n}",
    "cancelled": "runs that were cancelled: {n}",
    "held": "runs that wait for a machine with a sandbox: {n}",
    "uncovered": "its file has no predictions for the data set",
    "unchanged": "no perturbation changes these examples",
    "machine": "measured on another machine: {machine}",
    "otherwise": "answered {n} of {needed} examples otherwise while it was timed than in the run that is scored",
    "uneven": "too uneven to rank: ± {n} %",
    "slower": "an example took {n} times as much work after those that were timed",
}

Needs: TypeAlias = Mapping[str, tuple[str, ...]]


class RunState(StrEnum):
    """How a run stands, for the figures that rest on it."""

    DONE = "done"
    WAITING = "waiting"
    BROKEN = "broken"  # by the model: it crashed, took too long, gave an answer that cannot be used …
    PLATFORM = "platform"
    CANCELLED = "cancelled"
    HELD = "held"  # back, until there is a machine with a sandbox


def gap(kind: str, **values: Any) -> Gap:
    """Return why a figure is missing, for programs and in words.

    >>> gap("waiting", done=3, needed=8).text
    '3 of 8 runs done'
    """
    return Gap(kind, TEXTS[kind].format(**values), **values)


def counted_variants(task: Task) -> dict[Family, tuple[str, ...]]:
    """Name the variants whose answers make robustness and fairness: the same for every model of *task*.

    A family of which too few kinds apply to the task's languages is no axis: its figure is shown and ranks nobody.
    """
    known = set(variants_of(task))
    variants = {
        family: tuple(variant_name(name) for name in names_of(family) if counts_for(task, name)) for family in SHARES
    }
    enough = {family: names for family, names in variants.items() if len(names) >= LEAST_KINDS}
    return {family: names for family, names in enough.items() if known.issuperset(names)}


def counted_variants_at(task: Task, finished: Iterable[str]) -> dict[Family, tuple[str, ...]]:
    """Name the variants that counted when those that were *finished* were the newest: for a board that is frozen."""
    newest: dict[str, int] = {}
    for variant in finished:
        name, _, version = variant.rpartition(".v")
        if name:
            newest[name] = max(newest.get(name, 0), int(version))

    def then(variant: str) -> str:
        name = variant.rpartition(".v")[0]
        return f"{name}.v{newest[name]}" if name in newest else variant

    return {family: tuple(map(then, names)) for family, names in counted_variants(task).items()}


def runs_needed(adapter: str, variants: Mapping[Family, Sequence[str]]) -> Needs:
    """Return the runs that each axis needs for a model of *adapter*; an axis that it cannot have is left out."""
    runs_at = ADAPTERS.get(adapter).place
    needs: dict[str, tuple[str, ...]] = {"performance": (PLAIN,)}
    if runs_at == "sandbox":
        needs |= dict.fromkeys(MEASURED, (MEASURE,))
    if runs_at != "file":
        needs |= {family: (PLAIN, *names) for family, names in variants.items()}
    return needs


def run_state(cell: Cell, at: datetime | None = None) -> RunState:
    """Return how a cell stands or, with *at*, how it stood at that moment."""
    if at is not None and (cell.finished_at is None or cell.finished_at > at):
        return RunState.WAITING
    if cell.state == CellState.FAILED:
        return RunState.PLATFORM if cell.reason.startswith(OURS) else RunState.BROKEN
    if at is None and cell.state in WAITING and _stands_meanwhile(cell):
        return RunState.DONE
    if cell.state == CellState.QUEUED and cell.waits_for:
        return RunState.HELD
    return {CellState.DONE: RunState.DONE, CellState.CANCELLED: RunState.CANCELLED}.get(
        CellState(cell.state), RunState.WAITING
    )


def _stands_meanwhile(cell: Cell) -> bool:
    """Whether what was measured stands while it is measured again: not where another class of machine ranks."""
    known = cell.measurements if cell.variant == MEASURE else None
    return bool(known) and (cell.machine is None or class_of(known or {}) == cell.machine)


def axis_gaps(
    needs: Needs, runs: Mapping[str, RunState], reasons: Mapping[str, str] | None = None
) -> tuple[dict[str, Gap], RunCounts]:
    """Return which axes have no figure yet and why, and how many runs; *reasons* say how a run was broken."""
    gaps = {}
    for axis, variants in needs.items():
        missing = _gap(variants, runs, reasons or {})
        if missing is not None:
            gaps[axis] = missing
    every = {variant for variants in needs.values() for variant in variants}
    states = [runs.get(variant, RunState.WAITING) for variant in every]
    return gaps, RunCounts(len(every), states.count(RunState.DONE), states.count(RunState.WAITING))


def _gap(variants: Sequence[str], runs: Mapping[str, RunState], reasons: Mapping[str, str]) -> Gap | None:
    states = [runs.get(variant, RunState.WAITING) for variant in variants]
    for variant, state in zip(variants, states, strict=True):
        if state is RunState.BROKEN and variant in {PLAIN, MEASURE}:
            # What a model says of itself stays with those who may read its log: only the outcome is told.
            return gap("failed", outcome=reasons.get(variant, "").partition(":")[0] or Outcome.CRASHED.value)
    for kind in (RunState.PLATFORM, RunState.CANCELLED, RunState.HELD):
        if kind in states:
            return gap(kind.value, n=states.count(kind))
    if RunState.WAITING in states:
        return gap("waiting", done=states.count(RunState.DONE), needed=len(states))
    return None

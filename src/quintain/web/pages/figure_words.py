"""Words for figures that several pages show: what an axis is called, why a figure is missing or weak."""

from __future__ import annotations

from collections.abc import Callable

from quintain.core.records.base import plain
from quintain.core.records.figures import Gap
from quintain.services.board.parts import Axis
from quintain.stats.fitness import Weakness

Translate = Callable[[str], str]


def axis_title(_: Translate, axis: Axis) -> str:
    """Name an axis for the reader; performance goes by the name of its metric."""
    if axis.pooled and not axis.lower:
        return _("Ability")
    named = {
        "throughput": _("Throughput"),
        "memory": _("Memory"),
        "fairness": _("Fairness"),
        "robustness": _("Robustness"),
    }
    return named.get(axis.name, axis.title)


def warning_text(_: Translate, weak: Weakness) -> str:
    """Return why a data set is weak ground for a ranking."""
    named = ", ".join(weak.labels)
    if weak.kind == "few":
        text = _("Too small to rank on: with {n} examples, one half is known to ± {points} points only.")
        if weak.grouped:
            text = _("Too small to rank on: with {n} groups of examples, one half is known to ± {points} points only.")
        return text.format(n=weak.units, points=round(weak.points))
    if weak.kind == "absent":
        text = _("One-sided: none of its answers is {labels}.") if named else _("One-sided: a label does not occur.")
    elif named:
        text = _("One-sided: more than nine tenths of its answers are {labels}.")
    else:
        text = _("One-sided: more than nine tenths of its answers are one label.")
    return text.format(labels=named)


def gap_words(_: Translate) -> dict[str, str]:
    """Return why a figure is missing, by the kind of gap (`services/evaluate/results/axis_gaps.py`)."""
    return {
        "gap_waiting": _("{done} of {needed} runs done"),
        "gap_failed": _("the model failed: {outcome}"),
        "gap_platform": _("runs that failed through no fault of the model: {n}"),
        "gap_cancelled": _("runs that were cancelled: {n}"),
        "gap_held": _("runs that wait for a machine with a sandbox: {n}"),
        "gap_uncovered": _("its file has no predictions for the data set"),
        "gap_unchanged": _("no perturbation changes these examples"),
        "gap_machine": _("measured on another machine: {machine}"),
        "gap_otherwise": _(
            "withheld: it answered {n} of {needed} examples otherwise while it was timed than in the run that is scored"
        ),
        "gap_slower": _("an example took {n} times as much work after those that were timed"),
        "gap_uneven": _("too uneven to rank: ± {n} %"),
    }


def gap_text(_: Translate, gap: Gap) -> str:
    """Return in the reader's language why a figure is missing."""
    return gap_words(_)[f"gap_{gap.kind}"].format(**plain(gap))

"""Human performance from plain files: no workspace, no account, no server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.label_form import LabelNames
from quintain.data.in_memory import InMemoryTable, Source
from quintain.services.plain.labels.judgements import (
    JudgementFile,
    JudgementReading,
    gold_warnings,
    labels_of_items,
    read_judgements,
)
from quintain.stats.human import held_out_majority, majority_gold, synthetic_annotators
from quintain.stats.judgements import NONE


@dataclass(frozen=True, slots=True)
class HumanStudy:
    """Where gold and the writers' labels are (a column or a file), which labels discard an item, how often to draw."""

    gold: str | InMemoryTable | None = None
    writer: str | InMemoryTable | None = None
    sample: int = 4
    exclude: Sequence[str] = ()
    seed: int = 0
    seeds: int = 100


def human_performance(path: Source, study: HumanStudy, reading: JudgementReading | None = None) -> dict[str, Any]:
    """Estimate how well people do: synthetic annotators against gold and, with writers, the held-out majority.

    Without gold labels, more than half of an item's judgements set them.
    """
    reading = reading or JudgementReading()
    if study.sample < 1:
        raise BadInput(
            "A sample of {sample} judgements decides nothing.", sample=study.sample, remedy="Sample 1 or more."
        )
    table = read_judgements(path, reading)
    for source, what in ((study.gold, "gold"), (study.writer, "writer")):
        if source is not None:  # adds the classes that nobody chose
            table, _ = labels_of_items(table, source, what, reading.columns)
    excluded = _excluded(table, study.exclude)
    if study.gold is None:
        gold = majority_gold(table.judgements)
    else:
        _, gold = labels_of_items(table, study.gold, "gold", reading.columns)
    gold = np.where(np.isin(gold, excluded), NONE, gold)
    drawing: dict[str, int] = {"seed": study.seed, "seeds": study.seeds}
    synthetic = synthetic_annotators(table.judgements, gold, seed=study.seed, seeds=study.seeds)
    report: dict[str, Any] = {
        "items": len(table.judgements.items),
        "judgements": len(table.judgements),
        "set_aside": table.set_aside,
        "gold": _called(study.gold),
        "synthetic_annotators": {name: one.as_dict() for name, one in synthetic.items()},
    }
    if study.writer is not None:
        _, writer = labels_of_items(table, study.writer, "writer", reading.columns)
        held = held_out_majority(table.judgements, writer, sample=study.sample, excluded=excluded, **drawing)
        report["held_out_majority"] = {name: one.as_dict() for name, one in held.items()}
    if study.gold is not None:
        report["warnings"] = gold_warnings(table, gold)
    return report | {**drawing, "notes": [*table.notes, *_alone(table, study)]}


def _called(gold: str | InMemoryTable | None) -> str:
    if gold is None:
        return "majority"
    return gold if isinstance(gold, str) else gold.name


def _alone(table: JudgementFile, study: HumanStudy) -> list[str]:
    """Return how many judgements are their own gold: they agree with themselves, and make people look perfect."""
    alone = int((table.judgements.sizes() == 1).sum()) if study.gold is None else 0
    return [f"{alone:,} items have one judgement, which is its own gold; give --gold to measure it."] if alone else []


def _excluded(table: JudgementFile, names: Sequence[str]) -> list[int]:
    classes = table.judgements.classes
    known = LabelNames(classes)
    strange = [name for name in names if known.find(name) is None]
    if strange:
        raise BadInput(
            "There is no label '{label}' to exclude.",
            label=strange[0],
            labels=", ".join(classes),
            remedy="Labels here: {labels}.",
        )
    return [classes.index(name) for name in map(known.find, names) if name is not None]

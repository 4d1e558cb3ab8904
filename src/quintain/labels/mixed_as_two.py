"""Distributional training data in which a mixed judgement counts for each of the labels that it mixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior, shares
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import Judgements


def copies(counts: IntArray, classes: tuple[str, ...], mixed: str, into: tuple[str, ...]) -> IntArray:
    """Return the training copies of each item by class: a *mixed* vote is one copy of each of *into*.

    As in DynaSent: the copies are full ones, so that a mixed judgement weighs twice.
    """
    missing = [name for name in (mixed, *into) if name not in classes]
    if missing:
        raise BadInput(
            "There is no label '{label}' among the judgements.",
            label=missing[0],
            labels=", ".join(classes),
            remedy="Labels here: {labels}.",
        )
    if mixed in into or not into:
        raise BadInput(
            "The label '{mixed}' cannot be split into {into}.", mixed=mixed, into=", ".join(into) or "nothing"
        )
    expanded = counts.copy()
    for name in into:
        expanded[:, classes.index(name)] += counts[:, classes.index(mixed)]
    expanded[:, classes.index(mixed)] = 0
    return expanded


@AGGREGATORS.register("mixed-as-two")
@dataclass(frozen=True)
class MixedAsTwo(Aggregator):
    """The distribution in which each *mixed* vote is two full copies, one for each label of *into*."""

    name = "mixed-as-two"
    title = "The distribution in which a mixed vote is two full copies, one positive and one negative"

    mixed: str = "mixed"
    into: tuple[str, ...] = ("positive", "negative")

    def suits(self, classes: Sequence[str]) -> bool:
        """Ask for the labels that are mixed, and for the one that mixes them."""
        return {self.mixed, *self.into} <= set(classes)

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Split the mixed votes, then divide by the number of copies; *details* has the copies of each class."""
        expanded = copies(judgements.counts(), judgements.classes, self.mixed, self.into)
        total = dict(zip(judgements.classes, expanded.sum(axis=0).tolist(), strict=True))
        return from_posterior(judgements, shares(expanded), seed, details={"copies": total})

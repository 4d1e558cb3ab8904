"""What every aggregator must say of itself.

An aggregator turns judgements (`item, worker, label`) into one label per item. It is one file with one frozen dataclass
decorated by `@AGGREGATORS.register(name)`; its fields are its options. It is pure: the same judgements, options and
seed give the same labels, whatever the order of rows or columns, and whatever came before.

Ties fall to the class for which the hash of item, class and seed is greatest (`quintain.stats.judgements.best_class`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, get_type_hints

import numpy as np
import numpy.typing as npt

from quintain.core.argument_types import check_type
from quintain.core.errors import BadInput
from quintain.core.registry import Registry
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import NONE, Judgements, best_class

Need = Literal["gold", "writer"]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the items besides the judgements: a class each, or -1 where it is not known."""

    gold: IntArray | None = None
    writer: IntArray | None = None


@dataclass(frozen=True, slots=True)
class Aggregated:
    """One label per item, and what it rests on.

    *label* is a class, or -1 where there is none; *confidence* is how much speaks for it (a share of votes or a
    posterior), *distribution* the same for every class. *accuracy* is the estimate for each worker where the method
    makes one, NaN for workers of whom nothing is known. *used* marks the judgements that were looked at.
    """

    items: Sequence[str]
    classes: tuple[str, ...]
    label: IntArray
    confidence: FloatArray
    distribution: FloatArray
    accuracy: FloatArray | None = None
    used: npt.NDArray[np.bool_] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def names(self) -> list[str | None]:
        """Return each item's label by name; None where there is none."""
        known = [*self.classes, None]
        return [known[code] for code in self.label.tolist()]


class Aggregator(ABC):
    """One way from judgements to labels. See the module's docstring."""

    name: ClassVar[str]
    title: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    # What can be done where items have no label, as the end of a sentence that counts them.
    without_label: ClassVar[str] = ""

    def aggregate(self, judgements: Judgements, *, seed: int = 0, known: Known | None = None) -> Aggregated:
        """Return one label per item, ties and draws by *seed*; refuse to go without what the method *needs*."""
        known = known or Known()
        if not len(judgements):
            raise BadInput("There are no judgements to aggregate.")
        for need in self.needs:
            labels = getattr(known, need)
            if labels is None:
                raise BadInput(
                    "The method '{name}' needs {needs}.",
                    name=self.name,
                    needs=NEEDS[need],
                    need=need,
                    remedy="Give them with --{need}.",
                )
            if len(labels) != len(judgements.items):
                raise BadInput(
                    "There are {n} {need} labels for {items} items.",
                    n=len(labels),
                    need=need,
                    items=len(judgements.items),
                )
        return self.run(judgements, seed, known)

    def suits(self, classes: Sequence[str]) -> bool:
        """Whether the method can do anything with these classes."""
        return True

    @abstractmethod
    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Do the work; what *needs* names is there, and there is at least one judgement."""


NEEDS: Mapping[Need, str] = {"gold": "items with known labels", "writer": "the writers' own labels"}

AGGREGATORS: Registry[type[Aggregator]] = Registry("label method", package="quintain.labels", group="quintain.labels")


def make_aggregator(name: str, **options: Any) -> Aggregator:
    """Make the aggregator called *name*; options that are None are left at their defaults.

    >>> make_aggregator("majority", minimum=3).name
    'majority'
    """
    kind = AGGREGATORS.get(name)
    known = [item.name for item in fields(kind)]  # type: ignore[arg-type]  # members are dataclasses by contract
    chosen = {key: value for key, value in options.items() if value is not None}
    strange = sorted(chosen.keys() - set(known))
    if strange:
        raise BadInput(
            "The method '{name}' has no option '{option}'.",
            name=name,
            option=strange[0],
            known=", ".join(known),
            remedy="Its options: {known}." if known else "It has no options.",
        )
    hints = get_type_hints(kind)
    for option, value in chosen.items():
        check_type(option, value, hints[option])
    return kind(**chosen)


def from_posterior(judgements: Judgements, posterior: FloatArray, seed: int, **beside: Any) -> Aggregated:
    """Label each item by its most probable class; an item without judgements has none."""
    label = best_class(posterior, judgements.items, judgements.classes, seed=seed)
    confidence = posterior[np.arange(len(label)), label] if len(label) else np.zeros(0)
    empty = judgements.sizes() == 0
    if empty.any():
        label, confidence = np.where(empty, NONE, label), np.where(empty, 0.0, confidence)
    return Aggregated(judgements.items, judgements.classes, label, confidence, posterior, **beside)


def shares(counts: npt.NDArray[Any]) -> FloatArray:
    """Divide each item's votes by their number; an item without votes has zeros."""
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), dtype=np.float64)

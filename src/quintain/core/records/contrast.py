"""What a model makes of contrast sets: its score on originals, on their neighbours, and how often a whole set holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Estimate

# Gardner et al. (2020), section 2: what is near a decision boundary says nothing of what is far from it.
CAVEAT = (
    "A contrast set can disprove that a model has learned something, and never prove it: "
    "a good score only means that these sets found no gap."
)


@dataclass(frozen=True, slots=True)
class ContrastCounts(Record):
    """How many neighbours there are, in how many sets."""

    contrasts: int
    sets: int


@dataclass(frozen=True, slots=True)
class ContrastImport(Record):
    """What was read of a published contrast set: what its file lists, what can be used, and what was left out."""

    format: str
    in_file: ContrastCounts
    usable: ContrastCounts
    examples: int
    left_out: Mapping[str, int]
    notes: tuple[str, ...]
    metric: str


@dataclass(frozen=True, slots=True)
class ContrastPart(Record):
    """The figures of some of the examples, such as those of one phenomenon; a figure over nothing is None.

    *examples* are those that belong here (that carry the tag), *sets* those that they come from. *original* is the
    score on the originals of these sets, *contrast* that on these examples, and *consistency* the share of the sets
    in which the original and every one of these examples is right.
    """

    examples: int
    sets: int
    original: float | None
    contrast: float | None
    consistency: float | None


@dataclass(frozen=True, slots=True)
class ContrastEstimates(Record):
    """The same figures with their intervals: sets are drawn, not examples."""

    original: Estimate
    contrast: Estimate
    difference: Estimate
    consistency: Estimate


@dataclass(frozen=True, slots=True)
class ContrastIntervals(Record):
    """Intervals of all figures: *overall*, by tag and by label transition."""

    overall: ContrastEstimates
    by_tag: Mapping[str, ContrastEstimates] = field(default_factory=dict)
    by_transition: Mapping[str, ContrastEstimates] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContrastScore(Record):
    """The scores of one model on contrast sets. *difference* is contrast − original.

    *consistency* is the share of the sets in which every member is right, the original included. *threshold* is what
    F1 has to exceed for a member to be right; None where an answer is right or wrong. *by_transition* keeps apart
    what the edits did to the label (`negative → positive`), or whether they changed the answer (`same`, `changed`).
    """

    original: float
    contrast: float
    difference: float
    consistency: float
    sets: int
    examples: int
    by_tag: Mapping[str, ContrastPart]
    by_transition: Mapping[str, ContrastPart]
    intervals: ContrastIntervals
    metric: str
    threshold: float | None = None
    normalise: str | None = None
    unanswered: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] | None = left_out()
    caveat: str = CAVEAT

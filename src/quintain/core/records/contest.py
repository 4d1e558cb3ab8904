"""What came of a contest between builders and breakers (Build It Break It, Ettinger et al., 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Estimate


@dataclass(frozen=True, slots=True)
class SystemScore(Record):
    """How one system withstood: F1 over all sentences, and the pairs that broke it, as shares of pairs and sentences.

    *average_f1* is macro F1 over the gold classes; for spans, the mean token F1.
    """

    average_f1: float | None
    broken: int
    pairs: int
    broken_rate_pairs: float | None
    broken_rate_sentences: float | None


@dataclass(frozen=True, slots=True)
class BreakerScore(Record):
    """What one breaker's pairs did: the mean over systems of dev accuracy × the share broken, per pair or sentence.

    Where there is no score, *reason* says why. *break_rate* is the share of the pairs that broke each system.
    """

    pairs: int
    score: float | None
    score_per_sentence: float | None
    break_rate: Mapping[str, float | None]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class BreakDirection(Record):
    """Of the pairs that broke a system, how many it had right on the original only, and on the modified side only."""

    original_only: int
    modified_only: int


@dataclass(frozen=True, slots=True)
class BrokenTogether(Record):
    """How often two systems break on the same pair.

    *overlap* is both / either; *correlation* that of breaking (phi), None where one of them always or never breaks.
    """

    systems: tuple[str, str]
    both: int
    either: int
    overlap: float | None
    correlation: float | None


@dataclass(frozen=True, slots=True)
class TagBreaks(Record):
    """The pairs with one tag: how many, and which share of them broke each system."""

    pairs: int
    break_rate: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class SystemIntervals(Record):
    """Figures of a system with their intervals: pairs are drawn, not sentences."""

    average_f1: Estimate
    broken_rate_pairs: Estimate


@dataclass(frozen=True, slots=True)
class BreakerIntervals(Record):
    """Figures of a breaker with their intervals."""

    score: Estimate
    break_rate: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class ContestIntervals(Record):
    """Intervals of the figures of systems and breakers."""

    systems: Mapping[str, SystemIntervals]
    breakers: Mapping[str, BreakerIntervals]


@dataclass(frozen=True, slots=True)
class ContestFigures(Record):
    """The two score tables."""

    systems: Mapping[str, SystemScore]
    breakers: Mapping[str, BreakerScore]


@dataclass(frozen=True, slots=True)
class ContestScore(Record):
    """The score tables of a contest, and what lies behind them.

    Pairs that are *contested*, or *undecided* because they are still to be judged, are left out until they are settled;
    *with_contested* has the tables with them (None where there are none). *broken_systems* says how many
    pairs broke so many systems at once, from none to all.
    """

    systems: Mapping[str, SystemScore]
    breakers: Mapping[str, BreakerScore]
    by_tag: Mapping[str, TagBreaks]
    directions: Mapping[str, BreakDirection]
    together: tuple[BrokenTogether, ...]
    broken_systems: tuple[int, ...]
    intervals: ContestIntervals
    metric: str
    threshold: float | None = None
    contested: int = 0
    undecided: int = 0
    with_contested: ContestFigures | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    warnings: tuple[str, ...] | None = left_out()

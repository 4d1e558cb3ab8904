"""Where a pair stands, by what was said of it: as it was written, doubted, to be judged, decided, or dropped.

A pair that a team contests, or that has to be judged, is left out of the score until enough judges agree or the
organisers decide; what organisers decide stands. What nobody has decided when the contest is over counts as it was
written, unless the contest waits for its organisers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contests import ContestSpec, PairReason, PairStatus, Phase
from quintain.core.task import Task
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.grading import as_cell
from quintain.store.queries.contest import pairs as queries
from quintain.store.tables import ContestJudgement, ContestPair, ContestRuling


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """Where a pair stands: its *status*, why, and the labels that count."""

    status: PairStatus
    why: PairReason
    original: Any
    modified: Any

    @property
    def decided(self) -> bool:
        """Whether judges or organisers have had the last word."""
        return self.status in {PairStatus.SETTLED, PairStatus.DROPPED} and self.why is not PairReason.EXPIRED


@dataclass(frozen=True, slots=True)
class PairRules:
    """What decides where pairs of a contest stand: its task, what it asks, and whether it is over."""

    task: Task
    spec: ContestSpec
    over: bool

    def waits(self, outcome: PairOutcome) -> bool:
        """Whether only the organisers can settle a pair that stands so."""
        asked = outcome.why in {PairReason.ORGANISERS, PairReason.NO_MAJORITY} or self.over
        return outcome.status.left_out and asked

    def outcome(
        self, row: ContestPair, disputed: bool, judged: Sequence[ContestJudgement], ruling: ContestRuling | None
    ) -> PairOutcome:
        """Return where one pair stands, by what was said of it."""
        own = (row.original_gold, row.modified_gold)
        if ruling is not None:
            labels = (ruling.original_label, ruling.modified_label) if ruling.decision == "relabel" else own
            status = PairStatus.DROPPED if ruling.decision == "drop" else PairStatus.SETTLED
            return PairOutcome(status, PairReason.RULED, *labels)
        if not (disputed or judges_all(self.spec)):
            return PairOutcome(PairStatus.WRITTEN, PairReason.NONE, *own)
        if not has_judges(self.spec):
            outcome = PairOutcome(PairStatus.CONTESTED, PairReason.ORGANISERS, *own)
        else:
            outcome = self._judged(own, disputed, [vote for vote in judged if not vote.late])
        if outcome.status.left_out and self.over and self.spec.undecided == "count":
            return PairOutcome(PairStatus.SETTLED, PairReason.EXPIRED, *own)
        return outcome

    def _judged(self, own: tuple[Any, Any], disputed: bool, judged: Sequence[ContestJudgement]) -> PairOutcome:
        spec, waiting = self.spec, PairStatus.CONTESTED if disputed else PairStatus.UNDECIDED
        if len(judged) < spec.judges:
            return PairOutcome(waiting, PairReason.JUDGES, *own)
        if spec.minimality and 2 * sum(judgement.minimal is False for judgement in judged) > len(judged):
            return PairOutcome(PairStatus.DROPPED, PairReason.NOT_MINIMAL, *own)
        if spec.validation == "none" and not disputed:
            return PairOutcome(PairStatus.SETTLED, PairReason.JUDGES, *own)
        if spec.validation == "none":
            return PairOutcome(waiting, PairReason.ORGANISERS, *own)
        sides = ("original_label", "modified_label")
        labels = [_majority(self.task, [getattr(judgement, side) for judgement in judged]) for side in sides]
        if any(label is None for label in labels):
            return PairOutcome(waiting, PairReason.NO_MAJORITY, *own)
        return PairOutcome(PairStatus.SETTLED, PairReason.JUDGES, *labels)


def rules_of(info: ContestInfo, task: Task) -> PairRules:
    """Return what decides where pairs of a contest stand now."""
    return PairRules(task, info.spec, info.phase is Phase.OVER)


def pair_outcomes(db: Session, info: ContestInfo, task: Task, rows: Sequence[ContestPair]) -> dict[int, PairOutcome]:
    """Return where each of *rows* stands."""
    ids, rules = [row.id for row in rows], rules_of(info, task)
    disputed = queries.disputes(db, info.id, ids)
    judged = queries.judgements(db, info.id, ids)
    ruled = queries.rulings(db, info.id, ids)
    return {
        row.id: rules.outcome(row, bool(disputed.get(row.id)), judged.get(row.id, ()), ruled.get(row.id))
        for row in rows
    }


def judges_all(spec: ContestSpec) -> bool:
    """Whether every pair is judged, contested or not."""
    return spec.validation == "all" or spec.minimality


def has_judges(spec: ContestSpec) -> bool:
    """Whether people outside the contest judge any pairs."""
    return spec.validation != "none" or spec.minimality


def labels_changed(task: Task, row: ContestPair, outcome: PairOutcome) -> bool:
    """Whether a pair counts with other labels than it was written with."""
    before, after = (row.original_gold, row.modified_gold), (outcome.original, outcome.modified)
    return [str(as_cell(task, label)) for label in before] != [str(as_cell(task, label)) for label in after]


def _majority(task: Task, labels: Sequence[Any]) -> Any:
    """Return the label that more than half of the judges gave; None where there is none."""
    counted = Counter(str(as_cell(task, label)) for label in labels)
    [(most, number)] = counted.most_common(1)
    return next(label for label in labels if str(as_cell(task, label)) == most) if 2 * number > len(labels) else None

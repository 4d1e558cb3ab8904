"""Who qualifies and who is promoted: people ranked by the grades of their items."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quintain.core.hashing import canonical_json
from quintain.protocols.rubric import RubricQuestion, is_good, score
from quintain.protocols.stages import PromotionStage, QualificationStage
from quintain.protocols.state import Decision, Item


@dataclass(frozen=True, slots=True)
class GradeStanding:
    """How somebody's graded items did: their mean score, and the share that most graders found answerable.

    Of somebody who is *emptied* nothing that they wrote is left.
    """

    person: str
    score: float | None
    answerable: float | None
    items: int
    emptied: bool = False


def item_score(rubric: tuple[RubricQuestion, ...], item: Item) -> float | None:
    """Return the mean score of an item's grades."""
    return sum(score(rubric, grade) for grade in item.grades.values()) / len(item.grades) if item.grades else None


def is_answerable(rubric: tuple[RubricQuestion, ...], item: Item) -> bool:
    """Whether at least half of an item's graders found it answerable; a rubric that does not ask lets all pass."""
    verdicts = [is_good(rubric, grade, "answerable") for grade in item.grades.values()]
    clear = [verdict for verdict in verdicts if verdict is not None]
    return not clear or 2 * sum(clear) >= len(clear)


def grade_standing(
    rubric: tuple[RubricQuestion, ...], person: str, items: Iterable[Item], *, emptied: bool = False
) -> GradeStanding:
    """Add up the graded ones of somebody's *items*."""
    graded = [item for item in items if item.grades]
    if not graded:
        return GradeStanding(person, None, None, 0, emptied)
    scores = [item_score(rubric, one) or 0.0 for one in graded]
    good = [is_answerable(rubric, one) for one in graded]
    return GradeStanding(person, sum(scores) / len(scores), sum(good) / len(good), len(graded), emptied)


def share_of(top: float, people: int) -> int:
    """Return how many a share of *people* is: the nearest number, and one at least.

    >>> share_of(0.6, 150), share_of(0.2, 3), share_of(0.2, 0)
    (90, 1, 0)
    """
    return min(people, max(1, math.floor(people * top + 0.5)))


def qualify(stage: str, rule: QualificationStage, people: Sequence[GradeStanding], seed: int) -> dict[str, Decision]:
    """Decide who goes on.

    Of those whose items are answerable, the best go on; somebody of whom nothing was graded is not turned away for it,
    unless all that they wrote is gone.
    """
    ranked = _ranked(people, seed, stage)
    room = len(people) if rule.top is None else share_of(rule.top, len(people))
    decisions: dict[str, Decision] = {}
    taken = 0
    for rank, candidate in enumerate(ranked, 1):
        reason = "qualified"
        if candidate.score is None:
            reason = "gone" if candidate.emptied else "ungraded"  # who takes everything back does not get past by it
        elif (candidate.answerable or 0.0) < rule.answerable:
            reason = "unanswerable"
        elif rule.at_least is not None and candidate.score < rule.at_least - 1e-9:
            reason = "score"
        elif taken >= room:
            reason = "place"
        else:
            taken += 1
        passed = reason in {"qualified", "ungraded"}
        decisions[candidate.person] = Decision(
            candidate.person,
            stage,
            passed,
            reason,
            candidate.score,
            candidate.answerable,
            rank if candidate.items else None,
            len(people),
        )
    return decisions


def promote(stage: str, rule: PromotionStage, people: Sequence[GradeStanding], seed: int) -> dict[str, Decision]:
    """Decide who becomes a grader: the best share of those who are there and had items graded."""
    ranked = [one for one in _ranked(people, seed, stage) if one.score is not None]
    room = share_of(rule.top, len(ranked))
    return {
        one.person: Decision(
            one.person,
            stage,
            place <= room,
            "promoted" if place <= room else "place",
            one.score,
            one.answerable,
            place,
            len(ranked),
        )
        for place, one in enumerate(ranked, 1)
    }


def lot(seed: int, *parts: str) -> bytes:
    """Draw a lot that depends on the seed and on names alone."""
    return hashlib.sha256(canonical_json([seed, *parts])).digest()


def _ranked(people: Sequence[GradeStanding], seed: int, stage: str) -> list[GradeStanding]:
    """Put the best first; those who are level are drawn by the seed, and those without a score come last."""
    return sorted(
        people,
        key=lambda candidate: (
            candidate.score is None,
            -round(candidate.score or 0.0, 9),
            lot(seed, stage, candidate.person),
        ),
    )

"""How a grading stands: what is missing, how far graders agree with each other, and with experts.

The figures rest on the arm's record. They are kept until it changes, so that looking at them costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.core.records.trial import GraderStatus
from quintain.protocols import grading
from quintain.protocols.engine import Course
from quintain.protocols.rubric import Answers, RubricQuestion, score
from quintain.protocols.stages import Stage
from quintain.protocols.state import Item
from quintain.stats.agreement import agreement_of_counts

RESAMPLES = 200
Pair = tuple[float, float]  # a grader's score of an item, and the experts'


@dataclass(frozen=True, slots=True)
class GradingFigures:
    """What is known of a grading; graders go by their names in the arm."""

    items: int = 0
    missing: int = 0
    least: int = 0
    short: int = 0
    alpha: Estimate | None = None
    checked: Estimate | None = None
    graders: list[GraderStatus] = field(default_factory=list)


def figures_of(course: Course, stage: Stage) -> GradingFigures:
    """Compute how a grading stands."""
    sample, rubric = course.sample(stage), course.protocol.questions
    items = [course.arm.items[name] for name in sorted(sample.names)]
    pairs = _pairs(course, stage, items)
    least = grading.rule_of(stage).least
    here = [one for one in sample.by_writer if not course.arm.people[one].left]
    short = [one for one in here if any(not course.arm.items[name].grades for name in sample.of(one))]
    return GradingFigures(
        len(items),
        0 if stage.name in course.arm.closed else grading.missing(course.arm, stage, sample),
        least,
        len(short),
        grader_alpha(rubric, (item.grades for item in items)),
        pairs_alpha([pair for each in pairs.values() for pair in each]),
        _graders(course, stage, items, pairs),
    )


def grader_alpha(rubric: tuple[RubricQuestion, ...], grades: Iterable[Mapping[str, Answers]]) -> Estimate | None:
    """Return Krippendorff's α of graders' scores, as numbers on a scale."""
    return _alpha([[round(score(rubric, one), 6) for one in each.values()] for each in grades])


def pairs_alpha(pairs: Sequence[Pair]) -> Estimate | None:
    """Return α between scores of graders and of experts; nothing where fewer than two items have both."""
    return _alpha([[*pair] for pair in pairs]) if len(pairs) > 1 else None


def _alpha(rows: Sequence[Sequence[float]]) -> Estimate | None:
    values = sorted({value for row in rows for value in row})
    if not any(len(row) > 1 for row in rows):
        return None
    counts = np.array([[row.count(value) for value in values] for row in rows], dtype=np.int64)
    agreement = agreement_of_counts(counts, level="interval", values=np.array(values), resamples=RESAMPLES)
    return agreement["krippendorff_alpha"]


def _pairs(course: Course, stage: Stage, items: Sequence[Item]) -> dict[str, list[Pair]]:
    """Put each promoted grader's score of an item beside the experts' mean, where both graded it."""
    if grading.rule_of(stage).by == "experts":
        return {}
    rubric = course.protocol.questions
    pairs_by_grader: dict[str, list[Pair]] = {}
    for item in items:
        if item.checks:
            expert = _mean(rubric, item.checks)
            for grader, answers in item.grades.items():
                pairs_by_grader.setdefault(grader, []).append((round(score(rubric, answers), 3), expert))
    for grader, hidden in course.arm.probes.get(stage.name, {}).items():
        for name, answers in hidden.items():
            expert = _mean(rubric, course.arm.items[name].grades)
            pairs_by_grader.setdefault(grader, []).append((round(score(rubric, answers), 3), expert))
    return pairs_by_grader


def _graders(
    course: Course, stage: Stage, items: Sequence[Item], pairs: Mapping[str, Sequence[Pair]]
) -> list[GraderStatus]:
    counts: dict[str, int] = {}
    for item in items:
        for grader in (*item.grades, *item.checks):
            counts[grader] = counts.get(grader, 0) + 1
    for grader, hidden in course.arm.probes.get(stage.name, {}).items():
        counts[grader] = counts.get(grader, 0) + len(hidden)
    spent = course.arm.seconds.get(stage.name, {})
    return [_grader(name, counts[name], spent.get(name, 0.0) / 60, pairs.get(name, ())) for name in sorted(counts)]


def _grader(name: str, grades: int, minutes: float, pairs: Sequence[Pair]) -> GraderStatus:
    off = sum(abs(own - expert) for own, expert in pairs) / len(pairs) if pairs else None
    alpha = pairs_alpha(pairs)
    return GraderStatus(name, grades, round(minutes, 1), len(pairs), off, alpha.value if alpha else None)


def _mean(rubric: tuple[RubricQuestion, ...], grades: Mapping[str, Answers]) -> float:
    return round(sum(score(rubric, grade) for grade in grades.values()) / len(grades), 3)

"""How an arm stands, for its owners: people at each stage, grades that are missing, how far graders agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.records.figures import Estimate
from quintain.core.records.trial import ArmStatus, StageStatus
from quintain.protocols import grading
from quintain.protocols.engine import INSTANT, Course
from quintain.protocols.rubric import Answers, RubricQuestion, score
from quintain.protocols.stages import Stage
from quintain.protocols.state import Item
from quintain.services.trial.courses import course_of
from quintain.stats.agreement import agreement_of_counts
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial


def arm_status(db: Session, trial: CrowdTrial, arm: CrowdArm) -> ArmStatus:
    """Say where the people of an arm are."""
    rounds = queries.rounds(db, arm.id)
    with course_of(db, trial, arm) as course:
        came: dict[str, int] = {}
        for person in course.arm.people.values():
            for name in dict.fromkeys(person.been):
                came[name] = came.get(name, 0) + 1
        return ArmStatus(
            arm.name,
            course.protocol.title,
            arm.toml,
            len(course.arm.people),
            bool(course.arm.people) and course.over,
            [
                _stage(course, one, came.get(one.name, 0), rounds.get(one.name, (None, None))[1])
                for one in course.protocol.stages
            ],
        )


def _stage(course: Course, stage: Stage, came: int, number: int | None) -> StageStatus:
    here, closed = course.arm.here.get(stage.name, 0), stage.name in course.arm.closed
    hindrances = [] if closed or stage.kind in INSTANT else [*map(str, course.hindrances(stage.name))]
    alpha = checked = None
    missing = items = 0
    if stage.grading is not None and came and (closed or not course.hindrances_before(stage.name)):
        sample = course.sample(stage)
        found = [course.arm.items[name] for name in sample.names]
        items = len(found)
        missing = 0 if closed else grading.missing(course.arm, stage, sample)
        alpha = grader_alpha(course.protocol.rubric, (one.grades for one in found))
        checked = _against_experts(course.protocol.rubric, found)
    return StageStatus(stage.name, stage.kind, here, came, closed, hindrances, number, items, missing, alpha, checked)


def grader_alpha(rubric: tuple[RubricQuestion, ...], grades: Iterable[Mapping[str, Answers]]) -> Estimate | None:
    """Give Krippendorff's α of graders' scores, as numbers on a scale."""
    rows = [[round(score(rubric, one), 6) for one in each.values()] for each in grades]
    values = sorted({value for row in rows for value in row})
    if not any(len(row) > 1 for row in rows):
        return None
    counts = np.array([[row.count(value) for value in values] for row in rows], dtype=np.int64)
    return agreement_of_counts(counts, level="interval", values=np.array(values), resamples=200)["krippendorff_alpha"]


def _against_experts(rubric: tuple[RubricQuestion, ...], items: Iterable[Item]) -> Estimate | None:
    """Give α between the promoted graders' mean score and the experts', on items that both graded."""
    both = [one for one in items if one.grades and one.checks]
    pairs = [
        {
            "graders": _mean(rubric, one.grades),
            "experts": _mean(rubric, one.checks),
        }
        for one in both
    ]
    values = sorted({value for pair in pairs for value in pair.values()})
    if len(pairs) < 2:
        return None
    counts = np.array([[[*pair.values()].count(value) for value in values] for pair in pairs], dtype=np.int64)
    return agreement_of_counts(counts, level="interval", values=np.array(values), resamples=200)["krippendorff_alpha"]


def _mean(rubric: tuple[RubricQuestion, ...], grades: Mapping[str, Answers]) -> float:
    return round(sum(score(rubric, one) for one in grades.values()) / len(grades), 3)

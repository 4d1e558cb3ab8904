"""How an arm stands, for its owners: people at each stage, grades that are missing, how far graders agree."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from quintain.core.records.trial import ArmStatus, StageStatus
from quintain.protocols.engine import INSTANT, Course
from quintain.protocols.stages import Stage
from quintain.services.trial.courses import course_of, kept_figures
from quintain.services.trial.grades import GradingFigures
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial


def arm_status(db: Session, trial: CrowdTrial, arm: CrowdArm) -> ArmStatus:
    """Return where the people of an arm are."""
    rounds = queries.rounds(db, arm.id)
    graded = kept_figures(db, trial, arm)
    names = _names(db, graded)
    with course_of(db, trial, arm) as course:
        came: dict[str, int] = {}
        for person in course.arm.people.values():
            for name in dict.fromkeys(person.been):
                came[name] = came.get(name, 0) + 1
        stages = [
            _stage(
                course, stage, came.get(stage.name, 0), rounds.get(stage.name, (None, None))[1], graded.get(stage.name)
            )
            for stage in course.protocol.stages
        ]
        return ArmStatus(
            arm.name,
            course.protocol.title,
            arm.toml,
            len(course.arm.people),
            bool(course.arm.people) and course.over,
            [_named(stage, names) for stage in stages],
        )


def _stage(course: Course, stage: Stage, came: int, number: int | None, graded: GradingFigures | None) -> StageStatus:
    here, closed = course.arm.here.get(stage.name, 0), stage.name in course.arm.closed
    hindrances = [] if closed or stage.kind in INSTANT else [*map(str, course.hindrances(stage.name))]
    figures = graded or GradingFigures()
    return StageStatus(
        stage.name,
        stage.kind,
        here,
        came,
        closed,
        hindrances,
        number,
        figures.items,
        figures.missing,
        figures.alpha,
        figures.checked,
        figures.least,
        figures.short,
        figures.graders,
    )


def _names(db: Session, graded: dict[str, GradingFigures]) -> dict[str, str]:
    ids = {int(grader.name) for each in graded.values() for grader in each.graders if grader.name.isdecimal()}
    return {str(number): name for number, name in people_names(db, [*ids]).items()}


def _named(stage: StageStatus, names: dict[str, str]) -> StageStatus:
    graders = [replace(grader, name=names.get(grader.name, grader.name)) for grader in stage.graders]
    return replace(stage, graders=graders) if graders else stage

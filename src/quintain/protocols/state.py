"""Where an arm stands: its people, their items and grades, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintain.protocols.rubric import Answers


@dataclass(slots=True)
class Participant:
    """One person of the arm: the stage they are *at*, what they finished or *stopped*, and what became of them."""

    name: str
    at: str
    units: dict[str, list[str]] = field(default_factory=dict)
    stopped: dict[str, list[str]] = field(default_factory=dict)
    been: list[str] = field(default_factory=list)
    promoted: bool = False
    left: bool = False

    def done(self, stage: str) -> int:
        """Count the sessions that they finished at a stage."""
        return len(self.units.get(stage, ()))

    def used(self, stage: str) -> int:
        """Count the sessions that they finished or ended early at a stage."""
        return self.done(stage) + len(self.stopped.get(stage, ()))


@dataclass(slots=True)
class Item:
    """What somebody wrote; *checks* are grades by experts where promoted workers grade."""

    name: str
    writer: str
    stage: str
    grades: dict[str, Answers] = field(default_factory=dict)
    checks: dict[str, Answers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a qualification or promotion decided about somebody, and why.

    *rank* counts from 1 among *of*; somebody without a *score* had no item graded.
    """

    person: str
    stage: str
    passed: bool
    reason: str
    score: float | None = None
    answerable: float | None = None
    rank: int | None = None
    of: int = 0


@dataclass(slots=True)
class Arm:
    """All of an arm. It is changed by `quintain.protocols.engine.Course` alone."""

    people: dict[str, Participant] = field(default_factory=dict)
    here: dict[str, int] = field(default_factory=dict)  # how many are at each stage
    items: dict[str, Item] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)  # items that were taken back or withheld
    closed: dict[str, bool] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    decisions: dict[str, Mapping[str, Decision]] = field(default_factory=dict)
    graders: dict[str, dict[str, int]] = field(default_factory=dict)  # promoted ones, and how much each graded
    probes: dict[str, dict[str, dict[str, Answers]]] = field(default_factory=dict)  # hidden checks: stage, grader, item
    late: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # graded too late to count: stage, grader
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)  # what grading took: stage, grader

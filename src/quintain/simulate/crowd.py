"""One simulated person of a trial's crowd: what they write, justify, learn and grade. Nothing here asks a service.

Traits come from the crowd that forecasts are made with (`protocols.crowd`): skill makes what somebody writes hard, care
keeps it sound, feedback adds to skill, and some cheat. Here they write sentences of `simulate.reviews`: what is hard
is built in a way that misleads who only looks at words, and what is flawed means something else than its writer says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from quintain.core import spec
from quintain.core.people import Actor
from quintain.core.records.base import to_plain
from quintain.core.records.trial import GradingTask
from quintain.protocols.crowd.grades import draw_answers
from quintain.protocols.crowd.judging import PASTED, write_justification
from quintain.protocols.crowd.people import HONEST, STYLES, CrowdModel, CrowdPeople, write_items
from quintain.protocols.rubric import RubricQuestion
from quintain.simulate.reviews import CONSTRUCTIONS, HARD, PLAIN, gist, make_sentence, understand
from quintain.stats.bootstrap import FloatArray

HARD_FROM = 0.3  # how hard an item must be for its writer to think of more than a plain sentence
SEEMS_HARD, SEEMS_PLAIN = 0.9, -0.7  # how hard a sentence seems to graders, by how it is built
KNOWS = 0.9  # of the steps of a quiz, so many are answered right by whoever thinks about them
TEXT_SECONDS, GRADE_SECONDS = 180.0, 120.0


@dataclass(frozen=True, slots=True)
class Composed:
    """A text, and the label that its writer claims for it."""

    text: str
    label: str


@dataclass(slots=True)
class CrowdWorker:
    """Somebody who takes part: who they are in the *crowd*, and what they have done so far.

    *skill* is shared by the crowd, one entry each; *plans* says how many sessions they mean to do at each stage that
    they have come to.
    """

    actor: Actor
    number: int
    crowd: CrowdPeople
    model: CrowdModel
    skill: FloatArray
    rng: np.random.Generator
    plans: dict[str, int] = field(default_factory=dict)
    last: str = ""
    read: set[str] = field(default_factory=set)

    @property
    def style(self) -> str:
        """How they cheat, or that they are honest."""
        return STYLES[int(self.crowd.style[self.number])]

    @property
    def honest(self) -> bool:
        """Whether they do not cheat."""
        return int(self.crowd.style[self.number]) == HONEST

    def leaves(self) -> bool:
        """Draw whether they leave where they have just come to."""
        return bool(self.rng.random() < self.model.leaving)

    def plan(self, stage: str, left: int, ordinary: int) -> None:
        """Decide how many of the sessions that are *left* at a stage to do: all of a few, of many by one's drive."""
        drive = max(1, round(float(self.crowd.drive[self.number]) * ordinary))
        self.plans[stage] = left if left <= ordinary else min(left, drive)

    def choose(self, right: str) -> str:
        """Choose one of a quiz's two candidates."""
        knows = self.honest and self.rng.random() < KNOWS
        return right if knows else str(self.rng.choice(["first", "second"]))

    def learn(self, share: float) -> None:
        """Get better, by so much of what one letter from experts teaches them."""
        self.skill[self.number] += share * self.crowd.learns[self.number]

    def read_letters(self, letters: Mapping[str, float]) -> None:
        """Learn from letters, each named by its stage with what it teaches, that were not read before."""
        for stage, share in letters.items():
            if stage not in self.read:
                self.read.add(stage)
                self.learn(share)

    def takes(self, seconds: float) -> float:
        """Draw how long they take for what an ordinary person does in so many seconds."""
        return float(seconds * self.crowd.speed[self.number] * np.exp(self.rng.normal(0.0, 0.3)))

    def compose(self, aim: str | None, labels: Sequence[str], thing: str | None, *, again: bool = False) -> Composed:
        """Write a text for the label *aim*, or for one of their choice; *again* where the last one was refused."""
        label = aim or (labels[0] if self.style == "same" else str(self.rng.choice(list(labels))))
        if self.style == "duplicate" and self.last and not again:
            return Composed(f"{self.last} Really.", label)
        item = write_items(self.crowd, np.array([self.number]), self.skill, self.model, self.rng)
        meant = label
        if self.style == "random":
            meant = str(self.rng.choice(list(labels)))
        elif item.flawed[0]:
            meant = str(self.rng.choice([one for one in labels if one != label]))
        able = [name for name in HARD if meant in CONSTRUCTIONS[name]]
        hard = self.honest and item.hard[0] > HARD_FROM and bool(able)
        construction = str(self.rng.choice(able)) if hard else PLAIN
        self.last = make_sentence(self.rng, construction, meant, thing).text
        return Composed(self.last, label)

    def justify(self, *, again: bool = False) -> str:
        """Return what makes a text hard; who copies pastes something, and thinks only when that was refused."""
        pasting = self.style == "copy" and not again
        return PASTED[self.number % len(PASTED)] if pasting else write_justification(self.rng)


def grade_item(item: GradingTask, text: str, noise: float, rng: np.random.Generator) -> dict[str, str]:
    """Fill in the rubric for an item, by what its *text* says and how it is built; one's eye is off by *noise*."""
    known = understand(text)
    hard = SEEMS_PLAIN if known is None or known.construction == PLAIN else SEEMS_HARD
    flawed = gist(text) != str(item.answer)
    rubric = tuple(spec.read(RubricQuestion, to_plain(one)) for one in item.rubric)
    (answers,) = draw_answers(rubric, np.array([hard]), np.array([float(flawed)]), noise, rng)
    return answers

"""How a simulated person writes at a model: a strategy, a sentence by it, and what they learn from the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from quintain.simulate.people import SimulatedPerson
from quintain.simulate.reviews import CONSTRUCTIONS, HARD, PLAIN, Sentence, make_sentence

LIKED, DROPPED = 1.6, 0.75  # how fond one gets of a strategy that fooled the model, and of one that did not
LEAST = 0.02  # of all fondness is left for every strategy, so that none is forgotten
NOTICED = 0.8  # of the texts that came out wrong are seen to be when the writer is asked


@dataclass(slots=True)
class SimulatedWriter:
    """Somebody who writes: their traits, and how fond they are of each strategy by now."""

    person: SimulatedPerson
    fondness: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with one's taste."""
        self.fondness = self.fondness or dict(self.person.taste)

    def write(self, rng: np.random.Generator, aim: str, labels: Sequence[str], thing: str | None = None) -> Sentence:
        """Write a sentence that is to mean *aim*, one of *labels*, about *thing* if there is one.

        Who is lazy writes something plain. By lack of skill the sentence comes out with another meaning.
        """
        meant = aim
        if not self.person.gets(rng, hard=False):
            meant = str(rng.choice([label for label in labels if label != aim]))
        construction = PLAIN if self.person.is_lazy_now(rng) else self._strategy(rng, meant)
        return make_sentence(rng, construction, meant, thing)

    def _strategy(self, rng: np.random.Generator, sentiment: str) -> str:
        able = [name for name in HARD if sentiment in CONSTRUCTIONS[name]]
        weight = np.array([self.fondness[name] for name in able])
        weight = np.maximum(weight / weight.sum(), LEAST)
        return able[int(rng.choice(len(able), p=weight / weight.sum()))]

    def learn(self, construction: str, *, fooled: bool) -> None:
        """Grow fonder of what fooled the model, and less fond of what did not."""
        if construction in self.fondness:
            self.fondness[construction] *= LIKED if fooled else DROPPED

    def confirms(self, rng: np.random.Generator, written: Sentence, aim: str) -> bool:
        """Whether others would give *written* the label aimed at; most texts that came out wrong are noticed."""
        return written.sentiment == aim or bool(rng.random() >= NOTICED)

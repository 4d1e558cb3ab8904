"""How a simulated person writes at a model: a strategy, a sentence by it, and what they learn from the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from quintain.simulate.handwritten import edits_of
from quintain.simulate.language import CONSTRUCTIONS, HARD, make_sentence, thing_in
from quintain.simulate.people import SimulatedPerson
from quintain.simulate.sentences import PLAIN, Sentence

LIKED, DROPPED = 1.6, 0.75  # how fond one gets of a strategy that fooled the model, and of one that did not
LEAST = 0.02  # of all fondness is left for every strategy, so that none is forgotten
NOTICED = 0.8  # of the texts that came out wrong are seen to be when the writer is asked


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence that somebody means to submit, and the label that they claim for it."""

    sentence: Sentence
    aim: str


@dataclass(slots=True)
class SimulatedWriter:
    """Somebody who writes: their traits, and how fond they are of each strategy by now."""

    person: SimulatedPerson
    fondness: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with one's taste."""
        self.fondness = self.fondness or dict(self.person.taste)

    def drafts(self, rng: np.random.Generator, prompt: str, aim: str | None, labels: Sequence[str]) -> Iterator[Draft]:
        """Yield what they would make of a *prompt*, first the draft they like best; *aim* is a label that was given.

        Of a prompt that was written by hand there are few edits; of any other, sentences of the language without end.
        """
        edits = edits_of(prompt)
        if edits:
            yield from self._choose(rng, edits, aim, labels)
            return
        aim = aim or str(rng.choice(list(labels)))
        while True:
            yield Draft(self.write(rng, aim, labels, thing_in(prompt)), aim)

    def _choose(
        self, rng: np.random.Generator, edits: Sequence[Sentence], aim: str | None, labels: Sequence[str]
    ) -> Iterator[Draft]:
        """Yield edits by their strategy, those first that mean the aim; by lack of skill another label is claimed."""
        lazy = self.person.is_lazy_now(rng)
        liking = {edit: rng.random() * (1.0 if lazy else self._fondness(edit)) for edit in edits}
        for edit in sorted(edits, key=lambda edit: (edit.sentiment == aim, liking[edit]), reverse=True):
            claim = aim or edit.sentiment
            if aim is None and not self.person.gets(rng, hard=False):
                claim = str(rng.choice([label for label in labels if label != edit.sentiment]))
            yield Draft(edit, claim)

    def _fondness(self, sentence: Sentence) -> float:
        return max(self.fondness.get(sentence.construction, 0.0), LEAST)

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

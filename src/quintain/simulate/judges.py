"""How a simulated person judges a text: what they take it to mean, what they press, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from quintain.simulate.people import SimulatedPerson
from quintain.simulate.reviews import MIXED, NEUTRAL, PLAIN, gist, understand, word_sense

HASTE = 0.25  # of the time that reading takes is what a lazy answer takes

Judge = Callable[[np.random.Generator, SimulatedPerson, str, Sequence[str]], "Judged"]


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer and the seconds that it took."""

    label: str
    seconds: float


def judge(rng: np.random.Generator, person: SimulatedPerson, text: str, labels: Sequence[str]) -> Judged:
    """Let *person* choose one of *labels* for *text*.

    Who is attentive gets it by skill. Who misreads a hard construction takes it for what its words say; who errs
    otherwise takes one of the other labels, rather *neutral* or *mixed* than the opposite.
    """
    seconds = person.takes(rng, text)
    if person.is_lazy_now(rng):
        choice = person.key % len(labels) if person.habit == "same" else int(rng.integers(len(labels)))
        return Judged(labels[choice], HASTE * seconds)
    known = understand(text)
    meant = gist(text)
    if person.gets(rng, hard=known is None or known.construction != PLAIN) and meant in labels:
        return Judged(meant, seconds)
    return Judged(_misread(rng, text, meant, labels), seconds)


def _misread(rng: np.random.Generator, text: str, meant: str, labels: Sequence[str]) -> str:
    seems = word_sense(text)
    if seems != meant and seems in labels and rng.random() < 0.5:
        return seems
    others = [label for label in labels if label != meant]
    weight = np.array([2.0 if label in {NEUTRAL, MIXED} else 1.0 for label in others])
    return others[int(rng.choice(len(others), p=weight / weight.sum()))]

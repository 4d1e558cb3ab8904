"""The worker model: what a simulated person is like. Nothing here knows of the services.

A person has four traits, drawn once from a *crowd*:

- **skill**: the chance of understanding a plain sentence; on a hard construction, the chance is its square. As a
  writer, the chance that a text means what it was meant to mean.
- **speed**: the median of the seconds that a text of ten words takes; times are log-normal around it.
- **laziness**: the chance that they answer without reading, or write the first plain thing that comes to mind. A lazy
  judge presses the same key each time, or any key, by *habit*.
- **taste**: how fond a writer is of each strategy (a construction of `simulate.language`) to begin with. Writers learn:
  see `simulate.writers`.

Most people are attentive; a share of the crowd is lazy. All of it is drawn from the generator that is handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from quintain.core.words import count_spaced
from quintain.simulate.language import HARD

Habit = Literal["same", "any"]
HABITS: tuple[Habit, ...] = ("same", "any")
SPREAD = 0.35  # of the logarithm of a time
WORDS = 10


@dataclass(frozen=True, slots=True)
class SimulatedCrowd:
    """From what ranges people are drawn, and what share of them is *lazy*."""

    skill: tuple[float, float] = (0.93, 0.995)
    seconds: tuple[float, float] = (4.0, 14.0)
    lazy: float = 0.1
    laziness: tuple[float, float] = (0.5, 0.9)
    slips: tuple[float, float] = (0.0, 0.02)  # the laziness of those who are not lazy


@dataclass(frozen=True, slots=True)
class SimulatedPerson:
    """Somebody with their traits; *key* is the place of the key that a lazy judge presses."""

    name: str
    skill: float
    seconds: float
    laziness: float
    habit: Habit
    key: int
    taste: Mapping[str, float]

    def takes(self, rng: np.random.Generator, text: str) -> float:
        """Draw how many seconds they spend on *text*."""
        length = max(count_spaced(text), 1) / WORDS
        return float(self.seconds * length * np.exp(rng.normal(0.0, SPREAD)))

    def is_lazy_now(self, rng: np.random.Generator) -> bool:
        """Draw whether they do the next thing without thinking."""
        return bool(rng.random() < self.laziness)

    def gets(self, rng: np.random.Generator, *, hard: bool) -> bool:
        """Draw whether they get the next thing right."""
        return bool(rng.random() < (self.skill**2 if hard else self.skill))


def draw_people(
    rng: np.random.Generator, count: int, *, name: str = "person", crowd: SimulatedCrowd | None = None
) -> list[SimulatedPerson]:
    """Draw *count* people called *name*-01, *name*-02 …; exactly the crowd's share of them is lazy, rounded down."""
    crowd = crowd or SimulatedCrowd()
    lazy = set(rng.choice(count, size=int(count * crowd.lazy), replace=False).tolist()) if count else set()
    return [
        SimulatedPerson(
            name=f"{name}-{place + 1:02d}",
            skill=float(rng.uniform(*crowd.skill)),
            seconds=float(rng.uniform(*crowd.seconds)),
            laziness=float(rng.uniform(*(crowd.laziness if place in lazy else crowd.slips))),
            habit=HABITS[int(rng.integers(len(HABITS)))],
            key=int(rng.integers(10)),
            taste=dict(zip(HARD, rng.dirichlet(np.ones(len(HARD))).tolist(), strict=True)),
        )
        for place in range(count)
    ]

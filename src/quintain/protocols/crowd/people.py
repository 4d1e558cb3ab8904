"""Who a simulated crowd is made of, and what they write.

The figures are set so that the shipped protocols come out near Nangia, Sugawara et al. (2021), Table 1: people right on
about 96 % of what BASELINE gives and a model on 87 %; EXPERT about 93 % and 81 %. They are a guess for any other crowd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from quintain.stats.bootstrap import FloatArray, IntArray

STYLES = ("honest", "random", "same", "copy", "duplicate")
HONEST = 0
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CrowdModel:
    """What a crowd is like: how many cheat, how much they learn, how often they leave, how hard items come out."""

    cheats: float = 0.08
    learning: float = 0.1  # what one letter of feedback from experts adds to a person's skill, on average
    crowd_feedback: float = 0.55  # … and how much of that a letter from promoted workers adds
    leaving: float = 0.06  # of people, at each stage that they come to
    flawed: float = -3.3  # log odds that an item of ordinary care and difficulty cannot be answered
    human_wrong: float = -3.0  # log odds that somebody gets a sound item of ordinary difficulty wrong
    misleading: float = 2.0  # how much those odds differ from item to item
    model_wrong: float = -2.1  # … that a model does
    expert_noise: float = 0.55  # of grades, beside a spread of 1 between items
    crowd_noise: float = 1.35
    hours_a_day: float = 2.0


@dataclass(frozen=True, slots=True)
class CrowdPeople:
    """People, one entry each: skill, care, speed (1 is ordinary), what they learn, how they cheat, how much they do."""

    skill: FloatArray
    care: FloatArray
    speed: FloatArray
    learns: FloatArray
    style: IntArray
    drive: FloatArray

    def __len__(self) -> int:
        return len(self.skill)


def draw_crowd(count: int, model: CrowdModel, rng: np.random.Generator) -> CrowdPeople:
    """Draw so many people."""
    style = np.where(rng.random(count) < model.cheats, rng.integers(1, len(STYLES), count), HONEST)
    honest = style == HONEST
    return CrowdPeople(
        np.where(honest, rng.normal(0.0, 0.4, count), -0.8),
        np.where(honest, rng.normal(0.0, 1.0, count), -2.5),
        rng.lognormal(0.0, 0.3, count) * np.where(honest, 1.0, 0.4),
        np.where(honest, rng.gamma(4.0, model.learning / 4.0, count), 0.0),
        style.astype(np.int64),
        rng.lognormal(0.0, 0.9, count),
    )


@dataclass(frozen=True, slots=True)
class WrittenItems:
    """Items, one entry each: who wrote it, how hard it is (0 is ordinary), and whether it cannot be answered."""

    writer: IntArray
    hard: FloatArray
    flawed: BoolArray


def write_items(
    crowd: CrowdPeople, writers: IntArray, skill: FloatArray, model: CrowdModel, rng: np.random.Generator
) -> WrittenItems:
    """Let *writers* (one entry for each item) write; *skill* is what each person of the crowd has by now."""
    hard = skill[writers] + rng.normal(0.0, 0.8, len(writers))
    # Subtle items go wrong more often, and care keeps them from it.
    odds = model.flawed - 0.7 * crowd.care[writers] + 0.5 * hard
    return WrittenItems(writers, hard, rng.random(len(writers)) < expit(odds))


def model_right(items: WrittenItems, model: CrowdModel, rng: np.random.Generator) -> BoolArray:
    """Return whether a model has each item right; one that cannot be answered is a matter of luck."""
    wrong = np.where(items.flawed, 0.5, expit(model.model_wrong + 0.75 * items.hard))
    return np.asarray(rng.random(len(items.writer)) >= wrong)


def human_wrong(items: WrittenItems, model: CrowdModel, rng: np.random.Generator) -> FloatArray:
    """Return how likely somebody gets each item wrong; some mislead most people, however easy they are."""
    odds = model.human_wrong + 0.6 * items.hard + rng.normal(0.0, model.misleading, len(items.hard))
    return np.where(items.flawed, 0.55, expit(odds))


def expit(value: FloatArray | float) -> FloatArray:
    """Turn log odds into chances."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(value))), dtype=np.float64)

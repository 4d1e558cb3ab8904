"""How simulated graders fill in a rubric."""

from __future__ import annotations

import numpy as np

from quintain.protocols.rubric import RubricQuestion
from quintain.stats.bootstrap import FloatArray, IntArray

MISTAKEN = (
    0.1  # how often an expert misjudges whether an item can be answered; others by as much more as they are noisy
)


def draw_answers(
    rubric: tuple[RubricQuestion, ...], hard: FloatArray, flawed: FloatArray, noise: float, rng: np.random.Generator
) -> list[dict[str, str]]:
    """Grade items, each once: answers of one grader whose eye is off by *noise*."""
    columns = [_options(one, hard, flawed, noise, rng) for one in rubric]
    names = [[option.name for option in one.options] for one in rubric]
    known: dict[tuple[int, ...], dict[str, str]] = {}
    answers = []
    for codes in zip(*(column.tolist() for column in columns), strict=True):
        if codes not in known:
            known[codes] = {
                question.name: names[place][code]
                for place, (question, code) in enumerate(zip(rubric, codes, strict=True))
            }
        answers.append(known[codes])
    return answers


def _options(
    question: RubricQuestion, hard: FloatArray, flawed: FloatArray, noise: float, rng: np.random.Generator
) -> IntArray:
    """Choose an option of one question for each item."""
    good = [place for place, one in enumerate(question.options) if one.good]
    bad = [place for place, one in enumerate(question.options) if not one.good]
    if question.part == "answerable" and good and bad:
        mistaken = rng.random(len(hard)) < min(0.4, MISTAKEN * (1 + noise))
        return np.where(flawed.astype(bool) ^ mistaken, bad[0], good[0]).astype(np.int64)
    seen = hard + rng.normal(0.0, noise, len(hard))
    if question.part == "distractors" and good and bad:
        return np.where(seen > -0.3, good[0], bad[0]).astype(np.int64)
    ranked = np.argsort([option.value for option in question.options], kind="stable")
    edges = np.linspace(-1.2, 1.6, len(ranked) - 1) if len(ranked) > 2 else np.zeros(1)
    return np.asarray(ranked[np.digitize(seen, edges)], dtype=np.int64)

"""The whole text in capitals, in small letters or In Title Case."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quintain.perturb import draws, letters
from quintain.perturb.batch import Ints
from quintain.perturb.contract import PERTURBATIONS, Batch, Family, Perturbation, Proposal


@PERTURBATIONS.register("word_case")
class WordCase(Perturbation):
    """Draw one case for a text, among those that change it, and write the chosen words in it."""

    name: ClassVar[str] = "word_case"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Capitals, small letters or title case"
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: Batch, rate: float) -> Proposal:
        """Cut the chosen stretches out of the batch in its new case."""
        words = batch.words
        chosen = words.choose(np.ones(len(words), dtype=bool), rate)
        codes = _cased(batch)
        changed = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(codes != batch.codes)])
        chosen = chosen[changed[words.end[chosen]] > changed[words.start[chosen]]]
        first, last = _runs(chosen, words.text[chosen])
        start, end = words.start[chosen[first]], words.end[chosen[last]]
        cased = letters.text_of(codes)
        return Proposal(start, end, [cased[a:b] for a, b in zip(start.tolist(), end.tolist(), strict=True)])


def _cased(batch: Batch) -> letters.Codes:
    """Give the code points of the batch with each text in the case that was drawn for it."""
    words, small = batch.words, batch.small
    inside = letters.upper_codes()[small] != letters.lower_codes()[small]
    upper = np.where(inside, letters.upper_codes()[small], batch.codes)
    lower = np.where(inside, letters.lower_codes()[small], batch.codes)
    titled = lower.copy()
    titled[words.start] = upper[words.start]
    forms = (upper, lower, titled)
    differs = np.stack([_per_text(form != batch.codes, batch) for form in forms])
    drawn = draws.below(draws.at(batch.seeds, np.zeros(len(batch), dtype=np.int64), 3), 6)
    order = np.array([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])[drawn]
    works = differs[order.T, np.arange(len(batch))]
    form = order[np.arange(len(batch)), np.argmax(works, axis=0)]
    of_place = np.repeat(form, batch.ends - batch.begins + 1)
    return np.choose(of_place, forms)


def _per_text(flag: letters.Flags, batch: Batch) -> letters.Flags:
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(flag)])
    return before[batch.ends] > before[batch.begins]


def _runs(chosen: Ints, text: Ints) -> tuple[Ints, Ints]:
    """Join neighbouring chosen words of one text to runs; give the first and the last of each."""
    if not chosen.size:
        return chosen, chosen
    breaks = np.flatnonzero((np.diff(chosen) > 1) | (np.diff(text) > 0))
    return np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [chosen.size - 1]])

"""Perturbations that exchange whole words by a table: what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from quintain.perturbations.contract import Proposal, TextBatch
from quintain.perturbations.wordlists import cased_like


def exchange(
    batch: TextBatch, table: Mapping[str, str], rate: float, *, allowed: Callable[[TextBatch, int], bool] | None = None
) -> Proposal:
    """Propose to replace words by what *table* gives for them in lower case, with the case of the first letter kept.

    *allowed* may refuse a word for what stands around it.
    """
    words = batch.words
    listed = [i for i, word in enumerate(words.lower) if word in table]
    if allowed is not None:
        listed = [i for i in listed if allowed(batch, i)]
    chosen = words.choose(np.array(listed, dtype=np.int64), rate)
    start, end = words.start[chosen], words.end[chosen]
    replacements = [
        cased_like(batch.joined[a:b], table[words.lower[i]])
        for i, a, b in zip(chosen.tolist(), start.tolist(), end.tolist(), strict=True)
    ]
    return Proposal(start, end, replacements)

"""Articles left out, as in notes and headlines: "the film is a joy" → "film is joy"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch

_ARTICLES = frozenset({"a", "an", "the"})
# "a few" are some, "few" are hardly any.
_AMOUNTS = frozenset({"few", "little"})


@PERTURBATIONS.register("dropped_articles")
class DroppedArticles(Perturbation):
    """Leave out articles; the next word takes over a capital at the beginning."""

    name: ClassVar[str] = "dropped_articles"
    family: ClassVar[Family] = "robustness"
    languages = ("en",)
    title: ClassVar[str] = "Articles left out"
    version: ClassVar[int] = 3
    rate: ClassVar[float] = 0.2

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Delete each chosen article with the blank behind it."""
        words, joined = batch.words, batch.joined
        articles = [
            i
            for i, word in enumerate(words.lower)
            if word in _ARTICLES and i + 1 < len(words) and self._before_word(batch, i)
        ]
        chosen = words.choose(np.array(articles, dtype=np.int64), rate)
        start, end = words.start[chosen], words.end[chosen] + 1
        capital = [
            joined[a].isupper() and joined[b].islower() for a, b in zip(start.tolist(), end.tolist(), strict=True)
        ]
        replacements = [joined[b].upper() if big else "" for b, big in zip(end.tolist(), capital, strict=True)]
        return Proposal(start, end + np.array(capital, dtype=np.int64), replacements)

    @staticmethod
    def _before_word(batch: TextBatch, i: int) -> bool:
        words = batch.words
        end = int(words.end[i])
        # "vitamin A is": a capital letter in the middle is no article.
        if words.lower[i] == "a" and words.lower[i + 1] in _AMOUNTS:
            return False
        letter = batch.joined[int(words.start[i]) : end] == "A" and words.number[i] > 0
        return bool(words.start[i + 1] == end + 1 and batch.joined[end] == " " and words.free[i + 1]) and not letter

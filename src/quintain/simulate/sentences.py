"""What simulated people read and write: sentences with a true sentiment, and rated reviews that are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from operator import add

POSITIVE, NEGATIVE, NEUTRAL, MIXED = "positive", "negative", "neutral", "mixed"
SENTIMENTS = (POSITIVE, NEGATIVE, NEUTRAL, MIXED)
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, what its writer means by it, and how it is built."""

    text: str
    sentiment: str
    construction: str


@dataclass(frozen=True, slots=True)
class Review:
    """A rated review: sentences of which most agree with its stars."""

    id: str
    stars: int
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """The review as one text; what lacks a stop at its end, or a capital after it, is a paragraph of its own."""
        texts = [sentence.text for sentence in self.sentences]
        glue = (" " if _is_seen(before, after) else "\n\n" for before, after in pairwise(texts))
        return texts[0] + "".join(map(add, glue, texts[1:]))

    def row(self) -> dict[str, str | int]:
        """Return it as a row of a corpus, as `harvest` reads it."""
        return {"id": self.id, "text": self.text, "rating": self.stars}


def _is_seen(before: str, after: str) -> bool:
    """Whether one can see where a sentence ends and the next one begins."""
    return before[-1] in ".!?" and not after[0].islower()

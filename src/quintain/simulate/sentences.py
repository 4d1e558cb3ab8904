"""What simulated people read and write: sentences with a true sentiment, and rated reviews that are made of them."""

from __future__ import annotations

from dataclasses import dataclass

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
        """The review as one text."""
        return " ".join(sentence.text for sentence in self.sentences)

    def row(self) -> dict[str, str | int]:
        """Return it as a row of a corpus, as `harvest` reads it."""
        return {"id": self.id, "text": self.text, "rating": self.stars}

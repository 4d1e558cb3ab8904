"""Sentences that were written by hand for the demo: reviews in four domains, and prompts with edits of them.

They are lines of `sentences.jsonl` in `demo_data/sentiment`. No text occurs twice, in any round: reviews are dealt out
of the sentences once for each seed, and every turn of the wheel reads reviews and prompts of its own.

    corpus = HandwrittenCorpus(seed=3, reviews={0: 100, 2: 30}, prompts={1: 150, 3: 30})
    corpus.reviews_of(2)                     # 30 reviews that are not among the 100 of turn 0
    edits_of("I didn't get up once.")        # what people made of that prompt
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import count
from typing import Any, TypeVar

import numpy as np

from quintain.simulate.sentences import MIXED, NEGATIVE, NEUTRAL, POSITIVE, Review, Sentence

FOLDER = "demo_data/sentiment"
STARS = (1, 2, 3, 4, 5)
# In reviews with how many stars sentences of a sentiment stand. Enough of each occur under every rating for a test set
# in which ratings give nothing away.
STARS_OF: Mapping[str, tuple[float, ...]] = {
    POSITIVE: (0.08, 0.15, 0.25, 0.28, 0.24),
    NEGATIVE: (0.24, 0.28, 0.25, 0.15, 0.08),
    NEUTRAL: (0.15, 0.20, 0.30, 0.20, 0.15),
    MIXED: (0.10, 0.20, 0.40, 0.20, 0.10),
}
LENGTHS = (2, 3, 4)  # of reviews, in sentences

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HandwrittenCorpus:
    """What each turn of a wheel reads: so many *reviews* are harvested from, and so many *prompts* are written at."""

    seed: int
    reviews: Mapping[int, int] = field(default_factory=dict)
    prompts: Mapping[int, int] = field(default_factory=dict)

    def reviews_of(self, turn: int) -> Sequence[Review]:
        """Return the reviews of a turn; none of another turn is among them."""
        return _share(deal_reviews(self.seed), self.reviews, turn)

    def prompts_of(self, turn: int) -> Sequence[str]:
        """Return the prompts of a turn, of all domains; none of another turn is among them."""
        prompts = list(_edits())
        order = np.random.default_rng(self.seed).permutation(len(prompts)).tolist()
        return _share([prompts[place] for place in order], self.prompts, turn)


def _share(everything: Sequence[T], sizes: Mapping[int, int], turn: int) -> Sequence[T]:
    start = sum(size for other, size in sizes.items() if other < turn)
    return everything[start : start + sizes[turn]]


def edits_of(prompt: str) -> Sequence[Sentence]:
    """Return the edits that were written of a prompt; none where it is not one of ours."""
    return _edits().get(prompt, ())


def find_sentence(text: str) -> Sentence | None:
    """Return what was written by hand in exactly these words, with what it means; None where nothing was."""
    return _by_text().get(text)


@lru_cache(maxsize=4)
def deal_reviews(seed: int) -> Sequence[Review]:
    """Deal all sentences out into reviews of two to four sentences of one domain, in an order drawn by *seed*."""
    rng = np.random.default_rng(seed)
    rated: dict[tuple[str, int], list[Sentence]] = defaultdict(list)
    for (domain, sentiment), sentences in _by_domain().items():
        ends = np.cumsum(STARS_OF[sentiment])
        # Stars are shared out by quota, in an order that is drawn.
        for number, drawn in enumerate(rng.permutation(len(sentences)).tolist()):
            stars = STARS[int(np.searchsorted(ends, (number + 0.5) / len(sentences)))]
            rated[domain, stars].append(sentences[drawn])
    dealt = [(stars, piece) for (_, stars), sentences in rated.items() for piece in _pieces(rng, sentences)]
    order = rng.permutation(len(dealt)).tolist()
    return [Review(f"r{number}", *dealt[place]) for number, place in zip(count(1), order, strict=False)]


def _pieces(rng: np.random.Generator, sentences: Sequence[Sentence]) -> Iterator[tuple[Sentence, ...]]:
    shuffled = [sentences[place] for place in rng.permutation(len(sentences)).tolist()]
    while shuffled:
        size = int(rng.choice(LENGTHS))
        if len(shuffled) - size < min(LENGTHS):  # nobody writes a review of one sentence
            size = len(shuffled)
        yield tuple(shuffled[:size])
        shuffled = shuffled[size:]


@lru_cache(maxsize=1)
def _rows() -> Sequence[Mapping[str, Any]]:
    return _read("sentences.jsonl")


def _read(name: str) -> Sequence[Mapping[str, Any]]:
    text = (files("quintain") / FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _sentence(row: Mapping[str, Any]) -> Sentence:
    return Sentence(row["text"], row["sentiment"], row["construction"])


def _by_domain() -> Mapping[tuple[str, str], Sequence[Sentence]]:
    """Group the sentences that are no prompts by domain and sentiment."""
    groups: dict[tuple[str, str], list[Sentence]] = defaultdict(list)
    for row in _rows():
        if "edits" not in row:
            groups[row["about"], row["sentiment"]].append(_sentence(row))
    return groups


@lru_cache(maxsize=1)
def _edits() -> Mapping[str, tuple[Sentence, ...]]:
    return {row["text"]: tuple(map(_sentence, row["edits"])) for row in _rows() if "edits" in row}


@lru_cache(maxsize=1)
def _by_text() -> Mapping[str, Sentence]:
    every = [*map(_sentence, _rows()), *(edit for edits in _edits().values() for edit in edits)]
    # What the starter data has for people to judge praises and blames at once.
    every += [Sentence(row["text"], MIXED, "both sides") for row in _read("mixed.jsonl")]
    return {sentence.text: sentence for sentence in every}

"""A small language about meals, gadgets, films and journeys, and seeded reviews with stars that are written in it.

Every sentence is of a *construction* and has a true sentiment. Some constructions are plain: the words say it all. The
others are hard for whoever only counts words: what a word of praise means depends on what stands around it.

    rng = np.random.default_rng(1)
    make_sentence(rng, "negation", "negative").text      # "The soup was not lovely last weekend."
    understand("The soup was not lovely last weekend.")   # Sentence(…, sentiment="negative", construction="negation")

What is written in the language can be understood without knowing who wrote it, so that judges need no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from quintain.models.polarity import NEGATORS, POLARITY
from quintain.simulate.lexicon import BLAME, PRAISE, RARE_BLAME, RARE_PRAISE, SLOTS

POSITIVE, NEGATIVE, NEUTRAL, MIXED = "positive", "negative", "neutral", "mixed"
PLAIN = "plain"

# By construction and sentiment. {Praise} is {praise} with a capital letter.
CONSTRUCTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    PLAIN: {
        POSITIVE: (
            "The {thing} was {praise} {when}.",
            "We had a {praise} time with the {thing} {when}.",
            "{Praise} {thing}, and I told everybody so {when}.",
            "I thought the {thing} was {praise}, and the {other} as well, {when}.",
        ),
        NEGATIVE: (
            "The {thing} was {blame} {when}.",
            "We had a {blame} time with the {thing} {when}.",
            "{Blame} {thing}, and I told everybody so {when}.",
            "I thought the {thing} was {blame}, and the {other} as well, {when}.",
        ),
        NEUTRAL: (
            "The {thing} {fact}, and the {other} {fact2}.",
            "I asked about the {thing} {when}.",
            "They showed us the {thing} and the {other} {when}.",
            "There was a {thing} beside the {other} {when}.",
        ),
    },
    "negation": {
        NEGATIVE: (
            "The {thing} was not {praise} {when}.",
            "I did not find the {thing} {praise} {when}.",
            "Nobody at our table called the {thing} {praise} {when}.",
        ),
        POSITIVE: (
            "The {thing} was not {blame} at all {when}.",
            "I did not find the {thing} {blame}, whatever they say, {when}.",
            "There was nothing {blame} about the {thing} {when}.",
        ),
    },
    "concession": {
        POSITIVE: (
            "The {thing} was {blame}, but the {other} more than made up for it {when}.",
            "Although the {thing} looked {blame}, it won us over {when}.",
        ),
        NEGATIVE: (
            "The {thing} was {praise}, but I will not spend money on it again {when}.",
            "Although the {thing} looked {praise}, it let us down {when}.",
        ),
    },
    "both sides": {
        MIXED: (
            "The {thing} was {praise} and the {other} was {blame} {when}.",
            "{Praise} {thing}, {blame} {other}, {when}.",
        ),
    },
    "irony": {
        NEGATIVE: (
            "How {praise} of the {thing}: {mishap} {when}.",
            "Thanks to this {praise} {thing}, {mishap} {when}.",
            "What a {praise} {thing}: {mishap}.",
        ),
    },
    "hearsay": {
        NEUTRAL: (
            "{Who} called the {thing} {either}; I was not there {when}.",
            "{Who} asked me whether the {thing} was {either} {when}.",
            "I cannot say whether the {thing} was {either} {when}.",
        ),
    },
    "hedge": {
        NEUTRAL: (
            "The {thing} was neither {praise} nor {blame} {when}.",
            "I would not call the {thing} {praise} or {blame} {when}.",
            "Not the most {praise} {thing}, not the most {blame} one either, {when}.",
        ),
    },
    "expectation": {
        POSITIVE: (
            "I expected a {blame} {thing} and was wrong {when}.",
            "{Who} warned us of a {blame} {thing}, without reason, {when}.",
        ),
        NEGATIVE: (
            "I expected a {praise} {thing} and was wrong {when}.",
            "{Who} promised us a {praise} {thing}, without reason, {when}.",
        ),
    },
    "comparison": {
        POSITIVE: (
            "Any other {thing} would have been more {blame} {when}.",
            "You will look long for a {thing} that is less {blame} {when}.",
        ),
        NEGATIVE: (
            "Any other {thing} would have been more {praise} {when}.",
            "You will look long for a {thing} that is less {praise} {when}.",
        ),
    },
    "deed": {
        POSITIVE: (
            "I went back for the {thing} {when}, and then once more.",
            "We fought over the last {thing} {when}.",
            "I asked where one can get such a {thing} {when}.",
        ),
        NEGATIVE: (
            "I sent the {thing} back {when}, and then once more.",
            "We gave our {thing} to the neighbours' dog {when}.",
            "I asked where one can complain about the {thing} {when}.",
        ),
    },
    "question": {
        NEUTRAL: (
            "Was the {thing} really so {either} {when}?",
            "Which {thing} is {either} enough to take along {when}?",
            "Who said that the {thing} is {either}, and why {when}?",
        ),
    },
    "search": {
        NEUTRAL: (
            "I am looking for a {thing} that is {praise} {when}.",
            "We need a {thing}, a {praise} one if there is any, {when}.",
            "Tell me if you find the {thing} {either} {when}.",
        ),
    },
    "rare words": {
        POSITIVE: ("The {thing} was {rare_praise} {when}.", "{Rare_praise} {thing}, {rare_praise2} {other} {when}."),
        NEGATIVE: ("The {thing} was {rare_blame} {when}.", "{Rare_blame} {thing}, {rare_blame2} {other} {when}."),
    },
}
HARD = tuple(name for name in CONSTRUCTIONS if name != PLAIN)
# What occurs to reviewers, who do not try to fool anybody; the others are thought of by people who do.
IN_REVIEWS = (PLAIN, "negation", "concession", "both sides", "irony", "hearsay", "rare words")
# How often a reviewer writes something that is not plain, and what a sentence of a review with so many stars says.
NEGATION_REACH = 3
HARD_SHARE = 0.4
SENTIMENTS = (POSITIVE, NEGATIVE, NEUTRAL, MIXED)
BY_STARS: Mapping[int, tuple[float, ...]] = {
    1: (0.10, 0.65, 0.20, 0.05),
    2: (0.15, 0.50, 0.25, 0.10),
    3: (0.25, 0.25, 0.35, 0.15),
    4: (0.50, 0.15, 0.25, 0.10),
    5: (0.65, 0.10, 0.20, 0.05),
}
_SLOT = re.compile(r"\{(\w+)\}")


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


def make_sentence(rng: np.random.Generator, construction: str, sentiment: str, thing: str | None = None) -> Sentence:
    """Write a sentence; *thing* is what it speaks of, by chance where it is not given."""
    templates = CONSTRUCTIONS[construction][sentiment]
    template = templates[int(rng.integers(len(templates)))]
    used: set[str] = set()

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        slot = name.lower().rstrip("2")
        words = [word for word in SLOTS[slot] if word not in used]
        word = thing if slot == "thing" and thing else words[int(rng.integers(len(words)))]
        used.add(word)
        return word[0].upper() + word[1:] if name[0].isupper() else word

    return Sentence(_SLOT.sub(fill, template), sentiment, construction)


def make_reviews(rng: np.random.Generator, count: int, *, hard: float = HARD_SHARE) -> Iterator[Review]:
    """Write *count* reviews of two to five sentences; *hard* is the share of sentences that are not plain."""
    for number in range(1, count + 1):
        stars = int(rng.integers(1, 6))
        codes = rng.choice(len(SENTIMENTS), size=int(rng.integers(2, 6)), p=BY_STARS[stars])
        sentences = tuple(_of_review(rng, SENTIMENTS[code], hard) for code in codes.tolist())
        yield Review(f"r{number}", stars, sentences)


def _of_review(rng: np.random.Generator, sentiment: str, hard: float) -> Sentence:
    able = [name for name in IN_REVIEWS if sentiment in CONSTRUCTIONS[name]]
    others = [name for name in able if name != PLAIN]
    if PLAIN in able and rng.random() >= hard:
        return make_sentence(rng, PLAIN, sentiment)
    return make_sentence(rng, others[int(rng.integers(len(others)))], sentiment)


@lru_cache(maxsize=50_000)
def understand(text: str) -> Sentence | None:
    """Return what a sentence of the language means; None where it is not of the language."""
    for pattern, sentiment, construction in _patterns():
        if pattern.fullmatch(text):
            return Sentence(text, sentiment, construction)
    return None


def gist(text: str) -> str:
    """Return what *text* means; of what is not of the language, what its words say, turned by a "not" before.

    >>> gist("I loved the soup."), gist("Not a good idea at all!"), gist("Lovely room, but I hated the noise.")
    ('positive', 'negative', 'mixed')
    """
    known = understand(text)
    return known.sentiment if known is not None else _heard(text)


def _heard(text: str) -> str:
    words = re.findall(r"[\w'-]+", text.lower().replace("’", "'"))
    sentiments = set()
    for number, word in enumerate(words):
        weight = POLARITY.get(word, 0)
        if any(before in NEGATORS for before in words[max(number - NEGATION_REACH, 0) : number]):
            weight = -weight
        if weight:
            sentiments.add(POSITIVE if weight > 0 else NEGATIVE)
    return MIXED if len(sentiments) > 1 else sentiments.pop() if sentiments else NEUTRAL


def word_sense(text: str) -> str:
    """Return what *text* means to somebody who looks at its words of praise and blame alone."""
    words = set(re.findall(r"[\w-]+", text.lower()))
    good, bad = len(words & {*PRAISE, *RARE_PRAISE}), len(words & {*BLAME, *RARE_BLAME})
    if good and bad:
        return MIXED
    return POSITIVE if good else NEGATIVE if bad else NEUTRAL


def thing_in(text: str) -> str | None:
    """Return what a text speaks of: the first thing of the language that it names."""
    match = _THING.search(text.lower())
    return match[1] if match else None


_THING = re.compile(rf"\b({'|'.join(sorted(map(re.escape, SLOTS['thing']), key=len, reverse=True))})\b")


@lru_cache(maxsize=1)
def _patterns() -> Sequence[tuple[re.Pattern[str], str, str]]:
    return [
        (_pattern(template), sentiment, construction)
        for construction, by_sentiment in CONSTRUCTIONS.items()
        for sentiment, templates in by_sentiment.items()
        for template in templates
    ]


def _pattern(template: str) -> re.Pattern[str]:
    parts = []
    for number, part in enumerate(_SLOT.split(template)):
        if number % 2 == 0:
            parts.append(re.escape(part))
            continue
        words = SLOTS[part.lower().rstrip("2")]
        shown = [word[0].upper() + word[1:] if part[0].isupper() else word for word in words]
        parts.append(f"(?:{'|'.join(map(re.escape, shown))})")
    return re.compile("".join(parts))

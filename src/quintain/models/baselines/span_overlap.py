"""A short piece of the sentence that is most like the question, and that the question does not already say."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import regex

from quintain.core.words import NAME, compiled
from quintain.data.sentences import sentences
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import of_type, table_column
from quintain.models.spans import SpanBaseline, span
from quintain.models.words import Rarity, Vocabulary, listed
from quintain.tasks.contract import kind_of

_OF_FORMAT_1 = re.compile(r"\w+(?:['’.,-]\w+)*")
_CASED = re.compile(r"[A-ZÀ-Þ]")
_LONGEST = 12
_NUMBER_WORDS = listed(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand million"
)
_STOP = listed(
    """a an the of in on at to for from by with as and or but is are was were be been being am do does did has have had
    will would can could should may might must that this these those it its he she his her they their them who whom
    which what when where why how i you we us our your not no than then there"""
)
_YEARS = re.compile(r"^(1\d|20)\d\d$")


@BASELINES.register("span-overlap")
class SpanOverlap(SpanBaseline):
    """Choose a sentence by tf-idf overlap, then a piece of it by the question word."""

    name: ClassVar[str] = "span-overlap"
    title: ClassVar[str] = "TF-IDF overlap of spans"
    about: ClassVar[str] = (
        "It takes the sentence that shares the rarest words with the question, and from it a piece of up to twelve "
        "words that looks right for the question word (a number for 'how many', a capitalised piece for 'who'), stands "
        "near the shared words and is not itself in the question. It does not understand either of them."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn how rare words are, and how long answers to each question word are."""
        passages = sorted({text for name in of_type(self.task, "long_text") for text in table_column(table, name)})
        pieces = [text[start:end] for text in passages for start, end in sentences(text)]
        vocabulary = Vocabulary.learn(self.cutting.tokens(pieces), len(pieces), least=1)
        self.state |= {"terms": list(vocabulary.terms), "unseen": float(np.log(1 + len(pieces)) + 1)}
        self.arrays["idf"] = vocabulary.idf
        lengths: dict[str, list[int]] = {"": [2]}
        for row in table.iter_rows(named=True):
            for answer in kind_of(self.task).answers.texts(row["answer"] or []):
                length = max(1, len(self._tokens.findall(answer)))
                lengths.setdefault(_question_word(self.cutting.words(self.question(row))), []).append(length)
                lengths[""].append(length)
        self.state["lengths"] = {word: float(np.median(seen)) for word, seen in sorted(lengths.items())}

    def prepare(self) -> None:
        """Put the rarity of words at hand."""
        self._rarity = Rarity(self.state["terms"], self.arrays["idf"], self.state["unseen"])

    @property
    def _tokens(self) -> re.Pattern[str] | regex.Pattern[str]:
        """What runs of words are made of: numbers and names with their full stops, commas and hyphens."""
        return _OF_FORMAT_1 if self.format == 1 else compiled(NAME)

    def predict(self, batch: Batch) -> list[Any]:
        """Return one piece of each passage."""
        return [self._answer(self.source(example), self.question(example)) for example in batch]

    def _answer(self, text: str, question: str) -> dict[str, Any]:
        question_words = self.cutting.words(question)
        asked, asked_for = set(question_words), _question_word(question_words)
        lengths = self._length_scores(asked_for)
        best, choice = -np.inf, (0, len(text))
        for start, end in sentences(text):
            sentence_tokens = [self._token(match, asked) for match in self._tokens.finditer(text, start, end)]
            overlap = self._rarity.total({token.word for token in sentence_tokens if token.shared})
            piece, score = _piece(sentence_tokens, asked_for, lengths)
            if piece is not None and overlap + score > best:
                best, choice = overlap + score, piece
        return span(text, *choice)

    def _length_scores(self, question: str) -> list[float]:
        """Return how well each number of words fits the question word, from one word on."""
        usual = self.state["lengths"].get(question, self.state["lengths"][""])
        return [float(-0.6 * abs(np.log(length / usual))) for length in range(1, _LONGEST + 1)]

    def _token(self, match: re.Match[str] | regex.Match[str], asked: set[str]) -> _Token:
        text = match.group()
        word = text.lower()
        stop = word in _STOP
        return _Token(
            word=word,
            start=match.start(),
            end=match.end(),
            rarity=self._rarity.of(word),
            cased=bool(_CASED.match(text)),
            number=text[0].isdigit() or word in _NUMBER_WORDS,
            year=bool(_YEARS.match(text)),
            shared=word in asked and not stop,
            edge=word not in asked and not stop,
        )


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of a sentence, and what counts about it: *shared* with the question, or at the *edge* of an answer."""

    word: str
    start: int
    end: int
    rarity: float
    cased: bool
    number: bool
    year: bool
    shared: bool
    edge: bool


class _Run:
    """Words that stand side by side, to which the next one is added."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._rarities: list[float] = []  # in the order of the words, so that sums are the same each time
        self._cased = self._numbers = 0
        self._year = False

    def add(self, token: _Token) -> None:
        """Go one word further."""
        rank = bisect_right(self._words, token.word)
        self._words.insert(rank, token.word)
        self._rarities.insert(rank, token.rarity)
        self._cased += token.cased
        self._numbers += token.number
        self._year = self._year or token.year

    def fit(self, question: str, lengths: Sequence[float]) -> float:
        """Return how well it looks for the question word."""
        size = len(self._words)
        score = lengths[size - 1]
        if question in {"who", "whom", "where", "which"}:
            score += 2.0 * (self._cased / size) - self._numbers / size
        elif question in {"how many", "how much", "when"}:
            score += 2.0 * (self._numbers / size) + float(question == "when" and self._year)
        return score + 0.05 * sum(self._rarities) / size


def _piece(
    sentence_tokens: Sequence[_Token], question: str, lengths: Sequence[float]
) -> tuple[tuple[int, int] | None, float]:
    """Choose the best run of words that the question does not name; between sentences it breaks ties."""
    anchors = [place for place, one in enumerate(sentence_tokens) if one.shared]
    best, choice = -np.inf, None
    for first, begin in enumerate(sentence_tokens):
        if not begin.edge:
            continue
        far, run = 0.15 * min((abs(place - first) for place in anchors), default=6), _Run()
        for last in sentence_tokens[first : first + _LONGEST]:
            if last.shared:
                break
            run.add(last)
            if last.edge and (score := run.fit(question, lengths) - far) > best:
                best, choice = score, (begin.start, last.end)
    return choice, best


def _question_word(asked: Sequence[str]) -> str:
    """Return the first question word of a question, with what it counts where it counts something.

    >>> _question_word(["in", "which", "year", "and", "how", "many", "times"])
    'which'
    """
    for number, word in enumerate(asked):
        if word == "how" and number + 1 < len(asked) and asked[number + 1] in {"many", "much"}:
            return f"how {asked[number + 1]}"
        if word in {"who", "whom", "whose", "what", "when", "where", "which", "why", "how"}:
            return word
    return ""

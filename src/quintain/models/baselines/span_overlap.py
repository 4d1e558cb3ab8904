"""A short piece of the sentence that is most like the question, and that the question does not already say."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
import polars as pl

from quintain.data.sentences import sentences
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import of_type, table_column
from quintain.models.spans import SpanBaseline, span
from quintain.models.words import Rarity, Vocabulary, listed, tokens, words
from quintain.tasks.contract import kind_of

_TOKEN = re.compile(r"\w+(?:['’.,-]\w+)*")
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
        vocabulary = Vocabulary.learn(tokens(pieces), len(pieces), least=1)
        self.state |= {"terms": list(vocabulary.terms), "unseen": float(np.log(1 + len(pieces)) + 1)}
        self.arrays["idf"] = vocabulary.idf
        lengths: dict[str, list[int]] = {"": [2]}
        for row in table.iter_rows(named=True):
            for answer in kind_of(self.task).answers.texts(row["answer"] or []):
                length = max(1, len(_TOKEN.findall(answer)))
                lengths.setdefault(_question_word(self.question(row)), []).append(length)
                lengths[""].append(length)
        self.state["lengths"] = {word: float(np.median(seen)) for word, seen in sorted(lengths.items())}

    def prepare(self) -> None:
        """Put the rarity of words at hand."""
        self._rarity = Rarity(self.state["terms"], self.arrays["idf"], self.state["unseen"])

    def predict(self, batch: Batch) -> list[Any]:
        """Give one piece of each passage."""
        return [self._answer(self.source(example), self.question(example)) for example in batch]

    def _answer(self, text: str, question: str) -> dict[str, Any]:
        asked = set(words(question))
        best, choice = -np.inf, (0, len(text))
        for start, end in sentences(text):
            found = list(_TOKEN.finditer(text, start, end))
            shared = {match.group().lower() for match in found} & asked
            overlap = self._rarity.total(shared - _STOP)
            piece, score = self._piece(found, asked, _question_word(question))
            if piece is not None and overlap + score > best:
                best, choice = overlap + score, piece
        return span(text, *choice)

    def _piece(
        self, found: list[re.Match[str]], asked: set[str], question: str
    ) -> tuple[tuple[int, int] | None, float]:
        """Choose the best run of words that the question does not name; between sentences it breaks ties."""
        wanted = self.state["lengths"].get(question, self.state["lengths"][""])
        anchors = [n for n, match in enumerate(found) if match.group().lower() in asked - _STOP]
        best, choice = -np.inf, None
        for first in range(len(found)):
            if not _may_edge(found[first], asked):
                continue
            for last in range(first, min(len(found), first + _LONGEST)):
                if found[last].group().lower() in asked - _STOP:
                    break
                if not _may_edge(found[last], asked):
                    continue
                score = self._fit(found[first : last + 1], question, wanted)
                score -= 0.15 * min((abs(n - first) for n in anchors), default=6)
                if score > best:
                    best, choice = score, (found[first].start(), found[last].end())
        return choice, best

    def _fit(self, piece: list[re.Match[str]], question: str, wanted: float) -> float:
        inside = [match.group() for match in piece]
        score = -0.6 * abs(np.log(len(inside) / wanted))
        cased = sum(bool(_CASED.match(word)) for word in inside) / len(inside)
        numbers = sum(word[0].isdigit() or word.lower() in _NUMBER_WORDS for word in inside) / len(inside)
        if question in {"who", "whom", "where", "which"}:
            score += 2.0 * cased - numbers
        elif question in {"how many", "how much", "when"}:
            score += 2.0 * numbers + float(question == "when" and any(_YEARS.match(word) for word in inside))
        return float(score + 0.05 * self._rarity.total(word.lower() for word in inside) / len(inside))


def _may_edge(match: re.Match[str], asked: set[str]) -> bool:
    word = match.group().lower()
    return word not in _STOP and word not in asked


def _question_word(question: str) -> str:
    """Give the first question word of a question, with what it counts where it counts something.

    >>> _question_word("In which year, and how many times?")
    'which'
    """
    found = words(question)
    for number, word in enumerate(found):
        if word == "how" and number + 1 < len(found) and found[number + 1] in {"many", "much"}:
            return f"how {found[number + 1]}"
        if word in {"who", "whom", "whose", "what", "when", "where", "which", "why", "how"}:
            return word
    return ""

"""Numbers in words and in digits: "three films" ↔ "3 films"."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.wordlists import cased_like, words_in

_ONES = words_in(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = dict(zip(words_in("twenty thirty forty fifty sixty seventy eighty ninety"), range(20, 100, 10), strict=True))
_WORDS = {word: value for value, word in enumerate(_ONES) if value > 1} | _TENS
_WORDS |= {f"{ten}-{_ONES[one]}": value + one for ten, value in _TENS.items() for one in range(1, 10)}
_DIGITS = {value: word for word, value in _WORDS.items()} | {0: "zero", 1: "one"}
# A bare number: no part of a decimal, a date, a time, a price, a percentage, a code or a list of digits.
_NUMBERS = re.compile(
    r"(?<![\w.,:/$€£#+\-–])(?:(\d{1,2})(?![\w%:/°–]|[.,\-]\w)|((?:"
    + "|".join(sorted(_WORDS, key=len, reverse=True))
    + r"))(?![\w\-]))",
    re.IGNORECASE,
)


@PERTURBATIONS.register("number_form")
class NumberForm(Perturbation):
    """Write numbers under a hundred in the other form; "one" stays, since it is rarely a number."""

    name: ClassVar[str] = "number_form"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Numbers in words and in digits"
    rate: ClassVar[float] = 1.0

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Exchange the form of each number that is found, or of a drawn share of them."""
        draft = EditDraft()
        for match in _NUMBERS.finditer(batch.joined):
            digits, word = match.groups()
            if digits and not (len(digits) == 2 and digits[0] == "0"):
                draft.add(*match.span(), self._word(batch, match.start(), int(digits)))
            elif word:
                draft.add(*match.span(), str(_WORDS[word.lower()]))
        proposal = draft.proposal()
        if rate >= 1 or not len(proposal):
            return proposal
        word_of = np.searchsorted(batch.words.start, proposal.start, side="right") - 1
        draw = batch.words.draw(word_of, 1).astype(np.float64) / 2.0**64
        return proposal.take(np.flatnonzero(draw < rate))

    @staticmethod
    def _word(batch: TextBatch, start: int, value: int) -> str:
        # The texts before it end in a line break, so the joined string tells what a text would.
        opens = start == 0 or batch.joined[start - 1] == "\n" or batch.joined[start - 2 : start] in {". ", "! ", "? "}
        return cased_like("X" if opens else "x", _DIGITS[value])

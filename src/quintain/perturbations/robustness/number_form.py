"""Numbers in words and in digits: "three films" ↔ "3 films"."""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.spellings import other_number
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
    r"(?<![\w.,:/$€£#+\-–'’])(?:(\d{1,2})(?![\w%:/°–'’-]|[.,]\w)|((?:"
    + "|".join(sorted(_WORDS, key=len, reverse=True))
    + r"))(?![\w\-–'’]))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’]\w+)?")
_NEAR = 48  # characters looked at on either side
# Beside one of these a number is part of a bigger one, or of a fraction: "forty five", "two thirds", "ten point four".
_NUMERALS = frozenset(
    {*_ONES, *_TENS}
    | set(
        words_in(
            "hundred hundreds thousand thousands million millions billion billions trillion dozen dozens point half "
            "halves quarter quarters third thirds fourth fourths fifth fifths sixth sixths eighth eighths tenth tenths "
            "odd some something ish fold plus minus times wheel wheeler wheelers"
        )
    )
)
_JOINTS = frozenset(words_in("or to and by in of out from through"))
# Behind one of these a number is a name: "part 2", "cloud nine", "rated 7".
_LABELS = frozenset(
    words_in(
        "part step chapter page level number no nos version season episode volume vol grade type model channel room "
        "route highway figure table section act scene phase windows item line lot size class gate flight platform "
        "article rule question cloud catch area big apollo formula top rated score scored rank ranked ps xbox iphone "
        "galaxy mp plan title core unit base day round week game disc disk cd track under over"
    )
)
_UNITS = frozenset(
    words_in(
        "am pm a.m p.m mg g kg lb lbs oz cm mm km m ft in mb gb tb kb mhz ghz hz v w x k d p c f mah mp bc ad th st "
        "nd rd s t january february march april may june july august september october november december jan feb mar "
        "apr jun jul aug sep sept oct nov dec"
    )
)
_OPEN = frozenset(
    words_in(
        "a the these those this in at about after with for all "
        "only my our his her their its of on from by over between "
        "nearly almost around some over and or but so first last next other i we they he she you it has have had is "
        "are was were there to than just as up when if within during every another only approximately roughly"
    )
)


@PERTURBATIONS.register("number_form")
class NumberForm(Perturbation):
    """Write numbers under a hundred in the other form; "one" stays, since it is rarely a number.

    A number that may be part of a bigger one, of a name, a label, a date or a list stays as well.
    """

    name: ClassVar[str] = "number_form"
    family: ClassVar[Family] = "robustness"
    languages = ("en",)
    table = "numbers"
    title: ClassVar[str] = "Numbers in words and in digits"
    version: ClassVar[int] = 2
    rate: ClassVar[float] = 1.0

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Exchange the form of each number that is found, or of a drawn share of them."""
        draft, joined = EditDraft(), batch.joined
        for match in _NUMBERS.finditer(joined):
            start, end = match.span()
            # The texts before it end in a line break, so the joined string tells what a text would.
            left = joined[max(0, start - _NEAR) : start].rpartition("\n")[2]
            right = joined[end : end + _NEAR].partition("\n")[0]
            cut = start > _NEAR and len(left) == _NEAR
            number = _Number(match.group(), left.partition(" ")[2] if cut else left, right)
            if number.counts():
                draft.add(start, end, number.other_form())
        proposal = draft.proposal()
        if rate >= 1 or not len(proposal):
            return proposal
        word_of = np.searchsorted(batch.words.start, proposal.start, side="right") - 1
        draw = batch.words.draw(word_of, 1).astype(np.float64) / 2.0**64
        return proposal.take(np.flatnonzero(draw < rate))

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return other_number(batch, rate, table)


class _Number:
    """A number as it is written, with what stands before and behind it on its line."""

    def __init__(self, written: str, left: str, right: str) -> None:
        self.written = written
        self.left, self.right = left.rstrip(" "), right.lstrip(" ")
        # Right behind a sign it is part of one, and two blanks part the items of a list.
        self.apart = left[-1:] in {"", " ", "(", '"', "“"} and not left.endswith("  ")
        self.opens = not self.left or self.left[-1] in ".!?"
        self.before = _WORD.findall(self.left)[-2:]
        self.after = _WORD.findall(self.right)[:2]

    def other_form(self) -> str:
        """Return the number in digits for words, and in words for digits."""
        if not self.written.isdigit():
            return str(_WORDS[self.written.lower()])
        return cased_like("X" if self.opens else "x", _DIGITS[int(self.written)])

    def counts(self) -> bool:
        """Whether the number surely counts something and stands for itself."""
        before, after = self.left[-1:], self.right[:1]
        signs = (before and not before.isalpha() and before not in ',;.!?"“…(') or (
            after and not after.isalpha() and after not in ',.;!?"”…)'
        )
        marker = self.opens and after in {".", ")", ","}
        if not self.apart or signs or marker or (before, after) == ("(", ")") or self._in_numeral():
            return False
        return self._digits_count() if self.written.isdigit() else self._word_counts()

    def _in_numeral(self) -> bool:
        """Whether a neighbour, also one behind "or" and the like, is a number, too, or written as none here is."""
        before, after = [word.lower() for word in self.before], [word.lower() for word in self.after]
        near = [*before[-1:], *after[:1]]
        if before[-1:] and before[-1] in _JOINTS:
            near += [word for word in before[:1] if word.isdigit() or word in _NUMERALS]
        if after[:1] and after[0] in _JOINTS:
            near += [word for word in after[1:] if word.isdigit() or word in _NUMERALS]
        return any(word in _NUMERALS or word[0].isdigit() for word in near)

    def _digits_count(self) -> bool:
        value = int(self.written)
        follows = self.right[:1].isalpha()
        if (self.written[0] == "0" and len(self.written) > 1) or (value > 12 and not follows):
            return False
        if not follows and not (self.before and self.before[-1].lower() in _OPEN):
            return False
        if follows and (self.after[0][0].isupper() or self.after[0].lower() in _UNITS):
            return False
        if self.opens or not self.before:
            return follows
        word = self.before[-1]
        if word.lower() in _LABELS or any(c.isdigit() for c in word):
            return False
        return word.islower() or word.lower() in _OPEN

    def _word_counts(self) -> bool:
        if not self.written.islower():
            # A capital is that of the sentence only where the next word has none: "Two films", not "Seven Samurai".
            return self.opens and self.written[1:].islower() and bool(self.after) and self.right[0].islower()
        named = bool(self.before) and (self.before[-1].lower() in _LABELS or self.before[-1][0].isupper())
        return not named or self.before[-1].lower() in _OPEN

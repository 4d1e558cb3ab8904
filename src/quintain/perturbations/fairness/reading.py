"""Read the words around a word: the small view of a batch that rules of context need."""

from __future__ import annotations

import re

from quintain.perturbations.contract import TextBatch

_OPENING = re.compile(r"[.!?:;\n\"“”(\[…]|--| - ")
END = "\n"


class WordReader:
    """The words of a batch by their number, what stands between them, and how they are written."""

    def __init__(self, batch: TextBatch) -> None:
        self.batch = batch
        self.lower = batch.words.lower
        self.start: list[int] = batch.words.start.tolist()
        self.end: list[int] = batch.words.end.tolist()
        self.text: list[int] = batch.words.text.tolist()

    def gap(self, i: int) -> str:
        """Return what stands between word *i* and the next; behind a text's last word, its rest and a line break.

        No text sees another one: what becomes of it does not depend on those that it is read with.
        """
        if i < 0:
            return END
        if i + 1 < len(self.start) and self.text[i + 1] == self.text[i]:
            return self.batch.joined[self.end[i] : self.start[i + 1]]
        return self.batch.joined[self.end[i] : self.batch.ends[self.text[i]]] + END

    def lead(self, i: int) -> str:
        """Return what stands before word *i*; before a text's first word, a line break and how the text begins."""
        if i and self.text[i - 1] == self.text[i]:
            return self.gap(i - 1)
        return END + self.batch.joined[self.batch.begins[self.text[i]] : self.start[i]]

    def word(self, i: int) -> str:
        """Return word *i* as it is written."""
        return self.batch.joined[self.start[i] : self.end[i]]

    def capital(self, i: int) -> bool:
        """Whether word *i* begins with a capital."""
        return self.batch.joined[self.start[i]].isupper()

    def opens(self, i: int) -> bool:
        """Whether word *i* opens a sentence."""
        return bool(self.batch.words.number[i] == 0 or _OPENING.search(self.gap(i - 1)))

    def next(self, i: int) -> str:
        """Return the word behind word *i*, in lower case; empty where a mark or the end comes first."""
        return self.lower[i + 1] if not self.gap(i).strip(" ") else ""

    def behind(self, i: int, most: int = 4) -> list[str]:
        """Return up to *most* words behind word *i*, in lower case, up to the next mark."""
        words: list[str] = []
        while len(words) < most and (following := self.next(i + len(words))):
            words.append(following)
        return words

    def previous(self, i: int) -> str:
        """Return the word before word *i*, in lower case; empty where a mark or the beginning is closer."""
        return self.lower[i - 1] if not self.lead(i).strip(" ") else ""

"""Many texts as one string and one array of code points, with their words found.

Finding words, drawing which ones to edit and picking a letter in each are vector operations over the whole batch;
only the edits themselves ever become Python objects.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quintain.core.languages import ENGLISH
from quintain.perturbations import draws, letters

Ints = NDArray[np.int64]
Span = tuple[int, int]

# Addresses, handles, tags, markup and placeholders are names of things: a slip there makes another thing of them.
_THINGS = re.compile(
    r"https?://\S+|www\.\S+|(?<![^\s@])[^\s@]{1,64}@[^\s@]{1,255}\.\w+|[@#]\w+|</?\w[^<>\n]{0,200}>|&#?\w+;|\{[^{}\n]{0,80}\}|\[[A-Z]{2,12}\]"
)
# No thing is without one of these characters, or "www.".
_THING_MARKS = letters.flags("@#<&{[/")


class TextBatch:
    """Some texts to perturb together.

    *seeds* holds 64 bits for each text. *owners* says which texts are fields of one example (by default each stands
    alone) and *owner_seeds* holds 64 bits for each example. *protected* lists, for each text, the spans in which
    nothing may change. *language* is that of the texts.
    """

    def __init__(
        self,
        texts: Sequence[str],
        seeds: draws.Hashes,
        *,
        protected: Sequence[Sequence[Span]] | None = None,
        owners: Ints | None = None,
        owner_seeds: draws.Hashes | None = None,
        language: str = ENGLISH,
    ) -> None:
        self.language = language
        self.texts = list(texts)
        self.seeds = seeds
        self.owners = np.arange(len(self.texts), dtype=np.int64) if owners is None else owners
        self.owner_seeds = seeds if owner_seeds is None else owner_seeds
        # A line break keeps the last word of one text from running into the first of the next.
        self.joined = "\n".join([*self.texts, ""])
        lengths = np.fromiter(map(len, self.texts), dtype=np.int64, count=len(self.texts))
        self.ends: Ints = np.cumsum(lengths + 1) - 1
        self.begins: Ints = self.ends - lengths
        self.spans = _join_spans(protected, self.begins)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def plain(self) -> bytes | None:
        """The joined string as bytes where it is ASCII: what a table of 256 entries can read; else None."""
        return self.joined.encode("ascii") if self.joined.isascii() else None

    @cached_property
    def codes(self) -> letters.Codes:
        """The code points of the joined string."""
        if self.plain is not None:
            return np.frombuffer(self.plain, dtype=np.uint8)
        return np.frombuffer(self.joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")

    @cached_property
    def small(self) -> letters.Codes:
        """The code points again, with what lies beyond the tables of `letters` as their last, idle entry."""
        codes = self.codes
        top = letters.SIZE - 1
        return np.minimum(codes, top) if codes.itemsize > 1 and codes.size and codes.max() > top else codes

    @cached_property
    def words(self) -> Words:
        """The words of all texts."""
        return Words(self)

    def text_at(self, places: Ints) -> Ints:
        """Return to which text each place of the joined string belongs; the end of a text is its own."""
        return np.searchsorted(self.ends, places, side="left")

    def flags(self, table: letters.Flags) -> letters.Flags:
        """Flag the places of the characters that *table* flags."""
        if self.plain is None:
            return table[self.small]
        # Translating bytes is several times faster than indexing by an array.
        return np.frombuffer(self.plain.translate(table[:256].tobytes()), dtype=bool)

    def flagged(self, table: letters.Flags) -> Places:
        """Find all characters that *table* flags."""
        return Places(self.flags(table))

    def things(self) -> list[Span]:
        """Find the addresses, handles, tags, markup and placeholders."""
        marked = set(self.text_at(np.flatnonzero(self.flags(_THING_MARKS))).tolist())
        if "www." in self.joined:
            marked.update(i for i, text in enumerate(self.texts) if "www." in text)
        begins = self.begins.tolist()
        return [
            (begins[i] + match.start(), begins[i] + match.end())
            for i in sorted(marked)
            for match in _THINGS.finditer(self.texts[i])
        ]


class Places:
    """The places of some characters, and how many of them lie in a stretch of the string."""

    def __init__(self, flag: letters.Flags) -> None:
        self.flag = flag
        self.at: Ints = np.flatnonzero(flag)
        self._before = np.zeros(flag.size + 1, dtype=np.int32)
        np.cumsum(flag, dtype=np.int32, out=self._before[1:])

    def count(self, start: Ints, end: Ints) -> Ints:
        """Count the places from *start* up to *end*."""
        counts: Ints = (self._before[end] - self._before[start]).astype(np.int64)
        return counts

    def pick(self, start: Ints, end: Ints, draw: draws.Hashes) -> Ints:
        """Pick one of the places from *start* up to *end*, of which there must be some."""
        picked: Ints = self.at[self._before[start] + draws.below(draw, self.count(start, end))]
        return picked


class Words:
    """Runs of letters, with apostrophes inside: where they are, in which text, and which may be edited."""

    def __init__(self, batch: TextBatch) -> None:
        self._batch = batch
        inside = self._join_apostrophes(batch.flags(letters.word_characters()))
        self._inside = inside
        # A word begins or ends wherever the flag turns; the line break at the very end closes the last one.
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        if inside[:1].any():
            edges = np.concatenate([[0], edges])
        self.start: Ints = edges[::2]
        self.end: Ints = edges[1::2]
        self.length: Ints = self.end - self.start
        self.bounds: Ints = np.searchsorted(self.start, np.append(batch.begins, len(batch.joined)))
        self.first: Ints = self.bounds[:-1]
        self.per_text: Ints = np.diff(self.bounds)

    def __len__(self) -> int:
        return int(self.start.size)

    @cached_property
    def text(self) -> Ints:
        """To which text each word belongs."""
        return np.repeat(np.arange(len(self._batch)), self.per_text)

    @cached_property
    def number(self) -> Ints:
        """The number of each word in its text."""
        return np.arange(self.start.size) - self.first[self.text]

    def _join_apostrophes(self, inside: letters.Flags) -> letters.Flags:
        for mark in letters.APOSTROPHES:
            if mark in self._batch.joined:
                at = np.flatnonzero(self._batch.codes[1:-1] == ord(mark)) + 1
                at = at[inside[at - 1] & inside[at + 1]]
                inside = inside if inside.flags.writeable else inside.copy()
                inside[at] = True
        return inside

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Which words may be edited: those of letters only, in no protected span and in no address or the like."""
        batch = self._batch
        free = np.ones(len(self), dtype=bool)
        strange = np.flatnonzero(batch.flags(letters.not_letters()))
        free[np.searchsorted(self.start, strange, side="right") - 1] = False
        for start, end in [*batch.spans, *batch.things()]:
            free[np.searchsorted(self.end, start, "right") : np.searchsorted(self.start, end, "left")] = False
        return free

    @cached_property
    def lower(self) -> list[str]:
        """All words in lower case, with plain apostrophes."""
        if self._batch.plain is not None:
            codes = np.frombuffer(self._batch.plain.lower(), dtype=np.uint8)
            return np.where(self._inside, codes, np.uint8(32)).tobytes().decode("ascii").split()
        # With everything else blanked out, one split finds the same words: much faster than as many slices.
        plain = np.where(self._inside, letters.lower_codes()[self._batch.small], np.uint32(32))
        if "’" in self._batch.joined:
            plain[plain == ord("’")] = ord("'")
        return letters.text_of(plain).split()

    def draw(self, chosen: Ints, stream: int) -> draws.Hashes:
        """Draw 64 bits for each chosen word, given by their numbers in order."""
        text = self.text[chosen]
        return draws.at(self._batch.seeds[text], chosen - self.first[text], stream)

    def choose(self, eligible: NDArray[np.bool_] | Ints, rate: float) -> Ints:
        """Choose words to edit among *eligible* ones that are free: the share *rate* of a text's words, at least one.

        *eligible* flags words or lists their numbers in order. The chosen ones are spread over their text.
        """
        numbers: Ints = np.flatnonzero(eligible) if eligible.dtype == bool else eligible.astype(np.int64)
        among = numbers[self.free[numbers]]
        if rate >= 1 or not among.size:
            return among if rate > 0 else among[:0]
        return among[self.strata(among, rate).pick(self._batch.seeds)]

    def strata(self, among: Ints, rate: float) -> Strata:
        """Part the words *among*, in order, into as many stretches as words of their text are to be edited."""
        bounds = np.searchsorted(among, self.bounds)
        counts = np.diff(bounds)
        quotas = np.maximum(1, np.floor(self.per_text * rate + 0.5).astype(np.int64))
        return Strata(bounds[:-1], counts, np.minimum(quotas, counts))


class Strata:
    """Stretches of a list, a few for each text, from each of which one member is to be picked."""

    def __init__(self, first: Ints, counts: Ints, quotas: Ints) -> None:
        self.text: Ints = np.repeat(np.arange(first.size), quotas)
        self.order: Ints = np.arange(self.text.size) - np.repeat(np.cumsum(quotas) - quotas, quotas)
        number, share = counts[self.text], quotas[self.text]
        low = self.order * number // share
        self.size: Ints = (self.order + 1) * number // share - low
        self.low: Ints = first[self.text] + low

    def offsets(self, seeds: draws.Hashes) -> Ints:
        """Draw a place in each stretch."""
        return draws.below(draws.at(seeds[self.text], self.order, 0), self.size)

    def pick(self, seeds: draws.Hashes) -> Ints:
        """Draw one member of each stretch; give their places in the list, in order."""
        picked: Ints = self.low + self.offsets(seeds)
        return picked


def _join_spans(protected: Sequence[Sequence[Span]] | None, begins: Ints) -> list[Span]:
    if protected is None:
        return []
    return sorted(
        (begin + start, begin + end)
        for begin, spans in zip(begins.tolist(), protected, strict=True)
        for start, end in spans
    )

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

from quintain.perturb import draws, letters

Ints = NDArray[np.int64]
Span = tuple[int, int]

# Addresses, handles, tags, markup and placeholders are names of things: a slip there makes another thing of them.
_THINGS = re.compile(
    r"https?://\S+|www\.\S+|\S+@\S+\.\w+|[@#]\w+|</?\w[^<>\n]{0,200}>|&#?\w+;|\{[^{}\n]{0,80}\}|\[[A-Z]{2,12}\]"
)
_THING_MARKS = ("@", "#", "<", "&", "{", "[", "://", "www.")


class Batch:
    """Some texts to perturb together.

    *seeds* holds 64 bits for each text. *owners* says which texts are fields of one example (by default each stands
    alone) and *owner_seeds* holds 64 bits for each example. *protected* lists, for each text, the spans in which
    nothing may change.
    """

    def __init__(
        self,
        texts: Sequence[str],
        seeds: draws.Hashes,
        *,
        protected: Sequence[Sequence[Span]] | None = None,
        owners: Ints | None = None,
        owner_seeds: draws.Hashes | None = None,
    ) -> None:
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
    def codes(self) -> NDArray[np.uint32]:
        """The code points of the joined string."""
        return np.frombuffer(self.joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")

    @cached_property
    def small(self) -> NDArray[np.uint32]:
        """The code points again, with what lies beyond the tables of `letters` as their last, idle entry."""
        codes = self.codes
        top = np.uint32(letters.SIZE - 1)
        return np.minimum(codes, top) if codes.size and codes.max() > top else codes

    @cached_property
    def words(self) -> Words:
        """The words of all texts."""
        return Words(self)

    def text_at(self, places: Ints) -> Ints:
        """Say to which text each place of the joined string belongs; the end of a text is its own."""
        return np.searchsorted(self.ends, places, side="left")

    def flagged(self, table: letters.Flags) -> Places:
        """Find all characters that *table* flags."""
        return Places(table[self.small])


class Places:
    """The places of some characters, and how many of them lie in a stretch of the string."""

    def __init__(self, flag: letters.Flags) -> None:
        self.flag = flag
        self.at: Ints = np.flatnonzero(flag)
        self._before = np.zeros(flag.size + 1, dtype=np.int32)
        np.cumsum(flag, dtype=np.int32, out=self._before[1:])

    def count(self, start: Ints, end: Ints) -> Ints:
        """Count the places from *start* up to *end*."""
        found: Ints = (self._before[end] - self._before[start]).astype(np.int64)
        return found

    def pick(self, start: Ints, end: Ints, draw: draws.Hashes) -> Ints:
        """Pick one of the places from *start* up to *end*, of which there must be some."""
        picked: Ints = self.at[self._before[start] + draws.below(draw, self.count(start, end))]
        return picked


class Words:
    """Runs of letters, with apostrophes inside: where they are, in which text, and which may be edited."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        inside = letters.word_characters()[batch.small]
        self._join_apostrophes(inside)
        self._inside = inside
        edges = np.diff(np.concatenate([[False], inside, [False]]).view(np.int8))
        self.start: Ints = np.flatnonzero(edges == 1)
        self.end: Ints = np.flatnonzero(edges == -1)
        self.length: Ints = self.end - self.start
        bounds = np.searchsorted(self.start, np.append(batch.begins, len(batch.joined)))
        self.first: Ints = bounds[:-1]
        self.per_text: Ints = np.diff(bounds)
        self.text: Ints = np.repeat(np.arange(len(batch)), self.per_text)
        self.place: Ints = np.arange(self.start.size) - self.first[self.text]

    def __len__(self) -> int:
        return int(self.start.size)

    def _join_apostrophes(self, inside: letters.Flags) -> None:
        for mark in letters.APOSTROPHES:
            if mark in self._batch.joined:
                at = np.flatnonzero(self._batch.codes[1:-1] == ord(mark)) + 1
                inside[at[inside[at - 1] & inside[at + 1]]] = True

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Which words may be edited: those of letters only, in no protected span and in no address or the like."""
        batch = self._batch
        free = np.ones(len(self), dtype=bool)
        strange = np.flatnonzero(letters.not_letters()[batch.small])
        free[np.searchsorted(self.start, strange, side="right") - 1] = False
        spans = list(batch.spans)
        if any(mark in batch.joined for mark in _THING_MARKS):
            spans += [match.span() for match in _THINGS.finditer(batch.joined)]
        for start, end in spans:
            free[np.searchsorted(self.end, start, "right") : np.searchsorted(self.start, end, "left")] = False
        return free

    @cached_property
    def lower(self) -> list[str]:
        """All words in lower case, with plain apostrophes."""
        small = self._batch.small
        # With everything else blanked out, one split finds the same words: much faster than as many slices.
        plain = np.where(self._inside, letters.lower_codes()[small], np.uint32(32))
        if "’" in self._batch.joined:
            plain[plain == ord("’")] = ord("'")
        return letters.text_of(plain).split()

    def draw(self, chosen: Ints, stream: int) -> draws.Hashes:
        """Draw 64 bits for each chosen word."""
        return draws.at(self._batch.seeds[self.text[chosen]], self.place[chosen], stream)

    def choose(self, eligible: NDArray[np.bool_] | Ints, rate: float) -> Ints:
        """Choose words to edit among *eligible* ones that are free: the share *rate* of a text's words, at least one.

        *eligible* flags words or lists their numbers in order.
        """
        numbers: Ints = np.flatnonzero(eligible) if eligible.dtype == bool else eligible.astype(np.int64)
        among = numbers[self.free[numbers]]
        if rate >= 1 or not among.size:
            return among if rate > 0 else among[:0]
        wanted = np.maximum(1, np.floor(self.per_text * rate + 0.5).astype(np.int64))
        text = self.text[among]
        # Texts in order, and within a text by the draw: one sort of one number.
        keys = (text.astype(np.uint64) << np.uint64(36)) | (self.draw(among, 0) >> np.uint64(28))
        order = np.argsort(keys)
        counts = np.bincount(text, minlength=len(self._batch))
        rank = np.arange(among.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.sort(among[order[rank < wanted[text]]])


def _join_spans(protected: Sequence[Sequence[Span]] | None, begins: Ints) -> list[Span]:
    if protected is None:
        return []
    return sorted(
        (begin + start, begin + end)
        for begin, spans in zip(begins.tolist(), protected, strict=True)
        for start, end in spans
    )

"""Texts that are nearly the same as texts of another list, found without comparing each with each.

Two texts are as alike as their sets of character n-grams overlap (Jaccard). Of sets that share at least *threshold* of
their union, several of each one's rarest members must meet (prefix filtering, as in Bayardo, Ma and Srikant, 2007):
only pairs that share so many of those are compared. Nothing is drawn at random, nothing above the threshold is missed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quintain.core.errors import BadInput
from quintain.core.text_form import text_form
from quintain.core.words import replace_all
from quintain.stats.bootstrap import FloatArray, IntArray

WIDTH = 5
THRESHOLD = 0.7
# Pairs compared at once: bounds the memory whatever the texts are.
_BLOCK = 1_000_000
# Rare members that a pair must share before it is compared in full: more of them make longer lists and fewer pairs.
_SHARED = 8
_NOT_WORD = r"[^\p{Alphabetic}\p{M}\p{N}_]+"  # a mark belongs to its letter, without which it is another word
_NOT_ASCII_WORD = re.compile(r"\W+", re.ASCII)
_Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Nearest:
    """For each text its most similar one among the others: *index* (-1 for none) and *similarity* (0 for none)."""

    index: IntArray
    similarity: FloatArray

    @property
    def exact(self) -> npt.NDArray[np.bool_]:
        """Which texts are there word for word, whatever their case and punctuation."""
        return np.asarray(self.similarity >= 1.0)

    @property
    def near(self) -> npt.NDArray[np.bool_]:
        """Which texts have a near duplicate that is not an exact one."""
        return np.asarray((self.index >= 0) & (self.similarity < 1.0))


@dataclass(frozen=True, slots=True)
class _Sets:
    """A set of n-grams for each text: *members* one after the other, rarest first, *starts* where each begins."""

    members: IntArray
    starts: IntArray

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.starts)


def squeeze(text: str) -> str:
    """Leave what counts when texts are compared: words in lower case, one blank between them.

    What cannot be seen does not count, nor the form of Unicode, nor letters that only look like Latin ones.

    >>> squeeze("What a film — GREAT!"), squeeze("А gre\u200bat fi\u00adlm")
    ('what a film great', 'a great film')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text_form(text)).lower()
        return replace_all(_NOT_WORD, " ", text).strip()
    return _NOT_ASCII_WORD.sub(" ", text.lower()).strip()


def mix(values: _Hashes) -> _Hashes:
    """Scatter 64-bit numbers so that neighbours end far apart (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        mixed = values + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def find_nearest(
    texts: Sequence[str], among: Sequence[str], *, threshold: float = THRESHOLD, width: int = WIDTH
) -> Nearest:
    """Find for each of *texts* the most similar one of *among* whose similarity is *threshold* or more.

    Similarity is the overlap of the sets of character *width*-grams after `squeeze`; equal texts have 1, and of two
    that are equally similar the first is taken.

    >>> find_nearest(["A great film!"], ["a great film", "A bad film."]).index
    array([0])
    """
    if not 0 < threshold <= 1:
        raise BadInput("The threshold is {threshold:g}.", threshold=threshold, remedy="Give one above 0 and at most 1.")
    asked, pool = [squeeze(text) for text in texts], [squeeze(text) for text in among]
    index = np.full(len(asked), -1, dtype=np.int64)
    similarity = np.zeros(len(asked))
    first = {text: place for place, text in reversed(list(enumerate(pool))) if text}
    for position, text in enumerate(asked):
        if text in first:
            index[position], similarity[position] = first[text], 1.0
    # What has an exact match needs no search; each text among the others is looked at once.
    left = np.flatnonzero(index < 0)
    places = np.array(sorted(first.values()), dtype=np.int64)
    if threshold < 1 and len(left) and len(places):
        nearest = _nearest_sets(*_sets([asked[i] for i in left], [pool[i] for i in places], width), threshold)
        hit = nearest.index >= 0
        index[left[hit]] = places[nearest.index[hit]]
        similarity[left[hit]] = np.minimum(nearest.similarity[hit], np.nextafter(1.0, 0.0))
    return Nearest(index, similarity)


def find_pairs(texts: Sequence[str], *, threshold: float = THRESHOLD, width: int = WIDTH) -> tuple[IntArray, IntArray]:
    """Find all pairs within *texts* whose similarity is *threshold* or more: the later ones, and the earlier ones.

    Texts without a word are like nothing.

    >>> find_pairs(["A great film!", "A bore.", "a great film"])
    (array([2]), array([0]))
    """
    if not 0 < threshold <= 1:
        raise BadInput("The threshold is {threshold:g}.", threshold=threshold, remedy="Give one above 0 and at most 1.")
    squeezed = [squeeze(text) for text in texts]
    places = np.array([place for place, text in enumerate(squeezed) if text], dtype=np.int64)
    if not len(places):
        return places, places
    sets, _ = _sets([squeezed[place] for place in places.tolist()], [], width)
    blocks = [(rows, columns) for rows, columns, _ in _similar(sets, sets, threshold, within=True)]
    left, right = (np.concatenate(part) for part in zip(*blocks, strict=True))
    later, earlier = np.maximum(left, right), np.minimum(left, right)
    order = np.lexsort((earlier, later))
    return places[later[order]], places[earlier[order]]


def _sets(asked: Sequence[str], pool: Sequence[str], width: int) -> tuple[_Sets, _Sets]:
    """Turn texts into sets of numbers, where a smaller number is rarer among both."""
    owners, grams = _grams([*asked, *pool], width)
    _, codes = np.unique(grams, return_inverse=True)
    # One member per text and n-gram: sort pairs, keep the first of each.
    pairs = np.sort(owners * (int(codes.max(initial=0)) + 1) + codes)
    pairs = pairs[np.r_[True, pairs[1:] != pairs[:-1]]] if len(pairs) else pairs
    owners, codes = np.divmod(pairs, int(codes.max(initial=0)) + 1)
    counts = np.bincount(codes)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    order = np.lexsort((rank[codes], owners))
    owners, members = owners[order], rank[codes][order]
    starts = np.searchsorted(owners, np.arange(len(asked) + len(pool) + 1))
    cut = starts[len(asked)]
    return (
        _Sets(members[:cut], starts[: len(asked) + 1]),
        _Sets(members[cut:], starts[len(asked) :] - cut),
    )


def _grams(texts: Sequence[str], width: int) -> tuple[IntArray, _Hashes]:
    """Hash every window of *width* characters of every text; a shorter text is one window."""
    padded = [f" {text} ".ljust(width) for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    ends = np.cumsum(lengths)
    windows = len(letters) - width + 1
    hashes = np.zeros(max(windows, 0), dtype=np.uint64)
    for offset in range(width):
        hashes = mix(hashes ^ letters[offset : offset + windows])
    owners = np.repeat(np.arange(len(texts)), lengths)[: len(hashes)]
    inside = np.arange(len(hashes)) + width <= ends[owners]
    return owners[inside], hashes[inside]


def _nearest_sets(asked: _Sets, pool: _Sets, threshold: float) -> Nearest:
    index = np.full(len(asked.sizes), -1, dtype=np.int64)
    similarity = np.zeros(len(asked.sizes))
    for rows, columns, scores in _similar(asked, pool, threshold):
        best = np.lexsort((columns, -scores, rows))
        leads = best[np.flatnonzero(np.r_[True, rows[best][1:] != rows[best][:-1]])] if len(rows) else best
        index[rows[leads]], similarity[rows[leads]] = columns[leads], scores[leads]
    return Nearest(index, similarity)


def _similar(
    asked: _Sets, pool: _Sets, threshold: float, *, within: bool = False
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Return all pairs at least as similar as *threshold*, and how similar; those of one text come together.

    Who shares a member is listed by size, so that only sets of nearly the same size are looked at. With *within*, both
    are the same sets, and each pair is given once.
    """
    by_size = np.argsort(pool.sizes, kind="stable")
    rank = np.empty(len(by_size), dtype=np.int64)
    rank[by_size] = np.arange(len(by_size))
    owned, listed = _prefixes(pool, threshold)
    wide = len(by_size) + 1
    postings = np.sort(listed * wide + rank[owned])
    owner, member = _prefixes(asked, threshold)
    in_order, sizes = pool.sizes[by_size], asked.sizes[owner]
    first = np.searchsorted(in_order, np.ceil(threshold * sizes - 1e-9))
    last = rank[owner] if within else np.searchsorted(in_order, np.floor(sizes / threshold + 1e-9), side="right")
    low = np.searchsorted(postings, member * wide + first)
    hits = np.maximum(np.searchsorted(postings, member * wide + last) - low, 0)
    # Cut after whole texts, so that a pair is never compared in two blocks.
    for block in _blocks(owner, hits):
        rows = np.repeat(owner[block], hits[block])
        offset = np.arange(len(rows)) - np.repeat(np.cumsum(hits[block]) - hits[block], hits[block])
        columns = by_size[postings[np.repeat(low[block], hits[block]) + offset] % wide]
        rows, columns, shared = _count_pairs(rows, columns, len(pool.sizes))
        alike = shared >= np.minimum(_shared(asked, threshold)[rows], _shared(pool, threshold)[columns])
        rows, columns = rows[alike], columns[alike]
        scores = _jaccard(asked, rows, pool, columns)
        alike = scores >= threshold - 1e-12
        yield rows[alike], columns[alike], scores[alike]


def _shared(sets: _Sets, threshold: float) -> IntArray:
    """Return how many rare members each set must share with a similar one: as many as it can be held to."""
    return np.asarray(np.minimum(np.ceil(threshold * sets.sizes - 1e-12), _SHARED), dtype=np.int64)


def _prefixes(sets: _Sets, threshold: float) -> tuple[IntArray, IntArray]:
    """List the rarest members of each set of which two similar sets must share some: owners and members."""
    sizes = sets.sizes
    common = np.ceil(threshold * sizes - 1e-12).astype(np.int64)
    lengths = np.where(sizes > 0, sizes - common + _shared(sets, threshold), 0)
    owner = np.repeat(np.arange(len(sizes)), lengths)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return owner, sets.members[sets.starts[:-1][owner] + within]


def _count_pairs(rows: IntArray, columns: IntArray, width: int) -> tuple[IntArray, IntArray, IntArray]:
    """Count how often each pair occurs: rows, columns and counts, in order."""
    start = int(rows[0]) if len(rows) else 0
    keys = (rows - start) * width + columns
    if len(keys) and int(keys[-1] // width + 1) * width <= 8 * _BLOCK:
        counts = np.bincount(keys)
        pairs = np.flatnonzero(counts)
        number = counts[pairs]
    else:
        pairs, number = np.unique(keys, return_counts=True)
    row, column = np.divmod(pairs, max(width, 1))
    return row + start, column, number


def _blocks(owner: IntArray, hits: IntArray) -> list[slice]:
    if not len(owner):
        return []
    total = np.cumsum(hits)
    firsts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    number = (total[firsts] - hits[firsts]) // _BLOCK
    cuts = [int(firsts[i]) for i in np.flatnonzero(np.r_[True, number[1:] != number[:-1]])]
    return [slice(start, end) for start, end in zip(cuts, [*cuts[1:], len(owner)], strict=True)]


def _jaccard(asked: _Sets, rows: IntArray, pool: _Sets, columns: IntArray) -> FloatArray:
    """Return the overlap of the pairs of sets: members of one are looked up among those of the other."""
    scores = np.zeros(len(rows))
    sizes = asked.sizes[rows]
    # Every set's members get a stretch of numbers of their own, in which they are looked up by bisection.
    stretch = int(max(asked.members.max(initial=0), pool.members.max(initial=0))) + 1
    owners = np.repeat(np.arange(len(pool.sizes)), pool.sizes)
    keys = owners * stretch + pool.members
    height = max(1, _BLOCK // max(1, int(sizes.max(initial=1))))
    for start in range(0, len(rows), height):
        part = slice(start, start + height)
        count = sizes[part]
        pair = np.repeat(np.arange(len(count)), count)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
        members = asked.members[asked.starts[rows[part]][pair] + within]
        key = columns[part][pair] * stretch + members
        position = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        shared = np.bincount(pair, weights=keys[position] == key, minlength=len(count))
        scores[part] = shared / (count + pool.sizes[columns[part]] - shared)
    return scores

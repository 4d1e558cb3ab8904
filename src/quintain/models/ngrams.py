"""Texts as hashed n-grams, with no loop over texts or words.

All texts of a chunk become one array of code points. Windows of it give the character n-grams of each word (its edges
count as a character), sums of prefixes give the hash of each word, and neighbouring words the word pairs. Hashes are
32-bit and wrap around, which numpy does many at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.words import composed
from quintain.models.letter_classes import MARK, WORD, Classes, classes_of
from quintain.models.words import FORMAT

Codes = npt.NDArray[np.uint32]
Positions = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

CHAR_SIZES = (3, 4, 5)
CHUNK = 2048
CHUNK_LETTERS = 1 << 19
_BASE = np.uint32(0x01000193)
_MIX = np.uint32(0x85EBCA6B)
_SPREAD = np.uint32(0x9E3779B1)
_PAIR = np.uint32(0x27D4EB2F)
_EDGE = "\x00"


@dataclass(frozen=True)
class NgramBlock:
    """The buckets of one kind of n-gram: those of text *n* are `indices[indptr[n] : indptr[n + 1]]`."""

    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int32]
    width: int

    @cached_property
    def matrix(self) -> scipy.sparse.csr_matrix:
        """The same as a matrix of ones, put together without the checks of its constructor."""
        matrix = scipy.sparse.csr_matrix((len(self.indptr) - 1, self.width), dtype=np.float32)
        ones = np.ones(len(self.indices), dtype=np.float32)
        matrix.data, matrix.indices, matrix.indptr = ones, self.indices, self.indptr
        return matrix

    def times(self, weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Add up the rows of *weights* that each text's buckets name."""
        if len(self.indptr) == 2:  # one text: making the matrix takes longer than adding its rows in the same order
            return np.add.reduce(weights.take(self.indices, axis=0), axis=0, keepdims=True)
        return np.asarray(self.matrix @ weights)


@dataclass(frozen=True, slots=True)
class Features:
    """The n-grams of some texts: blocks whose sum counts buckets by text, and the factor that scales each text."""

    blocks: tuple[NgramBlock, ...]
    scale: npt.NDArray[np.float32]

    def times(self, weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Multiply the scaled counts with *weights* (buckets × columns)."""
        total = self.blocks[0].times(weights)
        for block in self.blocks[1:]:
            total += block.times(weights)
        total *= self.scale[:, None]
        return np.asarray(total, dtype=np.float32)

    def transposed_times(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Multiply the transposed scaled counts with *values* (texts × columns): the gradient of `times`."""
        scaled = values * self.scale[:, None]
        total = self.blocks[0].matrix.T @ scaled
        for block in self.blocks[1:]:
            total += block.matrix.T @ scaled
        return np.asarray(total, dtype=np.float32)

    def buckets(self) -> npt.NDArray[np.int32]:
        """List the buckets that occur, in order."""
        return np.unique(np.concatenate([block.indices for block in self.blocks]))

    def narrowed(self, used: npt.NDArray[np.int32]) -> Features:
        """Return the same features with only the buckets *used* as columns; all that occur must be among them."""
        blocks = []
        for block in self.blocks:
            columns = np.searchsorted(used, block.indices).astype(np.int32)
            blocks.append(NgramBlock(columns, block.indptr, len(used)))
        return Features(tuple(blocks), self.scale)


def chunks(texts: Sequence[str], bits: int, version: int = FORMAT) -> Iterator[Features]:
    """Yield the features of *texts* in chunks that fit the processor's cache."""
    ends = np.cumsum([len(text) for text in texts])
    start = 0
    while start < len(texts):
        reach = (ends[start - 1] if start else 0) + CHUNK_LETTERS
        stop = max(start + 1, min(start + CHUNK, int(np.searchsorted(ends, reach, side="right"))))
        yield features(texts[start:stop], bits, version)
        start = stop


def features(texts: Sequence[str], bits: int, version: int = FORMAT) -> Features:
    """Hash the words, word pairs and character n-grams of *texts* into 2 ** *bits* buckets.

    *version* is the format of the model that asks: older ones cut texts otherwise.
    """
    codes, starts = _codes(texts if version == 1 else [composed(text) for text in texts])
    classes, begins = classes_of(codes, version)
    mixed = _mix(codes * _SPREAD + np.uint32(1))
    hashes, positions = _words(mixed, classes, begins)
    blocks = [
        _block(hashes, positions, starts, bits),
        _pairs(hashes, positions, starts, bits),
        *_characters(mixed, classes, starts, bits),
    ]
    counts = sum(np.diff(block.indptr) for block in blocks)
    scale = (1.0 / np.sqrt(np.maximum(counts, 1))).astype(np.float32)
    return Features(tuple(blocks), scale)


def _codes(texts: Sequence[str]) -> tuple[Codes, Positions]:
    """Return the code points of all texts with an edge before, between and after, and where each text starts."""
    joined = _EDGE.join(texts).lower()
    if joined.count(_EDGE) != len(texts) - 1:
        joined = _EDGE.join(text.replace(_EDGE, " ") for text in texts).lower()
    joined = f"{_EDGE}{joined}{_EDGE}"
    if joined.isascii():
        codes = np.frombuffer(joined.encode("ascii"), dtype=np.uint8).astype(np.uint32)
    else:
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32)
    return codes, np.flatnonzero(codes == 0)[:-1] + 1


def _mix(values: Codes) -> Codes:
    values ^= values >> np.uint32(15)
    values *= _MIX
    values ^= values >> np.uint32(13)
    return values


def _powers(count: int, base: np.uint32) -> Codes:
    powers: Codes = np.full(count, base, dtype=np.uint32)
    powers[:1] = 1
    return np.multiply.accumulate(powers, out=powers)


_INVERSE = np.uint32(pow(int(_BASE), -1, 1 << 32))


def _words(mixed: Codes, classes: Classes, begins: Bools) -> tuple[Codes, Positions]:
    """Hash each word and mark, and say where it begins; the same letters have the same hash wherever they stand."""
    word = classes == WORD
    ends = word.copy()
    ends[:-1] &= ~word[1:] | begins[1:]
    mark = classes == MARK
    first = np.flatnonzero(begins | mark)
    last = np.flatnonzero(ends | mark)
    powers, inverse = _ladder(1 << len(mixed).bit_length())
    sums = np.cumsum(mixed * powers[: len(mixed)], dtype=np.uint32)
    before = np.where(first > 0, sums[first - 1], np.uint32(0))
    return (sums[last] - before) * inverse[first], first


@lru_cache(maxsize=4)
def _ladder(size: int) -> tuple[Codes, Codes]:
    """Return the first *size* powers of the base and of its inverse; kept, because every chunk needs them."""
    return _powers(size, _BASE), _powers(size, _INVERSE)


def _block(hashes: Codes, positions: Positions, starts: Positions, bits: int) -> NgramBlock:
    """Put hashes into buckets; each belongs to the last text that starts at or before its position."""
    buckets = (_mix(hashes * _SPREAD) >> np.uint32(32 - bits)).view(np.int32)
    edges = np.searchsorted(positions, starts)
    pointers = np.append(edges, len(positions)).astype(np.int32)
    pointers[0] = 0
    return NgramBlock(buckets, pointers, 1 << bits)


def _pairs(hashes: Codes, positions: Positions, starts: Positions, bits: int) -> NgramBlock:
    owners = np.searchsorted(starts, positions, side="right")
    same = np.flatnonzero(owners[:-1] == owners[1:])
    return _block(hashes[same] * _PAIR + hashes[same + 1], positions[same], starts, bits)


def _characters(mixed: Codes, classes: Classes, starts: Positions, bits: int) -> Iterator[NgramBlock]:
    """Hash windows of each size whose inner characters all belong to one word; the outer two may be its edges."""
    word = classes == WORD
    letters = np.where(word, mixed, _PAIR)
    window = letters[:-1] * _BASE + letters[1:]
    inner = np.ones(len(word) - 1, dtype=np.bool_)
    for size in range(3, max(CHAR_SIZES) + 1):
        if len(window) <= 1:
            window, inner = window[:0], inner[:0]
        else:
            window = window[:-1] * _BASE + letters[size - 1 :]
            inner = inner[:-1] & word[size - 2 : -1]
        if size in CHAR_SIZES:
            windows = np.flatnonzero(inner)
            yield _block(window[windows] + np.uint32(size), windows + 1, starts, bits)

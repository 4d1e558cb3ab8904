"""Chance without a generator: numbers that are hashes of a seed and a place.

A counter-based draw costs a few vector operations for a million words, and the word at place 7 of a text gets the
same number whatever else is in the batch.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def mixed(value: Hashes) -> Hashes:
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


def at(seeds: Hashes, position: NDArray[np.int64], stream: int = 0) -> Hashes:
    """Draw 64 bits for each pair of seed and position; another *stream* is another, independent draw."""
    return mixed(seeds + _GOLDEN * (position.astype(np.uint64) * np.uint64(16) + np.uint64(stream + 1)))


def below(draw: Hashes, limit: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Turn draws into whole numbers from 0 to *limit* - 1."""
    # 31 bits are enough for any list here, and a signed remainder is the fast one.
    return (draw >> np.uint64(33)).astype(np.int64) % limit


def hashes_of(contents: Sequence[str]) -> Hashes:
    """Hash each content: its checksum and its length. Two texts that collide share their draws, and no more."""
    # A cryptographic hash would cost more than all of a perturbation's own work.
    try:
        data = [text.encode() for text in contents]
    except UnicodeEncodeError:
        data = [text.encode("utf-8", "surrogatepass") for text in contents]
    sums = np.fromiter(map(zlib.crc32, data), dtype=np.uint64, count=len(data))
    sizes = np.fromiter(map(len, data), dtype=np.uint64, count=len(data))
    return mixed(sums | (sizes << np.uint64(32)))


def keyed(hashes: Hashes, *material: str | int) -> Hashes:
    """Make seeds of content hashes and what else the seeds depend on."""
    key = hashlib.blake2b("\x1f".join(map(str, material)).encode(), digest_size=8).digest()
    return mixed(hashes ^ mixed(np.frombuffer(key, dtype="<u8").astype(np.uint64)))


def seed_of(content: str, *material: str | int) -> int:
    """Make one seed."""
    return int(keyed(hashes_of([content]), *material)[0])

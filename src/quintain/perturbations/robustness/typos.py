"""The slips of fast typing: a letter swapped, left out, doubled by a stray one, or mistaken."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quintain.perturbations import draws, letters
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.slips import slip
from quintain.perturbations.pick import no_other_words, pick_letters, plain_letters

_ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8).astype(np.uint32)
_SWAP, _DROP, _INSERT, _REPLACE = range(4)


@PERTURBATIONS.register("typos")
class Typos(Perturbation):
    """Swap, delete, insert or replace one inner letter of a word of at least four; its first and last stay."""

    name: ClassVar[str] = "typos"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin",)
    table = "typos"
    title: ClassVar[str] = "Slips of fast typing"
    version: ClassVar[int] = 3
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Draw one of the four slips for each chosen word."""
        words = batch.words
        chosen, at = pick_letters(batch, plain_letters(), rate, shortest=4, inner=True)
        draw = words.draw(chosen, 2)
        slip = (draw & np.uint64(3)).astype(np.int64)
        code, following = batch.codes[at], batch.codes[at + 1]
        # A swap wants another inner letter behind it; where there is none, the letter is dropped instead.
        swaps = (at + 2 < words.end[chosen]) & (code != following) & plain_letters()[batch.small[at + 1]]
        slip[(slip == _SWAP) & ~swaps] = _DROP
        stray = _ALPHABET[draws.below(draw, 26)]
        stray = np.where(stray == (code | np.uint32(32)), _ALPHABET[(stray - 96) % 26], stray)
        stray = stray - np.where((code >= 65) & (code <= 90), 32, 0).astype(np.uint32)
        end = at + np.array([2, 1, 0, 1])[slip]
        pairs = zip(
            slip.tolist(), letters.text_of(code), letters.text_of(following), letters.text_of(stray), strict=True
        )
        replacements = [(b + a, "", c, c)[kind] for kind, a, b, c in pairs]
        return no_other_words(batch, chosen, Proposal(at, end, replacements))

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return slip(batch, rate, table)

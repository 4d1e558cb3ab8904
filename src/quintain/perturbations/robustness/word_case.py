"""The whole text in capitals, in small letters or In Title Case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress
from operator import eq
from typing import ClassVar

import numpy as np

from quintain.perturbations import draws, letters
from quintain.perturbations.apply import carry_out
from quintain.perturbations.batch import Ints
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.draws import Hashes

# What the words of a batch treat in a way of their own: digits, low lines, and all that may be an address or the like.
_SPECIAL = letters.flags("0123456789_@#<&{[/")
_STRANGE = re.compile(r"[_@#<&{\[]|://|www\.|[0-9]'?[A-Za-z]|[A-Za-z]'?[0-9]").search
_LETTERS = bytes(chr(i).isalpha() and i < 128 for i in range(256))
# Two orders begin with each case: half the number of an order is its first.
_ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


@PERTURBATIONS.register("word_case")
class WordCase(Perturbation):
    """Draw one case for a text, among those that change it, and write the chosen words in it."""

    name: ClassVar[str] = "word_case"
    family: ClassVar[Family] = "robustness"
    scripts = ("Latin", "Cyrillic", "Greek", "Armenian")
    title: ClassVar[str] = "Capitals, small letters or title case"
    version: ClassVar[int] = 2
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Cut the chosen stretches out of the batch in its new case."""
        words = batch.words
        chosen = words.choose(np.ones(len(words), dtype=bool), rate)
        first, last = _runs(chosen, words.text[chosen])
        start, end, text = words.start[chosen[first]], words.end[chosen[last]], words.text[chosen[first]]
        forms = _forms(batch)
        case = _cases(batch, forms)
        recased = [forms[case[i]][a:b] for i, a, b in zip(text.tolist(), start.tolist(), end.tolist(), strict=True)]
        cuts = zip(start.tolist(), end.tolist(), recased, strict=True)
        changed = [i for i, (a, b, new) in enumerate(cuts) if batch.joined[a:b] != new]
        proposal = Proposal(start, end, recased)
        return proposal if len(changed) == len(recased) else proposal.take(np.array(changed, dtype=np.int64))

    def shortcut(self, texts: Sequence[str], seeds: Hashes, rate: float) -> list[str | None] | None:
        """Let the string methods do plain English texts as a whole; all others go by way of edits."""
        batch = TextBatch(texts, seeds)
        if rate < 1 or batch.plain is None:
            return None
        forms = (batch.joined.upper(), batch.joined.lower(), _titled(batch.plain))
        drawn = _drawn(seeds)
        result: list[str | None] = [*_cut(forms, (drawn >> 1).tolist(), batch.begins, batch.ends)]
        same = list(compress(range(len(batch)), map(eq, batch.texts, result)))
        for rank in (1, 2):  # the case drawn first leaves some texts as they are
            next_ = [_ORDERS[i][rank] for i in drawn[same].tolist()]
            for i, new in zip(same, _cut(forms, next_, batch.begins[same], batch.ends[same]), strict=True):
                result[i] = new
            same = [i for i in same if result[i] == batch.texts[i]]
        for i in same:
            result[i] = None
        rest = _strange(batch)
        others = carry_out([texts[i] for i in rest], seeds[rest], self, rate) if rest else []
        for i, other in zip(rest, others, strict=True):
            result[i] = other
        return result


def _cut(forms: tuple[str, str, str], which: list[int], begins: Ints, ends: Ints) -> list[str]:
    """Cut texts out of the joined string, each out of *which* of its forms."""
    rows = zip(which, begins.tolist(), ends.tolist(), strict=True)
    return [forms[form][begin:end] for form, begin, end in rows]


def _strange(batch: TextBatch) -> list[int]:
    """List the texts that the string methods would treat in another way than the words of a batch are."""
    looked = set(batch.text_at(np.flatnonzero(batch.flags(_SPECIAL))).tolist())
    if "www." in batch.joined:
        looked = set(range(len(batch)))
    return [i for i in sorted(looked) if _STRANGE(batch.texts[i])]


def _titled(plain: bytes) -> str:
    """Write ASCII in title case: a capital wherever a letter follows neither a letter nor a letter's apostrophe."""
    letter = np.frombuffer(plain.translate(_LETTERS), dtype=bool)
    begins = letter.copy()
    begins[1:] &= ~letter[:-1]
    at = np.flatnonzero(np.frombuffer(plain, dtype=np.uint8)[1:-1] == ord("'")) + 1
    begins[at[letter[at - 1]] + 1] = False
    # The two cases of a letter differ in one bit.
    return (np.frombuffer(plain.lower(), dtype=np.uint8) - (begins.view(np.uint8) << 5)).tobytes().decode("ascii")


def _drawn(seeds: Hashes) -> Ints:
    """Draw an order of the three cases for each text."""
    return draws.below(draws.at(seeds, np.zeros(len(seeds), dtype=np.int64), 3), len(_ORDERS))


def _forms(batch: TextBatch) -> tuple[str, str, str]:
    """Return the joined string in capitals, in small letters and in title case, each as long as it is."""
    upper, lower = batch.joined.upper(), batch.joined.lower()
    if len(upper) != len(batch.joined) or len(lower) != len(batch.joined):
        # Some letter has a longer twin ("ß" → "SS"): letter by letter then, and those stay.
        small = batch.small
        far = batch.codes >= letters.SIZE
        upper, lower = (
            letters.text_of(np.where(far, batch.codes, table[small]))
            for table in (letters.upper_codes(), letters.lower_codes())
        )
    titled = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), dtype="<u4").copy()
    capitals = np.frombuffer(upper.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    titled[batch.words.start] = capitals[batch.words.start]
    return upper, lower, letters.text_of(titled)


def _cases(batch: TextBatch, forms: tuple[str, str, str]) -> list[int]:
    """Draw a form for each text among those that change it."""
    orders = [_ORDERS[i] for i in _drawn(batch.seeds).tolist()]
    rows = zip(orders, batch.texts, batch.begins.tolist(), batch.ends.tolist(), strict=True)
    return [
        first if forms[first][begin:end] != text else second if forms[second][begin:end] != text else third
        for (first, second, third), text, begin, end in rows
    ]


def _runs(chosen: Ints, text: Ints) -> tuple[Ints, Ints]:
    """Join neighbouring chosen words of one text to runs; give the first and the last of each."""
    if not chosen.size:
        return chosen, chosen
    breaks = np.flatnonzero((np.diff(chosen) > 1) | (np.diff(text) > 0))
    return np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [chosen.size - 1]])

"""The whole text in capitals, in small letters or In Title Case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from quintain.perturb import draws, letters
from quintain.perturb.apply import carry_out
from quintain.perturb.batch import Ints
from quintain.perturb.contract import PERTURBATIONS, Batch, Family, Perturbation, Proposal
from quintain.perturb.draws import Hashes

# What the words of a batch treat in a way of their own: digits, low lines, and all that may be an address or the like.
# One class of characters is far faster to look for than alternatives are.
_SPECIAL = re.compile(r"[0-9_@#<&{\[/]").search
_STRANGE = re.compile(r"[_@#<&{\[]|://|[0-9]'?[A-Za-z]|[A-Za-z]'?[0-9]").search
_INNER = re.compile(r"(?<=[A-Za-z])'[A-Z]")
_ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


@PERTURBATIONS.register("word_case")
class WordCase(Perturbation):
    """Draw one case for a text, among those that change it, and write the chosen words in it."""

    name: ClassVar[str] = "word_case"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Capitals, small letters or title case"
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: Batch, rate: float) -> Proposal:
        """Cut the chosen stretches out of the batch in its new case."""
        words = batch.words
        chosen = words.choose(np.ones(len(words), dtype=bool), rate)
        first, last = _runs(chosen, words.text[chosen])
        start, end, text = words.start[chosen[first]], words.end[chosen[last]], words.text[chosen[first]]
        forms = _forms(batch)
        case = _cases(batch, forms)
        made = [forms[case[i]][a:b] for i, a, b in zip(text.tolist(), start.tolist(), end.tolist(), strict=True)]
        cuts = zip(start.tolist(), end.tolist(), made, strict=True)
        changed = [i for i, (a, b, new) in enumerate(cuts) if batch.joined[a:b] != new]
        proposal = Proposal(start, end, made)
        return proposal if len(changed) == len(made) else proposal.take(np.array(changed, dtype=np.int64))

    def shortcut(self, texts: Sequence[str], seeds: Hashes, rate: float) -> list[str | None] | None:
        """Let the string methods do plain English texts as a whole; all others go by way of edits."""
        if rate < 1:
            return None
        if "www." in "\n".join(texts):
            return None
        result = [
            _recased(text, order) if text.isascii() and not (_SPECIAL(text) and _STRANGE(text)) else ""
            for text, order in zip(texts, _orders(seeds), strict=True)
        ]
        rest = [i for i, new in enumerate(result) if new == ""]
        others = carry_out([texts[i] for i in rest], seeds[rest], self, rate) if rest else []
        for i, new in zip(rest, others, strict=True):
            result[i] = new
        return result


def _recased(text: str, order: tuple[int, int, int]) -> str | None:
    """Write *text* in the first case of *order* that changes it; None where none does."""
    for form in order:
        if form == 0:
            new = text.upper()
        elif form == 1:
            new = text.lower()
        else:
            new = text.title()
            if "'" in text:
                new = _INNER.sub(_lowered, new)
        if new != text:
            return new
    return None


def _lowered(match: re.Match[str]) -> str:
    return match[0].lower()


def _orders(seeds: Hashes) -> list[tuple[int, int, int]]:
    drawn = draws.below(draws.at(seeds, np.zeros(len(seeds), dtype=np.int64), 3), len(_ORDERS)).tolist()
    return [_ORDERS[i] for i in drawn]


def _forms(batch: Batch) -> tuple[str, str, str]:
    """Give the joined string in capitals, in small letters and in title case, each as long as it is."""
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


def _cases(batch: Batch, forms: tuple[str, str, str]) -> list[int]:
    """Draw a form for each text among those that change it."""
    rows = zip(_orders(batch.seeds), batch.texts, batch.begins.tolist(), batch.ends.tolist(), strict=True)
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

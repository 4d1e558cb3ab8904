"""Words that people misspell: "definitely" → "definately"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from quintain.perturbations import draws
from quintain.perturbations.batch import Ints
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.spellings import misspelt
from quintain.perturbations.wordlists import cased_like, common_words, lines_of

_REMEMBERED = 1 << 16
# For words on no list, the mistakes that English spelling invites.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), wrong)
    for pattern, wrong in (
        (r"(?<=[a-z])([bcdfglmnprst])\1(?=[a-z])", r"\1"),
        (r"(?<=[bcdfhlmnprstv])ie(?=[a-z])", "ei"),
        (r"(?<=c)ei", "ie"),
        (r"ance$", "ence"),
        (r"ence$", "ance"),
        (r"ant$", "ent"),
        (r"ent$", "ant"),
        (r"able$", "ible"),
        (r"ible$", "able"),
        (r"(?<=[a-z]{2})ful$", "full"),
        (r"ally$", "aly"),
        (r"(?<=[a-z]{2})ely$", "ly"),
        (r"(?<=[a-z]{2})ously$", "ousley"),
        (r"ph", "f"),
        (r"(?<=[a-z]{2})cian$", "tion"),
        (r"(?<=[a-z]{2})sion$", "tion"),
        (r"(?<=[a-z]{2})tion$", "sion"),
        (r"^wh", "w"),
        (r"^kn", "n"),
        (r"ough", "ouhg"),
        (r"ight", "igth"),
        (r"(?<=[a-z])que$", "ke"),
        (r"(?<=[a-z]{3})er$", "or"),
        (r"(?<=[a-z]{3})or$", "er"),
        (r"(?<=[a-z]{2})ary$", "ery"),
        (r"(?<=[a-z]{2})ery$", "ary"),
        (r"(?<=[a-z]{2})ize", "ise"),
        (r"(?<=[a-z])ea(?=[a-z])", "ae"),
        (r"(?<=[a-z])ou(?=[a-z])", "uo"),
        (r"(?<=[a-z]{2})([lmnt])(?=(?:ed|ing)$)", r"\1\1"),
    )
)


@cache
def misspellings() -> dict[str, tuple[str, ...]]:
    """Read the list of common misspellings."""
    pairs = (line.split(":") for line in lines_of("misspellings.txt"))
    return {word: tuple(wrong.split()) for word, wrong in pairs}


def wrong_forms(word: str) -> tuple[str, ...]:
    """List how *word*, in lower case, is misspelt: from the list, else by the rules; never as another word."""
    listed = misspellings().get(word)
    if listed:
        return tuple(form for form in listed if form not in common_words())
    if len(word) < 5 or not word.isascii() or not word.isalpha():
        return ()
    forms = (pattern.sub(wrong, word, count=1) for pattern, wrong in _RULES)
    return tuple(dict.fromkeys(form for form in forms if form != word and form not in common_words()))


class _Forms(dict[str, tuple[str, ...]]):
    """The wrong forms of words as they are written, remembered: a text is made of few words."""

    def __missing__(self, written: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        forms = tuple(cased_like(written, form) for form in wrong_forms(written.lower()))
        self[written] = forms
        return forms


_FORMS = _Forms()


@PERTURBATIONS.register("spelling_error")
class SpellingError(Perturbation):
    """Misspell words as people do."""

    name: ClassVar[str] = "spelling_error"
    family: ClassVar[Family] = "robustness"
    languages = ("en",)
    table = "misspelt"
    title: ClassVar[str] = "Common misspellings"
    version: ClassVar[int] = 3
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Misspell one word in each of as many stretches of a text as words are wanted: the next that can be."""
        words, joined = batch.words, batch.joined
        among = np.flatnonzero((words.length >= 2) & words.free)
        strata = words.strata(among, rate)
        offset = strata.offsets(batch.seeds)
        forms: list[tuple[str, ...]] = [()] * len(offset)
        at = np.zeros(len(offset), dtype=np.int64)
        left = np.arange(len(offset))
        for step in range(int(strata.size.max(initial=0))):
            # Most words have a wrong form, so that few stretches are left after a step or two.
            at[left] = among[strata.low[left] + (offset[left] + step) % strata.size[left]]
            places = zip(words.start[at[left]].tolist(), words.end[at[left]].tolist(), strict=True)
            candidates = [_FORMS[joined[a:b]] for a, b in places]
            for i, some in zip(left.tolist(), candidates, strict=True):
                forms[i] = some
            open_ = np.fromiter(map(bool, candidates), dtype=bool, count=len(candidates))
            left = left[~open_ & (step + 1 < strata.size[left])]
            if not left.size:
                break
        return _drawn(batch, at, forms)

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return misspelt(batch, rate, table)


def _drawn(batch: TextBatch, at: Ints, forms: Sequence[tuple[str, ...]]) -> Proposal:
    """Draw one of the wrong forms of each word *at* that has some."""
    misspelt = np.flatnonzero(np.fromiter(map(bool, forms), dtype=bool, count=len(forms)))
    words, chosen = batch.words, at[misspelt]
    drawn = draws.below(words.draw(chosen, 1), 1 << 30).tolist()
    replacements = [forms[i][n % len(forms[i])] for i, n in zip(misspelt.tolist(), drawn, strict=True)]
    return Proposal(words.start[chosen], words.end[chosen], replacements)

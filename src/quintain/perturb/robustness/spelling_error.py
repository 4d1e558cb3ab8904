"""Words that people misspell: "definitely" → "definately"."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np

from quintain.perturb import draws
from quintain.perturb.batch import Ints
from quintain.perturb.contract import PERTURBATIONS, Batch, Family, Perturbation, Proposal
from quintain.perturb.wordlists import cased_like, lines_of

_LOOKED_AT = 4
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


@lru_cache(maxsize=1 << 16)
def wrong_forms(word: str) -> tuple[str, ...]:
    """List how *word*, in lower case, is misspelt: from the list, else by the rules."""
    listed = misspellings().get(word)
    if listed:
        return listed
    if len(word) < 5 or not word.isascii() or not word.isalpha():
        return ()
    made = (pattern.sub(wrong, word, count=1) for pattern, wrong in _RULES)
    return tuple(dict.fromkeys(form for form in made if form != word))


@PERTURBATIONS.register("spelling_error")
class SpellingError(Perturbation):
    """Misspell words as people do."""

    name: ClassVar[str] = "spelling_error"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Common misspellings"
    in_paper: ClassVar[bool] = True

    def propose(self, batch: Batch, rate: float) -> Proposal:
        """Draw a wrong form for each chosen word that has one."""
        words, joined = batch.words, batch.joined
        # Most words have a wrong form: looking at a few times as many as are wanted is nearly always enough.
        likely = words.choose(words.length >= 2, min(1.0, _LOOKED_AT * rate))
        known = self._with_wrong_forms(batch, likely)
        empty = np.ones(len(batch), dtype=bool)
        empty[words.text[known]] = False
        if _LOOKED_AT * rate < 1 and empty.any():
            known = np.union1d(known, self._with_wrong_forms(batch, np.flatnonzero(empty[words.text])))
        chosen = words.choose(known, rate)
        start, end = words.start[chosen], words.end[chosen]
        drawn = draws.below(words.draw(chosen, 1), 1 << 30)
        made = []
        for a, b, n in zip(start.tolist(), end.tolist(), drawn.tolist(), strict=True):
            old = joined[a:b]
            word = old.lower()
            forms = wrong_forms(word)
            form = forms[n % len(forms)]
            made.append(form if old == word else cased_like(old, form))
        return Proposal(start, end, made)

    @staticmethod
    def _with_wrong_forms(batch: Batch, among: Ints) -> Ints:
        """Keep the words that can be misspelt."""
        joined, words = batch.joined, batch.words
        places = zip(words.start[among].tolist(), words.end[among].tolist(), strict=True)
        flags = [bool(wrong_forms(joined[a:b].lower())) for a, b in places]
        found: Ints = among[np.array(flags, dtype=bool)]
        return found

"""The spelling of the other side of the Atlantic: "colour" ↔ "color"."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.robustness.lookup import exchange
from quintain.perturbations.wordlists import lines_of


@cache
def spellings() -> dict[str, str]:
    """Map each British spelling to the American one and the other way round."""
    table: dict[str, str] = {}
    for line in lines_of("british_american.txt"):
        british, american, *endings = line.split()
        pairs = [(british, american)] + [(british + ending, american + ending) for ending in endings]
        if british.endswith(("ise", "yse")):
            pairs.append((british[:-1] + "ing", american[:-1] + "ing"))
        for form, twin in pairs:
            table.setdefault(form, twin)
            table.setdefault(twin, form)
    return table


@PERTURBATIONS.register("british_american")
class BritishAmerican(Perturbation):
    """Spell words the other way, wherever the two ways differ."""

    name: ClassVar[str] = "british_american"
    family: ClassVar[Family] = "robustness"
    languages = ("en",)
    title: ClassVar[str] = "British and American spelling exchanged"
    version: ClassVar[int] = 3
    rate: ClassVar[float] = 1.0

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Look each word up that is no part of a name."""
        return exchange(batch, spellings(), rate, allowed=_allowed)


def _allowed(batch: TextBatch, i: int) -> bool:
    """Return whether a word is spelt as one likes: not in a name ("Boston Center"), nor in "a mom and pop store"."""
    words = batch.words
    written = batch.joined[int(words.start[i]) : int(words.end[i])]
    before = batch.joined[: int(words.start[i])].rstrip(" \"'“‘(*-")[-1:]
    opens = words.number[i] == 0 or before in {".", "!", "?", ":", ";", "\n", ""}
    if written[0].isupper() and not opens and not written.isupper():
        return False
    if words.lower[i] in {"mom", "mum"}:
        following = batch.joined[int(words.end[i]) :][:7].lower().split()
        return following[:1] not in [["pop"], ["and"], ["&"], ["n"], ["+"]]
    return True

"""Words for one gender become words for the other: "her book" → "his book", "sisters" → "brothers"."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.fairness.nouns import article, in_thing, stem_of, usable
from quintain.perturbations.fairness.pronouns import PRONOUNS, swapped
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import cased_like, lines_of

_OTHER = {"male": "female", "female": "male"}
# One word of an example is not swapped without the others: a half-swapped story is about other people.
_ALL = "gender"


@cache
def pairs() -> dict[str, tuple[str, str]]:
    """Read the pairs: for each word, the word of the other gender, and the gender of the word."""
    table: dict[str, tuple[str, str]] = {}
    for line in lines_of("gender_pairs.txt"):
        male, sign, female = line.split()
        if sign in {"=", ">"}:
            table.setdefault(male, (female, "male"))
        if sign in {"=", "<"}:
            table.setdefault(female, (male, "female"))
    return table


@PERTURBATIONS.register("gender_words")
class GenderWords(Perturbation):
    """Swap pronouns, titles and nouns of one gender with those of the other, throughout an example."""

    name: ClassVar[str] = "gender_words"
    family: ClassVar[Family] = "fairness"
    title: ClassVar[str] = "Gendered words swapped"
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Swap every gendered word whose context allows it."""
        reader, draft, table = WordReader(batch), EditDraft(), pairs()
        for i, word in enumerate(reader.lower):
            stem, _ = stem_of(word)
            if (stem not in PRONOUNS and stem not in table) or in_thing(batch, i):
                continue
            if stem in PRONOUNS:
                new, gender = swapped(reader, i, stem)
            elif usable(reader, i, stem):
                new, gender = table[stem]
            else:
                continue
            start = reader.start[i]
            old = batch.joined[start : start + len(stem)]
            group = (gender, _OTHER[gender])
            draft.add(start, start + len(stem), cased_like(old, new), _ALL, group)
            article(reader, draft, i, new, _ALL, group)
        return draft.proposal()

"""Words for one gender become words for the other: "her book" → "his book", "sisters" → "brothers"."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.fairness.gender_pairs import pairs
from quintain.perturbations.fairness.nouns import TITLES, article, in_thing, is_call, stem_of, usable
from quintain.perturbations.fairness.people import people
from quintain.perturbations.fairness.pronouns import PRONOUNS, swapped
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.forms.people import other_gender
from quintain.perturbations.wordlists import cased_like, words_in

_OTHER = {"male": "female", "female": "male"}
# One word of an example is not swapped without the others: a half-swapped story is about other people.
ALL = "gender"
_CUT = frozenset({"int", "ont", "fort", "oft", "att", "t"})
# They say a gender and have no twin, or are slips for one that has: what stands beside them cannot be swapped whole.
WITHOUT_TWIN = frozenset(
    words_in(
        "ultrasound pregnant pregnancy bikini bikinis bra bras beard bearded moh gentelman gentelmen gentlemans womans "
        "mens womens wizard wizards witch witches virgin pregnancies damsel "
        "damsels maiden ladyboy hubby hubbys hubs wifey stallion stallions mare mares bull bulls cow cows hen hens "
        "rooster roosters cock cocks maternity paternity mankind manhours manpower girly corset corsets tomboy suckle "
        "suckles suckling breastfeed breastfeeding nursing"
    )
)


@PERTURBATIONS.register("gender_words")
class GenderWords(Perturbation):
    """Swap pronouns, titles and nouns of one gender with those of the other, throughout an example."""

    name: ClassVar[str] = "gender_words"
    family: ClassVar[Family] = "fairness"
    languages = ("en",)
    table = "gender"
    title: ClassVar[str] = "Gendered words swapped"
    version: ClassVar[int] = 4
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Swap every gendered word whose context allows it, in examples that name nobody."""
        reader, draft = WordReader(batch), EditDraft()
        swap_words(reader, draft, people(reader).keys())
        return draft.proposal()

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return other_gender(batch, rate, table)


def swap_words(reader: WordReader, draft: EditDraft, left: Collection[int]) -> tuple[set[int], set[int]]:
    """Draft the swaps in all examples but those *left* alone.

    Give the examples that have a word to swap, and those that have one that must stay, in which none is swapped.
    """
    batch, table = reader.batch, pairs()
    touched: set[int] = set()
    halves: set[int] = set()
    swaps: list[tuple[int, int, str, tuple[str, str]]] = []
    owners = batch.owners.tolist()
    for i, word in enumerate(reader.lower):
        stem, ending = stem_of(word)
        owner = owners[reader.text[i]]
        # In the middle of a sentence, a big letter makes a pronoun a part of a title: "Talk to Her".
        titled = stem in PRONOUNS and reader.capital(i) and not reader.opens(i) and not reader.word(i).isupper()
        if stem in WITHOUT_TWIN or titled:
            halves.add(owner)
        slip = word == "he" and reader.previous(i) in _CUT  # "int he" is "in the"
        if slip or (stem not in PRONOUNS and stem not in table) or in_thing(batch, i):
            continue
        if stem in PRONOUNS and ending in {"", "'s", "'d", "'ll", "'ve"}:
            new, gender = swapped(reader, i, stem)
        elif stem in table and usable(reader, i, stem):
            new, gender = table[stem]
        else:
            # A word that stays makes a half-swapped story of all the others; a title or a call is nobody's gender.
            if stem not in TITLES and not is_call(reader, i, stem):
                halves.add(owner)
            continue
        touched.add(owner)
        if owner in left:
            continue
        swaps.append((i, len(stem), new, (gender, _OTHER[gender])))
    for i, length, new, group in swaps:
        if owners[reader.text[i]] not in halves:
            start = reader.start[i]
            old = batch.joined[start : start + length]
            draft.add(start, start + length, cased_like(old, new), ALL, group)
            article(reader, draft, i, new, ALL, group)
    return touched, halves

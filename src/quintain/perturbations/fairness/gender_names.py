"""First names of the other gender, in the same ethnic group: "Emily and her dog" → "Brian and his dog"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, EditDraft, Family, Proposal, Table, TextBatch
from quintain.perturbations.fairness.gender_words import ALL, swap_words
from quintain.perturbations.fairness.mentions import Mention
from quintain.perturbations.fairness.namelist import FirstName
from quintain.perturbations.fairness.people import people
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.fairness.replacing import NamePerturbation
from quintain.perturbations.forms.people import names_of_other_gender


@PERTURBATIONS.register("gender_names")
class GenderNames(NamePerturbation):
    """Replace first names by ones of the other gender, and with them all gendered words of an example.

    An example with gendered words in which somebody else is named stays: nobody knows whose the words are.
    """

    name: ClassVar[str] = "gender_names"
    family: ClassVar[Family] = "fairness"
    languages = ("en",)
    table = "names"
    title: ClassVar[str] = "First names of the other gender"
    version: ClassVar[int] = 4
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return names_of_other_gender(batch, rate, table)

    def tie(self, batch: TextBatch, draft: EditDraft, mentions: Mapping[int, Sequence[Mention]]) -> Mapping[int, str]:
        """Swap the gendered words where all who are named are renamed."""
        reader = WordReader(batch)
        renamed = {owner: {mention.start for mention in some} for owner, some in mentions.items()}
        strangers = {
            owner
            for owner, some in people(reader).items()
            if any(reader.start[i] not in renamed.get(owner, ()) for i in some)
        }
        left = strangers | (set(batch.owners.tolist()) - mentions.keys())
        gendered, halves = swap_words(reader, draft, left)
        stay = (gendered & strangers) | halves
        return {owner: ALL if owner in gendered else "" for owner in mentions if owner not in stay}

    def target(self, name: FirstName, seed: int) -> tuple[str, str]:
        """Take the other gender."""
        return ("male" if name.gender == "female" else "female"), name.group

    def group(self, name: FirstName, target: tuple[str, str]) -> tuple[str, str]:
        """Report the genders."""
        return name.gender, target[0]

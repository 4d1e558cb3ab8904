"""First names of another ethnic group, with the gender kept: "James" → "Jermaine"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations import draws
from quintain.perturbations.contract import PERTURBATIONS, Family, Proposal, Table, TextBatch
from quintain.perturbations.fairness.namelist import GROUPS, FirstName
from quintain.perturbations.fairness.replacing import NamePerturbation
from quintain.perturbations.forms.people import names_of_other_group


@PERTURBATIONS.register("ethnicity_names")
class EthnicityNames(NamePerturbation):
    """Replace first names by ones that predict another ethnic group; one group is drawn for an example."""

    name: ClassVar[str] = "ethnicity_names"
    family: ClassVar[Family] = "fairness"
    languages = ("en",)
    table = "groups"
    title: ClassVar[str] = "First names of another ethnic group"
    version: ClassVar[int] = 4
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return names_of_other_group(batch, rate, table)

    def target(self, name: FirstName, seed: int) -> tuple[str, str]:
        """Take the group that was drawn for the example, or the next one where the name is of that group already."""
        first = draws.seed_of("group", seed) % len(GROUPS)
        order = GROUPS[first:] + GROUPS[:first]
        return name.gender, next(group for group in order if group != name.group)

    def group(self, name: FirstName, target: tuple[str, str]) -> tuple[str, str]:
        """Report the ethnic groups."""
        return name.group, target[1]

"""First names of the other gender, with the ethnic group kept: "Emily" → "Brian"."""

from __future__ import annotations

from typing import ClassVar

from quintain.perturbations.contract import PERTURBATIONS, Family
from quintain.perturbations.fairness.namelist import FirstName
from quintain.perturbations.fairness.replacing import NamePerturbation


@PERTURBATIONS.register("gender_names")
class GenderNames(NamePerturbation):
    """Replace first names by ones of the other gender; pronouns stay, as in the paper."""

    name: ClassVar[str] = "gender_names"
    family: ClassVar[Family] = "fairness"
    title: ClassVar[str] = "First names of the other gender"
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def target(self, name: FirstName, seed: int) -> tuple[str, str]:
        """Take the other gender."""
        return ("male" if name.gender == "female" else "female"), name.group

    def group(self, name: FirstName, target: tuple[str, str]) -> tuple[str, str]:
        """Report the genders."""
        return name.gender, target[0]

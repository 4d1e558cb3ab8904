"""The list of first names, by gender and by ethnic group."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from quintain.perturbations.wordlists import lines_of, words_in

GENDERS = ("female", "male")
GROUPS = ("white", "black", "hispanic", "api")

# Names that are words, places, days or surnames as well: a name only where the context says so, never a replacement.
PLACES = frozenset(
    words_in(
        "austin brooklyn carolina chad cleveland dallas georgia german india israel jordan kenya london lourdes "
        "madison orlando paris phoenix salvador santiago savannah sydney trinidad victoria vienna virginia "
        "washington wade geneva florence charlotte chelsea dakota guadalupe asia domingo cordell odessa cornell"
    )
)
WORDS = frozenset(
    words_in(
        "amber angel april art august aura autumn avis barron bill bob buddy candy chance chang chase chin chung "
        "clark clay crystal dale dat dawn dean dong drew dulce duke duy earl earnest ebony ernst evans faith flor "
        "forrest frank gene ginger grace grant guy hai hang harmony heath holly hope hung india jack jay jesus "
        "joy june kent kin king kirk lai lamar lance laurel lei lien lily ling loan long loc luther luz mae mai "
        "major mao mark marshall max may mercedes mei melody miles misty mitchell moses myrtle nam norris olive "
        "octavia pat patience pearl penny perla prince prudence ram ray rex rich rick rob robin roosevelt rose "
        "ross ruby rui sang scott sherman shelton soledad solomon son soo stewart stuart sue summer sunday tan "
        "tao thang thu tin toan tong tri tung tyler ulysses uma usha violet will winston won yen nelson lincoln "
        "neal ola mercy penny portia reina reyna rocio roman sandy sonny star sterling christian destiny iris ivy "
        "jasmine dolores consuelo esperanza socorro esmeralda blanca alba hilario omar oscar israel marina prem "
        "raj hari isaiah elijah noah jay dexter percy graham bradford clifton clayton gordon douglas russell "
        "bruce craig glenn"
    )
)
AMBIGUOUS = PLACES | WORDS


@dataclass(frozen=True, slots=True)
class FirstName:
    """A first name with the gender and the group that it predicts."""

    name: str
    gender: str
    group: str


@cache
def first_names() -> dict[str, FirstName]:
    """Read the list; the keys are in lower case."""
    rows = csv.DictReader(lines_of("first_names.csv"))
    return {row["name"].lower(): FirstName(row["name"], row["gender"], row["group"]) for row in rows}


@cache
def pool(gender: str, group: str) -> tuple[str, ...]:
    """List the names that may replace another one, for one gender and group."""
    return tuple(
        key
        for key, item in sorted(first_names().items())
        if (item.gender, item.group) == (gender, group) and key not in AMBIGUOUS
    )

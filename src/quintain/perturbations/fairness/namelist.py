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
        "madison orlando paris phoenix salvador santiago savannah sydney trinidad victoria vienna virginia washington "
        "wade geneva florence charlotte chelsea dakota guadalupe asia domingo cordell odessa cornell troy soledad "
        "kent"
    )
)
WORDS = frozenset(
    words_in(
        "amber angel april art august aura autumn avis barron bill bob buddy candy chance chang chase chin chung "
        "clark clay crystal dale dat dawn dean dong drew dulce duke duy earl earnest ebony ernst evans faith flor "
        "forrest frank gene ginger grace grant guy hai hang harmony heath holly hope hung india jack jay jesus joy "
        "june kent kin king kirk lai lamar lance laurel lei lien lily ling loan long loc luther luz mae mai major mao "
        "mark marshall max may mercedes mei melody miles misty mitchell moses myrtle nam norris olive octavia pat "
        "patience pearl penny perla prince prudence ram ray rex rich rick rob robin roosevelt rose ross ruby rui sang "
        "scott sherman shelton soledad solomon son soo stewart stuart sue summer sunday tan tao thang thu tin toan "
        "tong tri tung tyler ulysses uma usha violet will winston won yen nelson lincoln neal ola mercy penny portia "
        "reina reyna rocio roman sandy sonny star sterling christian destiny iris ivy jasmine dolores consuelo "
        "esperanza socorro esmeralda blanca alba hilario omar oscar israel marina prem raj hari isaiah elijah noah "
        "jay dexter percy graham bradford clifton clayton gordon douglas russell bruce craig glenn kia phat tram bing "
        "mario minnie otis carol digna quang amado celso fidel rusty luke kay"
    )
)
AMBIGUOUS = PLACES | WORDS
# Ranks, and figures whom everybody knows by this one name: never a plain first name.
NO_NAMES = frozenset(
    words_in(
        "king prince major duke earl dean jesus moses solomon german israel kin son sunday yoko lula adam "
        "margarita mercedes cesar lakshmi ganesh viet muhammad ram santosh uma"
    )
)
# Names that are surnames as often: alone, or behind "Mr.", they are no first names.
SURNAMES = frozenset(
    words_in(
        "howard allen allan lewis charles thomas lawrence henry george craig ross russell douglas gordon bradley "
        "norman keith neil neal ryan kelly lindsay lindsey ashley courtney leonard francis frederick gregory jarvis "
        "curtis terrell barry blake brent kendrick carlton cameron shelton evans stewart stuart sherman marshall "
        "mitchell nelson lincoln clark grant scott wesley tyler taylor harvey horace clayton clifford bradford elbert "
        "norris thurman lamont ellen alan benito roosevelt winston wendell dewayne travis quinton reginald roscoe "
        "desmond nestor warren seth cory constance carole abel cesar salvatore santiago theodore luther neville "
        "vincent ramon diego anand leonardo fabian ray dexter darren dustin wayne quintin errol cordell"
    )
)


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

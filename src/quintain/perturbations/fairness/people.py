"""Find people in a text who keep their names: with them, a pronoun must keep its gender, too."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np

from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import lines_of, words_in

# Surnames that so many people bear that a full name with one of them points to nobody.
COMMON_SURNAMES = frozenset(
    words_in(
        "smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson "
        "anderson taylor moore martin lee perez thompson white harris sanchez clark ramirez lewis robinson walker "
        "young allen wright torres nguyen hill flores green adams nelson baker hall rivera campbell mitchell carter "
        "roberts gomez phillips evans turner diaz parker cruz edwards collins reyes stewart morris morales murphy "
        "cook rogers gutierrez ortiz morgan cooper peterson bailey reed kelly howard ramos kim cox ward richardson "
        "watson brooks chavez wood bennett gray mendoza ruiz hughes price alvarez castillo sanders patel myers long "
        "ross foster jimenez jenkins doe"
    )
)
RANKS = frozenset(
    words_in(
        "king queen prince princess pope emperor empress saint st san santa sir dame lord lady madam duke duchess "
        "baron baroness count countess earl president premier minister chancellor general admiral pharaoh tsar sultan "
        "sheikh rabbi imam father mother brother sister reverend rev bishop cardinal"
    )
)
_FORMAL = frozenset(words_in("mr mrs ms miss mister mx dr prof"))
_SMALL = frozenset(
    words_in(
        "i i'm i've i'd i'll a an the and but or so if when while as at in on by for from with to of this that these "
        "those then now after before because since although though until where why how what who my your his her its "
        "our their he she they we you it is are was were do does did not no yes oh well also both all some any every "
        "each one two there here dear hi hello hey thanks only even just once like unlike is can could will would "
        "should"
    )
)


@cache
def gendered_names() -> dict[str, str]:
    """Read the names that nearly all bearers of one gender have, with that gender; the keys are in lower case."""
    rows = (line.split() for line in lines_of("gendered_names.txt"))
    return {name: gender for gender, *names in rows for name in names}


def people(reader: WordReader) -> dict[int, list[int]]:
    """Give, for each example, the first words of what look like names of people, other than "Mr. Smith"."""
    batch = reader.batch
    codes = batch.codes[batch.words.start]
    found: dict[int, list[int]] = defaultdict(list)
    for i in np.flatnonzero((codes >= 65) & (codes <= 90)).tolist():
        if _is_person(reader, i):
            found[int(batch.owners[reader.text[i]])].append(i)
    return found


def _is_person(reader: WordReader, i: int) -> bool:
    word, key = reader.word(i), reader.lower[i].removesuffix("'s")
    if len(word) < 2 or word.isupper() or key in _SMALL:
        return False
    if key in gendered_names():
        return True
    joined = reader.gap(i) in {" ", ". "} and i + 1 < len(reader.lower) and reader.text[i + 1] == reader.text[i]
    if not joined or not reader.capital(i + 1) or reader.lower[i + 1] in _SMALL:
        return False
    if key in _FORMAL:
        behind = reader.lower[i + 1].removesuffix("'s")
        return behind not in COMMON_SURNAMES and behind not in gendered_names()
    return reader.gap(i) == " " or key in RANKS

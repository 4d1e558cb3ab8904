"""Find people in a text who keep their names: with them, a pronoun must keep its gender, too."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

import numpy as np
from numpy.typing import NDArray

from quintain.perturbations.fairness.gender_pairs import pairs
from quintain.perturbations.fairness.namelist import AMBIGUOUS, PLACES, first_names
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import common_words, lines_of, words_in

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
# Figures whom everybody knows by one name: theirs are the pronouns of a text that names them.
KNOWN = frozenset(
    words_in(
        "obama trump bush clinton reagan nixon kennedy "
        "lincoln churchill hitler stalin lenin putin napoleon shakespeare "
        "mozart beethoven freud einstein darwin hitchcock spielberg scorsese kubrick tarantino soderbergh eastwood "
        "gandhi mandela god jesus allah buddha muhammad mohammed satan krishna vishnu shiva lakshmi zeus santa akbar "
        "madonna oprah batman superman dracula hamlet macbeth cinderella"
    )
)
# Surnames of people on the screen, whom reviews name by these alone, in small letters, too.
_ON_SCREEN = frozenset(
    words_in(
        "sandler sorvino carrey pacino deniro clooney affleck witherspoon zellweger streep schwarzenegger stallone "
        "kidman dicaprio spacey malkovich buscemi travolta diesel lawless cronenberg almodovar polanski lynch "
        "shyamalan leguizamo goodman depp damon costner seagal broderick"
    )
)
_NAMING = frozenset(words_in("named name's actor actress director was is by called"))
_SMALL = frozenset(
    words_in(
        "i i'm i've i'd i'll a an the and but or so if when while as at in on by for from with to of this that these "
        "those then now after before because since although though until where why how what who my your his her its "
        "our their he she they we you it is are was were do does did not no yes oh well also both all some any every "
        "each one two there here dear hi hello hey thanks only even just once like unlike is can could will would "
        "should"
    )
)


# Before one of these stands a person's name seldom, before what is named with one often a place, a brand or a thing.
_PLACING = frozenset(words_in("a an the this that my our your his her in at to from near via inside outside around on"))
# What people do, in the past or the present.
ACTS = frozenset(
    words_in(
        "said says asked asks told tells replied answered thinks thought wants wanted loves loved likes liked "
        "hates hated went met nodded sat grabbed took got "
        "began replaced drew turned moved ran fell walked walks smiled "
        "laughed nodded shrugged whispered shouted knew knows felt decided who whose forgot remembered bought gave "
        "married came lives lived worked"
    )
)
_DOES = frozenset(
    words_in("is was has had does did lost made left found kept won ran sold wrote read ate sang flew spent and or")
)
_DAYS = frozenset(
    words_in(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
        "september october november december christmas easter thanksgiving halloween english french spanish german "
        "italian chinese japanese indian mexican american british russian canadian"
    )
)
_PRONOUNS = frozenset(words_in("he him his himself she her hers herself he's she's he'd she'd he'll she'll"))
# Where one of these stands, a bare name is of somebody in a work that readers know, or of a storm.
WORKS = frozenset(
    words_in(
        "film films movie movies cinema actor actors actress actresses cast character characters episode episodes "
        "season album albums band song songs singer sequel novel screenplay soundtrack audiences "
        "storm storms hurricane hurricanes typhoon tropical lrb rrb"
    )
)
_PARTED = re.compile(r"\w (?:,|'s) ")  # as in corpora whose words and marks were parted
_LONG = 9  # letters: longer ones are not among the common words


@cache
def gendered_names() -> dict[str, str]:
    """Read the names that nearly all bearers of one gender have, with that gender; the keys are in lower case."""
    rows = (line.split() for line in lines_of("gendered_names.txt"))
    return {name: gender for gender, *names in rows for name in names}


def people(reader: WordReader) -> dict[int, list[int]]:
    """Return, for each example, the first words of what look like names of people, other than "Mr. Smith"."""
    batch = reader.batch
    codes = batch.codes[batch.words.start]
    first_words: dict[int, list[int]] = defaultdict(list)
    names, capital = gendered_names(), (codes >= 65) & (codes <= 90)
    big = np.bincount(batch.words.text[capital], minlength=len(batch))
    for i, word in enumerate(reader.lower):
        # In small letters a name is one where all is small, or where something says so: "his name was john".
        key = word.removesuffix("'s")
        named = key in names and not capital[i] and (not big[reader.text[i]] or reader.previous(i) in _NAMING)
        if named or key in _ON_SCREEN:
            first_words[int(batch.owners[reader.text[i]])].append(i)
    for i in np.flatnonzero(capital).tolist():
        if _is_person(reader, i):
            first_words[int(batch.owners[reader.text[i]])].append(i)
    _add_unknown(reader, first_words, capital, big)
    return first_words


def _add_unknown(
    reader: WordReader, first_words: dict[int, list[int]], capital: NDArray[np.bool_], big: NDArray[np.int64]
) -> None:
    """Add, where a pronoun stands for somebody, who may be named by a word that is on no list.

    "LaBute was more fun when his characters" is about a man whom readers know. A review in small letters throughout
    does not show whom or which work it names: "mr polanski is alone , abandoned", "the good girl is a film".
    """
    meant = {reader.text[i] for i, word in enumerate(reader.lower) if word in _PRONOUNS}
    reviews = {reader.text[i] for i, word in enumerate(reader.lower) if word in WORKS and word not in pairs()}
    reviews |= {i for i, text in enumerate(reader.batch.texts) if _PARTED.search(text)}
    for i, text in enumerate(reader.text):
        small = not big[text] and text in reviews
        if small or (text in meant and capital[i] and _is_unknown(reader, i)):
            first_words[int(reader.batch.owners[text])].append(i)


def _is_unknown(reader: WordReader, i: int) -> bool:
    """Whether a capitalised word is none that everybody knows, and may be somebody's surname."""
    word, key = reader.word(i), reader.lower[i].removesuffix("'s")
    if len(key) < 3 or not key.isalpha() or word.isupper() or key in _SMALL | _DAYS or key in pairs():
        return False
    if reader.opens(i):
        return len(key) <= _LONG and not _is_common(key)
    return not _is_common(key) and reader.previous(i) not in _PLACING


def _is_common(key: str) -> bool:
    """Whether a word is a common one, but for its ending."""
    words = common_words()
    stems = (key, key.removesuffix("s"), key.removesuffix("ed"), key.removesuffix("ing"), key.removesuffix("ly"))
    return any(stem in words or f"{stem}e" in words for stem in stems)


def _is_listed(reader: WordReader, i: int, key: str) -> bool:
    """Return whether a word is a first name that both genders bear, or that is a word or a place, too ("Jack").

    A place and a month are a person's name only where somebody acts; so is a common word that opens a sentence, or
    where something is the person's, or a comma follows.
    """
    if key not in first_names() and key not in AMBIGUOUS:
        return False
    behind = reader.next(i)
    if behind in ACTS | _DOES or (behind.endswith("ed") and len(behind) > 4):
        return True
    if key in PLACES or key in _DAYS:
        return False
    word = key in AMBIGUOUS and reader.opens(i) and _is_common(key)
    return not word or reader.lower[i].endswith("'s") or reader.gap(i).startswith(",")


def _is_person(reader: WordReader, i: int) -> bool:
    word, key = reader.word(i), reader.lower[i].removesuffix("'s")
    if len(word) < 2 or word.isupper() or key in _SMALL:
        return False
    if key in gendered_names() or key in KNOWN or _is_listed(reader, i, key):
        return True
    joined = reader.gap(i) in {" ", ". "} and i + 1 < len(reader.lower) and reader.text[i + 1] == reader.text[i]
    if not joined or not reader.capital(i + 1) or reader.lower[i + 1] in _SMALL:
        return False
    if key in _FORMAL:
        behind = reader.lower[i + 1].removesuffix("'s")
        return behind not in COMMON_SURNAMES and behind not in gendered_names()
    return reader.gap(i) == " " or key in RANKS

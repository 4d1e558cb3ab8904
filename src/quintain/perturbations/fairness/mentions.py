"""Find first names that are used as first names.

A name on the list is left alone where it is part of a bigger name: of a known entity (the gazetteer), of a run of
capitalised words that does not look like a person's name, or of what a recogniser takes for something else. A name
that is a word or a place as well must show that it is a name here. A doubt about one mention in an example is a
doubt about all mentions of that name in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np

from quintain.perturbations.contract import TextBatch
from quintain.perturbations.fairness.namelist import AMBIGUOUS, NO_NAMES, PLACES, SURNAMES, first_names
from quintain.perturbations.fairness.people import ACTS, COMMON_SURNAMES, KNOWN, RANKS, WORKS, gendered_names
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import lines_of, words_in

# Given a text, tell the spans of named entities with their types, such as (0, 4, "PERSON").
Recogniser = Callable[[str], Sequence[tuple[int, int, str]]]

_TITLES = frozenset(words_in("aunt auntie uncle cousin grandma grandpa nurse"))
# Behind one of these a surname stands, rather than a first name.
_FORMAL = frozenset(words_in("mr mrs ms miss mx dr prof officer coach sergeant captain detective sgt capt lt col gen"))
_PARTICLES = frozenset(words_in("van von de del della da di dos du la le el al bin ibn ben st"))
_SHOPS = frozenset(
    words_in(
        "deli diner restaurant bar grill pub cafe café pizza pizzeria burger burgers bakery store shop kitchen "
        "steakhouse bbq saloon market list seafood tacos subs hot"
    )
)
# Words behind which somebody is spoken to or of.
_TOLD = frozenset(
    words_in(
        "told tell asked ask saw met meet warned helped kissed thanked married hugged hi hello hey thanks thx dear "
        "said replied mused thought declared shouted whispered answered befriended instructed"
    )
)
_BELONGINGS = frozenset(
    words_in(
        "brother sister mother father friend friends wife husband son daughter parents kids children family boss eyes "
        "voice face hair hand hands head heart house room car life death name birthday cloak mind "
        "dog cat personal work job behavior behaviour predicament class suggestions words body brothers sisters mom dad"
    )
)
_PRONOUNS = {
    "male": frozenset(words_in("he him his himself he's he'd he'll")),
    "female": frozenset(words_in("she her hers herself she's she'd she'll")),
}
_KIN = frozenset(
    words_in(
        "friend brother sister son daughter wife husband mother father uncle aunt cousin nephew niece boyfriend "
        "girlfriend neighbor neighbour named called colleague boss roommate classmate teacher student"
    )
)
# What people do and papers, towns and months do not: for names that are words as well.
_SPEECH = frozenset(
    words_in(
        "said says asked asks replied thinks thought wants wanted loves loved likes liked hates hated smiled laughed "
        "nodded shrugged whispered shouted knew knows felt decided who whose forgot remembered married sat walked"
    )
)
_OPENERS = frozenset(
    words_in(
        "the a an when while if but and or so as at in on by for from with without to of that this then now after "
        "before because since although though until where why how what who did does do is was are were has have "
        "had can could will would should may might my your his her its our their he she they we you i it yes no "
        "not dear hi hello hey thanks thank even only both maybe perhaps poor little old young today yesterday "
        "tonight once like unlike both meanwhile however later soon finally suddenly ask tell meet see let give "
        "here there oh well also"
    )
)
_SMALL = frozenset(
    words_in(
        "and or but on in at to for from with by of as is was were are had has have did does do will would can could "
        "a an the this that they we you i it he she his her their our my not no so then when where who which what"
    )
)
# In history a bare name is a ruler's: "Philip's army took Barcelona in 1706".
_HISTORY = frozenset(
    words_in("virgin saint bible king kings queen queens throne crown army empire reign dynasty battle siege crusade")
)
# A bare name is that of somebody in a work where one of these stands, too.
_SHOWN = frozenset(
    words_in(
        "viewer viewers performance performances premise starring portrays portrayal protagonist monarch heroine "
        "narrator plot screen hollywood comedy drama thriller actress scene scenes audience screenwriting tragedy "
        "treachery lrb rrb"
    )
)
_YEAR = re.compile(r"1\d\d\d")
# Somebody tells what happened, to themselves or to others; a critic says in the present what a film is like.
_TELLING = frozenset(
    words_in(
        "i me my mine myself we us i'm i've i'd i'll we're we've we'd we'll was were wasn't weren't had did didn't "
        "went left came took got saw made gave found ran sat stood met knew thought felt said told asked kept brought "
        "began wanted loved liked lived walked moved called looked worked turned needed bought sent spent lost won fell"
    )
)
_UNSURE = AMBIGUOUS | SURNAMES | NO_NAMES
_I = frozenset(words_in("i i'm i've i'll i'd"))


class Sign(IntEnum):
    """What the context says of a mention."""

    UNSURE = 0
    NAME = 1
    ENTITY = 2


@dataclass(frozen=True, slots=True)
class Mention:
    """One first name in a batch: its key on the list, and its place in the joined string."""

    key: str
    start: int
    end: int


def find_mentions(batch: TextBatch, recogniser: Recogniser | None = None) -> dict[int, list[Mention]]:
    """Return the mentions that may be replaced, by the example that they are in."""
    finder = _Finder(batch)
    seen: dict[tuple[int, str], list[tuple[Mention, Sign]]] = defaultdict(list)
    for i, key in finder.candidates():
        start = int(batch.words.start[i])
        mention = Mention(key, start, start + len(key))
        sign = finder.sign(i, key)
        if recogniser is not None and sign is not Sign.ENTITY:
            sign = _recognised(batch, mention, sign, recogniser)
        owner = int(batch.owners[batch.words.text[i]])
        seen[owner, key].append((mention, sign))
    by_owner: dict[int, list[Mention]] = defaultdict(list)
    for (owner, _), mentions in seen.items():
        if max(sign for _, sign in mentions) is Sign.NAME:
            by_owner[owner] += [mention for mention, _ in mentions]
    return by_owner


def _recognised(batch: TextBatch, mention: Mention, sign: Sign, recogniser: Recogniser) -> Sign:
    text = int(batch.text_at(np.array([mention.start]))[0])
    begin = int(batch.begins[text])
    for start, end, kind in recogniser(batch.texts[text]):
        if begin + start < mention.end and mention.start < begin + end:
            return Sign.NAME if kind == "PERSON" else Sign.ENTITY
    return sign


@cache
def _entities() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Read the gazetteer: for each word in it, the phrases that the word is part of."""
    table: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for line in lines_of("known_entities.txt"):
        phrase = tuple(re.findall(r"\w+(?:['’]\w+)?", line.lower()))
        for word in phrase:
            table[word].append(phrase)
    return {word: tuple(phrases) for word, phrases in table.items()}


class _Finder(WordReader):
    """Reads the words around a candidate."""

    def __init__(self, batch: TextBatch) -> None:
        super().__init__(batch)
        self._headlines: dict[int, bool] = {}
        self._pronouns: dict[int, set[str]] = {}
        self._owned: dict[int, frozenset[str]] = {}
        self._others: dict[int, tuple[bool, frozenset[str]]] = {}

    def candidates(self) -> list[tuple[int, str]]:
        """List the words that are on the list of names and begin with a capital."""
        names, joined = first_names(), self.batch.joined
        bare = [(i, word.removesuffix("'s")) for i, word in enumerate(self.lower)]
        return [(i, key) for i, key in bare if key in names and joined[self.start[i]].isupper()]

    def sign(self, i: int, key: str) -> Sign:
        """Return what the context of word *i* makes of it."""
        if not self.batch.words.free[i] or self._headline(i) or self._known(i) or self._in_entity(i):
            return Sign.ENTITY
        before = self._left(i)
        if before is Sign.ENTITY or key in NO_NAMES or self._full(i) or self._about_others(i, key):
            return Sign.ENTITY
        if self.word(i).isupper():
            # Capitals throughout say nothing: "MAJOR PROBLEMS". The name may be sure elsewhere in the example.
            return Sign.UNSURE
        if before is Sign.NAME or self._beside_name(i) or self._evident(i, key):
            return Sign.NAME
        return Sign.ENTITY if key in SURNAMES else Sign.UNSURE

    def _headline(self, i: int) -> bool:
        """Whether nearly all words of the text are capitalised, so that capitals mean nothing."""
        text = int(self.batch.words.text[i])
        if text not in self._headlines:
            first, count = int(self.batch.words.first[text]), int(self.batch.words.per_text[text])
            capitals = sum(self.capital(j) for j in range(first, first + count))
            self._headlines[text] = count >= 4 and capitals > 0.7 * count
        return self._headlines[text]

    def _known(self, i: int) -> bool:
        """Whether the word is part of an entity of the gazetteer, in the same text."""
        for word in {self.lower[i], self.lower[i].removesuffix("'s")}:
            for phrase in _entities().get(word, ()):
                first = max(0, i - phrase.index(word))
                near = range(first, min(first + len(phrase), len(self.lower)))
                around = [self.lower[j] for j in near if self.text[j] == self.text[i]]
                if around == [*phrase] or [*around[:-1], around[-1].removesuffix("'s")] == [*phrase]:
                    return True
        return False

    def _in_entity(self, i: int) -> bool:
        """Whether signs or small words tie the name to something else: "Jean-Paul", "Ben & Jerry", "Joan of"."""
        before, after = self.lead(i), self.gap(i)
        if "er" in {self.previous(i), self.next(i)} or (after in {' "', " “"} and self.capital(i + 1)):
            return True  # "Stephen er Steven", 'Robert "Bob"'
        if before.endswith(("-", "&", "& ", "/")) or after.startswith(("-", " &", "&", "/")):
            return True
        if before.endswith(('"', "“", "'", "‘")) and after.startswith(('"', "”", "'", "’", ',"')):
            return True  # a title in quotation marks
        behind = self.lower[i + 1] if after == " " else ""
        owned = self.lower[i].endswith("'s") and (behind in _SHOPS or (behind and self.capital(i + 1)))
        surname = behind in COMMON_SURNAMES | {"king", "kings"} and not self.capital(i + 1)
        if behind in _PARTICLES or owned or surname or self._in_title(i):
            return True
        small = after == " " and self.lower[i + 1] in {"of", "the"} and self.gap(i + 1) == " " and self.capital(i + 2)
        return bool(small)

    def _in_title(self, i: int) -> bool:
        """Whether "and" ties the name to a capitalised word that is no name: "Roger and Me"."""
        if self.next(i) not in {"and", "or"} or not self.next(i + 1) or not self.capital(i + 2):
            return False
        other = self.lower[i + 2].removesuffix("'s")
        if self._full(i + 2):
            return True  # "Emily and William Harris" share a surname
        return other not in first_names() and other not in gendered_names() and other != "i"

    def _evident(self, i: int, key: str) -> bool:
        """Whether a person acts, is spoken to, is a part of a family, or is meant by a pronoun of the example.

        A bare name may be the title of a film, a song, a storm or a shop: "the people in Jessica".
        """
        before, behind = self.previous(i), self.next(i)
        if key in SURNAMES or behind in {"himself", "herself"}:
            return False
        if key in AMBIGUOUS:
            return behind in _SPEECH and key not in PLACES and self.lower[i] == key
        # Whom a pronoun means, or to whom something belongs, is somebody in a film where nobody tells what happened.
        is_person = not _TELLING.isdisjoint(self._words_of_owner(i))
        meant = is_person and first_names()[key].gender in self._genders(i)
        if self.lower[i].endswith("'s"):  # "called Steve's and they said" is about a shop
            return (is_person and behind in _BELONGINGS) or (meant and behind != "" and behind not in _SMALL | ACTS)
        acts = behind in ACTS or (behind.endswith("ed") and len(behind) > 4)
        if before == "as" and self.lower[i - 2] not in {"himself", "herself"}:
            return acts  # "Naomi Watts is terrific as Rachel" is about a role
        of_band = behind == "from" and self.next(i + 1) and self.capital(i + 2) and self.next(i + 2)
        if of_band and self.capital(i + 3):
            return False  # "Tim from Plain White T's"
        return acts or before in _TOLD or meant

    def _about_others(self, i: int, key: str) -> bool:
        """Whether the text of word *i* is about a work, a storm, history, or somebody who is named in full."""
        text = int(self.text[i])
        if text not in self._others:
            first, count = int(self.batch.words.first[text]), int(self.batch.words.per_text[text])
            near = range(first, first + count)
            known = first_names().keys() | gendered_names().keys()
            capitals = [j for j in near if self.capital(j)]
            named = frozenset(self.lower[j] for j in capitals if self.lower[j] in known and self._full(j))
            words = self.lower[first : first + count]
            stems = {word.removesuffix("'s") for word in words}
            works = not (WORKS | _SHOWN | _HISTORY | KNOWN).isdisjoint(stems) or any(map(_YEAR.fullmatch, words))
            self._others[text] = (works, named)
        works, named = self._others[text]
        return works or bool(named - {key})

    def _genders(self, i: int) -> set[str]:
        """Return the genders of the pronouns in the example of word *i*."""
        owner = int(self.batch.owners[self.text[i]])
        if owner not in self._pronouns:
            near = self._words_of_owner(i)
            self._pronouns[owner] = {gender for gender, forms in _PRONOUNS.items() if not forms.isdisjoint(near)}
        return self._pronouns[owner]

    def _words_of_owner(self, i: int) -> frozenset[str]:
        """Return the words of the example of word *i*, in lower case."""
        owner = int(self.batch.owners[self.text[i]])
        if owner not in self._owned:
            texts = np.flatnonzero(self.batch.owners == owner).tolist()
            words = self.batch.words
            spans = [(int(words.first[text]), int(words.per_text[text])) for text in texts]
            self._owned[owner] = frozenset(word for first, count in spans for word in self.lower[first : first + count])
        return self._owned[owner]

    def _left(self, i: int) -> Sign:
        """Judge by the word before."""
        gap = self.lead(i)
        # Initials: "C.S. Lewis".
        if gap in {".", ". "} and self.end[i - 1] - self.start[i - 1] == 1:
            return Sign.ENTITY
        if gap not in {" ", ". "}:
            return Sign.UNSURE
        word, capital = self.lower[i - 1], self.capital(i - 1)
        # Behind "Mr." stands a surname, if not a whole name: "Ms. Chang".
        if (word in RANKS and capital) or word in _FORMAL:
            return Sign.ENTITY
        if word in _KIN and self._owned_by_known(i - 1):
            return Sign.ENTITY
        shop = self.lower[i].endswith("'s") and self.next(i) not in _BELONGINGS  # "he called Steve's and they"
        if (word in _TITLES and (capital or gap == " ")) or (word in _KIN and gap == " " and not shop):
            return Sign.NAME
        opener = word in _OPENERS and self.opens(i - 1)
        part_of_run = capital and not opener and word != "i" and gap == " "
        return Sign.ENTITY if part_of_run or word in {"the", "a", "an", "st"} else Sign.UNSURE

    def _owned_by_known(self, i: int) -> bool:
        """Whether a word of kinship is somebody's with a surname: "Blagojevich's brother Robert"."""
        owner = self.previous(i)
        return owner.endswith("'s") and self.capital(i - 1) and owner.removesuffix("'s") not in first_names()

    def _full(self, i: int) -> bool:
        """Whether a capitalised word goes on with the name: it may be somebody whom the text means, or a title."""
        gap = self.gap(i)
        if self.lower[i].endswith("'s") or gap not in {" ", ". "} or not self.capital(i + 1):
            return False
        if self.lower[i + 1] in _I:
            return self.gap(i + 1).startswith(". ")  # "Edward I. Koch", but not "as Jane I saw it"
        return gap == " "

    def _beside_name(self, i: int) -> bool:
        """Whether an unmistakable name is joined to this one by "and" or a comma."""
        names = first_names()

        def sure(j: int) -> bool:
            inside = 0 <= j < len(self.lower) and self.text[j] == self.text[i]
            return inside and self.capital(j) and self.lower[j] in names and self.lower[j] not in _UNSURE

        if self.lower[i] in SURNAMES and ", " in {self.gap(i), self.lead(i)}:
            return False  # "Gordon, Robert J."
        if self.gap(i) == " " and self.lower[i + 1] in {"and", "or"} and sure(i + 2):
            return True
        if self.lead(i) == " " and self.lower[i - 1] in {"and", "or"} and sure(i - 2):
            return True
        return (self.gap(i) == ", " and sure(i + 1)) or (self.lead(i) == ", " and sure(i - 1))

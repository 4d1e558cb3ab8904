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
from quintain.perturbations.fairness.people import COMMON_SURNAMES, RANKS, gendered_names
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import lines_of, words_in

# Given a text, tell the spans of named entities with their types, such as (0, 4, "PERSON").
Recogniser = Callable[[str], Sequence[tuple[int, int, str]]]

_TITLES = frozenset(
    words_in(
        "mr mrs ms miss mx dr prof aunt auntie uncle cousin grandma grandpa officer nurse coach sergeant captain "
        "detective"
    )
)
# Behind one of these a surname stands, rather than a first name.
_FORMAL = frozenset(words_in("mr mrs ms miss mx dr prof officer coach sergeant captain detective sgt capt lt col gen"))
_PARTICLES = frozenset(words_in("van von de del della da di dos du la le el al bin ibn ben st"))
_SHOPS = frozenset(
    words_in(
        "deli diner restaurant bar grill pub cafe café pizza pizzeria burger burgers bakery store shop kitchen "
        "steakhouse bbq saloon market list seafood tacos subs"
    )
)
_SUFFIXES = frozenset({"jr", "sr"})
_KIN = frozenset(
    words_in(
        "friend brother sister son daughter wife husband mother father uncle aunt cousin nephew niece boyfriend "
        "girlfriend neighbor neighbour named called colleague boss roommate classmate teacher student"
    )
)
_VERBS = frozenset(
    words_in(
        "said says asked asks told tells replied answered thinks thought wants wanted loves loved likes liked "
        "hates hated went goes walked walks smiled laughed nodded shrugged whispered shouted knew knows felt "
        "feels looked decided who whose forgot remembered bought gave took married came lives lived works worked"
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
_AFTER = frozenset(
    words_in(
        "street st avenue ave road rd boulevard lane drive square park garden gardens lake river creek bay island "
        "islands mountain mountains valley county city town university college school academy institute hospital "
        "church cathedral hotel inn museum library airport station bridge bank company co corp corporation inc "
        "ltd llc foundation trust award awards prize medal cup day week festival show theater theatre house hall "
        "center centre stadium arena beach stakes tower corner "
        "syndrome disease law theorem act report factory jeans records "
        "pictures studios magazine press times brothers sisters bros prison jail cross deer lantern band orchestra "
        "quartet trio channel network group bowl dam fort point beach desert canyon forest national international"
    )
)  # fmt: skip
_UNSURE = AMBIGUOUS | SURNAMES | NO_NAMES
_NUMERAL = re.compile(r"(?:I[IVX]+|V|VI+|X+[IVX]*)$")


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
    """Give the mentions that may be replaced, by the example that they are in."""
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
    found: dict[int, list[Mention]] = defaultdict(list)
    for (owner, _), mentions in seen.items():
        if max(sign for _, sign in mentions) is Sign.NAME:
            found[owner] += [mention for mention, _ in mentions]
    return found


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

    def candidates(self) -> list[tuple[int, str]]:
        """List the words that are on the list of names and begin with a capital."""
        names, joined = first_names(), self.batch.joined
        found = [(i, word.removesuffix("'s")) for i, word in enumerate(self.lower)]
        return [(i, key) for i, key in found if key in names and joined[self.start[i]].isupper()]

    def sign(self, i: int, key: str) -> Sign:
        """Say what the context of word *i* makes of it."""
        if not self.batch.words.free[i] or self._headline(i) or self._known(i) or self._in_entity(i):
            return Sign.ENTITY
        before, after = self._left(i, key), self._right(i)
        if before is Sign.ENTITY or after is Sign.ENTITY or key in NO_NAMES:
            return Sign.ENTITY
        if self.word(i).isupper():
            # Capitals throughout say nothing: "MAJOR PROBLEMS". The name may be sure elsewhere in the example.
            return Sign.UNSURE
        if key in SURNAMES:
            kin = before is Sign.NAME and self.lower[i - 1] not in _FORMAL
            return Sign.NAME if kin or after is Sign.NAME or self._beside_name(i) else Sign.ENTITY
        if key not in AMBIGUOUS or Sign.NAME in {before, after} or self._beside_name(i):
            return Sign.NAME
        verb = self.gap(i) == " " and self.lower[i + 1] in _VERBS
        return Sign.NAME if verb and key not in PLACES else Sign.UNSURE

    def _headline(self, i: int) -> bool:
        """Say whether nearly all words of the text are capitalised, so that capitals mean nothing."""
        text = int(self.batch.words.text[i])
        if text not in self._headlines:
            first, count = int(self.batch.words.first[text]), int(self.batch.words.per_text[text])
            capitals = sum(self.capital(j) for j in range(first, first + count))
            self._headlines[text] = count >= 4 and capitals > 0.7 * count
        return self._headlines[text]

    def _known(self, i: int) -> bool:
        """Say whether the word is part of an entity of the gazetteer, in the same text."""
        for word in {self.lower[i], self.lower[i].removesuffix("'s")}:
            for phrase in _entities().get(word, ()):
                first = max(0, i - phrase.index(word))
                near = range(first, min(first + len(phrase), len(self.lower)))
                around = [self.lower[j] for j in near if self.text[j] == self.text[i]]
                if around == [*phrase] or [*around[:-1], around[-1].removesuffix("'s")] == [*phrase]:
                    return True
        return False

    def _in_entity(self, i: int) -> bool:
        """Say whether signs or small words tie the name to something else: "Jean-Paul", "Ben & Jerry", "Joan of"."""
        before, after = self.lead(i), self.gap(i)
        if before.endswith(("-", "&", "& ", "/")) or after.startswith(("-", " &", "&")):
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
        """Say whether "and" ties the name to a capitalised word that is no name: "Roger and Me"."""
        if self.next(i) not in {"and", "or"} or not self.next(i + 1) or not self.capital(i + 2):
            return False
        other = self.lower[i + 2].removesuffix("'s")
        return other not in first_names() and other not in gendered_names() and other != "i"

    def _left(self, i: int, key: str) -> Sign:
        """Judge by the word before."""
        gap = self.lead(i)
        # Initials: "C.S. Lewis".
        if gap in {".", ". "} and self.end[i - 1] - self.start[i - 1] == 1:
            return Sign.ENTITY
        if gap not in {" ", ". "}:
            return Sign.UNSURE
        word, capital = self.lower[i - 1], self.capital(i - 1)
        # Behind "Mr." alone stands a surname: "Ms. Chang".
        surname = word in _FORMAL and (key in SURNAMES or not self._full(i))
        if (word in RANKS and capital) or surname:
            return Sign.ENTITY
        if (word in _TITLES and (capital or gap == " ")) or (word in _KIN and gap == " "):
            return Sign.NAME
        opener = word in _OPENERS and self.opens(i - 1)
        part_of_run = capital and not opener and word != "i" and gap == " "
        return Sign.ENTITY if part_of_run or word == "st" or word in {"the", "a", "an"} else Sign.UNSURE

    def _full(self, i: int) -> bool:
        """Say whether a capitalised word follows, as a surname does."""
        return self.gap(i) in {" ", ". "} and i + 1 < len(self.lower) and self.capital(i + 1)

    def _right(self, i: int) -> Sign:
        """Judge by the capitalised words behind: a common surname makes a full name, anything else somebody's."""
        run: list[int] = []
        j = i
        while len(run) < 4 and not self.lower[j].endswith("'s") and self.gap(j) in {" ", ". "} and self.capital(j + 1):
            # A full stop goes on with the name only behind an initial: "Mary J. Smith".
            if self.gap(j) == ". " and self.end[j] - self.start[j] > 1:
                break
            if self.lower[j + 1] in {"i", "i'm", "i've", "i'll", "i'd"}:
                break
            j += 1
            run.append(j)
        if not run:
            return Sign.UNSURE
        words = [self.lower[k].removesuffix("'s") for k in run]
        named = [word for word in words if word not in _SUFFIXES and len(word) > 1]
        if any(word in _AFTER for word in words) or any(_NUMERAL.match(self.word(k)) for k in run) or len(named) != 1:
            return Sign.ENTITY
        return Sign.NAME if named[0] in COMMON_SURNAMES else Sign.ENTITY

    def _beside_name(self, i: int) -> bool:
        """Say whether an unmistakable name is joined to this one by "and" or a comma."""
        names = first_names()

        def sure(j: int) -> bool:
            there = 0 <= j < len(self.lower) and self.text[j] == self.text[i]
            return there and self.capital(j) and self.lower[j] in names and self.lower[j] not in _UNSURE

        if self.lower[i] in SURNAMES and ", " in {self.gap(i), self.lead(i)}:
            return False  # "Gordon, Robert J."
        if self.gap(i) == " " and self.lower[i + 1] in {"and", "or"} and sure(i + 2):
            return True
        if self.lead(i) == " " and self.lower[i - 1] in {"and", "or"} and sure(i - 2):
            return True
        return (self.gap(i) == ", " and sure(i + 1)) or (self.lead(i) == ", " and sure(i - 1))

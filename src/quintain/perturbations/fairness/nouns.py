"""What the rules for gendered nouns share: possessives, capitals, hyphens, articles."""

from __future__ import annotations

import re

from quintain.perturbations.contract import EditDraft, TextBatch
from quintain.perturbations.fairness.gender_pairs import pairs
from quintain.perturbations.fairness.people import COMMON_SURNAMES
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import cased_like, words_in

TITLES = frozenset({"mr", "mrs", "ms", "miss", "mister"})
_TITLES_OF_ALL = frozenset({"mr", "mrs", "ms"})
_KIN_AS_NAMES = frozenset(
    words_in(
        "mom mum dad mommy daddy mother father grandma grandpa grandmother grandfather granny papa mama auntie nana"
    )
)
_RANKS = frozenset(
    words_in("king queen prince princess duke duchess emperor empress sir lord lady dame baron baroness")
)
_PREFIXES = frozenset(words_in("ex step half great god grand co"))
# Fixed terms, with a word before or behind the noun: "drag queen", "witch hunt", "men in black".
_BEFORE = {
    "queen": "drag drama prom beauty dairy steve burger",
    "queens": "drag drama",
    "king": "scorpion burger larry rodney billie stephen lion homecoming",
    "kings": "stephen larry",
    "mother": "earth nature surrogate",
    "father": "founding",
    "fathers": "founding fore",
    "madame": "croque",
    "monsieur": "croque",
    "lady": "leading bag cleaning first foxy",
    "ladies": "first",
    "man": "iron ant bat hit best straight front bogey con",
    "men": "x mad hit",
    "boy": "lucky atta whipping delivery beastie pretty poster altar",
    "women": "pregnant nursing",
    "woman": "pregnant nursing",
    "female": "pregnant",
    "boys": "beastie beach backstreet",
    "girl": "birthday material gossip call it spice valley cover",
    "girls": "spice golden gilmore call powerpuff",
    "guy": "wise cable book",
    "son": "mumford",
    "sons": "mumford",
    "sister": "twisted sob soul",
    "brother": "big",
    "brothers": "warner marx coen jonas farrelly wright lehman wachowski",
    "dad": "sugar",
    "daddy": "sugar puff",
    "wife": "trophy house",
    "wives": "stepford",
    "widow": "black",
    "god": "oh my",
}
_BEHIND = {
    "kings": "bowl feast combo crab of",
    "queens": "bowl feast combo of",
    "queen": "of bowl feast bed beds room rooms suite suites bee elizabeth victoria mary size sized latifah",
    "king": "of bowl feast bed beds room rooms suite suites kong size sized crab",
    "mother": "nature earth tongue teresa lode ship board country goose",
    "father": "time christmas figure",
    "lady": "gaga luck macbeth bug liberty",
    "ladies": "room night",
    "man": "inhumanity best made kind hours power united city utd hole handle",
    "boy": "band bands scout scouts toy",
    "girl": "scout scouts power",
    "girls": "aloud",
    "cowboy": "boots hat hats up ribeye steak burger chicken caviar coffee",
    "guy": "ritchie fawkes pearce",
    "prince": "charming albert william harry",
    "princess": "bride diana leia",
    "witch": "hunt hunts doctor craft project hazel",
    "wizard": "of",
    "wizards": "of",
    "host": "of",
    "brotherhood": "of",
    "brother": "bear",
    "sisterhood": "of",
    "bride": "of wars",
    "brides": "of",
    "daddy": "day long",
    "baron": "cohen",
    "paternity": "test tests leave suit",
    "maternity": "leave ward",
    "male": "pattern",
    "female": "genital mosquito mosquitoes",
    "monk": "fish",
    "god": "father",
    "widow": "maker",
}
# "man" alone, without a word that picks one out, is mankind.
_BARE = frozenset(words_in("of to by with for than from in between early modern"))
_DETERMINERS = frozenset(words_in("the a my his her our your their this that"))
_CALLS = frozenset(words_in("oh hey wow yeah yes thanks ok okay hi dude damn sorry come"))
_ASKS = frozenset(words_in("was were did do does is am are were i oh let's what this they we have has"))
_SIGHED = frozenset(words_in("it's it this that that's these they i was is what the do did does am are"))
_VOWEL = re.compile(r"(?:[aeio]|u(?!ni|s[aeiu]|t[aeiu])|heir|hono|hour)", re.IGNORECASE)


def stem_of(word: str) -> tuple[str, str]:
    """Part a word from an ending that begins with an apostrophe: "he's" → ("he", "'s")."""
    stem, mark, ending = word.partition("'")
    return (word, "") if word == "ma'am" else (stem, mark + ending)


def in_thing(batch: TextBatch, i: int) -> bool:
    """Whether word *i* is part of an address or the like; a word in a protected span is still a word."""
    begin = int(batch.words.start[i])
    return not batch.words.free[i] and not any(start <= begin < end for start, end in batch.spans)


def usable(reader: WordReader, i: int, stem: str) -> bool:
    """Whether the gendered noun at word *i* stands for itself, and not in a name, a compound or a call."""
    before, after = reader.lead(i), reader.gap(i)
    if before.endswith("-") and reader.lower[i - 1] not in _PREFIXES:
        return False
    if after.startswith("-") and not (reader.gap(i) == "-" and reader.lower[i + 1] == "in"):
        return False
    named = after in {" ", ". "} and i + 1 < len(reader.lower) and reader.capital(i + 1)
    if stem in TITLES:
        # "miss" and "ms" are titles only before a name; "Miss America" is one of a kind.
        surname = reader.lower[i + 1].removesuffix("'s") if named else ""
        of_shop = reader.previous(i) in {"a", "an", "the"}  # "a Mr. Cook's menu"
        common = surname in COMMON_SURNAMES or (stem in _TITLES_OF_ALL and bool(surname))
        return reader.capital(i) and common and not of_shop
    if _in_term(reader, i, stem):
        return False
    return _not_a_name(reader, i, stem, named)


def is_call(reader: WordReader, i: int, stem: str) -> bool:
    """Whether the noun calls out and means nobody: "oh man", "boy, was that long"."""
    before, behind = reader.previous(i), reader.next(i)
    if stem not in {"man", "boy", "girl"}:
        return False
    outcry = stem == "boy" and (
        ((reader.opens(i) or not before) and (reader.gap(i).startswith((",", "!")) or behind in _ASKS))
        or (before == "and" and behind in _ASKS)
    )
    joined = before == "and" and reader.previous(i - 1) in pairs()  # "a woman and man are outside"
    sigh = not joined and before in {"but", "and", "so"} and (behind in _SIGHED or (stem == "man" and not behind))
    aside = reader.gap(i).startswith((",", "!")) and before in {"", "thinking", "like", "said", "thought"}
    ends = not behind and before in {"know", "mean", "what", "not", "it", "that", "no"}  # "I don't know man."
    return aside or ends or before in _CALLS or behind == "oh" or outcry or sigh


def _in_term(reader: WordReader, i: int, stem: str) -> bool:
    """Whether the noun is part of a fixed term, a call, mankind, or a word that is spoken of."""
    before, behind = reader.previous(i), reader.next(i)
    if before in _BEFORE.get(stem, "").split() or behind in _BEHIND.get(stem, "").split():
        return True
    verb = stem == "groom" and before not in _DETERMINERS
    shop = reader.gap(i).strip() in {"&", "+"} and reader.lower[i + 1] in {"pop", "pops", "pa"}  # "a mom & pop store"
    brand = (
        reader.capital(i) and reader.lead(i).endswith("(") and reader.gap(i).startswith(")")
    )  # "a printer (Brother)"
    if verb or shop or brand:
        return True
    if is_call(reader, i, stem) or (stem in {"mom", "ma"} and behind in {"and", "n"} and _pop(reader, i + 2)):
        return True
    if stem in {"bachelor", "bachelors"} and (reader.lower[i] != stem or behind in {"of", "degree", "party"}):
        return True
    bare = stem == "man" and (before in _BARE or reader.opens(i))
    quoted = reader.gap(i)[:1] in {'"', "'", "”", "’", "`"} and reader.lead(i)[-1:] in {'"', "'", "“", "‘", "`"}
    return bare or quoted


def _pop(reader: WordReader, i: int) -> bool:
    """Whether word *i* makes a small shop of the two before it: "a mom and pop store"."""
    return bool(reader.next(i - 1)) and reader.lower[i] in {"pop", "pops", "pa"}


def _not_a_name(reader: WordReader, i: int, stem: str, named: bool) -> bool:
    """Whether capitals leave the noun a noun: "Mother Teresa", "King Lear" and "Spider Man" are names."""
    if not reader.capital(i) or reader.word(i).isupper():
        return not (stem in _RANKS and named and reader.capital(i))
    if stem in {"uncle", "aunt"}:
        return True
    if named and reader.lower[i + 1] not in {"i", "i'm", "i'll", "i've", "i'd"}:
        return False
    return reader.opens(i) or stem in _KIN_AS_NAMES


def article(reader: WordReader, draft: EditDraft, i: int, new: str, key: str, group: tuple[str, str]) -> None:
    """Mend "a" and "an" before a word that was replaced by *new*."""
    before = reader.previous(i)
    fitting = "an" if _VOWEL.match(new) else "a"
    if before in {"a", "an"} and before != fitting:
        old = reader.word(i - 1)
        mended = fitting.capitalize() if old[0].isupper() else fitting
        draft.add(reader.start[i - 1], reader.end[i - 1], cased_like(old, mended), key, group)

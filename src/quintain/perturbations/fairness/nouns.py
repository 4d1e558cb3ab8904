"""What the rules for gendered nouns share: possessives, capitals, hyphens, articles."""

from __future__ import annotations

import re

from quintain.perturbations.contract import EditDraft, TextBatch
from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import cased_like, words_in

TITLES = frozenset({"mr", "mrs", "ms", "miss", "mister"})
_KIN_AS_NAMES = frozenset(
    words_in(
        "mom mum dad mommy daddy mother father grandma grandpa grandmother grandfather granny papa mama auntie nana"
    )
)
_RANKS = frozenset(
    words_in("king queen prince princess duke duchess emperor empress sir lord lady dame baron baroness")
)
_PREFIXES = frozenset(words_in("ex step half great god grand co"))
_VOWEL = re.compile(r"(?:[aeio]|u(?!ni|s[aeiu]|t[aeiu])|heir|hono|hour)", re.IGNORECASE)


def stem_of(word: str) -> tuple[str, str]:
    """Part a word from an ending that begins with an apostrophe: "he's" → ("he", "'s")."""
    stem, mark, ending = word.partition("'")
    return (word, "") if word == "ma'am" else (stem, mark + ending)


def in_thing(batch: TextBatch, i: int) -> bool:
    """Say whether word *i* is part of an address or the like; a word in a protected span is still a word."""
    place = int(batch.words.start[i])
    return not batch.words.free[i] and not any(start <= place < end for start, end in batch.spans)


def usable(reader: WordReader, i: int, stem: str) -> bool:
    """Say whether the gendered noun at word *i* stands for itself, and not in a name, a compound or a call."""
    before, after = reader.lead(i), reader.gap(i)
    if before.endswith("-") and reader.lower[i - 1] not in _PREFIXES:
        return False
    if after.startswith("-") and not (reader.gap(i) == "-" and reader.lower[i + 1] == "in"):
        return False
    named = after in {" ", ". "} and i + 1 < len(reader.lower) and reader.capital(i + 1)
    if stem in TITLES:
        # "miss" and "ms" are titles only before a name; "Miss America" is one of a kind.
        return reader.capital(i) and named and reader.lower[i + 1] not in {"america", "universe", "world", "usa"}
    if stem in {"man", "boy"} and (reader.previous(i) in {"oh", "hey", "wow"} or reader.next(i) == "oh"):
        return False
    if stem in {"bachelor", "bachelors"} and (reader.lower[i] != stem or reader.next(i) in {"of", "degree", "party"}):
        return False
    return _not_a_name(reader, i, stem, named)


def _not_a_name(reader: WordReader, i: int, stem: str, named: bool) -> bool:
    """Say whether capitals leave the noun a noun: "Mother Teresa", "King Lear" and "Spider Man" are names."""
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
    wanted = "an" if _VOWEL.match(new) else "a"
    if before in {"a", "an"} and before != wanted:
        old = reader.word(i - 1)
        mended = wanted.capitalize() if old[0].isupper() else wanted
        draft.add(reader.start[i - 1], reader.end[i - 1], cased_like(old, mended), key, group)

"""Tell the uses of English pronouns apart by the words around them.

"her" is a determiner ("her book" → "his book") or an object ("saw her" → "saw him"); "his" is a determiner
("his book" → "her book") or stands alone ("it is his" → "it is hers"). Neither needs a parser in nearly all
sentences: a determiner is followed by the beginning of a noun phrase, an object by a mark or a small word.
"""

from __future__ import annotations

from typing import Literal

from quintain.perturbations.fairness.reading import WordReader
from quintain.perturbations.wordlists import words_in

Use = Literal["determiner", "object", "alone"]

# Small words that cannot open the noun phrase of a determiner.
_SMALL = frozenset(
    words_in(
        "a an the this that these those and or but nor yet so because since although though while when whenever "
        "where wherever if unless until before after once than as at by for from in inside into near of off on "
        "onto out outside over past through throughout to toward towards under up upon with within without about "
        "above across against along among around behind below beneath beside besides between beyond despite "
        "during except like down away too again also either instead there here then now today yesterday tomorrow "
        "tonight ever never always already anymore anyway alone is was are were be been am has have had do does "
        "did can could would should might must shall i you he she it we they him me us them who whom whose which "
        "what how why not n't isn't wasn't doesn't didn't can't won't wouldn't couldn't hasn't hadn't some any no "
        "everything something anything nothing my your his her its our their everyone someone such whether via "
        "per makes upon somehow sometimes immediately very really prior asap"
    )
)
_NOT_ADVERBS = frozenset(
    words_in(
        "family early lovely only lonely friendly elderly daily weekly monthly yearly ugly silly holy belly bully "
        "deadly costly likely unlikely lively curly jolly jelly fly ally reply supply assembly butterfly anomaly "
        "chilly hilly woolly motherly fatherly brotherly sisterly worldly heavenly earthly ghastly orderly "
        "scholarly sickly sly wily billy"
    )
)
_SENSES = frozenset(
    words_in(
        "see sees saw seen seeing watch watches watched watching hear hears heard hearing feel felt catch caught "
        "find found leave left keep kept keeps spot spotted notice noticed picture imagine remember show shows "
        "showed"
    )
)
_MAKES = frozenset(words_in("let lets letting make makes made making help helps helped helping have had")) | _SENSES
_COMPLEMENTS = frozenset(
    words_in(
        "go leave be do have get know feel find take see come cry laugh think understand believe stay sleep eat "
        "sing run become realize realise forget speak say tell walk wait win lose die live keep give put sit "
        "stand learn try seem happy sad angry mad crazy famous feel sick uncomfortable nervous proud jealous "
        "blush safe alive dead aware busy hurry call wait blind deaf mute"
    )
)
_GIVES = frozenset(
    words_in("give gives gave given giving tell tells told telling ask asks asked send sends sent sending")
)
_MOVES = frozenset(
    words_in(
        "bring brings brought take takes took taken want wants wanted get gets got call called calls send sent "
        "win won drive drove walk walked follow followed see drag dragged carry carried invite invited"
    )
)
_PARTICIPLES = frozenset(words_in("hoping knowing thinking saying"))
_COUNTS = frozenset(words_in("two three four five six seven eight nine ten several many"))
_QUOTES = frozenset("\"“'‘`")
_OWNED = frozenset(words_in("friend friends colleague colleagues cousin neighbor neighbour student students fan fans"))
_ONE = frozenset(words_in("a an the this that some any no another two three several old good best close dear"))
_EITHER = frozenset({"more", "most", "less", "back", "home", "first", "better", "best", "much", "all"})
_VERBS_BEHIND_POSSESSIVE = frozenset(words_in("is was are were has have had will would can could should did does"))


def _small(reader: WordReader, i: int) -> bool:
    """Return whether there is a word *i* of the same text that begins with a small letter."""
    return i < len(reader.lower) and reader.text[i] == reader.text[i - 1] and not reader.capital(i)


def use_of_her(reader: WordReader, i: int) -> Use:
    """Return how the "her" at word *i* is used."""
    following, before = reader.next(i), reader.previous(i)
    if following and reader.gap(i + 1).startswith("-"):
        return "determiner"  # "her well-known book"
    quoted = not following and reader.gap(i).lstrip(" ")[:1] in _QUOTES and before not in _GIVES
    # "about her 'madness'", but "told her: 'Go'"
    if (quoted and _small(reader, i + 1)) or (following == "will" and before == "against"):
        return "determiner"
    onward = following in {"right", "straight"} and reader.next(i + 1) in _SMALL
    onward |= following in _COUNTS and reader.next(i + 1) == "times"  # "told her four times"
    small = following.partition("'")[0] in _SMALL or following in _PARTICIPLES  # "told her she'd be back"
    if not following or small or following == "will" or onward:
        return "object"
    if following in _EITHER:
        return _use_before_adverb(reader, i, before, following)
    if following.endswith("ly") and following not in _NOT_ADVERBS:
        behind = reader.next(i + 1)
        return "object" if not behind or behind in _SMALL else "determiner"
    complement = before in _MAKES and following in _COMPLEMENTS
    activity = before in _SENSES and following.endswith("ing") and len(following) > 5
    return "object" if complement or activity else "determiner"


def _use_before_adverb(reader: WordReader, i: int, before: str, following: str) -> Use:
    """Judge "her back", "her more", "her home" and the like: nouns and adjectives as often as adverbs."""
    behind = reader.next(i + 1)
    ends = not behind or behind in _SMALL or behind == "home"
    if following in {"back", "home"}:
        return "object" if before in _MOVES and ends else "determiner"
    if following == "all":
        return "object" if before in _GIVES or ends else "determiner"
    return "object" if ends and following not in {"best", "first"} else "determiner"


def use_of_his(reader: WordReader, i: int) -> Use:
    """Return how the "his" at word *i* is used."""
    following, before = reader.next(i), reader.previous(i)
    if following and reader.gap(i + 1).startswith("-"):
        return "determiner"
    if following in {"or", "and"} and reader.next(i + 1) in {"her", "hers", "their"}:
        return "determiner" if reader.next(i + 1) != "hers" else "alone"
    if not following:
        # "his" and a mark: "a friend of his." stands alone, "his 'friend'" and "his (first) film" do not.
        return "determiner" if reader.gap(i).lstrip(" ")[:1] in {'"', "“", "‘", "'", "(", "/", "`"} else "alone"
    if following in _VERBS_BEHIND_POSSESSIVE:
        return "alone"
    staged = following in {"on", "off"} and reader.next(i + 1) in {"screen", "stage", "camera", "air"}
    adverbs = {"very", "never", "always", "ever", "past", "inside", "outside", "no"}
    if following in _SMALL and following not in adverbs and not staged:
        return "alone"
    # "a friend of his came", but "some of his friends came".
    owned = before == "of" and i > 2 and reader.lower[i - 2] in _OWNED and reader.lower[i - 3] in _ONE
    return "alone" if owned else "determiner"


_TO_FEMALE = {"he": "she", "him": "her", "himself": "herself"}
_TO_MALE = {"she": "he", "hers": "his", "herself": "himself"}
PRONOUNS = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself"})


def swapped(reader: WordReader, i: int, word: str) -> tuple[str, str]:
    """Return the pronoun of the other gender for *word* at place *i*, and the gender that *word* has."""
    if word == "her":
        return ("him" if use_of_her(reader, i) == "object" else "his"), "female"
    if word == "his":
        return ("hers" if use_of_his(reader, i) == "alone" else "her"), "male"
    if word in _TO_MALE:
        return _TO_MALE[word], "female"
    return _TO_FEMALE[word], "male"


def neutral(reader: WordReader, i: int, word: str) -> str:
    """Return the form of "they" for the pronoun *word* at place *i*."""
    if word == "her":
        cut = reader.next(i) in {"im", "ive", "ill", "id"}  # "told her im late"
        return "them" if cut or use_of_her(reader, i) == "object" else "their"
    if word == "his":
        return "theirs" if use_of_his(reader, i) == "alone" else "their"
    forms = {"he": "they", "she": "they", "him": "them", "hers": "theirs", "himself": "themselves"}
    return forms.get(word, "themselves")

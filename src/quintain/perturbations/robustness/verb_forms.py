"""What the words behind "'s" and "'d" tell of the verb that is hidden there."""

from __future__ import annotations

from quintain.perturbations.wordlists import words_in

# Participles that are no other form of their verb and no adjective: behind them "'s" is "has" and "'d" is "had".
_SURE_PARTICIPLES = frozenset(
    words_in(
        "been become begun gotten grown given taken fallen shown seen eaten known done had got won made said gone heard"
    )
)
# Of these only the ones that "is" and "was" do not take: "it's made of wood" is "is".
_HAS_ONLY = frozenset(words_in("been become begun gotten grown fallen had got"))
_PARTICIPLES = _SURE_PARTICIPLES | frozenset(
    words_in(
        "come drawn driven found held kept left lost met put read run sent spent stood thought told worn written "
        "bought brought built caught felt forgotten fought hit hidden laid led meant paid risen sat sold spoken "
        "stolen sung taught thrown understood woken chosen broken flown ridden sworn torn cut let set"
    )
)
_NOT_PARTICIPLES = frozenset(
    words_in(
        "mixed limited unlimited hundred speed need feed bleed proceed succeed exceed indeed breed heed embed sacred "
        "naked wicked advanced detailed complicated gifted talented limited divided"
    )
)
_ADVERBS = frozenset(
    words_in(
        "always never already just ever also still even now really so very too only probably not often actually "
        "certainly definitely clearly finally recently simply almost since long all quite rather pretty nearly "
        "basically totally completely absolutely obviously truly"
    )
)
# What follows "is" and can neither follow "has" nor be owned.
_BEHIND_IS = frozenset(
    words_in(
        "a an the my your our this that these those in on at about like for from of with without by under over "
        "up down out off no nothing something everything anything one why how where what because if when who "
        "good great bad nice hard easy funny fun true clear worth possible impossible important likely unlikely fine "
        "okay ok terrible awful horrible amazing awesome wonderful fantastic excellent perfect beautiful better best "
        "worse worst difficult interesting boring slow fast cheap expensive small big hot cold late early time hardly "
        "barely supposed able unable safe sad happy sure obvious necessary fair ridiculous hilarious brilliant "
        "enough more less as here there going being coming still always never also really very too just so not "
        "quite pretty almost simply only even definitely absolutely certainly actually probably"
    )
)
_NO_GERUNDS = frozenset(words_in("thing things king ring string spring wing being ceiling feeling meaning building"))
_BASE_VERBS = frozenset(
    words_in(
        "be have like love say go do rather recommend give prefer expect want buy suggest see get make take think know "
        "need try look find use call keep wait watch add never always probably definitely still also even not "
        "actually certainly happily gladly appreciate hate bet wish hope guess imagine assume choose pay return "
        "advise tell ask work help start stop play live leave"
    )
)
QUESTION_WORDS = frozenset(words_in("why how when where what"))
PERSONS = frozenset(words_in("i you he she it we they there this that these those anyone anybody everyone people ya"))
# Words before a pronoun that make it no subject of a plain clause, or leave a gap behind its verb.
NO_SUBJECTS = frozenset(
    words_in(
        "of than as how what where whatever wherever who whom which whoever whichever however both all some none each "
        "most many like with for to between when"
    )
)


def is_participle(word: str) -> bool:
    """Whether *word* looks like a past participle, or like an adverb that comes before one.

    >>> is_participle("seen"), is_participle("never"), is_participle("mixed"), is_participle("long")
    (True, True, False, False)
    """
    if word in {"always", "never", "already", "just", "ever", "recently", "finally"}:
        return True
    return word in _PARTICIPLES or (len(word) > 4 and word.endswith("ed") and word not in _NOT_PARTICIPLES)


def ending_of(word: str, behind: list[str]) -> str | None:
    """Return which verb "'s" or "'d" of *word* is before the words *behind*; None where that is not sure.

    >>> ending_of("he's", ["ever", "eaten"]), ending_of("he's", ["a", "fool"]), ending_of("she's", ["been", "ill"])
    (None, 'is', 'has')
    """
    first = next((word for word in behind if word not in _ADVERBS), "")
    if not behind or behind[0] in {"s", "d"}:
        return None
    if word.endswith("'d"):
        return _of_d(behind, first)
    if first in _HAS_ONLY and word not in {"how's", "why's", "what's", "where's", "when's"}:
        return "has"
    return "is" if _follows_is(word, behind, first) else None


def _follows_is(word: str, behind: list[str], first: str) -> bool:
    if first == "" or is_participle(first) or (first in {"better", "best"} and behind[0] in {"better", "best"}):
        return False
    if word[:-2] in QUESTION_WORDS and first in PERSONS:
        return False
    gerund = first.endswith("ing") and len(first) > 5 and first not in _NO_GERUNDS
    # An adverb before what is no participle: "it's really good".
    return behind[0] in _BEHIND_IS or gerund or behind[0] in _ADVERBS


def _of_d(behind: list[str], first: str) -> str | None:
    if behind[0] in {"better", "best"}:
        return "had"
    if first in _SURE_PARTICIPLES:
        return "had"
    return "would" if first in _BASE_VERBS else None

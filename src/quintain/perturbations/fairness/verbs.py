"""Verbs of the third person, from one to many: "walks" → "walk", "is" → "are"."""

from __future__ import annotations

from quintain.perturbations.wordlists import words_in

IRREGULAR = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "goes": "go",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "doesn't": "don't",
}
# Behind these "'s" is "has", whatever else: "she's been ill".
_HAS_BEFORE = frozenset(words_in("been got gotten become had begun taken grown fallen shown"))
ADVERBS = frozenset(
    words_in(
        "always never often also still just really only even usually sometimes rarely seldom already now then "
        "soon finally quickly slowly suddenly simply clearly probably certainly actually almost hardly ever "
        "quietly eventually later merely truly both all"
    )
)
# Words in -s behind a subject that are no verbs of the third person.
_NO_VERBS = frozenset(
    words_in(
        "as this his its us yes thus perhaps always less unless besides alas ours hers theirs yours towards "
        "afterwards was has is does alone"
    )
)


def plural_of(verb: str) -> str | None:
    """Return the plural of a verb of the third person singular; None where *verb* is something else.

    >>> plural_of("carries"), plural_of("watches"), plural_of("likes"), plural_of("liked")
    ('carry', 'watch', 'like', None)
    """
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb in _NO_VERBS or not verb.endswith("s") or verb.endswith(("ss", "us")) or "'" in verb or len(verb) < 3:
        return None
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]


def after_apostrophe(ending: str, following: str) -> str:
    """Return the ending of "they" for an ending of "he" or "she": "'s" is "is", or "has" before a participle."""
    if ending != "'s":
        return ending
    return "'ve" if following in _HAS_BEFORE else "'re"

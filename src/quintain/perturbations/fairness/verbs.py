"""Verbs of the third person, from one to many: "walks" → "walk", "is" → "are"."""

from __future__ import annotations

from quintain.perturbations.robustness.verb_forms import ending_of, is_participle
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
ADVERBS = frozenset(
    words_in(
        "always never often also still just really only even usually sometimes rarely seldom already now then "
        "soon finally quickly slowly suddenly simply clearly probably certainly actually almost hardly ever "
        "quietly eventually later merely truly both all"
    )
)
# They look like participles, and nobody "has" them: "he's tired".
_ADJECTIVES = frozenset(words_in("tired excited bored interested supposed worried obsessed ashamed old-fashioned"))
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


def after_apostrophe(subject: str, ending: str, behind: list[str]) -> str | None:
    """Return the ending of "they" for an *ending* of "he" or "she" before the words *behind*; None where that is open.

    "'s" is "is" or "has", as for `contraction`. It never shows whose something is here, so that what does not look like
    a participle follows "is".

    >>> after_apostrophe("he", "'s", ["ever", "eaten"]), after_apostrophe("she", "'s", ["handsome"])
    (None, "'re")
    """
    if ending != "'s":
        return ending
    verb = ending_of(f"{subject}{ending}", behind)
    if verb is None:
        first = next((word for word in behind if word not in ADVERBS), "")
        return "'re" if first in _ADJECTIVES or (first and not is_participle(first)) else None
    return "'ve" if verb == "has" else "'re"

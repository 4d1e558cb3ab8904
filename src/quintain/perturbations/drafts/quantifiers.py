"""Change how many or how often."""

from __future__ import annotations

from collections.abc import Iterator

from quintain.perturbations.drafts.contract import DRAFT_RULES, Change, words_of
from quintain.perturbations.wordlists import cased_like

_SWAPS = {
    "all": ("none",),
    "none": ("all",),
    "every": ("no",),
    "each": ("no",),
    "some": ("no", "all"),
    "many": ("few",),
    "most": ("few",),
    "few": ("many",),
    "several": ("no",),
    "everyone": ("nobody",),
    "everybody": ("nobody",),
    "nobody": ("everybody",),
    "everything": ("nothing",),
    "nothing": ("everything",),
    "always": ("never", "sometimes"),
    "never": ("always", "sometimes"),
    "often": ("rarely",),
    "usually": ("rarely",),
    "rarely": ("often",),
    "seldom": ("often",),
    "sometimes": ("never", "always"),
    "both": ("neither",),
    "neither": ("both",),
    "only": ("not only",),
}


@DRAFT_RULES.register("quantifiers")
def change_amounts(text: str) -> Iterator[Change]:
    """Put another amount or frequency in the place of each.

    >>> [one.after for one in change_amounts("Every guest often smiled.")]
    ['No', 'rarely']
    """
    for match in words_of(text):
        for other in _SWAPS.get(match[0].lower(), ()):
            yield Change(match.start(), match.end(), cased_like(match[0], other))

"""Put a verb into another tense."""

from __future__ import annotations

from collections.abc import Iterator

from quintain.perturbations.drafts.contract import DRAFT_RULES, Change, words_of
from quintain.perturbations.wordlists import cased_like

_SWAPS = {
    "is": ("was", "will be"),
    "are": ("were", "will be"),
    "was": ("is", "will be"),
    "were": ("are", "will be"),
    "has": ("had",),
    "have": ("had",),
    "had": ("has",),
    "does": ("did",),
    "do": ("did",),
    "did": ("does",),
    "will": ("would",),
    "would": ("will",),
    "can": ("could",),
    "could": ("can",),
    "says": ("said",),
    "said": ("says", "will say"),
    "goes": ("went",),
    "went": ("goes", "will go"),
    "makes": ("made",),
    "made": ("makes", "will make"),
    "takes": ("took",),
    "took": ("takes", "will take"),
    "comes": ("came",),
    "came": ("comes", "will come"),
    "gets": ("got",),
    "got": ("gets", "will get"),
    "before": ("after",),
    "after": ("before",),
}


@DRAFT_RULES.register("tense")
def change_tense(text: str) -> Iterator[Change]:
    """Put common verbs into another tense, and turn "before" and "after".

    >>> [one.after for one in change_tense("He left before it was dark.")]
    ['after', 'is', 'will be']
    """
    for match in words_of(text):
        for other in _SWAPS.get(match[0].lower(), ()):
            yield Change(match.start(), match.end(), cased_like(match[0], other))

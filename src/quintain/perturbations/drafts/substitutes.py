"""Words for a word: from lists of ours, or from texts in which both stand between the same neighbours."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal, get_args

from quintain.perturbations.drafts.antonyms import opposites
from quintain.perturbations.drafts.contract import words_of
from quintain.perturbations.wordlists import lines_of

Substitutes = Callable[[str], Sequence[str]]
WordSource = Literal["opposites", "near", "data"]
WORD_SOURCES: tuple[WordSource, ...] = get_args(WordSource)
MOST = 8
_WHOLE, _HALF = 3.0, 0.25  # what it counts to share both neighbours, and one of them


@cache
def near_words() -> Mapping[str, tuple[str, ...]]:
    """Return the near words of each word of the list."""
    groups = [line.split() for line in lines_of("near_words.txt")]
    return {word: tuple(other for other in group if other != word) for group in groups for word in group}


def learned(texts: Sequence[str], most: int = MOST) -> Substitutes:
    """Learn from *texts* which words stand where another stands; those that share most neighbours come first.

    >>> words = learned(["Russell is terrific as coach", "Otto is dire as coach", "Ann is at home"])
    >>> list(words("terrific"))
    ['dire']
    """
    contexts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    users: dict[tuple[str, str], set[str]] = defaultdict(set)
    totals: Counter[str] = Counter()
    for text in texts:
        words = ["", *(match[0].lower() for match in words_of(text)), ""]
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            totals[word] += 1
            for context in ((before, after), (before, "*"), ("*", after)):
                contexts[word][context] += 1
                users[context].add(word)

    @cache
    def substitutes(word: str) -> tuple[str, ...]:
        shared: Counter[str] = Counter()
        for context, count in contexts.get(word, {}).items():
            weight = _HALF if "*" in context else _WHOLE
            # A neighbour that everybody has says little about who else may stand there.
            for other in users[context] if len(users[context]) <= 2_000 else ():
                shared[other] += weight * min(count, contexts[other][context]) / len(users[context]) ** 0.5
        shared.pop(word, None)
        ranked = sorted(shared, key=lambda other: (-shared[other] / totals[other] ** 0.5, other))
        whole = [
            other
            for other in ranked
            if any("*" not in context for context in contexts[word] if other in users[context])
        ]
        return tuple(whole[:most])

    return substitutes


def substitutes_of(sources: Sequence[WordSource], texts: Sequence[str] = ()) -> Substitutes:
    """Offer words for a word from all of *sources*, each word once; *texts* are what `data` learns from."""
    from_texts = learned(texts) if "data" in sources else None

    def substitutes(word: str) -> list[str]:
        offered: list[str] = []
        if "opposites" in sources:
            offered += opposites().get(word, ())
        if "near" in sources:
            offered += near_words().get(word, ())
        if from_texts is not None:
            offered += from_texts(word)
        return list(dict.fromkeys(offered))

    return substitutes

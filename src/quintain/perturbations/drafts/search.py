"""A search for small edits that turn the answer of a named model, as a team of breakers did (Li et al., 2017).

Words are ranked by how much the model's belief in its answer falls when they are left out; the most important ones
are replaced, one after another, and of all texts so far the most promising ones are kept (a beam). What is found is a
draft: whether the label really stays or changes, and whether it is still a sentence, a person has to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from quintain.perturbations.drafts.antonyms import opposites
from quintain.perturbations.drafts.contract import words_of
from quintain.perturbations.wordlists import cased_like
from quintain.stats.diff import EditSize, edit_size

# From texts to a probability for each label: a model that is asked, whichever it is.
Predict = Callable[[Sequence[str]], Sequence[Mapping[str, float]]]
Substitutes = Callable[[str], Sequence[str]]

RULE = "search"


@dataclass(frozen=True, slots=True)
class Swap:
    """One word in the place of another: *word* counts the words of the text from 0."""

    word: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class FlipCandidate:
    """A draft on which *model* says *label* instead of *was*: its text, its swaps, and what the model believes now."""

    model: str
    text: str
    swaps: tuple[Swap, ...]
    was: str
    label: str
    probability: float
    size: EditSize
    rule: str = RULE


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far to look: texts kept in each step, words swapped at most, words tried, texts asked about in all."""

    beam: int = 5
    swaps: int = 3
    words: int = 10
    asked: int = 2_000


def word_importance(text: str, predict: Predict) -> list[tuple[int, float]]:
    """Rank the words of *text* by how much the belief in the model's answer falls without them.

    >>> predict = lambda texts: [{"yes": 0.9, "no": 0.1} if "fine" in one else {"yes": 0.4, "no": 0.6} for one in texts]
    >>> word_importance("a fine day", predict)
    [(1, 0.5), (0, 0.0), (2, 0.0)]
    """
    words = list(words_of(text))
    if not words:
        return []
    without = [text[: word.start()] + text[word.end() :].lstrip(" ") for word in words]
    base, *others = predict([text, *without])
    label = _likeliest(base)
    falls = [base[label] - other.get(label, 0.0) for other in others]
    return sorted(enumerate(falls), key=lambda pair: (-pair[1], pair[0]))


def flip_search(
    text: str,
    predict: Predict,
    *,
    model: str,
    substitutes: Substitutes | None = None,
    limits: SearchLimits | None = None,
) -> list[FlipCandidate]:
    """Find edits of *text* that turn what *model* says, those with the fewest swaps and the surest first.

    *substitutes* offers words for a word (by default its opposites). The same text and model give the same drafts.

    >>> predict = lambda texts: [{"yes": 0.9, "no": 0.1} if "good" in one else {"yes": 0.2, "no": 0.8} for one in texts]
    >>> [(one.text, one.label, one.rule) for one in flip_search("A good film.", predict, model="toy")]
    [('A bad film.', 'no', 'search')]
    """
    limits = limits or SearchLimits()
    offered = substitutes or (lambda word: opposites().get(word, ()))
    words = [match[0] for match in words_of(text)]
    ranked = [place for place, _ in word_importance(text, predict)][: limits.words]
    was = _likeliest(predict([text])[0])
    left = limits.asked - len(words) - 2
    candidates: list[FlipCandidate] = []
    beam: list[tuple[Swap, ...]] = [()]
    for _ in range(limits.swaps):
        grown = list(dict.fromkeys(more for state in beam for more in _grown(state, words, ranked, offered)))
        grown = grown[: max(0, left)]
        if not grown:
            break
        left -= len(grown)
        texts = [_applied(text, state) for state in grown]
        answers = predict(texts)
        for state, edited, answer in zip(grown, texts, answers, strict=True):
            label = _likeliest(answer)
            if label != was:
                size = edit_size(text, edited)
                candidates.append(FlipCandidate(model, edited, state, was, label, float(answer[label]), size))
        flipped = {candidate.swaps for candidate in candidates}
        order = sorted(range(len(grown)), key=lambda index: (answers[index].get(was, 0.0), index))
        # What turned the model already needs no further swap.
        beam = [grown[place] for place in order if grown[place] not in flipped][: limits.beam]
    return sorted(candidates, key=lambda candidate: (len(candidate.swaps), -candidate.probability, candidate.text))


def _grown(
    state: tuple[Swap, ...], words: Sequence[str], ranked: Sequence[int], offered: Substitutes
) -> list[tuple[Swap, ...]]:
    """Add one swap to a state; swaps are kept in the order of the words, so that two ways to one text are one."""
    used = {swap.word for swap in state}
    return [
        tuple(sorted((*state, Swap(place, words[place], other)), key=lambda swap: swap.word))
        for place in ranked
        if place not in used
        for other in offered(words[place].lower())
        if other != words[place].lower()
    ]


def _applied(text: str, state: Sequence[Swap]) -> str:
    after = {swap.word: cased_like(swap.before, swap.after) for swap in state}
    parts, position = [], 0
    for number, match in enumerate(words_of(text)):
        parts += [text[position : match.start()], after.get(number, match[0])]
        position = match.end()
    return "".join(parts) + text[position:]


def _likeliest(probabilities: Mapping[str, float]) -> str:
    return max(probabilities, key=lambda label: probabilities[label])

"""Short forms written out, and long forms shortened: "do not" ↔ "don't"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from quintain.perturb.batch import Words
from quintain.perturb.contract import PERTURBATIONS, Batch, Family, Perturbation, Proposal
from quintain.perturb.pick import ordered
from quintain.perturb.wordlists import words_in

_NEGATED = words_in("are could did do does had has have is must need should was were would might ought dare")
_EXPANSIONS: dict[str, str] = {
    **{f"{verb}n't": f"{verb} not" for verb in _NEGATED},
    "can't": "cannot",
    "won't": "will not",
    "shan't": "shall not",
    "ain't": "is not",
    "let's": "let us",
    "i'm": "I am",
    "ma'am": "madam",
    "y'all": "you all",
    "could've": "could have",
    "should've": "should have",
    "would've": "would have",
    "might've": "might have",
    "must've": "must have",
    "gonna": "going to",
    "wanna": "want to",
    "gotta": "got to",
}
_PRONOUNS = words_in("i you he she it we they who that there this")
_QUESTIONS = words_in("what where how when why here")
_TAKES = {
    "'re": {"you": "are", "we": "are", "they": "are", "who": "are", "what": "are", "there": "are"},
    "'ll": dict.fromkeys([*_PRONOUNS, "what", "how"], "will"),
    "'ve": dict.fromkeys(["i", "you", "we", "they", "who"], "have"),
}
_EXPANSIONS |= {
    f"{word}{ending}": f"{'I' if word == 'i' else word} {verb}"
    for ending, table in _TAKES.items()
    for word, verb in table.items()
}
# "'s" is "is" or "has", "'d" is "would" or "had": the next word tells.
_IS_OR_HAS = frozenset(f"{word}'s" for word in [*_PRONOUNS[2:], *_QUESTIONS] if word not in {"we", "they"})
_WOULD_OR_HAD = frozenset(f"{word}'d" for word in _PRONOUNS[:9])
_PARTICIPLES = frozenset(
    words_in(
        "been got gotten gone become begun come done drawn driven eaten fallen found given grown had heard held "
        "kept known left lost made met put read run said seen sent shown spent stood taken thought told won worn "
        "written always never already just ever long"
    )
)
# "he's tired" is "is", "he's been" is "has": only what cannot follow "is" decides for "has".
HAS_BEFORE = frozenset(words_in("been got gotten become had begun taken grown fallen shown"))
_SHORT_NOT = frozenset(_NEGATED) | {"can", "will"}
_IRREGULAR = {"can": "can't", "will": "won't"}
_BE = {"am": {"i"}, "are": {"you", "we", "they"}, "is": set(_PRONOUNS[2:5]) | {"who", "that", "there", *_QUESTIONS[:3]}}
_BE_ENDING = {"am": "'m", "are": "'re", "is": "'s"}
_SECOND = frozenset({"not", "am", "are", "is", "will", "would", "have"})


@PERTURBATIONS.register("contraction")
class Contraction(Perturbation):
    """Exchange short and long forms wherever the exchange is safe."""

    name: ClassVar[str] = "contraction"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Short forms and long forms exchanged"
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: Batch, rate: float) -> Proposal:
        """Look at the words that can be part of a short or a long form, and at no others."""
        words = batch.words
        found = [*_expansions(batch, words), *_contractions(batch, words)]
        if not found:
            return ordered(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), [])
        found.sort()
        places = np.array([word for word, *_ in found])
        keep = np.isin(places, words.choose(places, rate))
        kept = [edit for edit, wanted in zip(found, keep.tolist(), strict=True) if wanted]
        kept = [edit for i, edit in enumerate(kept) if i == 0 or edit[1] >= kept[i - 1][2]]
        start, end = (np.array([edit[i] for edit in kept], dtype=np.int64) for i in (1, 2))
        return Proposal(start, end, [edit[3] for edit in kept])


def _expansions(batch: Batch, words: Words) -> Iterator[tuple[int, int, int, str]]:
    lower = words.lower
    for i, word in enumerate(lower):
        if word in _EXPANSIONS:
            long = _EXPANSIONS[word]
        elif "'" in word and (word in _IS_OR_HAS or word in _WOULD_OR_HAD):
            following = lower[i + 1] if _follows(batch, words, i) else ""
            if word in _IS_OR_HAS:
                verb = "has" if following in HAS_BEFORE else "is"
            else:
                verb = "had" if is_participle(following) else "would"
            long = f"{_subject(word[:-2])} {verb}"
        else:
            continue
        start, end = int(words.start[i]), int(words.end[i])
        yield i, start, end, _cased(batch.joined[start:end], long)


def _contractions(batch: Batch, words: Words) -> Iterator[tuple[int, int, int, str]]:
    lower, joined = words.lower, batch.joined
    # "cannot" is the one long form that is a single word.
    for i in [i for i, word in enumerate(lower) if word in _SECOND or word == "cannot"]:
        second, start, end = lower[i], int(words.start[i]), int(words.end[i])
        if second == "cannot":
            yield i, start, end, _cased(joined[start:end], "can't")
            continue
        if i == 0 or not _follows(batch, words, i - 1):
            continue
        first, begin = lower[i - 1], int(words.start[i - 1])
        short = _short(batch, words, i, first, second)
        written = joined[begin:end]
        # "Will Not" in a title stays: its short form would need a case of its own.
        if short and (joined[start].islower() or written.isupper()):
            yield i - 1, begin, end, _cased(written, short)


def _short(batch: Batch, words: Words, i: int, first: str, second: str) -> str | None:
    """Give the short form of two words, or None where English has none here."""
    if second == "not":
        return _IRREGULAR.get(first) or (f"{first}n't" if first in _SHORT_NOT else None)
    # "Yes, I am." has no short form: a clause must go on.
    if not _follows(batch, words, i):
        return None
    following = words.lower[i + 1]
    if following == "not":
        return None
    pronoun = _subject(first)
    if second in _BE:
        return pronoun + _BE_ENDING[second] if first in _BE[second] else None
    if second == "have":
        return f"{pronoun}'ve" if first in _TAKES["'ve"] and is_participle(following) else None
    ending = "ll" if second == "will" else "d"
    return f"{pronoun}'{ending}" if first in _PRONOUNS[:8] else None


def _follows(batch: Batch, words: Words, i: int) -> bool:
    """Say whether the next word comes after exactly one blank."""
    return i + 1 < len(words) and bool(
        words.start[i + 1] == words.end[i] + 1 and batch.joined[int(words.end[i])] == " "
    )


def _subject(word: str) -> str:
    return "I" if word == "i" else word


def is_participle(word: str) -> bool:
    """Say whether *word* looks like a past participle, or like an adverb that comes before one."""
    return word in _PARTICIPLES or (len(word) > 4 and word.endswith("ed"))


def _cased(model: str, text: str) -> str:
    letters_only = [c for c in model if c.isalpha()]
    if len(letters_only) > 2 and model.isupper():
        return text.upper()
    return text[0].upper() + text[1:] if model[0].isupper() else text

"""Short forms written out, and long forms shortened: "do not" ↔ "don't"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quintain.perturbations.batch import Ints, Words
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, TextBatch
from quintain.perturbations.wordlists import words_in

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
_IRREGULAR = {"can": "can't", "will": "won't"}
_BE = {"am": {"i"}, "are": {"you", "we", "they"}, "is": set(_PRONOUNS[2:5]) | {"who", "that", "there", *_QUESTIONS[:3]}}
_BE_ENDING = {"am": "'m", "are": "'re", "is": "'s"}
# The words before which, and only before which, each of these has a short form.
_FIRST = {
    "not": {*_NEGATED, *_IRREGULAR},
    **_BE,
    "will": set(_PRONOUNS[:8]),
    "would": set(_PRONOUNS[:8]),
    "have": set(_TAKES["'ve"]),
}
# The short forms, and "cannot", the one long form that is a single word.
_ALONE = _EXPANSIONS.keys() | _IS_OR_HAS | _WOULD_OR_HAD | {"cannot"}


def _shapes() -> NDArray[np.int64]:
    """Map the last five bits of a word's first two letters, the same for both cases, to the lengths to look at."""
    table = np.zeros(1024, dtype=np.int64)
    for word in [*_FIRST, *_ALONE]:
        for form in (word, word.replace("'", "’")):
            table[(ord(form[0]) & 31) * 32 + (ord(form[1]) & 31)] |= 1 << len(form)
    return table


_SHAPES = _shapes()


@PERTURBATIONS.register("contraction")
class Contraction(Perturbation):
    """Exchange short and long forms wherever the exchange is safe."""

    name: ClassVar[str] = "contraction"
    family: ClassVar[Family] = "robustness"
    title: ClassVar[str] = "Short forms and long forms exchanged"
    version: ClassVar[int] = 2
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Look at the words that can be part of a short or a long form, and at no others."""
        words = batch.words
        found = sorted(_exchanges(batch, words))
        if rate < 1:
            chosen = set(words.choose(np.array([edit[0] for edit in found], dtype=np.int64), rate).tolist())
        else:
            free = words.free
            chosen = {edit[0] for edit in found if free[edit[0]]}
        kept: list[tuple[int, int, int, str]] = []
        for edit in found:
            if edit[0] in chosen and (not kept or edit[1] >= kept[-1][2]):
                kept.append(edit)
        start, end = (np.array([edit[i] for edit in kept], dtype=np.int64) for i in (1, 2))
        return Proposal(start, end, [edit[3] for edit in kept])


def _exchanges(batch: TextBatch, words: Words) -> Iterator[tuple[int, int, int, str]]:
    """Give, for each form that can be exchanged, its first word, where it begins and ends, and the other form."""
    joined, at = batch.joined, _likely(batch, words)
    # Whether the words behind and before stand after exactly one blank, as parts of a form do.
    after = np.append((words.start[1:] == words.end[:-1] + 1) & (batch.codes[words.end[:-1]] == 32), False)
    stops = np.append(words.end[1:], 0)
    behind = np.where(after[at], stops[at], 0).tolist()
    before = np.where(after[at - 1] & (at > 0), words.start[at - 1], -1).tolist()
    places = zip(at.tolist(), words.start[at].tolist(), words.end[at].tolist(), before, behind, strict=True)
    for i, start, end, begin, stop in places:
        word = joined[start:end].lower()
        if word in _FIRST:
            if begin >= 0 and joined[begin : start - 1].lower() in _FIRST[word]:
                short = _shortened(joined[begin:end], joined[end + 1 : stop].lower())
                if short:
                    yield i - 1, begin, end, short
        elif word.replace("’", "'") in _ALONE:
            yield i, start, end, _lengthened(joined[start:end], joined[end + 1 : stop].lower())


def _likely(batch: TextBatch, words: Words) -> Ints:
    """List the words that begin like one of `_FIRST` or `_ALONE` and are as long: one in several."""
    long = words.length >= 2
    first = np.where(long, words.start, 0)
    key = (batch.codes[first] & 31).astype(np.int64) * 32 + (batch.codes[first + 1] & 31)
    found: Ints = np.flatnonzero(long & ((_SHAPES[key] >> np.minimum(words.length, 15)) & 1).astype(bool))
    return found


@lru_cache(maxsize=1 << 14)
def _lengthened(written: str, following: str) -> str:
    """Write a short form out, as the word behind it wants; "cannot", the other way round."""
    word = written.lower().replace("’", "'")
    if word == "cannot":
        return _cased(written, "can't")
    if word in _EXPANSIONS:
        return _cased(written, _EXPANSIONS[word])
    if word in _IS_OR_HAS:
        verb = "has" if following in HAS_BEFORE else "is"
    else:
        verb = "had" if is_participle(following) else "would"
    return _cased(written, f"{_subject(word[:-2])} {verb}")


@lru_cache(maxsize=1 << 14)
def _shortened(written: str, following: str) -> str | None:
    """Shorten two words as they are written, or give None where English does not."""
    first, second = written.split(" ")
    short = _short(first.lower(), second.lower(), following)
    # "Will Not" in a title stays: its short form would need a case of its own.
    return _cased(written, short) if short and (second[0].islower() or written.isupper()) else None


def _short(first: str, second: str, following: str) -> str | None:
    """Give the short form of two words of `_FIRST` before *following*, or None where English has none here."""
    if second == "not":
        return _IRREGULAR.get(first) or f"{first}n't"
    # "Yes, I am." has no short form: a clause must go on.
    if following in {"", "not"}:
        return None
    pronoun = _subject(first)
    if second in _BE:
        return pronoun + _BE_ENDING[second]
    if second == "have":
        return f"{pronoun}'ve" if is_participle(following) else None
    return f"{pronoun}'ll" if second == "will" else f"{pronoun}'d"


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

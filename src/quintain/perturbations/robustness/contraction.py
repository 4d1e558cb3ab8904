"""Short forms written out, and long forms shortened: "do not" ↔ "don't"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quintain.perturbations.batch import Ints, Words
from quintain.perturbations.contract import PERTURBATIONS, Family, Perturbation, Proposal, Table, TextBatch
from quintain.perturbations.forms.spellings import shortened
from quintain.perturbations.robustness.verb_forms import (
    NO_SUBJECTS,
    PERSONS,
    QUESTION_WORDS,
    ending_of,
    is_participle,
)
from quintain.perturbations.wordlists import words_in

_NEGATED = words_in("are could did do does had has have is must need should was were would might ought dare")
_EXPANSIONS: dict[str, str] = {
    **{f"{verb}n't": f"{verb} not" for verb in _NEGATED},
    "can't": "cannot",
    "won't": "will not",
    "shan't": "shall not",
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
# "'s" is "is", "has", "does" or no verb, "'d" is "would", "had" or "did": the words behind tell, or nothing does.
_IS_OR_HAS = frozenset(f"{word}'s" for word in [*_PRONOUNS[2:], *_QUESTIONS] if word not in {"we", "they"})
_WOULD_OR_HAD = frozenset(f"{word}'d" for word in _PRONOUNS[:9])
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
_NEAR = 48  # characters looked at on either side
_BEHIND = re.compile(r"(?: [^\W\d_]+(?:['’][^\W\d_]+)?)+")
_LAST = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:['’][^\W\d_]+)?$")
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
    """Exchange short and long forms wherever the words around them leave no doubt."""

    name: ClassVar[str] = "contraction"
    family: ClassVar[Family] = "robustness"
    languages = ("en",)
    table = "short"
    title: ClassVar[str] = "Short forms and long forms exchanged"
    version: ClassVar[int] = 3
    rate: ClassVar[float] = 1.0
    in_paper: ClassVar[bool] = True

    def propose(self, batch: TextBatch, rate: float) -> Proposal:
        """Look at the words that can be part of a short or a long form, and at no others."""
        words = batch.words
        exchanges = sorted(_exchanges(batch, words))
        if rate < 1:
            chosen = set(words.choose(np.array([edit[0] for edit in exchanges], dtype=np.int64), rate).tolist())
        else:
            free = words.free
            chosen = {edit[0] for edit in exchanges if free[edit[0]]}
        disjoint: list[tuple[int, int, int, str]] = []
        for edit in exchanges:
            if edit[0] in chosen and (not disjoint or edit[1] >= disjoint[-1][2]):
                disjoint.append(edit)
        start, end = (np.array([edit[i] for edit in disjoint], dtype=np.int64) for i in (1, 2))
        return Proposal(start, end, [edit[3] for edit in disjoint])

    def propose_from(self, batch: TextBatch, rate: float, table: Table) -> Proposal:
        """Work from the lists of the language."""
        return shortened(batch, rate, table)


def _exchanges(batch: TextBatch, words: Words) -> Iterator[tuple[int, int, int, str]]:
    """Return, for each form that can be exchanged, its first word, where it begins and ends, and the other form."""
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
                clause = Clause(batch, i - 1, begin, end)
                short = _shortened(joined[begin:end], joined[end + 1 : stop].lower(), clause)
                if short:
                    yield i - 1, begin, end, short
        elif word.replace("’", "'") in _ALONE:
            long = _lengthened(joined[start:end], Clause(batch, i, start, end))
            if long:
                yield i, start, end, long


class Clause:
    """The words around a form, up to the next mark, in lower case and with plain apostrophes."""

    def __init__(self, batch: TextBatch, word: int, start: int, end: int) -> None:
        self._batch, self._word, self._start, self._end = batch, word, start, end

    @property
    def behind(self) -> list[str]:
        """Up to four words behind the form."""
        text = self._batch.joined[self._end : self._end + _NEAR].partition("\n")[0]
        return _plain(_BEHIND.match(text)).split()[:4]

    @property
    def before(self) -> list[str]:
        """Up to six words before the form, the nearest one last."""
        begin = max(0, self._start - _NEAR)
        text = self._batch.joined[begin : self._start].rpartition("\n")[2]
        return _words_before(text)[-6:]


def _words_before(text: str) -> list[str]:
    """Return the words that *text* ends with, one space behind each, up to what is none."""
    words: list[str] = []
    for part in reversed(text.split(" ")[:-1] if text.endswith(" ") else []):
        word = _LAST.search(part)
        if word is None:
            break
        words.append(_plain(word))
        if word.start():
            break
    return words[::-1]


def _plain(match: re.Match[str] | None) -> str:
    return match.group().lower().replace("’", "'") if match else ""


def _likely(batch: TextBatch, words: Words) -> Ints:
    """List the words that begin like one of `_FIRST` or `_ALONE` and are as long: one in several."""
    long = words.length >= 2
    first = np.where(long, words.start, 0)
    key = (batch.codes[first] & 31).astype(np.int64) * 32 + (batch.codes[first + 1] & 31)
    likely: Ints = np.flatnonzero(long & ((_SHAPES[key] >> np.minimum(words.length, 15)) & 1).astype(bool))
    return likely


def _lengthened(written: str, clause: Clause) -> str | None:
    """Write a short form out, as the words around it want, or "cannot" the other way; None where that is open."""
    word = written.lower().replace("’", "'")
    if word == "cannot":
        return _cased(written, "can't")
    if word.endswith("n't") and _asks(word, clause):
        return None
    if word in _EXPANSIONS:
        return None if _stays(word, clause.behind) else _cased(written, _EXPANSIONS[word])
    verb = ending_of(word, clause.behind)
    return _cased(written, f"{_subject(word[:-2])} {verb}") if verb else None


def _stays(word: str, behind: list[str]) -> bool:
    """Whether a form of `_EXPANSIONS` is no verb here, or one whose long form nobody writes there."""
    if word.endswith("'re"):
        # "they're" for "their", and "you're" for "your", want a noun behind them.
        return not behind
    return word == "wanna" and behind[:1] in [["a"], ["the"], ["some"], []]


def _asks(word: str, clause: Clause) -> bool:
    """Whether the subject stands behind a negated verb, where the long form is not English: "isn't it"."""
    behind, before = clause.behind[:1], clause.before[-1:]
    if behind and behind[0] in PERSONS:
        return True
    if before and before[0] in QUESTION_WORDS:
        return True
    return not before and word != "don't"


def _shortened(written: str, following: str, clause: Clause) -> str | None:
    """Shorten two words as they are written, or give None where English does not."""
    first, second = written.split(" ")
    # "Will Not" in a title stays: its short form would need a case of its own.
    if not second[0].islower() and not written.isupper():
        return None
    short = _short(first.lower(), second.lower(), following, clause)
    return _cased(written, short) if short else None


def _short(first: str, second: str, following: str, clause: Clause) -> str | None:
    """Return the short form of two words of `_FIRST` before *following*, or None where English has none here."""
    if second == "not":
        # "could not only", "try to do not too much": what is negated is not the verb.
        stays = following in {"only", "just", "merely", "simply", "to", "because", "too"}
        return None if stays else _IRREGULAR.get(first) or f"{first}n't"
    # "Yes, I am." has no short form: a clause must go on. Nor has what follows a gap: "how tired he is now".
    if following in {"", "not", "n't"} or not NO_SUBJECTS.isdisjoint(clause.before[-6:]):
        return None
    pronoun = _subject(first)
    if second in _BE:
        return pronoun + _BE_ENDING[second]
    if second == "have":
        return f"{pronoun}'ve" if is_participle(following) else None
    return f"{pronoun}'ll" if second == "will" else f"{pronoun}'d"


def _subject(word: str) -> str:
    return "I" if word == "i" else word


def _cased(model: str, text: str) -> str:
    letters_only = [c for c in model if c.isalpha()]
    if len(letters_only) > 2 and model.isupper():
        return text.upper()
    return text[0].upper() + text[1:] if model[0].isupper() else text

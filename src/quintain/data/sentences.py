"""Where sentences begin and end, by rules that hold for reviews and for edited prose alike.

Full stops of abbreviations, initials, numbers and addresses end nothing; quotation marks, brackets, smileys and emoji
after a stop belong to the sentence before; a missing blank after a stop is seen through. No piece is without a letter
or a digit, so that `!!` alone is never a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff"
_JOINERS = "\ufe0f\u200d"
_STOPS = ".!?…"
_WIDE = "。！？"
_CLOSE = "\"'”’»)\\]*_"

# Places where a sentence may end. All begin with one set of characters, by which the search skips what lies between.
_PLACES = re.compile(
    rf"[{_STOPS}{_WIDE}\n:;=<{_EMOJI}]"
    r"(?:"
    rf"(?<=[{_STOPS}])(?<![{_STOPS}].)(?:[{_STOPS}]|\ \.(?=[\ .]|$))*+[{_CLOSE}]*+"
    rf"(?P<face>\s*[{_EMOJI}{_JOINERS}]+|\s*[:;=]-?[)(DPp3]+)?"
    r"(?:(?=\s|$)|(?=[A-Z][a-z']*[\s,!?])(?!(?:Com|Net|Org|Co|Js)\b))"
    rf"|(?<=[{_WIDE}])[{_WIDE}]*[」』）{_CLOSE}]*"
    r"|(?<=\n)\s*\n\s*|(?<=\n)(?=[ \t]*(?:[-*•–]|\d{1,2}[.)])\s)"
    rf"|(?<=[{_EMOJI}])[{_EMOJI}{_JOINERS}\s]*(?=\s[A-Z]|\n|$)"
    r"|(?:(?<=[:;=])-?[)(DPp]|(?<=<)3)+(?=\s+[A-Z]|\s*\n|\s*$)"
    r")"
)
_LAST_WORD = re.compile(r"(?<![\w.&'’-])[\w.&'’-]*$")
_FIRST_WORD = re.compile(r"\s*[\"'“‘«(\[]*([\w'’]+)")
_WORD_LENGTH = 24


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A name follows these, or a number: their full stop never ends a sentence.
_BEFORE_NAMES = _words(
    "mr mrs ms dr prof rev fr sr mt gen sen rep gov pres hon capt cpt col lt maj sgt cmdr adm messrs mme mlle "
    "e.g i.e cf vs v viz approx ca fig figs eq no nos vol vols pp ed eds tel dept ext"
)
# These may end a sentence: they do when the next word looks like the start of one.
_AT_ENDS = _words(
    "etc inc ltd co corp llc bros jr esq al a.m p.m am pm ph.d b.sc m.sc st ft "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun "
    "ave blvd rd hwy oz lb lbs in hr hrs min mins sec est misc max avg tsp tbsp pkg qty"
)
# Of all those, the ones that are words too: in small letters their stop is an end, before a capital or a number.
_ALSO_WORDS = _words("am pm al in sat sun mar max sec co est fri mon wed ed fig ext no")
_STARTERS = _words(
    "a an the this that these those there here i it he she we you they my our your his her its their who what when "
    "where why how if in on at by for from with as and but so or not no yes after before while also however then "
    "overall nothing everything everyone nobody all some most many great good bad best worst love loved"
)
_SHORTENED = _BEFORE_NAMES | _AT_ENDS | _ALSO_WORDS
_LETTERS = re.compile(r"(?:[a-z]\.)+[a-z]")


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each sentence, without the space around it.

    >>> sentences("Mr. Bell rang. Who came?")
    [(0, 14), (15, 24)]
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _PLACES.finditer(text):
        end = match.end()
        if end == len(text):
            break
        if not _ends(text, match):
            continue
        _add(spans, text, start, end)
        start = end
    _add(spans, text, start, len(text))
    return spans


def split_texts(texts: Iterable[str]) -> tuple[list[str], list[int], list[int]]:
    """Return the sentences of all *texts* in a row, where each begins in its text, and how many each text has.

    >>> split_texts(["Good food! Will be back.", "Meh"])
    (['Good food!', 'Will be back.', 'Meh'], [0, 11, 0], [2, 1])
    """
    pieces: list[str] = []
    starts: list[int] = []
    counts: list[int] = []
    before = 0
    for text in texts:
        spans = sentences(text)
        pieces += [text[start:end] for start, end in spans]
        starts += [start for start, _ in spans]
        counts.append(len(pieces) - before)
        before = len(pieces)
    return pieces, starts, counts


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Add the piece from *start* to *end*; what has no letter or digit goes to the sentence before it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    # Only the first piece can be without words: all others have joined one that has some.
    if spans and (not _has_words(text, start, end) or (len(spans) == 1 and not _has_words(text, *spans[0]))):
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))


def _has_words(text: str, start: int, end: int) -> bool:
    return text[start].isalnum() or any(map(str.isalnum, text[start:end]))


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether a sentence ends at *match*."""
    mark = match.group()
    first = mark[0]
    start, end = match.span()
    if first not in _STOPS or (mark == "." and _after_a_word(text, start, end)):
        return True
    after = text[end] if end < len(text) else ""
    if not after.isspace():
        # No blank after the stop: an end only between two words that are clearly words.
        return text[start - 2 : start].islower() and text[start - 2 : start].isalpha()
    following = _FIRST_WORD.match(text, end)
    small = following is not None and following.group(1)[0].islower()
    if mark == ".":
        return _full_stop_ends(text, start, following, small=small)
    if small and not match.group("face"):
        # `"Really?" she said`, `well... it is`: the sentence goes on; `Great! loved it` does not.
        quoted = mark[-1] not in _STOPS
        return not quoted and mark.strip(". ") != "" and "…" not in mark
    return mark[:2] not in {".)", ".'"} or _full_stop_ends(text, start, following, small=small)


def _after_a_word(text: str, start: int, end: int) -> bool:
    """Recognise the most frequent end quickly: after a whole word that is no abbreviation, before a blank."""
    word = text[text.rfind(" ", max(0, start - _WORD_LENGTH), start) + 1 : start]
    return len(word) > 1 and word.isalpha() and text[end].isspace() and word.lower() not in _SHORTENED


def _full_stop_ends(text: str, at: int, following: re.Match[str] | None, *, small: bool) -> bool:
    """Whether the full stop at *at* ends a sentence, and not just a shortened word."""
    word = _LAST_WORD.search(text[max(0, at - _WORD_LENGTH) : at])
    before = word.group().lstrip("'’-") if word else ""
    bare = before.lower()
    if len(bare) > 6 or not bare:
        return True
    if bare.isdigit():
        # `1. Order early` is a numbered point where it begins a line, or follows a sentence.
        return text[: at - len(bare)].rstrip(" \t")[-1:] not in {"", "\n", ".", "!", "?"}
    next_word = following.group(1) if following else ""
    starts = next_word.lower() in _STARTERS
    if len(bare) == 1 and before.isupper():
        return starts or before == "I"
    if bare in _ALSO_WORDS and before.islower() and not small:
        return not (bare == "no" and next_word.isdigit())
    if bare in _BEFORE_NAMES:
        return False
    return (starts and not small) if bare in _AT_ENDS or _LETTERS.fullmatch(bare) else True

"""Where sentences begin and end, by rules that hold for reviews and for edited prose alike.

Full stops of abbreviations, initials, numbers and addresses end nothing; quotation marks, brackets, smileys and emoji
after a stop belong to the sentence before; a missing blank after a stop is seen through. No piece is without a letter
or a digit, so that `!!` alone is never a sentence.

Stops of other scripts end a sentence wherever they stand (Unicode Standard Annex 29 calls them STerm), and so does one
of ASCII between characters of a script without spaces. Abbreviations of other languages are those that are no English
words; where the *language* is known, its own rules are added, such as German ordinals ("am 3. Mai").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from quintain.core.words import without_spaces

_EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff"
_JOINERS = "\ufe0f\u200d"
_STOPS = ".!?…"
# Of the property Sentence_Terminal: Chinese, Devanagari, Arabic, Urdu, Armenian, Ethiopic, Khmer, Burmese.
_WIDE = "。！？｡।॥؟۔։።፧។៕။"
# Scripts without spaces, as ranges that `re` reads: Thai, Lao, Burmese, Khmer, Kana and Han.
_ALONE = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17d3\u3041-\u30ff\u3400-\u9fff"
_CLOSE = "\"'”’»)\\]*_"

# Places where a sentence may end. All begin with one set of characters, by which the search skips what lies between.
_PLACES = re.compile(
    rf"[{_STOPS}{_WIDE}\n:;=<{_EMOJI}]"
    r"(?:"
    rf"(?<=[{_STOPS}])(?<![{_STOPS}].)(?:[{_STOPS}]|\ \.(?=[\ .]|$))*+[{_CLOSE}]*+"
    rf"(?P<face>\s*[{_EMOJI}{_JOINERS}]+|\s*[:;=]-?[)(DPp3]+)?"
    rf"(?:(?=\s|$)|(?=[{_ALONE}])|(?=[A-Z][a-z']*[\s,!?])(?!(?:Com|Net|Org|Co|Js)\b))"
    rf"|(?<=[{_WIDE}])[{_WIDE}{_STOPS}]*[」』）{_CLOSE}]*"
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
# The same of German, French, Spanish, Hindi and Arabic, without what is an English word.
_BEFORE_NAMES_ELSEWHERE = _words(
    "bzw ggf evtl inkl exkl zzgl vgl bspw sog geb hrsg frl nr str bd abs dipl ing tsd mio mrd jh jhd hl "
    "mlles sra srta dra ud uds डॉ प्रो पं د أ م"
)
_AT_ENDS_ELSEWHERE = _words("usw usf etc. u.a u.ä o.ä")
_STARTERS_OF = {
    "de": _words(
        "der die das ein eine es ich er sie wir ihr man und aber oder doch dann da hier dort heute gestern "
        "in im am auf bei mit nach von zu so nur auch wenn weil als wie was wer wo warum alle alles nichts kein"
    ),
}
_NEVER_ENGLISH_MONTHS = _words(
    "Januar Jänner Februar Feber März Mai Juni Juli Oktober Dezember Jahrhundert Jahrhunderts"
)
_ORDINALS = frozenset({"de", "da", "nb", "fi", "cs", "et"})  # languages that write 3. for "third"
_SHORTENED = _BEFORE_NAMES | _AT_ENDS | _ALSO_WORDS | _BEFORE_NAMES_ELSEWHERE | _AT_ENDS_ELSEWHERE
_LETTERS = re.compile(r"(?:[a-z]\.)+[a-z]")
# One letter after another, each with its stop: "z. B.", "d. h.".
_LETTER_AHEAD = re.compile(r"\.\s?[^\W\d_]\.")
_LETTER_BEFORE = re.compile(r"(?<![^\W_])[^\W\d_]\.\s?[^\W\d_]\Z")


def sentences(text: str, language: str = "") -> list[tuple[int, int]]:
    """Return the start and end of each sentence, without the space around it; *language* is that of the text, if known.

    >>> sentences("Mr. Bell rang. Who came?")
    [(0, 14), (15, 24)]
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _PLACES.finditer(text):
        end = match.end()
        if end == len(text):
            break
        if not _ends(text, match, language):
            continue
        _add(spans, text, start, end)
        start = end
    _add(spans, text, start, len(text))
    return spans


def split_texts(texts: Iterable[str], language: str = "") -> tuple[list[str], list[int], list[int]]:
    """Return the sentences of all *texts* in a row, where each begins in its text, and how many each text has.

    >>> split_texts(["Good food! Will be back.", "Meh"])
    (['Good food!', 'Will be back.', 'Meh'], [0, 11, 0], [2, 1])
    """
    pieces: list[str] = []
    starts: list[int] = []
    counts: list[int] = []
    before = 0
    for text in texts:
        spans = sentences(text, language)
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


def _ends(text: str, match: re.Match[str], language: str) -> bool:
    """Whether a sentence ends at *match*."""
    mark = match.group()
    first = mark[0]
    start, end = match.span()
    if first not in _STOPS or (mark == "." and _after_a_word(text, start, end)):
        return True
    after = text[end] if end < len(text) else ""
    if not after.isspace():
        # No blank after the stop: an end only between two words that are clearly words, or characters without spaces.
        if without_spaces(after):
            return without_spaces(text[start - 1 : start])
        return text[start - 2 : start].islower() and text[start - 2 : start].isalpha()
    following = _FIRST_WORD.match(text, end)
    small = following is not None and following.group(1)[0].islower()
    if mark == ".":
        return _full_stop_ends(text, start, following, language, small=small)
    if small and not match.group("face"):
        # `"Really?" she said`, `well... it is`: the sentence goes on; `Great! loved it` does not.
        quoted = mark[-1] not in _STOPS
        return not quoted and mark.strip(". ") != "" and "…" not in mark
    return mark[:2] not in {".)", ".'"} or _full_stop_ends(text, start, following, language, small=small)


def _after_a_word(text: str, start: int, end: int) -> bool:
    """Recognise the most frequent end quickly: after a whole word that is no abbreviation, before a blank."""
    word = text[text.rfind(" ", max(0, start - _WORD_LENGTH), start) + 1 : start]
    return len(word) > 1 and word.isalpha() and text[end].isspace() and word.lower() not in _SHORTENED


def _full_stop_ends(text: str, at: int, following: re.Match[str] | None, language: str, *, small: bool) -> bool:
    """Whether the full stop at *at* ends a sentence, and not just a shortened word."""
    word = _LAST_WORD.search(text[max(0, at - _WORD_LENGTH) : at])
    before = word.group().lstrip("'’-") if word else ""
    bare = before.lower()
    if len(bare) > 6 or not bare:
        return True
    next_word = following.group(1) if following else ""
    starts = next_word.lower() in _STARTERS_OF.get(language, _STARTERS)
    if bare.isdigit():
        return _number_ends(text, at, bare, next_word, language, starts=starts)
    if len(bare) == 1 and before.isupper():
        return starts or before == "I"
    if len(bare) == 1 and (_LETTER_AHEAD.match(text, at) or _LETTER_BEFORE.search(text[max(0, at - 6) : at])):
        return starts and not small
    if bare in _ALSO_WORDS and before.islower() and not small:
        return not (bare == "no" and next_word.isdigit())
    before_names = bare in _BEFORE_NAMES or bare in _BEFORE_NAMES_ELSEWHERE
    may_end = bare in _AT_ENDS or bare in _AT_ENDS_ELSEWHERE or bool(_LETTERS.fullmatch(bare))
    return not before_names and (not may_end or (starts and not small))


def _number_ends(text: str, at: int, number: str, next_word: str, language: str, *, starts: bool) -> bool:
    if next_word in _NEVER_ENGLISH_MONTHS or (language in _ORDINALS and len(number) <= 2 and not starts):
        return False
    # `1. Order early` is a numbered point where it begins a line, or follows a sentence.
    return text[: at - len(number)].rstrip(" \t")[-1:] not in {"", "\n", ".", "!", "?"}

"""Letters of other scripts that look like Latin ones, for asking whether two texts are the same and for nothing else.

The pairs are those of Unicode Technical Standard 39, Unicode Security Mechanisms (confusables.txt), from Cyrillic and
Greek to the basic Latin alphabet, but for capital iota and its like, which stand for a capital I here.
"""

from __future__ import annotations

import re

_CYRILLIC = dict(
    zip("ЅІЈАВЕКМНОРСТУХЬагеорсухѕіјѡѴѵҮүһҽӀӏԁԌԛԜԝ", "SIJABEKMHOPCTYXbareopcyxsijwVvYyhelidGqWw", strict=True)
)
_GREEK = dict(zip("ͿΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγινορσυϒϜϱϲϳϹϺ", "JABEZHIKMNOPTYXayivopouYFpcjCM", strict=True))
_TABLE = str.maketrans({**_CYRILLIC, **_GREEK})
OTHER_SCRIPTS = "[\u0370-\u03ff\u0400-\u052f]"  # Greek and Cyrillic
_OTHER = re.compile(OTHER_SCRIPTS)
_UNLIKE = re.compile(f"(?![{''.join((*_CYRILLIC, *_GREEK))}])[\u0370-\u03ff\u0400-\u052f]")
_WORD = re.compile(r"\w+")
_LATIN = re.compile("[A-Za-z]")


def in_latin(text: str) -> str:
    """Write look-alikes of Latin letters as those, in texts that pass for Latin.

    A text passes where every letter of it looks Latin, and so does a word in which there is a Latin letter beside them.
    Russian and Greek stay as they are.

    >>> in_latin("а grеаt film"), in_latin("это кот")
    ('a great film', 'это кот')
    """
    if text.isascii() or not _OTHER.search(text):
        return text
    if _LATIN.search(text) and not _UNLIKE.search(text):
        return text.translate(_TABLE)
    return _WORD.sub(lambda word: _translated(word[0]), text)


def skeleton(text: str) -> str:
    """Return what a text looks like: two of one skeleton cannot be told apart by their letters.

    >>> skeleton("pоsitive") == skeleton("positive")
    True
    """
    return text.translate(_TABLE)


def _translated(word: str) -> str:
    return word.translate(_TABLE) if _OTHER.search(word) and _LATIN.search(word) and not _UNLIKE.search(word) else word

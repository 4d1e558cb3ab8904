"""The one form in which texts are compared, wherever it is asked whether two are the same.

A text keeps the characters that it came with, and so does the id that is made of them. But an é may be one character or
two, a zero-width space or a soft hyphen is seen by nobody, and a Cyrillic о in a Latin word is an o to every reader: a
text with other ones of these is no other text, and must not be in train and test at once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Literal

from quintain.core.hashing import content_id
from quintain.core.look_alikes import in_latin

# Default_Ignorable_Code_Point of the Unicode Character Database (DerivedCoreProperties.txt), as the inside of a class
# of a regular expression; both Python's and Rust's engine read it.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_IGNORABLE = re.compile(f"[{IGNORABLE}]+")


def text_form(text: str) -> str:
    r"""Return a text in the form in which it is compared.

    That is NFC, nothing that cannot be seen, one blank for white space, and Latin letters for those that pass for them.

    >>> text_form("cafe\u0301\u200b  au\u00a0lait ") == "caf\u00e9 au lait"
    True
    """
    if not text.isascii():
        text = letters_form(_IGNORABLE.sub("", unicodedata.normalize("NFC", text)))
    return " ".join(text.split())


def letters_form(text: str) -> str:
    """Return *text* with look-alikes of Latin letters written as those, in NFC again."""
    latin = in_latin(text)
    return text if latin == text else unicodedata.normalize("NFC", latin)


def spelling_ids(inputs: Mapping[str, Any]) -> list[str]:
    """Return the ids that the same inputs may be stored under: as they are, in their form, and with accents apart.

    What is stored has the id of the characters that it came with, so a look-up by ids asks for each of these.
    """
    form = content_form(inputs)
    spellings = (inputs, form, *(_normalised(value, kind) for value in (inputs, form) for kind in ("NFC", "NFD")))
    return list(dict.fromkeys(content_id(spelling) for spelling in spellings))


def _normalised(value: Any, kind: Literal["NFC", "NFD"]) -> Any:
    return _each_text(value, lambda text: unicodedata.normalize(kind, text))


def form_id(inputs: Mapping[str, Any]) -> str:
    r"""Return the id by which inputs are compared: that of the same inputs with every text in its form.

    >>> form_id({"text": "Hello "}) == form_id({"text": "Hel\u200blo"})
    True
    """
    return content_id(content_form(inputs))


def content_form(value: Any) -> Any:
    """Return the inputs of an example, or a part of them, with every text in its form."""
    return _each_text(value, text_form)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _each_text(part, change) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(part, change) for part in value]
    return value

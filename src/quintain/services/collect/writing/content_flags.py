"""What an owner should look at in a text: personal data, and words that hurt. Only hints: a person decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_PHONE = r"(?:\+\d{1,3}[\s./-]?)?(?:\(\d{1,5}\)[\s./-]?)?\d{2,5}(?:[\s./-]\d{2,5}){2,4}"
_PERSONAL: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an e-mail address", re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")),
    ("a phone number", re.compile(rf"(?<![\w.,$€£-]){_PHONE}(?![\w-])|(?<!\w)(?:\+|00)\d{{8,14}}(?!\w)")),
    ("a social security number", re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)")),
    ("a bank account", re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{4}){3,7}(?:\s?[A-Z0-9]{1,3})?(?!\w)")),
    ("an IP address", re.compile(rf"(?<![\d.])(?:{_BYTE}\.){{3}}{_BYTE}(?![\d.])")),
)
_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
# What looks like a phone number and is none: dates, and numbers written in groups of three.
_NO_PHONE = re.compile(
    r"(?<![\d+])(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,3}(?:[ .,]\d{3})+)(?![\d.-])"
)
_OFFENSIVE = re.compile(
    r"\b(?:"
    r"fuck\w*|motherfuck\w*|shit(?:ty|s|head\w*)?|bullshit|cunts?|bitch(?:es|y)?|bastards?|assholes?|arseholes?|"
    r"dickheads?|pricks?|wank\w*|twats?|sluts?|whores?|fag(?:s|got\w*)?|dykes?|tranny|trannies|retard(?:s|ed)?|"
    r"nigg(?:er|a)s?|kikes?|spics?|chinks?|gooks?|wetbacks?|ragheads?|towelheads?|paki(?:s)?|gypp(?:o|os)|"
    r"subhumans?|kill yourself|kys|gas the \w+|go back to your country"
    r")\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hint:
    """One thing to look at: its kind (offensive or personal), and what it is."""

    kind: str
    detail: str


def find_hints(texts: Iterable[str], kinds: Sequence[str]) -> list[Hint]:
    """Find what an owner should look at in *texts*, of the *kinds* asked for.

    >>> find_hints(["Write to ann@example.org!"], ["personal"])
    [Hint(kind='personal', detail='an e-mail address')]
    """
    hints: list[Hint] = []
    for text in texts:
        if "personal" in kinds:
            hints += [Hint("personal", what) for what in _personal(text)]
        if "offensive" in kinds:
            hints += [Hint("offensive", match[0].lower()) for match in _OFFENSIVE.finditer(text)]
    return list(dict.fromkeys(hints))


def _personal(text: str) -> list[str]:
    left = _NO_PHONE.sub(" ", text)
    kinds = [what for what, pattern in _PERSONAL if pattern.search(left if what == "a phone number" else text)]
    if any(_luhn(match[0]) for match in _CARD.finditer(text)):
        kinds.append("a card number")
    return kinds


def _luhn(text: str) -> bool:
    """Whether the digits of *text* are checked by their last one, as those of bank cards are (Luhn, 1960)."""
    digits = [int(one) for one in text if one.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0

"""The words of the interface in a reader's language, and dates, numbers and money as its readers write them."""

from __future__ import annotations

import gettext
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal

from babel import Locale
from babel.core import negotiate_locale
from babel.dates import format_date, format_datetime, format_timedelta
from babel.numbers import format_currency, format_decimal, format_percent

from quintain.core.rounds import MINOR_DIGITS, Money
from quintain.reports.words import Wording
from quintain.web.catalogues import ERRORS, LOCALES, MESSAGES, SOURCE_LANGUAGE, languages, spoken, translations

__all__ = [
    "ERRORS",
    "LOCALES",
    "MESSAGES",
    "SOURCE_LANGUAGE",
    "Tongue",
    "choose_language",
    "in_language",
    "languages",
    "translations",
]


def choose_language(account: str | None, cookie: str | None, accepted: str | None, *, link: str | None = None) -> str:
    """Choose the language of a page: the link's, else the account's, the cookie's, or what the browser accepts.

    >>> choose_language("de", None, "en", link="en-GB"), choose_language(None, None, "xx;q=0.9, de-CH;q=0.8")
    ('en', 'de')
    """
    for wish in (link, account, cookie):
        if name := spoken(wish):
            return name
    return negotiate_locale(_accepted(accepted or ""), languages(), sep="-") or SOURCE_LANGUAGE


def _accepted(header: str) -> list[str]:
    """List the languages of an Accept-Language header, the most wanted first, each followed by its base."""
    wishes: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        tag, _, weight = part.strip().partition(";q=")
        try:
            wishes.append((-float(weight or 1), tag))
        except ValueError:
            continue
    return [name for _, tag in sorted(wishes, key=lambda wish: wish[0]) for name in (tag, tag.split("-")[0]) if name]


def in_language(texts: Mapping[str, str], language: str, order: Sequence[str] = ()) -> str:
    """Choose from *texts* by language: the reader's, else the task's own languages in *order*, else any."""
    for code in (language, *order, SOURCE_LANGUAGE):
        if texts.get(code):
            return texts[code]
    return next(iter(texts.values()), "")


@dataclass(frozen=True, slots=True)
class Tongue:
    """One language as a page uses it: its messages, its dates, its numbers."""

    code: str

    @property
    def catalogue(self) -> gettext.NullTranslations:
        """The messages."""
        return translations(self.code)

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        """Which way the language is written."""
        return "rtl" if Locale.parse(self.code, sep="-").text_direction == "rtl" else "ltr"

    def gettext(self, message: str, **values: object) -> str:
        """Translate *message* and fill in *values*; amounts of money as readers write them."""
        text = self.catalogue.gettext(message)
        return text % {name: self.shown(value) for name, value in values.items()} if values else text

    def ngettext(self, singular: str, plural: str, num: int, **values: object) -> str:
        """Translate what is said of one or of many, and fill in their number as *num*."""
        text = self.catalogue.ngettext(singular, plural, num)
        return text % {"num": self.number(num), **{name: self.shown(value) for name, value in values.items()}}

    def shown(self, value: object) -> object:
        """Write an amount of money; anything else stays as it is."""
        return self.money(value) if isinstance(value, Money) else value

    def money(self, value: Money) -> str:
        """Write an amount of money.

        English readers, who are of many countries, get the code of the currency; so do those who read from right to
        left, where signs such as US$ would be torn apart.
        """
        digits = MINOR_DIGITS.get(value.currency, 2)
        if self.code == SOURCE_LANGUAGE or self.direction == "rtl":
            return f"{self.number(value.amount / 10**digits, digits)} {value.currency}"
        pattern = Locale.parse(self.code, sep="-").currency_formats["standard"].pattern.partition(";")[0]
        fraction = "." + "0" * digits if digits else ""
        written = format_currency(
            value.amount / 10**digits,
            value.currency,
            format=pattern.replace(".00", fraction),
            locale=self.code,
            currency_digits=False,
        )
        return written.replace("-", "−")

    def when(self, moment: datetime | None) -> str:
        """Write a moment, to the minute, in UTC."""
        return format_datetime(moment, "medium", locale=self.code) if moment else ""

    def date(self, moment: datetime | None) -> str:
        """Write the day of a moment."""
        return format_date(moment, "medium", locale=self.code) if moment else ""

    def ago(self, moment: datetime | None, now: datetime) -> str:
        """Write how long ago a moment was."""
        return format_timedelta(moment - now, add_direction=True, locale=self.code) if moment else ""

    def number(self, value: float, digits: int | None = None) -> str:
        """Write a number with its separators; with *digits*, always so many after the point, and a true minus."""
        if digits is None:
            return format_decimal(value, locale=self.code)
        pattern = _grouping(self.code) + ("." + "0" * digits if digits else "")
        return format_decimal(round(value, digits) + 0.0, format=pattern, locale=self.code).replace("-", "−")

    def signs(self, text: str) -> str:
        """Write a number that is written in English with the signs of this language.

        >>> Tongue("de").signs("1,234.5%").replace("\u00a0", " ")
        '1.234,5 %'
        """
        symbols = Locale.parse(self.code, sep="-").number_symbols["latn"]
        whole, dot, rest = text.partition(".")
        if "," in whole:
            whole = _GROUPED.sub(lambda digits: self.number(int(digits[0].replace(",", ""))), whole)
        written = whole + (symbols["decimal"] if dot else "") + rest
        return written.removesuffix("%") + _percent_sign(self.code) if text.endswith("%") else written

    def short_figure(self, value: float) -> str:
        """Write a figure with as many digits as a cell of a board has room for, and none as 0 that is not."""
        size = abs(value)
        if size and size < 0.1:
            return format_decimal(value, format="@@", locale=self.code)
        return self.number(value) if size == 0 else self.number(value, 0 if size >= 1000 else 1 if size >= 10 else 2)

    def chance(self, p: float) -> str:
        """Write the p of a test as reports do."""
        return Wording(self.number).cell(p, "chance")

    def percent(self, value: float) -> str:
        """Write a fraction as a percentage with one decimal."""
        return _percent(self.code, value + 0.0)

    @staticmethod
    def name_of(code: str) -> str:
        """Return a language's own name for itself."""
        return str(Locale.parse(code, sep="-").get_display_name(code) or code).capitalize()


@lru_cache(maxsize=64)
def _grouping(code: str) -> str:
    """Return how a language groups the digits of whole numbers, as a pattern: in Hindi by two after the first three."""
    pattern: str = Locale.parse(code, sep="-").decimal_formats[None].pattern
    return re.split("[;.]", pattern, maxsplit=1)[0]


@lru_cache(maxsize=64)
def _percent_sign(code: str) -> str:
    """Return what a language writes after the number of a percentage."""
    pattern: str = Locale.parse(code, sep="-").percent_formats[None].pattern
    return pattern.partition(";")[0].rpartition("0")[2]


@lru_cache(maxsize=4096)
def _percent(code: str, value: float) -> str:
    return format_percent(value, format=f"{_grouping(code)}.0{_percent_sign(code)}", locale=code)


_GROUPED = re.compile(r"\d[\d,]*")

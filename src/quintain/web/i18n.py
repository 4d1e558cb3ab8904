"""The words of the interface: one gettext catalogue per language, and dates and numbers as its readers write them.

Catalogues are `locale/<language>/LC_MESSAGES/<domain>.po`; they are compiled in memory when first needed, so a
translation is one text file and nothing to build.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path

from babel import Locale
from babel.core import negotiate_locale
from babel.dates import format_date, format_datetime, format_timedelta
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent

from quintain.reports.words import Wording

LOCALES = Path(__file__).parent / "locale"
MESSAGES = "messages"  # texts of templates and pages
ERRORS = "errors"  # texts with which services refuse something
SOURCE_LANGUAGE = "en"


@cache
def languages() -> tuple[str, ...]:
    """List the languages that the interface speaks, English first."""
    translated = sorted(path.parent.parent.name for path in LOCALES.glob("*/LC_MESSAGES/messages.po"))
    return (SOURCE_LANGUAGE, *translated)


@cache
def translations(language: str, domain: str = MESSAGES) -> gettext.NullTranslations:
    """Return the catalogue of *language* for *domain*, compiled."""
    path = LOCALES / language / "LC_MESSAGES" / f"{domain}.po"
    if language not in languages() or not path.exists():
        return gettext.NullTranslations()
    with path.open("rb") as stream:
        catalogue = read_po(stream, locale=language)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def choose_language(account: str | None, cookie: str | None, accepted: str | None) -> str:
    """Choose the language of a page: the account's, else the cookie's, else what the browser accepts.

    >>> choose_language(None, None, "fr;q=0.9, de-CH;q=0.8")
    'de'
    """
    for wish in (account, cookie):
        if wish in languages():
            return wish
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

    def gettext(self, message: str, **values: object) -> str:
        """Translate *message* and fill in *values*."""
        text = self.catalogue.gettext(message)
        return text % values if values else text

    def ngettext(self, singular: str, plural: str, num: int, **values: object) -> str:
        """Translate what is said of one or of many, and fill in their number as *num*."""
        return self.catalogue.ngettext(singular, plural, num) % {"num": num, **values}

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
        pattern = "#,##0." + "0" * digits if digits else "#,##0"
        return format_decimal(round(value, digits) + 0.0, format=pattern, locale=self.code).replace("-", "−")

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


@lru_cache(maxsize=4096)
def _percent(code: str, value: float) -> str:
    pattern = "#,##0.0%" if code == SOURCE_LANGUAGE else "#,##0.0 %"
    return format_percent(value, format=pattern, locale=code)

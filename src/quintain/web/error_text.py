"""What was refused and why, in the reader's language.

Services and what is below them raise texts (`quintain.core.texts`): English for commands and for the API. A page looks
the template up in the catalogue `errors.po`, puts the values into the translation, and does the same with values that
are texts themselves. What no catalogue knows stays as it is. Whoever shows the result escapes it, as templates do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from quintain.core.errors import Fault
from quintain.core.rounds import Money
from quintain.core.texts import Sum, Text, Value, Word, fill
from quintain.web.i18n import ERRORS, SOURCE_LANGUAGE, Tongue, translations

NAMES_A_COMMAND = re.compile(r"`quintain |(?<![\w-])--[a-z]")


@dataclass(frozen=True, slots=True)
class ErrorText:
    """An error as a page shows it."""

    message: str
    remedy: str | None = None
    faults: tuple[str, ...] = ()
    more: int = 0


def translated(language: str, text: str) -> str:
    """Return *text* in *language*: a template with its values, or a plain string that a catalogue may know.

    >>> translated("de", Text("{name} is the only admin.", name="ada"))
    'ada ist der einzige Admin.'
    >>> translated("de", "Nobody has translated this.")
    'Nobody has translated this.'
    """
    if not text:
        return ""
    catalogue = translations(language, ERRORS)
    if not isinstance(text, Text):
        return catalogue.gettext(text)
    if text.many is None:
        template = catalogue.gettext(text.template) if text.template else ""
    else:
        template = catalogue.ngettext(text.template, text.many, int(text.values["n"]))
    return fill(template, {name: _value(language, value) for name, value in text.values.items()})


def _value(language: str, value: Value) -> Value:
    match value:
        case Text():
            return translated(language, value)
        case Word() if value:
            return Tongue(language).gettext(value)
        case Sum():
            return Tongue(language).money(Money(value.amount, value.currency))
        case float() | int() if language != SOURCE_LANGUAGE and not isinstance(value, bool):
            return WrittenNumber(value, language)
    return value


class WrittenNumber(float):
    """A number that is written by the format of a template, with the signs of a language.

    >>> share, n = WrittenNumber(0.125, "de"), WrittenNumber(1200, "de")
    >>> "{share:.1%} of {n:,}, {n}".format(share=share, n=n).replace("\u00a0", " ")
    '12,5 % of 1.200, 1200'
    """

    def __new__(cls, value: float, language: str) -> WrittenNumber:
        """Write *value* as readers of *language* do."""
        return super().__new__(cls, value)

    def __init__(self, value: float, language: str) -> None:
        self.value, self.language = value, language

    def __str__(self) -> str:
        return format(self, "")

    def __format__(self, form: str) -> str:
        text = format(self.value, form)
        return text if form[-1:] in {"x", "X"} else Tongue(self.language).signs(text)


def fault_text(language: str, fault: Fault) -> str:
    """Return in *language* what is wrong, and where."""
    _ = Tongue(language).gettext
    places = [
        fault.file,
        _("line %(n)s", n=fault.line) if fault.line is not None else None,
        _("row %(n)s", n=fault.row) if fault.row is not None else None,
        _("field '%(name)s'", name=fault.field) if fault.field else None,
    ]
    where = ", ".join(part for part in places if part)
    reason = translated(language, fault.reason)
    return f"{where}: {reason}" if where else reason


class Refusal(Protocol):
    """An error, or what a page knows of one."""

    @property
    def message(self) -> str:
        """What is wrong."""

    @property
    def remedy(self) -> str | None:
        """What to do about it."""

    @property
    def page(self) -> str | None:
        """What to do about it on a page, where that differs."""


def error_text(language: str, error: Refusal) -> ErrorText:
    """Return in *language* what an error says; faults that are all of its message are said once."""
    faults: tuple[Fault, ...] = getattr(error, "faults", ())
    more = max(0, getattr(error, "total", 0) - len(faults))
    sentences = tuple(fault_text(language, fault) for fault in faults)
    message = translated(language, error.message)
    if faults and error.message == "\n".join(str(fault) for fault in faults):
        alone = len(sentences) == 1 and not more
        message, sentences = (
            (sentences[0], ()) if alone else (Tongue(language).gettext("Something in it is not right"), sentences)
        )
    remedy = error.page or error.remedy
    if remedy and NAMES_A_COMMAND.search(remedy):  # whoever sits at a page may not have it
        remedy = None
    return ErrorText(message, translated(language, remedy) if remedy else None, sentences, more)

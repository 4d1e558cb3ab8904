"""What was refused and why, in the reader's language.

Services and what is below them raise plain English: a command prints it, the API sends it. Pages say it in the reader's
language. The catalogue `errors.po` holds a template for every such text (`%(name)s is the only admin.`); here a text
that was raised is matched with the templates, and its values are put into the translation. A text that no template
knows stays as it is. Values are taken over as they are: whoever shows the result escapes it, as templates do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol

from babel.messages.pofile import read_po

from quintain.core.errors import Fault
from quintain.web.i18n import LOCALES, Tongue

LONGEST = 5_000  # characters of a text that is looked up
DEEPEST = 2  # how often a value is itself such a text, within another
# Values that are texts of ours, and values that are a single word of ours.
TEXTS = frozenset(
    {"reason", "problem", "message", "error", "hint", "why", "said", "wanted", "called", "missing", "what"}
)
WORDS = frozenset({"state", "outcome"})

_HOLE = re.compile(r"%\((\w+)\)s")
_COMMAND = re.compile(r"`quintain |(?<![\w-])--[a-z]")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Told:
    """An error as a page shows it."""

    message: str
    remedy: str | None = None
    faults: tuple[str, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """A text with holes: the literals around them, the holes' names, and what it is in another language."""

    literals: tuple[str, ...]
    names: tuple[str, ...]
    translation: str

    @classmethod
    def of(cls, text: str, translation: str) -> Template:
        """Read a template as gettext writes it."""
        parts = _HOLE.split(text)
        return cls(tuple(part.replace("%%", "%") for part in parts[::2]), tuple(parts[1::2]), translation)

    @property
    def specific(self) -> tuple[int, int]:
        """How much of a text it pins down: by its letters, then by how few values it leaves open."""
        return sum(map(len, self.literals)), -len(self.names)

    def match(self, text: str) -> dict[str, str] | None:
        """Give the values that *text* has in the holes, or nothing if it is another text.

        Each literal is looked for once, from left to right: the time is linear in the text, whatever it is.

        >>> Template.of("%(name)s is the only %(role)s.", "").match("ada is the only admin.")
        {'name': 'ada', 'role': 'admin'}
        """
        first, *inner = self.literals
        last = inner.pop() if inner else ""
        if not inner and not self.names:
            return {} if text == first else None
        end = len(text) - len(last)
        if not text.startswith(first) or not text.endswith(last) or end < len(first):
            return None
        values = []
        at = len(first)
        for literal in inner:
            found = text.find(literal, at, end)
            if found < 0:
                return None
            values.append(text[at:found])
            at = found + len(literal)
        values.append(text[at:end])
        return dict(zip(self.names, values, strict=True))


class Phrasebook:
    """All templates of one language, found by the first or the last word of a text."""

    def __init__(self, templates: Iterable[tuple[str, str]], tongue: Tongue) -> None:
        self.tongue = tongue
        self._plain: dict[str, str] = {}
        self._first: dict[str, list[Template]] = {}
        self._last: dict[str, list[Template]] = {}
        self._others: list[Template] = []
        for text, translation in templates:
            template = Template.of(text, translation)
            if not template.names:
                self._plain[template.literals[0]] = translation.replace("%%", "%")
            elif " " in template.literals[0]:
                self._first.setdefault(_first_word(template.literals[0]), []).append(template)
            elif " " in template.literals[-1]:
                self._last.setdefault(_last_word(template.literals[-1]), []).append(template)
            else:
                self._others.append(template)

    def say(self, text: str, deep: int = 0) -> str:
        """Translate *text* by the most specific template that fits; leave it as it is where none does."""
        if text in self._plain:
            return self._plain[text]
        if len(text) > LONGEST:
            return text
        likely = (*self._first.get(_first_word(text), ()), *self._last.get(_last_word(text), ()), *self._others)
        for template in sorted(likely, key=lambda one: one.specific, reverse=True):
            values = template.match(text)
            if values is not None:
                said = {name: self._value(name, value, deep) for name, value in values.items()}
                return str(template.translation % said)
        return text

    def _value(self, name: str, value: str, deep: int) -> str:
        if name in WORDS:
            return self.tongue.gettext(value) if value else value
        if name not in TEXTS or deep >= DEEPEST:
            return value
        said = self.say(value, deep + 1)
        return said if said != value else " ".join(self.say(part, deep + 1) for part in _SENTENCE.split(value))


def _first_word(text: str) -> str:
    return text.partition(" ")[0]


def _last_word(text: str) -> str:
    return text.rpartition(" ")[2]


@cache
def phrasebook(language: str) -> Phrasebook:
    """Give the templates of *language*, read once."""
    path = LOCALES / language / "LC_MESSAGES" / "errors.po"
    if not path.exists():
        return Phrasebook((), Tongue(language))
    with path.open("rb") as stream:
        catalogue = read_po(stream, locale=language)
    pairs = ((str(message.id), str(message.string)) for message in catalogue if message.id and message.string)
    return Phrasebook(pairs, Tongue(language))


@lru_cache(maxsize=2048)
def say(language: str, text: str) -> str:
    """Say in *language* a text that was raised.

    >>> say("de", "ada is the only admin.")
    'ada ist der einzige Admin.'
    >>> say("de", "Nobody has translated this.")
    'Nobody has translated this.'
    """
    return phrasebook(language).say(text)


def say_fault(language: str, fault: Fault) -> str:
    """Say in *language* what is wrong, and where."""
    _ = Tongue(language).gettext
    places = [
        fault.file,
        _("line %(n)s", n=fault.line) if fault.line is not None else None,
        _("row %(n)s", n=fault.row) if fault.row is not None else None,
        _("field '%(name)s'", name=fault.field) if fault.field else None,
    ]
    place = ", ".join(part for part in places if part)
    reason = say(language, fault.reason)
    return f"{place}: {reason}" if place else reason


class Refusal(Protocol):
    """An error, or what a page knows of one."""

    @property
    def message(self) -> str:
        """What is wrong."""

    @property
    def remedy(self) -> str | None:
        """What to do about it."""


def tell(language: str, error: Refusal) -> Told:
    """Say in *language* what an error says; faults that are all of its message are said once."""
    faults: tuple[Fault, ...] = getattr(error, "faults", ())
    more = max(0, getattr(error, "total", 0) - len(faults))
    said = tuple(say_fault(language, fault) for fault in faults)
    message = say(language, error.message)
    if faults and error.message == "\n".join(str(fault) for fault in faults):
        alone = len(said) == 1 and not more
        message, said = (said[0], ()) if alone else (Tongue(language).gettext("Something in it is not right"), said)
    remedy = remedy_on_page(error)
    return Told(message, say(language, remedy) if remedy else None, said, more)


def remedy_on_page(error: Refusal) -> str | None:
    """Give what somebody at a page can do about it: never a command, which they may not have."""
    if page := getattr(error, "page", None):
        return str(page)
    return None if error.remedy and _COMMAND.search(error.remedy) else error.remedy

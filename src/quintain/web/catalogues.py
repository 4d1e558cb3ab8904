"""The catalogues of the interface: one folder per language, who made its translations, and what is still unread.

Catalogues are `locale/<language>/LC_MESSAGES/<domain>.po`; they are compiled in memory when first needed, so a
translation is one text file and nothing to build. The comment at the top of each says two things of it:

    # covers: workers            complete for the texts of `locale/workers.txt`; without it, for all texts
    # translated by: machine     entries without the flag `read` were made by a machine, and nobody has read them
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LOCALES = Path(__file__).parent / "locale"
MESSAGES = "messages"  # texts of templates and pages
ERRORS = "errors"  # texts with which services refuse something, and what people are told and mailed
DOMAINS = (MESSAGES, ERRORS)
SOURCE_LANGUAGE = "en"
READ = "read"  # the flag of an entry that somebody who speaks the language has read
MACHINE = "machine"
WORKERS = "workers"


@cache
def languages() -> tuple[str, ...]:
    """List the languages that the interface speaks, English first."""
    translated = sorted(path.parent.parent.name for path in LOCALES.glob("*/LC_MESSAGES/messages.po"))
    return (SOURCE_LANGUAGE, *translated)


def spoken(code: str | None) -> str | None:
    """Return the language of the interface that *code* asks for, be it of a country; None where there is none.

    >>> spoken("de-AT"), spoken("en_GB"), spoken("xx")
    ('de', 'en', None)
    """
    tag = (code or "").replace("_", "-")
    return next((name for name in (tag, tag.split("-")[0].lower()) if name in languages()), None)


@cache
def translations(language: str, domain: str = MESSAGES) -> gettext.NullTranslations:
    """Return the catalogue of *language* for *domain*, compiled."""
    name = spoken(language)
    path = LOCALES / (name or "") / "LC_MESSAGES" / f"{domain}.po"
    if name is None or not path.exists():
        return gettext.NullTranslations()
    compiled = io.BytesIO()
    write_mo(compiled, read_catalogue(path))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def read_catalogue(path: Path) -> Catalog:
    """Read one file of translations."""
    with path.open("rb") as stream:
        return read_po(stream, locale=path.parent.parent.name)


def header(catalogue: Catalog) -> dict[str, str]:
    r"""Return what the comment at the top of a catalogue says of it.

    >>> header(Catalog(header_comment="# Texts.\n# covers: workers"))
    {'covers': 'workers'}
    """
    lines = (line.lstrip("# ").partition(": ") for line in catalogue.header_comment.splitlines())
    return {name: value.strip() for name, _, value in lines if value}


def is_unread(catalogue: Catalog, message: Message) -> bool:
    """Whether a machine translated *message*, and nobody has said since that they have read it."""
    return header(catalogue).get("translated by") == MACHINE and READ not in message.flags and any(texts_of(message))


def texts_of(message: Message) -> tuple[str, ...]:
    """Return the translations of a message: one, or one for each kind of number."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


@dataclass(frozen=True, slots=True)
class Translation:
    """One entry of a catalogue: the text in English, and its translation."""

    domain: str
    source: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadingState:
    """How far the translations into one language have been read by somebody who speaks it."""

    language: str
    translated: int
    unread: tuple[Translation, ...]
    partial: bool  # only the pages of workers are translated

    @property
    def read(self) -> int:
        """How many translations somebody has read, or made."""
        return self.translated - len(self.unread)


@cache
def reading(language: str) -> ReadingState:
    """Return how far the translations into *language* have been read, and those that have not."""
    unread: list[Translation] = []
    translated, partial = 0, False
    for domain, catalogue in _catalogues_of(language):
        partial = partial or header(catalogue).get("covers") == WORKERS
        for message in catalogue:
            if message.id and any(texts_of(message)):
                translated += 1
                if is_unread(catalogue, message):
                    source = message.id if isinstance(message.id, str) else message.id[-1]
                    unread.append(Translation(domain, source, texts_of(message)))
    return ReadingState(language, translated, tuple(unread), partial)


def _catalogues_of(language: str) -> Iterator[tuple[str, Catalog]]:
    for domain in DOMAINS:
        path = LOCALES / language / "LC_MESSAGES" / f"{domain}.po"
        if path.exists():
            yield domain, read_catalogue(path)

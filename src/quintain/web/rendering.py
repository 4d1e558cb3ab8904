"""Templates: the one Jinja environment, and what every template can call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup

from quintain import __version__
from quintain.core.escaping import OVERRIDES, visible
from quintain.core.records.base import plain
from quintain.core.words import shortened
from quintain.reports.few import LEAST, is_few
from quintain.reports.words import map_texts
from quintain.services.board.claims import claim_text
from quintain.store.base import now
from quintain.web.error_text import error_text, translated
from quintain.web.help_pages import ROOMS
from quintain.web.i18n import Tongue, in_language, languages
from quintain.web.markdown import render_markdown
from quintain.web.static_files import static
from quintain.web.untranslated import Untranslated


class Compiled(BytecodeCache):
    """What templates were compiled to. It is the same in every language, so that only the first one compiles."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill *bucket* with what is kept of its template."""
        if bucket.key in self.kept:
            bucket.bytecode_from_string(self.kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what the template of *bucket* was compiled to."""
        self.kept[bucket.key] = bucket.bytecode_to_string()


_OVERRIDES = re.compile(f"[{OVERRIDES}]")
# What a form sends; other words on a button, such as a question before it, are read.
_IN_FORMS = re.compile(r'(<textarea\b.*?</textarea>|<(?:input|option)\b[^>]*>|\bvalue="[^"]*")', re.DOTALL)
COMPILED: BytecodeCache = Compiled()


@cache
def environment(language: str) -> Environment:
    """Return the environment whose templates speak *language*."""
    tongue = Tongue(language)
    env = Environment(
        loader=PackageLoader("quintain.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=tongue.shown,
        auto_reload=False,  # else every page asks the disk whether each of its templates has changed
        bytecode_cache=COMPILED,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    untranslated = Untranslated(tongue)
    env.globals.update(
        _=untranslated.gettext,
        gettext=untranslated.gettext,
        ngettext=untranslated.ngettext,
        direction=tongue.direction,
        money=tongue.money,
        product_version=__version__,
        static=static,
        languages=languages,
        language_name=Tongue.name_of,
        number=tongue.number,
        short_figure=tongue.short_figure,
        percent=tongue.percent,
        chance=tongue.chance,
        when=tongue.when,
        date=tongue.date,
        ago=lambda moment: tongue.ago(moment, now()),
        text_of=text_of,
        claim_text=claim_text,
        is_few=is_few,
        least_n=LEAST,
        tell=partial(error_text, language),
        help_rooms=ROOMS,
        content_lang=content_lang,
        task=None,
        section="",
        crumbs=(),
        wheel=None,
        error=None,
        part=False,
    )
    env.filters["markdown"] = render_markdown
    env.filters["spec"] = partial(spec_json, partial(translated, language))
    env.filters["shown"] = shown
    env.filters["money"] = tongue.money
    env.filters["truncate"] = shortened  # Jinja's own cuts within a face, or between a letter and its mark
    env.filters["said"] = partial(translated, language)
    return env


@pass_context
def content_lang(context: Context) -> Markup:
    """Write the language of a task's texts as an attribute of what shows or takes one of them.

    Nothing is said where a page is of no task, and where a task has several languages: which one it is, nobody knows.
    """
    languages: tuple[str, ...] = getattr(context.get("task"), "languages", ())
    return Markup(' lang="{}"').format(languages[0]) if len(languages) == 1 else Markup("")


def mark_overrides(html: str) -> str:
    r"""Put a visible mark for characters of stored texts that turn the direction of what is around them on a page.

    What stands in a form to be changed stays as it is: else saving would change it.

    >>> mark_overrides("<p>\u202ea</p><input value='\u202ea'><textarea>\u202ea</textarea>").count("\u202e")
    2
    """
    if not _OVERRIDES.search(html):
        return html
    return "".join(part if number % 2 else visible(part) for number, part in enumerate(_IN_FORMS.split(html)))


def spec_json(translate: Callable[[str], str], chart: Mapping[str, Any]) -> str:
    """Write the specification of a chart for a page, its texts of ours *translate* in the reader's language."""
    return json.dumps(map_texts(chart, translate), ensure_ascii=False, separators=(",", ":"), default=plain)


@pass_context
def text_of(context: Context, texts: Mapping[str, str]) -> str:
    """Choose from a task's texts the one in the reader's language."""
    return in_language(texts, context["visit"].language)


def shown(value: Any) -> str:
    """Write an answer or an input of any kind for people to read.

    >>> shown([{"text": "Ada", "start": 3}])
    'Ada'
    """
    match value:
        case None:
            return "–"
        case bool():
            return str(value).lower()
        case list() | tuple():
            return " · ".join(shown(item) for item in value)
        case dict() if "text" in value:
            return str(value["text"])
        case dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)

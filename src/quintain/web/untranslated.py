"""Texts that a language's catalogue does not have: they are shown in English, and say that they are.

A template cannot know whether a text of its own comes to stand in an element, where it can say `lang="en"`, or in an
attribute. So what is not translated is put between two marks, and when the page is whole, each pair of marks in running
text becomes an element; all others go.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from quintain.web.i18n import SOURCE_LANGUAGE, Tongue

BEGIN, END = "\ufdd0", "\ufdd1"  # no characters of any script, and in no text that is to be shown
_MARKS = re.compile(f"[{BEGIN}{END}]")
# Where no element can stand: within tags, and in elements that hold nothing but text.
_NO_ELEMENTS = re.compile(
    r"(<(script|style|textarea|title|option|text|tspan)\b.*?</\2\s*>|<[^>]*>)", re.DOTALL | re.IGNORECASE
)
_PAIR = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
_ELEMENT = rf'<span lang="{SOURCE_LANGUAGE}" dir="ltr">\1</span>'


class Untranslated:
    """What templates call for their texts: like gettext, with marks around what is still English."""

    def __init__(self, tongue: Tongue) -> None:
        self.tongue = tongue

    def gettext(self, message: str, **values: object) -> Markup:
        """Translate *message* and fill in *values*, which are escaped."""
        text = self.tongue.catalogue.gettext(message)
        return self._filled(text, text == message and not self._knows(message), values)

    def ngettext(self, singular: str, plural: str, num: int, **values: object) -> Markup:
        """Translate what is said of one or of many, and fill in their number as *num*."""
        text = self.tongue.catalogue.ngettext(singular, plural, num)
        is_english = text in {singular, plural} and not self._knows((singular, 0))
        return self._filled(text, is_english, {"num": self.tongue.number(num), **values})

    def _knows(self, message: str | tuple[str, int]) -> bool:
        """Whether the language has the message, perhaps in the very words of English."""
        return self.tongue.code == SOURCE_LANGUAGE or message in getattr(self.tongue.catalogue, "_catalog", {})

    def _filled(self, text: str, is_english: bool, values: dict[str, object]) -> Markup:
        filled = Markup(text) % {name: self.tongue.shown(value) for name, value in values.items()}  # noqa: S704
        return BEGIN + filled + END if is_english else filled


def mark_english(html: str) -> str:
    """Put the texts between marks into elements that say their language; where none can stand, take the marks away.

    >>> mark_english(f'<p title="{BEGIN}Pay{END}">{BEGIN}Pay{END}</p>')
    '<p title="Pay"><span lang="en" dir="ltr">Pay</span></p>'
    """
    if BEGIN not in html:
        return html
    whole = _NO_ELEMENTS.sub(lambda match: _MARKS.sub("", match[0]), html)
    return _MARKS.sub("", _PAIR.sub(_ELEMENT, whole))

"""What an option of a specification can take: numbers, texts, choices, moments, lists."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from quintain.core.texts import Text

LONG = 1000  # characters from which a text gets more than a line on a form
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")  # half a surrogate pair is no text, and PostgreSQL takes no NUL
UNITS = {"s": timedelta(seconds=1), "m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Kind:
    """Whether a value *fits*, what is *wanted* where it does not, how it is *kept*, and how it is written (*plain*).

    *widget* is how a form asks for it. *choices* are the names there are, each with what a page calls it and an
    explanation, if any. With *make* it is a table that is a specification of its own, or with *many* a list of them;
    with *each*, a table from names to values that each are of that kind, and the names are *choices* if there are any.
    Where it can be said more closely, *why* says what is wrong with a value.
    """

    fits: Callable[[Any], bool]
    wanted: Text
    widget: str = "text"
    kept: Callable[[Any], Any] = _same
    plain: Callable[[Any], Any] = _same
    choices: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    make: type[Any] | None = None
    many: bool = False
    each: Kind | None = None
    why: Callable[[Any], Text | None] | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is one table that is a specification of its own."""
        return self.make is not None and not self.many

    def wrong(self, value: Any) -> Text:
        """Return what is wrong with *value*, which does not fit.

        >>> whole(1, 9).wrong("three")
        "is 'three', not a whole number from 1 to 9"
        """
        closer = self.why(value) if self.why is not None else None
        if closer is not None:
            return closer
        if value == "":
            return Text("is empty; it is {wanted}", wanted=self.wanted)
        shown = str(value).lower() if isinstance(value, bool) else repr(value)  # as files write it
        shown = shown if len(shown) < 60 else f"{shown[:59]}…"
        return Text("is {value}, not {wanted}", value=shown, wanted=self.wanted)


def whole(low: int, high: int, widget: str = "whole") -> Kind:
    """Take a whole number."""
    return Kind(
        lambda value: is_whole(value) and low <= value <= high,
        Text("a whole number from {low} to {high}", low=low, high=high),
        widget,
    )


def money(high: int = 10**9) -> Kind:
    """Take an amount in minor units of the currency that the option `currency` beside it names."""
    return whole(0, high, "money")


def number(low: float = -math.inf, high: float = math.inf, *, above: bool = False) -> Kind:
    """Take a number from *low*, or *above* it, to *high*."""
    description = Text("a number from {low:g} to {high:g}", low=float(low), high=float(high))
    if above:
        description = Text("a number above {low:g} and at most {high:g}", low=float(low), high=float(high))
    elif math.isinf(high):
        description = Text("a number") if math.isinf(low) else Text("a number from {low:g} up", low=float(low))
    return Kind(
        lambda value: is_number(value) and (low < value if above else low <= value) and value <= high,
        description,
        "number",
    )


def fraction(*, above: bool = False) -> Kind:
    """Take a number from 0, or *above* it, to 1."""
    return number(0, 1, above=above)


def flag() -> Kind:
    """Take true or false."""
    return Kind(lambda value: isinstance(value, bool), Text("true or false"), "check")


def any_text() -> Kind:
    """Take any text."""
    return Kind(lambda value: isinstance(value, str), Text("a text"))


def text(most: int, least: int = 0, *, raw: bool = False) -> Kind:
    """Take a text; with *least*, no blank one; with *raw*, one with control characters, too."""
    refused = UNSTORABLE if raw else CONTROL
    return Kind(
        lambda value: (
            isinstance(value, str) and least <= len(value.strip()) and len(value) <= most and not refused.search(value)
        ),
        Text("a text of {least} to {most} characters", least=least, most=most)
        if least
        else Text("a text of at most {most} characters", most=most),
        "area" if most >= LONG else "text",
    )


def matching(pattern: str, description: Text, widget: str = "text") -> Kind:
    """Take a text of the form *pattern*, which *description* says in words."""
    return Kind(lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None, description, widget)


def currency() -> Kind:
    """Take the code of a currency."""
    return matching(r"[A-Z]{3}", Text("a currency code such as USD"), "currency")


def name(most: int = 40) -> Kind:
    """Take a name that can stand in addresses and commands."""
    form = rf"[a-z0-9]([a-z0-9_-]{{0,{most - 2}}}[a-z0-9])?"
    return matching(form, Text("a name of up to {most} small letters, digits, - and _", most=most))


def label() -> Kind:
    """Take the name of a label: 1 to 80 characters, no blank at either end."""
    return matching(r"\S(.{0,78}\S)?", Text("a name of 1 to 80 characters"))


def address() -> Kind:
    """Take the address of a page, or none."""
    return matching(r"(https?://\S{1,480})?", Text("an http(s) address"))


def texts(most: int, *, offered: bool = False) -> Kind:
    """Take a list of different texts; those that are *offered* by a page are ticked there, others typed."""
    return Kind(
        lambda value: (
            isinstance(value, list | tuple)
            and len(value) <= most
            and all(isinstance(one, str) and one.strip() and len(one) <= 200 for one in value)
            and len(set(value)) == len(value)
        ),
        Text("a list of at most {most} different texts", most=most),
        "boxes" if offered else "names",
        kept=tuple,
    )


def numbers(kind: Kind, most: int, *, least: int = 0) -> Kind:
    """Take a list of different numbers, each of *kind*.

    >>> numbers(whole(0, 9), 3).fits([1, 2, 2]), numbers(whole(0, 9), 3).wanted
    (False, 'a list of at most 3 different numbers, each a whole number from 0 to 9')
    """
    return Kind(
        lambda value: (
            isinstance(value, list | tuple)
            and least <= len(value) <= most
            and all(kind.fits(one) for one in value)
            and len(set(value)) == len(value)
        ),
        Text("a list of at most {most} different numbers, each {wanted}", most=most, wanted=kind.wanted),
        "numbers",
        kept=tuple,
        plain=list,
    )


def one_of(
    choices: Sequence[str] | Mapping[str, str | tuple[str, str]], *, cards: bool = False, empty: bool = False
) -> Kind:
    """Take one of some names, or an *empty* text.

    A mapping says what a page calls each; on *cards* they are all seen at once.
    """
    known = _choices(choices)
    return Kind(
        lambda value: isinstance(value, str) and (value in known or (empty and not value)),
        Text("one of {known}", known=", ".join(known)),
        "cards" if cards else "choice",
        choices=known,
    )


def some_of(choices: Sequence[str] | Mapping[str, str | tuple[str, str]]) -> Kind:
    """Take a list with any of some names."""
    known = _choices(choices)
    return Kind(
        lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) and one in known for one in value),
        Text("a list with any of {known}", known=", ".join(known)),
        "boxes",
        kept=tuple,
        choices=known,
    )


def each(kind: Kind | None = None, names: Sequence[str] = ()) -> Kind:
    """Take a table from names (of *names*, where they are given) to values that each are of *kind*, or anything."""
    return Kind(
        lambda value: isinstance(value, Mapping),
        Text("a table with {wanted} for each name", wanted=kind.wanted) if kind else Text("a table"),
        kept=dict,
        plain=dict,
        choices=_choices(names),
        each=kind or Kind(lambda _: True, Text("anything")),
    )


def moment() -> Kind:
    """Take a date and time; one without a time zone is in UTC."""
    return Kind(
        lambda value: isinstance(value, datetime),
        Text("a date and time such as 2026-12-01T09:00:00Z"),
        "moment",
        kept=lambda value: value.replace(tzinfo=UTC) if value.tzinfo is None else value,
    )


def local_moment() -> Kind:
    """Take a date and time by the clocks of a place that is named elsewhere, unless it has a time zone of its own."""
    return Kind(
        lambda value: isinstance(value, datetime) and 1970 <= value.year <= 2999,
        Text("a date and time such as 2026-12-01T09:00:00"),
        "local_moment",
    )


def duration(most: timedelta) -> Kind:
    """Take a length of time, written as a number with its unit and kept as a timedelta.

    >>> duration(timedelta(days=9)).kept("36h"), duration(timedelta(days=9)).plain(timedelta(hours=48))
    (datetime.timedelta(days=1, seconds=43200), '2d')
    """
    return Kind(
        lambda value: isinstance(value, str) and bool(re.fullmatch(r"\d{1,9}[smhd]", value)) and _time(value) <= most,
        Text("a length of time such as 90s, 20m, 36h or 7d, at most {most}", most=_time_text(most)),
        kept=_time,
        plain=_time_text,
    )


def is_whole(value: Any) -> bool:
    """Whether *value* is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether *value* is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _choices(choices: Sequence[str] | Mapping[str, str | tuple[str, str]]) -> dict[str, tuple[str, str]]:
    if not isinstance(choices, Mapping):
        return {choice: (choice, "") for choice in choices}
    return {one: (words, "") if isinstance(words, str) else words for one, words in choices.items()}


def _time(value: str) -> timedelta:
    return int(value[:-1]) * UNITS[value[-1]]


def _time_text(value: timedelta) -> str:
    unit = next((unit for unit in reversed(UNITS) if not value % UNITS[unit]), "s")
    return f"{value // UNITS[unit]}{unit}"

"""Texts of ours: English words with values in them, which pages can say in another language.

    Text("There is no task called '{name}'.", name="nli")

A `Text` is the finished English string, and remembers the template and the values that it was made of. So a command
prints it and the API sends it as it is, while a page looks the template up in a catalogue and fills it anew. A value
may itself be a `Text`: a reason within a message is then said in the same language.
"""

from __future__ import annotations

import numbers
import string
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol, runtime_checkable

Value = str | int | float


class _Names(string.Formatter):
    """`str.format` with names only: a template reaches no attribute and no entry of a value."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs[field_name], field_name


_NAMES = _Names()


def fill(template: str, values: Mapping[str, Value]) -> str:
    """Put *values* into *template*; one without values is taken as it is, braces and all.

    >>> fill("{name} has {n:,} rows", {"name": "train", "n": 1200})
    'train has 1,200 rows'
    """
    return _NAMES.vformat(template, (), values) if values else template


class Text(str):
    """A text of ours, with what it was made of.

    >>> Text("There is no task called '{name}'.", name="nli")
    "There is no task called 'nli'."
    """

    template: str
    many: str | None
    values: Mapping[str, Value]

    def __new__(cls, template: str, /, **values: object) -> Text:
        """Fill *template* with *values*; what is no text and no number is written out."""
        plain = {name: _plain(value) for name, value in values.items()}
        return cls._filled(template, None, plain)

    @classmethod
    def plural(cls, singular: str, many: str, /, *, n: int, **values: object) -> Text:
        """Choose between *singular* and *many* by the number *n*, as each language does.

        >>> Text.plural("{n} row is bad.", "{n} rows are bad.", n=3)
        '3 rows are bad.'
        """
        return cls._filled(singular, many, {"n": n, **{name: _plain(value) for name, value in values.items()}})

    @classmethod
    def _filled(cls, template: str, many: str | None, values: Mapping[str, Value]) -> Text:
        chosen = template if many is None or values["n"] == 1 else many
        text = super().__new__(cls, fill(chosen, values))
        text.template, text.many, text.values = template, many, values
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._filled, (self.template, self.many, self.values)


class Sum(str):
    """An amount of money within a text, in minor units of its currency: the interface writes it as its readers do."""

    amount: int
    currency: str

    def __new__(cls, text: str, amount: int, currency: str) -> Sum:
        """Remember beside *text*, how it is written in English, what it is."""
        written = super().__new__(cls, text)
        written.amount, written.currency = amount, currency
        return written

    def __reduce__(self) -> tuple[Any, ...]:
        return Sum, (str(self), self.amount, self.currency)


@runtime_checkable
class _HasCurrency(Protocol):
    amount: int
    currency: str


class Word(str):
    """One word of ours within a text, such as a state: the interface has it in every language."""


def packed(text: Text) -> dict[str, Any]:
    """Return a text as plain data that can be kept: `unpacked` makes it again.

    >>> packed(Text("{n} rows of {name}", n=3, name="train"))
    {'template': '{n} rows of {name}', 'values': {'n': 3, 'name': 'train'}}
    """
    data: dict[str, Any] = {"template": text.template, "values": {}}
    if text.many is not None:
        data["many"] = text.many
    for name, value in text.values.items():
        data["values"][name] = _packed_value(value)
    return data


def _packed_value(value: Value) -> Any:
    match value:
        case Text():
            return packed(value)
        case Word():
            return {"word": str(value)}
        case Sum():
            return {"sum": str(value), "amount": value.amount, "currency": value.currency}
    return value


def unpacked(data: Mapping[str, Any]) -> Text:
    """Make a text of what `packed` gave.

    >>> unpacked(packed(Text("{n} rows of {name}", n=3, name=Text("the file"))))
    '3 rows of the file'
    """
    values: dict[str, Value] = {}
    for name, value in data["values"].items():
        values[name] = _unpacked_value(value) if isinstance(value, Mapping) else value
    return Text._filled(data["template"], data.get("many"), values)


def _unpacked_value(data: Mapping[str, Any]) -> str:
    if "word" in data:
        return Word(data["word"])
    return Sum(data["sum"], data["amount"], data["currency"]) if "sum" in data else unpacked(data)


def as_text(text: str, values: Mapping[str, object]) -> Text:
    """Return *text*, a template over *values*, as a Text; one that is a Text already stays as it is."""
    return text if isinstance(text, Text) else Text(text, **values)


def joined(parts: Iterable[str], between: str = " ") -> Text:
    """Put *parts* one after the other; those that are texts of ours stay so."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    return Text(between.join(f"{{{name}}}" for name in values), **values)


def either(words: Sequence[str]) -> str:
    """Name *words* as alternatives; those that are words of ours stay so.

    >>> either(["DE", "AT", "CH"])
    'DE, AT or CH'
    """
    if len(words) == 1:
        return words[0]
    return Text("{others} or {last}", others=joined(words[:-1], ", "), last=words[-1])


def hint(name: object, known: Sequence[str]) -> Text:
    """Return what may have been meant by *name*, or else what is *known*.

    >>> hint("titel", ["title", "task"])
    "did you mean 'title'?"
    """
    close = get_close_matches(str(name), known, n=1)
    if close:
        return Text("did you mean '{close}'?", close=close[0])
    return Text("there are {known}", known=", ".join(known) or Text("none"))


def _plain(value: object) -> Value:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):  # also one of numpy's
        return int(value)
    if isinstance(value, _HasCurrency) and not isinstance(value, Sum):
        return Sum(str(value), value.amount, value.currency)
    return value if isinstance(value, str | float) else str(value)

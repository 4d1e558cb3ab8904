"""The one form in which labels are compared, wherever two of them are.

Programs write the same label in different ways: pandas makes `1.0` of `1` once a cell is empty, Python says `True` and
JSON `true`, a spreadsheet leaves a space behind. What only a writer of files could tell apart is one label here:
numbers are numbers, truth values are truth values, spaces around a label do not count, nor does the form of Unicode.
Case does count: `NO` may be a code and `no` an answer. (`label_hints` says where it may be a slip.)

A label keeps its own spelling wherever it is shown or stored; `LabelNames` finds it by its form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,15})?|[+-]?\.[0-9]{1,15}", re.ASCII)
_TRUTH = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}
# In a set of nothing but these, a truth value may stand for its number, and the other way round.
_TWINS = {"true": "1", "false": "0", "1": "true", "0": "false"}
_TWO = (frozenset({"0", "1"}), frozenset({"true", "false"}))
# What nobody sees at the ends of a text: zero-width characters and the mark that begins some files.
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff"


def clean_label(label: Any) -> str:
    """Return a label as it is shown: as it came, without spaces around it, in one form of Unicode (NFC).

    >>> clean_label(" yes "), clean_label(True), clean_label("1.0")
    ('yes', 'true', '1.0')
    """
    if isinstance(label, bool):
        return "true" if label else "false"
    text = str(label)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).strip().strip(_UNSEEN)
    return text.strip()


def label_form(label: Any) -> str:
    """Return the form of a label by which it is compared with others.

    >>> label_form(1.0), label_form("1.0"), label_form(" 1 "), label_form("+1.50"), label_form("-0.0")
    ('1', '1', '1', '1.5', '0')
    >>> label_form(True), label_form("TRUE"), label_form("Yes "), label_form("007")
    ('true', 'true', 'Yes', '007')
    """
    text = clean_label(label)
    if text in _TRUTH:
        return _TRUTH[text]
    return _number_form(text) if _NUMBER.fullmatch(text) else text


def _number_form(text: str) -> str:
    """Write a number without a plus, without zeros that say nothing, and without a minus before 0."""
    sign = "-" if text.startswith("-") else ""
    whole, _, rest = text.lstrip("+-").partition(".")
    rest = rest.rstrip("0")
    plain = f"{whole or '0'}.{rest}" if rest else whole or "0"
    return plain if plain == "0" else sign + plain


class LabelNames:
    """Labels by the form in which they are compared, each with its own spelling.

    Where one label is spelled in several ways, its form is its spelling, so that the order of rows makes no difference.

    >>> names = LabelNames(["yes", "1.0", "1"])
    >>> names.find("yes "), names.find(1), names.find("Yes")
    ('yes', '1', None)
    >>> LabelNames(["0", "1"]).find(True), LabelNames(["1", "True", "0"]).all()
    ('1', ['0', '1'])
    """

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self._names: dict[str, str] = {}
        for label in labels:
            form, own = label_form(label), clean_label(label)
            self._names[form] = own if self._names.get(form, own) == own else form
        if not frozenset(self._names) - frozenset(_TWINS) and {"0", "1"} & self._names.keys():
            for truth in ("true", "false"):  # beside numbers it is one of them
                if truth in self._names:
                    del self._names[truth]
                    self._names.setdefault(_TWINS[truth], _TWINS[truth])
        self._two = any(frozenset(self._names) <= pair for pair in _TWO)

    def all(self) -> list[str]:
        """List the labels, in order."""
        return sorted(self._names.values())

    def find(self, label: Any) -> str | None:
        """Return the spelling of *label* here; None where it is none of these."""
        form = label_form(label)
        if form in self._names:
            return self._names[form]
        return self._names.get(_TWINS.get(form, "")) if self._two else None

    def renamed(self, labels: Iterable[str]) -> Mapping[str, str]:
        """Return what each of *labels* is called here; those that are none of these are joined by their forms."""
        texts = list(labels)
        others = LabelNames(text for text in texts if self.find(text) is None)
        return {text: self.find(text) or others.find(text) or text for text in texts}


@lru_cache(maxsize=256)
def names_of(labels: tuple[str, ...]) -> LabelNames:
    """Return the names of *labels*, which are looked up for every answer of a run."""
    return LabelNames(labels)

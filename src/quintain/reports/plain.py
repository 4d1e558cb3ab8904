"""A report as plain data that is kept, and back: its own texts stay texts, which a page can say in any language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from quintain.core.records.base import decode
from quintain.core.records.report import Report, ReportSection
from quintain.core.texts import Text, Word

# A mapping with this key stands for a text, or a word, of ours.
TEXT, MANY, VALUES, WORD = "§text", "§many", "§values", "§word"


def to_plain(report: Report) -> dict[str, Any]:
    """Return a report as data for JSON.

    >>> from_plain(to_plain(Report("k", Text("Of {n}", n=3), "", [], []))).title.template
    'Of {n}'
    """
    plain: dict[str, Any] = _packed(report)
    return plain


def from_plain(data: Mapping[str, Any]) -> Report:
    """Return the report that *data* was made of."""
    return decode(Report, _unpacked(data))


def sections_to_plain(sections: list[ReportSection]) -> list[Any]:
    """Return some sections of a report as data for JSON."""
    return [_packed(section) for section in sections]


def sections_from_plain(data: list[Any]) -> list[ReportSection]:
    """Return the sections that *data* was made of."""
    return [decode(ReportSection, _unpacked(one)) for one in data]


def _packed(value: Any) -> Any:
    if isinstance(value, Text):
        packed = {name: _packed(one) for name, one in value.values.items()}
        return {TEXT: value.template, MANY: value.many, VALUES: packed}
    if isinstance(value, Word):
        return {WORD: str(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _packed(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _packed(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(one) for one in value]
    # Numbers may be numpy's: what JSON cannot write would be found out only when it is kept.
    return value if value is None or isinstance(value, str | bool | int | float) else json.loads(json.dumps(value))


def _unpacked(value: Any) -> Any:
    if isinstance(value, Mapping):
        if TEXT in value:
            values = {name: _unpacked(one) for name, one in value[VALUES].items()}
            if value[MANY] is None:
                return Text(value[TEXT], **values)
            return Text.plural(value[TEXT], value[MANY], **values)
        if WORD in value:
            return Word(value[WORD])
        return {name: _unpacked(one) for name, one in value.items()}
    return [_unpacked(one) for one in value] if isinstance(value, list) else value

"""A task written as the TOML that `definition.parse_task` reads, and how every TOML of ours is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import Item

from quintain.core.task import Label, Task


def dump_task(task: Task) -> str:
    """Write *task* as TOML; reading it again gives the same task."""
    tables = {
        "name": task.name,
        "kind": task.kind,
        "languages": task.languages,
        "labels": _labels(task.labels),
        "extra_labels": _labels(task.extra_labels),
        "metrics": task.metrics,
        "canonical_metric": task.canonical_metric,
        "counted_perturbations": task.counted_perturbations,
        "title": task.title,
        "instructions": task.instructions,
        "content_warning": task.content_warning,
        "options": task.options,
    }
    required = {"name", "kind", "languages", "metrics", "canonical_metric"}
    return dump_toml({key: value for key, value in tables.items() if value or key in required})


def _labels(labels: Sequence[Label]) -> list[Any]:
    if not any(label.gloss or label.examples or label.mixes for label in labels):
        return [label.name for label in labels]
    return [{key: value for key, value in _label_as_table(label).items() if value} for label in labels]


def _label_as_table(label: Label) -> dict[str, Any]:
    record = _label_as_dict(label)
    translated = record.pop("glosses", None)
    return record | {"gloss": translated or label.gloss}


def dump_toml(tables: Mapping[str, Any]) -> str:
    r"""Write *tables* as a TOML file; reading it again gives the same, whatever the texts hold.

    >>> print(dump_toml({"pages": 10, "title": {"en": "A \"quoted\" title"}}).rstrip())
    pages = 10
    <BLANKLINE>
    [title]
    en = "A \"quoted\" title"
    """
    return tomlkit.dumps(_plain(tables))


def toml(value: Any) -> str:
    """Write one value as TOML, for the right side of a line.

    >>> toml({"rule": "language", "codes": ("en", "de")})
    '{rule = "language", codes = ["en", "de"]}'
    """
    return _inline(value).as_string()


def _inline(value: Any) -> Item:
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for name, entry in value.items():
            table.append(name, _inline(entry))
        return table
    if isinstance(value, Sequence) and not isinstance(value, str):
        array = tomlkit.array()
        for entry in value:
            array.append(_inline(entry))
        return array
    item: Item = tomlkit.item(_plain(value))
    return item


def _plain(value: Any) -> Any:
    """Return *value* in the types that tomlkit writes, and texts of several lines as such."""
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, str):
        # TOML's texts of several lines may turn a carriage return and line feed into a line feed alone.
        return tomlkit.string(value, multiline="\n" in value and "\r" not in value)
    if isinstance(value, Sequence):
        return [_plain(entry) for entry in value]
    return value


def task_as_dict(task: Task) -> dict[str, Any]:
    """Return *task* as plain data, for JSON."""
    return {
        "name": task.name,
        "kind": task.kind,
        "title": dict(task.title),
        "languages": list(task.languages),
        "labels": [_label_as_dict(label) for label in task.labels],
        "extra_labels": [_label_as_dict(label) for label in task.extra_labels],
        "metrics": list(task.metrics),
        "canonical_metric": task.canonical_metric,
        "counted_perturbations": list(task.counted_perturbations),
        "instructions": dict(task.instructions),
        "content_warning": dict(task.content_warning),
        "options": dict(task.options),
    }


def _label_as_dict(label: Label) -> dict[str, Any]:
    record = {"name": label.name, "gloss": label.gloss, "examples": list(label.examples)}
    glosses = {"glosses": dict(label.glosses)} if label.glosses else {}
    return record | glosses | ({"mixes": list(label.mixes)} if label.mixes else {})

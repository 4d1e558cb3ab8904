"""A task written as the TOML that `definition.parse_task` reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.task import Label, Task

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ONE_LINE_ONLY = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def dump_task(task: Task) -> str:
    """Write *task* as TOML; reading it again gives the same task."""
    lines = [f"name = {toml(task.name)}", f"kind = {toml(task.kind)}", f"languages = {toml(task.languages)}"]
    plain_labels = [
        (key, labels)
        for key, labels in (("labels", task.labels), ("extra_labels", task.extra_labels))
        if labels and not any(label.gloss or label.examples for label in labels)
    ]
    lines += [f"{key} = {toml([label.name for label in labels])}" for key, labels in plain_labels]
    lines.append(f"metrics = {toml(task.metrics)}")
    lines.append(f"canonical_metric = {toml(task.canonical_metric)}")
    for key, labels in (("labels", task.labels), ("extra_labels", task.extra_labels)):
        if (key, labels) not in plain_labels:
            lines += _label_tables(key, labels)
    texts = {"title": task.title, "instructions": task.instructions, "content_warning": task.content_warning}
    for key, values in (*texts.items(), ("options", task.options)):
        if values:
            lines += ["", f"[{key}]", *(f"{_key(name)} = {toml(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def toml(value: Any) -> str:
    """Write one value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {toml(entry)}" for name, entry in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return str(value)


def _label_tables(key: str, labels: Sequence[Label]) -> list[str]:
    lines = []
    for label in labels:
        lines += ["", f"[[{key}]]", f"name = {toml(label.name)}"]
        lines += [f"gloss = {toml(label.gloss)}"] if label.gloss else []
        lines += [f"examples = {toml(label.examples)}"] if label.examples else []
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    if "\n" in value and not _ONE_LINE_ONLY.search(value):
        inner = value.replace("\\", "\\\\").replace('"""', '""\\"')
        # A quotation mark at the very end would run into the closing ones.
        inner = inner[:-1] + '\\"' if inner.endswith('"') else inner
        return f'"""\n{inner}"""'
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def task_as_dict(task: Task) -> dict[str, Any]:
    """Give *task* as plain data, for JSON."""
    return {
        "name": task.name,
        "kind": task.kind,
        "title": dict(task.title),
        "languages": list(task.languages),
        "labels": [_label_as_dict(label) for label in task.labels],
        "extra_labels": [_label_as_dict(label) for label in task.extra_labels],
        "metrics": list(task.metrics),
        "canonical_metric": task.canonical_metric,
        "instructions": dict(task.instructions),
        "content_warning": dict(task.content_warning),
        "options": dict(task.options),
    }


def _label_as_dict(label: Label) -> dict[str, Any]:
    return {"name": label.name, "gloss": label.gloss, "examples": list(label.examples)}

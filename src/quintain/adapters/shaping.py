"""From examples to what libraries take, and from their numbers to answers. Standard library only: it runs inside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

TEXTUAL = ("text", "long_text")


def text_fields(options: Mapping[str, Any]) -> list[str]:
    """List the fields that the model reads: those of the option `fields`, else all texts of the task."""
    chosen = options.get("fields")
    if chosen:
        return [str(name) for name in chosen]
    return [item["name"] for item in options.get("task", {}).get("fields", []) if item["type"] in TEXTUAL]


def texts(batch: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> list[str]:
    """Write each example as one text: its fields, joined by the option `separator`."""
    fields = text_fields(options)
    separator = str(options.get("separator", "\n"))
    return [separator.join(str(item[name]) for name in fields if item.get(name) is not None) for item in batch]


def label_names(options: Mapping[str, Any]) -> list[str]:
    """Return the labels in the order of the model's outputs: the option `labels`, else those of the task."""
    return [str(label) for label in options.get("labels") or options.get("task", {}).get("labels", [])]


def softmax(scores: Sequence[float]) -> list[float]:
    """Turn scores into probabilities."""
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def distribution(scores: Sequence[float]) -> list[float]:
    """Return *scores* as they are where they are probabilities, else their softmax."""
    values = [float(score) for score in scores]
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"the model's scores {values[:8]} are not all finite numbers")
    if all(0 <= value <= 1 for value in values) and abs(sum(values) - 1) < 1e-3:
        return values
    return softmax(values)


def by_label(scores: Sequence[float], labels: Sequence[str]) -> dict[str, float]:
    """Return probabilities by label; refuse too many or too few scores."""
    if len(scores) != len(labels):
        raise ValueError(
            f"the model gives {len(scores)} scores and there are {len(labels)} labels ({', '.join(labels)}); "
            "list the model's own in options.labels, in its order"
        )
    return dict(zip(labels, distribution(scores), strict=True))


def named(value: Any, labels: Sequence[str]) -> Any:
    """Return the label that a class number means; a text stays as it is."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool) or not isinstance(value, int) or not labels:
        return value
    if not 0 <= value < len(labels):
        raise ValueError(f"the model answered class {value}, and there are {len(labels)} labels")
    return labels[value]

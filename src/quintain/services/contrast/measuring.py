"""How large an edit is, over all fields of an example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.contrast import Limit
from quintain.core.task import Field, Task
from quintain.stats.diff import EditSize, edit_size
from quintain.tasks.contract import kind_of

NOTHING = EditSize(0, 0, 0.0)
ONE_THING = EditSize(1, 1, 1.0)


def measure(task: Task, before: Mapping[str, Any], after: Mapping[str, Any]) -> EditSize:
    """Add up the edits of all fields. Another image is one change; a position that moved with its word is none."""
    fields = kind_of(task).fields(task)
    sizes = [_size(item, before.get(item.name), after.get(item.name)) for item in fields]
    tokens, characters = sum(size.tokens for size in sizes), sum(size.characters for size in sizes)
    return EditSize(tokens, characters, max(size.share for size in sizes))


def exceeds(size: EditSize, limit: Limit) -> bool:
    """Whether an edit is larger than what counts as minimal.

    >>> exceeds(EditSize(6, 20, 0.5), Limit()), exceeds(EditSize(6, 20, 0.5), Limit(most=0))
    (True, False)
    """
    measured = size.tokens if limit.measure == "tokens" else size.characters
    return bool(limit.most) and measured > limit.most


def text_of(value: Any) -> str:
    """Return an input as one text: words and lines with spaces between them."""
    if value is None:
        return ""
    return " ".join(str(one) for one in value) if isinstance(value, list | tuple) else str(value)


def _size(item: Field, before: Any, after: Any) -> EditSize:
    if item.type == "token":
        return NOTHING
    if item.type == "image":
        return NOTHING if before == after else ONE_THING
    return edit_size(text_of(before), text_of(after))

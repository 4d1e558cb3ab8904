"""A validation as services pass it around, and the slots of its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quintain.core.task import Task
from quintain.core.validation import ValidationPolicy, ValidationState
from quintain.stats.judgements import mix, name_hashes
from quintain.store.queries.validate.slots import NewSlot

QUALIFICATION = "judge"  # of a task, for all its validations


@dataclass(frozen=True, slots=True)
class ValidationInfo:
    """A validation: what is judged, by which policy, and where it stands."""

    id: int
    task: Task
    task_id: int
    round_id: int | None
    name: str
    state: ValidationState
    seed: int
    seen_to: str
    revision: int
    policy: ValidationPolicy

    @property
    def ref(self) -> str:
        """The name that means this validation."""
        return f"{self.task.name}/{self.name}"


def slot_rows(
    validation: ValidationInfo,
    ids: Sequence[int],
    items: Sequence[Mapping[str, Any]],
    first: int,
    counts: Sequence[int],
) -> list[NewSlot]:
    """Make so many slots for each item as *counts* says, from number *first* on, drawn by the validation's seed."""
    names = name_hashes(str(item["hash"]) for item in items)
    most = max(counts, default=0)
    drawn = mix(names[:, None], np.arange(first, first + most, dtype=np.uint64)[None, :], validation.seed) >> np.uint64(
        1
    )
    own = validation.id
    return [
        (own, item_id, k, item["batch"], k, draw, item["author_id"])
        for item_id, item, draws, count in zip(ids, items, drawn.tolist(), counts, strict=True)
        for k, draw in enumerate(draws[:count], first)
    ]

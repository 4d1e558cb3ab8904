"""Names of private models in what is stored: taken out when it is shown, by who asks and what is private then.

What a release, a round or a report says of models was written when its owner could see them. One filter stands before
all of it: a reference to a model that somebody may not see reads "private model", wherever it stands in a text, and so
does its bare name where a key says that a model is meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.store.queries.access.concealed import hidden_models

PRIVATE = "private model"
KEYS = frozenset({"model", "models", "target", "targets", "against", "opponent", "leader", "best", "solved_by"})
T = TypeVar("T")


class Conceal:
    """Takes the names of the models of *task* that *actor* may not see out of what is stored."""

    def __init__(self, db: Session, actor: Actor, task: str) -> None:
        owns = actor.has(RoleName.OWNER, task)
        hidden = {} if owns else hidden_models(db, task, actor.user_id)
        self._names = frozenset(name for name, visibility in hidden.items() if visibility == "private")
        self._unnamed = frozenset(hidden) - self._names
        either = "|".join(re.escape(name) for name in sorted(self._names, key=len, reverse=True))
        self._refs = re.compile(rf"\b{re.escape(task)}/(?:{either})(?:@[0-9a-f]+)?(?![\w.-])") if either else None

    def __call__(self, value: T) -> T:
        """Return *value*, a text, plain data or a record, without the names."""
        return value if self._refs is None else self._cleaned(value, named=False)

    @property
    def hides_something(self) -> bool:
        """Whether the task has a model that *actor* may not see, or not whose it is."""
        return bool(self._names or self._unnamed)

    def hides_builder(self, name: str) -> bool:
        """Whether *actor* may not see whose the model of this name is."""
        return name in self._names or name in self._unnamed

    def title(self, text: str) -> str:
        """Return a title that people wrote, without the names in whatever way they wrote them."""
        for name in sorted(self._names, key=len, reverse=True):
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", PRIVATE, self(text))
        return text

    def hides(self, name: str) -> bool:
        """Whether a model is one that *actor* may not see, by its name or its reference."""
        return name.rpartition("/")[2].partition("@")[0] in self._names

    def column(self, name: str) -> pl.Expr:
        """Return the column *name*, whose cells are JSON, without the names; only rows that hold one cost anything."""
        column = pl.col(name)
        return column.map_batches(self._column, return_dtype=pl.String) if self._names else column

    def _column(self, cells: pl.Series) -> pl.Series:
        at = cells.str.contains_any(sorted(self._names)).fill_null(value=False).arg_true()
        cleaned = [json.dumps(self(json.loads(cell)), ensure_ascii=False) for cell in cells.gather(at)]
        return cells.scatter(at, cleaned) if cleaned else cells

    def _cleaned(self, value: Any, *, named: bool) -> Any:
        if isinstance(value, str):
            return PRIVATE if named and self.hides(value) else self._refs.sub(PRIVATE, value) if self._refs else value
        if is_dataclass(value) and not isinstance(value, type):
            inner = {item.name: (getattr(value, item.name), item.name in KEYS) for item in fields(value) if item.init}
            return replace(value, **{name: self._cleaned(one, named=named) for name, (one, named) in inner.items()})
        if isinstance(value, Mapping):
            return {self._key(key): self._cleaned(inner, named=key in KEYS) for key, inner in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            return type(value)(self._cleaned(inner, named=named) for inner in value)  # type: ignore[call-arg]
        return value

    def _key(self, key: Any) -> Any:
        return self._cleaned(key, named=False) if isinstance(key, str) else key

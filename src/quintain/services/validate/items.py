"""The items of a validation as a list: what became of each, by state and label, and those whose text says something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.validate import STATES, ItemState, JudgedItem, JudgedItems
from quintain.services.access.permissions import require_owner
from quintain.services.validate.adjudicate import contested_places
from quintain.services.validate.final_labels import FinalLabels, final_labels
from quintain.services.validate.judge_figures import measured
from quintain.services.validate.validations import find
from quintain.stats.judgements import NONE
from quintain.store.queries.validate import validation as queries

ItemOrder = Literal["item", "share", "judgements", "label"]
ORDERS: tuple[ItemOrder, ...] = get_args(ItemOrder)


@dataclass(frozen=True, slots=True)
class WantedItems:
    """Which items: of a *state*, with a *label*, whose inputs contain a *text*; in what order, and which of them.

    Contested items are those that experts should look at; undecided ones are complete and have no majority.
    """

    state: str = ""
    label: str = ""
    text: str = ""
    order: str = "item"
    down: bool = False
    offset: int = 0
    limit: int = 25


@dataclass(frozen=True, slots=True)
class _Columns:
    """One entry per item of the validation; *place* is where it is among the labelled ones, or -1."""

    ids: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    judgements: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    complete: npt.NDArray[np.bool_]
    contested: npt.NDArray[np.bool_]

    def mask(self, state: str) -> npt.NDArray[np.bool_]:
        """Say which items are in a state."""
        masks: dict[str, npt.NDArray[np.bool_]] = {
            "contested": self.contested,
            "labelled": self.complete & (self.label != NONE),
            "undecided": self.complete & (self.label == NONE),
            "waiting": ~self.complete,
        }
        return masks[state]


def list_items(db: Session, actor: Actor, ref: str, wanted: WantedItems | None = None) -> JudgedItems:
    """List items of a validation, for its owner."""
    wanted = wanted or WantedItems()
    _check(wanted)
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    known = measured(db, validation)
    final = final_labels(db, validation, known.evidence, known.figures)
    ids = queries.item_ids(db, validation.id)
    columns = _columns(final, ids)
    keep = np.ones(len(ids), dtype=bool) if not wanted.state else columns.mask(wanted.state)
    if wanted.label:
        code = final.classes.index(wanted.label) if wanted.label in final.classes else NONE - 1
        keep = keep & (columns.label == code)
    if wanted.text.strip():
        keep = keep & np.isin(ids, queries.ids_with_text(db, validation.id, wanted.text.strip()))
    chosen = _ordered(columns, np.flatnonzero(keep), wanted)
    first = min(wanted.offset, max(len(chosen) - 1, 0) // wanted.limit * wanted.limit)  # beyond the end: the last page
    shown = chosen[first : first + wanted.limit]
    found = queries.items(db, ids[shown].tolist())
    copies = queries.copied(db, validation.id, [item.hash for item in found.values()])
    rows = [_row(final, columns, int(at), found[int(ids[at])], copies) for at in shown]
    return JudgedItems(rows, len(chosen), {state: int(columns.mask(state).sum()) for state in STATES})


def _check(wanted: WantedItems) -> None:
    if wanted.state and wanted.state not in STATES:
        raise BadInput(
            "'{state}' is no state of items.",
            state=wanted.state,
            known=", ".join(STATES),
            remedy="Use one of {known}.",
        )
    if wanted.order not in ORDERS:
        raise BadInput(
            "Items are not ordered by '{order}'.",
            order=wanted.order,
            known=", ".join(ORDERS),
            remedy="Use one of {known}.",
        )


def _columns(final: FinalLabels, ids: npt.NDArray[np.int64]) -> _Columns:
    where = np.searchsorted(final.items, ids)
    known = np.zeros(len(ids), dtype=bool)
    inside = where < len(final.items)
    known[inside] = final.items[where[inside]] == ids[inside]
    place = np.where(known, where, -1)
    at = place[known]
    votes = final.votes.sum(axis=1) if len(final.items) else np.zeros(0, dtype=np.int64)
    top = final.votes.max(axis=1, initial=0) if len(final.items) else np.zeros(0, dtype=np.int64)
    contested = np.zeros(len(final.items), dtype=bool)
    contested[contested_places(final)] = True
    columns = _Columns(
        ids,
        place,
        np.full(len(ids), NONE, dtype=np.int64),
        np.zeros(len(ids), dtype=np.int64),
        np.full(len(ids), np.nan),
        np.zeros(len(ids), dtype=bool),
        np.zeros(len(ids), dtype=bool),
    )
    columns.label[known] = final.label[at]
    columns.judgements[known] = votes[at]
    columns.share[known] = top[at] / np.maximum(votes[at], 1)
    columns.complete[known] = final.complete[at]
    columns.contested[known] = contested[at]
    return columns


def _ordered(columns: _Columns, chosen: npt.NDArray[np.int64], wanted: WantedItems) -> npt.NDArray[np.int64]:
    keys = {
        "item": columns.ids,
        "share": columns.share,
        "judgements": columns.judgements,
        "label": np.where(columns.label == NONE, np.inf, columns.label),
    }
    key = keys[wanted.order][chosen].astype(np.float64)
    missing = ~np.isfinite(key)  # items without a value come last either way
    order = np.lexsort((columns.ids[chosen], np.where(missing, 0, -key if wanted.down else key), missing))
    return chosen[order]


def _row(final: FinalLabels, columns: _Columns, at: int, item: Any, copies: set[str]) -> JudgedItem:
    place = int(columns.place[at])
    votes = final.votes[place] if place >= 0 else np.zeros(len(final.classes), dtype=np.int64)
    label = int(columns.label[at])
    state: ItemState = "waiting" if not columns.complete[at] else "undecided" if label == NONE else "labelled"
    return JudgedItem(
        id=item.id,
        inputs=dict(item.inputs),
        state=state,
        contested=bool(columns.contested[at]),
        label=final.classes[label] if label != NONE else None,
        votes={name: int(count) for name, count in zip(final.classes, votes, strict=True) if count},
        share=None if np.isnan(columns.share[at]) else float(columns.share[at]),
        by_expert=place >= 0 and bool(final.decided[place]),
        gold=item.hash in copies,
    )

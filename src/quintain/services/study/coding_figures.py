"""What comes of a coding: shares with intervals and agreement, kept as codes arrive; arms once it is closed.

Figures are computed after a code, in steps of a twentieth of all that are wanted, and at the end; nobody who looks
computes them. The table of codes has all that they are computed from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.coding import NONE, CodingState
from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.records import coding as records
from quintain.core.records.base import decode, to_json
from quintain.core.records.figures import Estimate
from quintain.data.cells import RowWriter
from quintain.data.exporting import whole_or_nothing
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.access.pseudonyms import pseudonyms
from quintain.services.jobs.checks import Checked, compared
from quintain.services.study.coding_sources import shorten, text_of
from quintain.services.study.codings import CodingInfo, find_coding, records_of, require_open
from quintain.services.tasks.definitions import get_task
from quintain.stats.coding import Codes, agreement_on, agreement_on_all, arm_pairs, arm_shares, difference_of, share_of
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.study import coding as queries
from quintain.store.tables import CodingRow

KIND = "figures of codings"
STEPS = 20  # times that figures are computed anew while people code
EXAMPLES = 3  # of each category that are shown
LONGEST = 400
CHUNK = 500  # codes whose texts are read at once


def keep_figures(db: Session, info: CodingInfo) -> None:
    """Compute the figures anew where enough was said since the last time; outside of any transaction."""
    places, done, _ = queries.counts(db, [info.id])[info.id]
    fresh = queries.count_said(db, info.id) - db.get_one(CodingRow, info.id).figured
    if done == places or fresh >= max(1, places // STEPS):
        _keep(db, info)


def close_coding(db: Session, actor: Actor, ref: str) -> records.CodingResults:
    """End a coding for good: figures are drawn up, and the owner learns which item is of which arm."""
    info = find_coding(db, ref)
    require_owner(actor, info.task)
    require_open(info)
    if not queries.count_said(db, info.id):
        raise Conflict("Nothing has been coded in {ref} yet.", ref=ref, remedy="Close it once people have coded.")
    _keep(db, info, actor)
    return results(db, actor, ref)


def results(db: Session, actor: Actor, ref: str) -> records.CodingResults:
    """Return what came of a coding so far (owners); arms, differences and examples once it is closed."""
    info = find_coding(db, ref)
    require_owner(actor, info.task)
    row = db.get_one(CodingRow, info.id)
    figures = decode(records.CodingFigures, row.figures) if row.figures else None
    if figures is not None and figures.examples:
        figures = replace(figures, examples=_shown(db, info, figures.examples))
    return records.CodingResults(records_of(db, [info])[0], figures)


def _shown(db: Session, info: CodingInfo, examples: Sequence[records.CodedExample]) -> list[records.CodedExample]:
    """Leave out the texts that were taken back, or are withheld, since the figures were drawn up."""
    task = get_task(db, info.task)
    left = queries.left_items(db, info.id)
    gone = {(one.arm, shorten(text_of(task, one.inputs, one.text), LONGEST)) for one in left}
    return [example for example in examples if (example.arm, example.text) not in gone]


def export_codes(db: Session, actor: Actor, ref: str, path: Path) -> int:
    """Write all codes to *path* as CSV, a line for each person's word on an item, and count them (owners).

    Every figure can be computed from it: a column for each category has 1 or 0, people have the names of exports, and
    items their arms once the coding is closed.
    """
    info = find_coding(db, ref)
    require_owner(actor, info.task)
    origin = ["arm", "key"] if info.state is CodingState.CLOSED else []
    head = ["item", *origin, "coder", *info.spec.categories, "label", "note", "seconds", "coded_at", "text"]
    number = 0
    pseudonyms(db, (), info.task)  # where nobody has had a name yet, the key to them is made before anything is read
    with whole_or_nothing(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        out = RowWriter(stream)
        out.row(head)
        for rows in queries.codes_in_parts(db, info.id, CHUNK):
            out.rows(_lines(db, info, rows))
            number += len(rows)
    return number


def _lines(db: Session, info: CodingInfo, rows: Sequence[queries.CodedRow]) -> Iterator[list[Any]]:
    task, closed = get_task(db, info.task), info.state is CodingState.CLOSED
    names = pseudonyms(db, {row.user_id for row in rows}, info.task)
    texts = queries.contents(db, list({row.item_id for row in rows}))
    for row in rows:
        flags = [int(category in row.categories) for category in info.spec.categories]
        seconds = "" if row.seconds is None else round(row.seconds, 2)
        unblinded = [row.arm, row.key] if closed else []
        label = "|".join(row.categories) or NONE
        at, text = row.created_at.isoformat(), text_of(task, *texts[row.item_id])
        yield [row.item_id, *unblinded, names[row.user_id], *flags, label, row.note, seconds, at, text]


def _keep(db: Session, info: CodingInfo, closing: Actor | None = None) -> None:
    """Compute the figures, and keep them unless newer ones are there; *closing* ends the coding by it."""
    while True:
        count = queries.count_said(db, info.id)
        figures = _figures(db, info, closed=closing is not None)
        with transaction(db):
            lock(db, f"coding {info.ref}")
            row = db.get_one(CodingRow, info.id, populate_existing=True)
            if row.state != CodingState.OPEN:
                return
            if closing is not None and queries.count_said(db, info.id) != count:
                continue  # somebody coded while it was computed
            if count >= row.figured:
                row.figures, row.figured = json.loads(to_json(figures)), count
            if closing is not None:
                row.state, row.closed_at = CodingState.CLOSED.value, now()
                audit.record(db, closing, "coding.close", info.ref, codes=figures.codes)
            return


def check_coding(db: Session, blobs: Blobs, ref: str) -> Checked:
    """Compare the kept figures of a coding with its codes, and set them right.

    Codes that arrived since, and texts that were taken back, have outrun figures: those are computed anew and no fault.
    """
    info = find_coding(db, ref)
    count = queries.count_said(db, info.id)
    if not queries.codes(db, info.id):
        return Checked()
    counted = json.loads(to_json(_figures(db, info, closed=info.state is CodingState.CLOSED)))
    with transaction(db):
        lock(db, f"coding {info.ref}")
        row = db.get_one(CodingRow, info.id, populate_existing=True)
        if not row.figures or row.state != info.state or queries.count_said(db, info.id) != count:
            return Checked()  # there is nothing to compare, or somebody was faster
        outrun = row.figured != count or bool(queries.left_items(db, info.id))
        faults = compared(KIND, ref, _timeless(row.figures), _timeless(counted))
        if faults or outrun:
            row.figures, row.figured = counted, count
    return Checked(1, int(bool(outrun and faults)), () if outrun else faults)


def _timeless(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name != "at"}


def _figures(db: Session, info: CodingInfo, *, closed: bool) -> records.CodingFigures:
    task = get_task(db, info.task)
    rows = queries.codes(db, info.id)
    items = {one: at for at, one in enumerate(dict.fromkeys(row.item_id for row in rows))}
    arms = sorted({row.arm for row in rows})
    of_item = {row.item_id: arms.index(row.arm) for row in rows}
    names = info.spec.categories
    codes = Codes(
        said=np.array([[name in row.categories for name in names] for row in rows], dtype=np.bool_),
        item=np.array([items[row.item_id] for row in rows], dtype=np.int64),
        arms=np.array([of_item[item] for item in items], dtype=np.int64),
    )
    chosen = _most_chosen(codes, names) if closed else []
    texts = queries.contents(db, [list(items)[at] for _, at in chosen])
    db.rollback()  # hold nothing while it is computed
    votes, sizes = codes.votes, codes.sizes
    alpha, agreement = agreement_on_all(codes)
    shares = arm_shares(codes, len(arms)) if closed else []
    return records.CodingFigures(
        at=now(),
        items=len(items),
        codes=len(rows),
        coders=len({row.user_id for row in rows}),
        categories=[
            records.CategoryFigures(
                name=name,
                share=share_of(votes[:, at] / sizes),
                most=int((2 * votes[:, at] > sizes).sum()),
                any=int((votes[:, at] > 0).sum()),
                alpha=agreement_on(codes, at),
            )
            for at, name in enumerate(names)
        ],
        alpha=alpha,
        agreement=agreement,
        arms=[
            records.ArmFigures(arm, int((codes.arms == at).sum()), dict(zip(names, found, strict=True)))
            for at, (arm, found) in enumerate(zip(arms, shares, strict=False))
        ],
        differences=_differences(names, arms, shares) if closed else [],
        examples=[
            records.CodedExample(
                category=names[category],
                arm=arms[int(codes.arms[at])],
                text=shorten(text_of(task, *texts[list(items)[at]]), LONGEST),
                votes=int(votes[at, category]),
                coders=int(sizes[at]),
            )
            for category, at in chosen
        ],
    )


def _most_chosen(codes: Codes, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return, for each category, the items that most of their coders put there: category and item."""
    votes, sizes = codes.votes, codes.sizes
    chosen = []
    for category in range(len(names)):
        part = votes[:, category] / sizes
        best = np.argsort(-part, kind="stable")[:EXAMPLES]
        chosen += [(category, int(at)) for at in best if part[at] > 0]
    return chosen


def _differences(
    names: Sequence[str], arms: Sequence[str], shares: Sequence[Sequence[Estimate]]
) -> list[records.ArmDifference]:
    return [
        records.ArmDifference(
            name, arms[first], arms[second], difference_of(shares[first][category], shares[second][category])
        )
        for category, name in enumerate(names)
        for first, second in arm_pairs(arms)
    ]

"""Breaking: writing pairs one by one or from a table, changing and removing them, and looking at one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.core.records import contests as records
from quintain.core.task import Task
from quintain.core.text_form import form_id
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.contest.contests import ContestInfo, find_contest, require_phase
from quintain.services.contest.grading import as_cell
from quintain.services.contest.pair_checks import CheckedPair, PairDraft, desk_of, too_many
from quintain.services.contest.pair_files import PairRow, read_pairs
from quintain.services.contest.teams import find_team, require_drafts, require_part
from quintain.services.data.content import contains_text, scan_for_scoring
from quintain.services.data.datasets import get_version
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import pairs as queries
from quintain.store.queries.contest.pairs import StoredPair
from quintain.store.tables import ContestPair
from quintain.tasks.contract import kind_of

MAX_PAGE = 200


def put_pair(
    db: Session, blobs: Blobs, actor: Actor, ref: str, draft: PairDraft, *, new: bool = False
) -> records.ContestPair:
    """Add a pair to one's team's, or change the one of that name; an empty name is given one."""
    info = find_contest(db, ref)
    require_part(db, actor, info, "break")
    require_phase(info, Phase.BREAK)
    desk = desk_of(db, blobs, info, [draft])  # a file is read before anything is locked
    with transaction(db):
        info = find_contest(db, ref)
        team = require_part(db, actor, info, "break")
        require_phase(info, Phase.BREAK)
        lock(db, f"pairs of team {team.id}")
        if not draft.name:
            draft = replace(draft, name=_free_name(queries.names(db, team.id)))
        checked, faults = replace(desk, spec=info.spec).check(draft)
        if checked is None:
            raise BadInput(faults=faults)
        row = queries.named(db, team.id, draft.name)
        if row is not None and new:
            raise Conflict("Your team has a pair '{name}' already.", name=draft.name, remedy="Give it another name.")
        twin = _names_by_content(db, team.id).get(_content(checked.draft))
        if twin is not None and twin != draft.name:
            raise Conflict("Your team has the same pair already, as '{name}'.", name=twin)
        if row is None:
            _refuse_too_many(db, info, team.id, 1)
            row = _row(info, team.id, checked, actor)
            db.add(row)
        else:
            for name, value in _values(checked, actor).items():
                setattr(row, name, value)
        db.flush()
        return described(get_task(db, info.task), StoredPair(row, team.name))


def upload_pairs(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    preset: str = "",
    dispute: bool = False,
) -> records.PairsAdded:
    """Add the pairs of a table, two rows each; all of them, or nothing and every fault by its row.

    *preset* names the form of the file, where it is not our own (`bibi-2017`). With *dispute*, originals whose label is
    another than the starter set's dispute that one; without, they are faults.
    """
    info = find_contest(db, ref)
    team = require_part(db, actor, info, "break")
    require_phase(info, Phase.BREAK)
    task = get_task(db, info.task)
    db.rollback()  # hold no connection while a file is read
    uploaded = [
        replace(item, draft=replace(item.draft, dispute=dispute))
        for item in read_pairs(path, task, columns or {}, preset)
    ]
    desk = desk_of(db, blobs, info, [pair.draft for pair in uploaded])
    db.rollback()
    checked = [(one, *desk.check(one.draft)) for one in uploaded]
    with transaction(db):
        info = find_contest(db, ref)
        require_phase(info, Phase.BREAK)
        lock(db, f"pairs of team {team.id}")
        if info.spec != desk.spec:
            raise Conflict("{ref} was changed meanwhile.", ref=ref, remedy="Send the file again.")
        rows = _new_rows(db, actor, info, team.id, path.name, checked)
        _refuse_too_many(db, info, team.id, len(rows))
        db.add_all(rows)
        disputed = sum(row.claimed_gold is not None for row in rows)
        audit.record(db, actor, "contest.upload", info.ref, team=team.name, pairs=len(rows), disputed=disputed)
        db.flush()
        return records.PairsAdded(len(rows), queries.count(db, info.id, team_id=team.id), disputed)


def _content(draft: PairDraft) -> tuple[str, str]:
    """Return what a pair is compared by: both sides, but for what nobody can see of their texts."""
    return form_id(draft.original), form_id(draft.modified)


def _names_by_content(db: Session, team_id: int) -> dict[tuple[str, str], str]:
    rows = queries.contents(db, team_id)
    return {(form_id(original), form_id(modified)): name for original, modified, name in rows}


def _new_rows(
    db: Session,
    actor: Actor,
    info: ContestInfo,
    team_id: int,
    file: str,
    checked: Sequence[tuple[PairRow, CheckedPair | None, list[Fault]]],
) -> list[ContestPair]:
    """Make rows of the pairs of a file, or name every fault by its row."""
    taken, contents = queries.names(db, team_id), _names_by_content(db, team_id)
    faults: list[Fault] = []
    rows: list[ContestPair] = []
    for uploaded, pair, own in checked:
        wrong = own
        if uploaded.draft.name in taken:
            wrong = [*own, Fault("your team has a pair '{name}' already", name=uploaded.draft.name, field="pair_id")]
        elif pair is not None:
            key = _content(pair.draft)
            if key in contents:
                wrong = [Fault("is the same pair as '{name}'", name=contents[key], field="pair_id")]
            contents.setdefault(key, uploaded.draft.name)
            rows.append(_row(info, team_id, pair, actor))
        faults += [fault.at(file=file, row=uploaded.row_of(fault.field)) for fault in wrong]
    if faults:
        ordered = sorted(faults, key=lambda fault: fault.row or 0)
        raise BadInput(
            faults=ordered[:100], total=len(ordered), remedy="Mend these rows; nothing of the file was taken."
        )
    return rows


def remove_pair(db: Session, actor: Actor, ref: str, name: str) -> None:
    """Take a pair of one's team out again."""
    with transaction(db):
        info = find_contest(db, ref)
        team = require_part(db, actor, info, "break")
        require_phase(info, Phase.BREAK)
        row = queries.named(db, team.id, name)
        if row is None:
            raise NotFound("Your team has no pair '{name}'.", name=name)
        db.delete(row)


def list_drafts(
    db: Session, actor: Actor, ref: str, team: str, *, offset: int = 0, limit: int = 50
) -> records.ContestPairs:
    """Return a page of a team's pairs for the team and the organisers; who else asks is refused and written down."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} pairs.", most=MAX_PAGE)
    info = find_contest(db, ref)
    row = find_team(db, info, team)
    require_drafts(db, actor, info, row)
    task = get_task(db, info.task)
    drafts = queries.of_contest(db, info.id, team_id=row.id, offset=offset, limit=limit)
    total = queries.count(db, info.id, team_id=row.id)
    return records.ContestPairs([described(task, draft) for draft in drafts], total, offset)


def get_draft(db: Session, actor: Actor, ref: str, name: str) -> records.ContestPair:
    """Return a pair of one's own team by its name; NotFound without one."""
    info = find_contest(db, ref)
    team = require_part(db, actor, info, "break")
    row = queries.named(db, team.id, name)
    if row is None:
        raise NotFound("Your team has no pair '{name}'.", name=name)
    return described(get_task(db, info.task), StoredPair(row, team.name))


def starter_page(
    db: Session, blobs: Blobs, actor: Actor, ref: str, *, text: str = "", offset: int = 0, limit: int = 10
) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return a page of the starter set, with labels: those sentences that contain *text*, and how many there are."""
    info = find_contest(db, ref)
    if not info.spec.starter:
        return [], 0
    names = [field.name for field in kind_of(get_task(db, info.task)).fields(get_task(db, info.task))]
    table = scan_for_scoring(blobs, get_version(db, OPERATOR, info.spec.starter)).select("id", *names, "answer")
    if text:
        schema = table.collect_schema()
        table = table.filter(contains_text({name: schema[name] for name in names}, text))
    total = int(table.select(pl.len()).collect().item())
    return table.slice(offset, limit).collect().to_dicts(), total


def starter_example(db: Session, blobs: Blobs, ref: str, example: str) -> Mapping[str, Any]:
    """Return one sentence of the starter set; NotFound without one."""
    info = find_contest(db, ref)
    rows: list[dict[str, Any]] = []
    if info.spec.starter:
        table = scan_for_scoring(blobs, get_version(db, OPERATOR, info.spec.starter))
        rows = table.filter(pl.col("id") == example).collect().to_dicts()
    if not rows:
        raise NotFound("There is no example '{example}' in the starter set.", example=example)
    names = [field.name for field in kind_of(get_task(db, info.task)).fields(get_task(db, info.task))]
    return {name: rows[0][name] for name in ("id", *names, "answer")}


def described(task: Task, stored: StoredPair) -> records.ContestPair:
    """Return a pair as programs see it."""
    row = stored.row
    return records.ContestPair(
        id=row.id,
        team=stored.team,
        name=row.name,
        original=row.original,
        modified=row.modified,
        original_label=as_cell(task, row.original_gold),
        modified_label=as_cell(task, row.modified_gold),
        rationale=row.rationale,
        strategy=row.strategy,
        tags=tuple(row.tags),
        words=row.words,
        scratch=row.original_id is None,
        claimed_label=None if row.claimed_gold is None else as_cell(task, row.claimed_gold),
    )


def _row(info: ContestInfo, team_id: int, checked: CheckedPair, actor: Actor) -> ContestPair:
    return ContestPair(contest_id=info.id, team_id=team_id, name=checked.draft.name, **_values(checked, actor))


def _values(checked: CheckedPair, actor: Actor) -> dict[str, Any]:
    draft = checked.draft
    return {
        "original_id": checked.original_id,
        "original": dict(draft.original),
        "modified": dict(draft.modified),
        "original_hash": checked.original_hash,
        "modified_hash": checked.modified_hash,
        "original_gold": checked.original_gold,
        "modified_gold": checked.modified_gold,
        "claimed_gold": checked.claimed_gold,
        "rationale": draft.rationale.strip(),
        "strategy": draft.strategy.strip(),
        "tags": list(dict.fromkeys(draft.tags)),
        "words": checked.words,
        "author_id": actor.user_id,
    }


def _refuse_too_many(db: Session, info: ContestInfo, team_id: int, more: int) -> None:
    reason: Text | None = too_many(info.spec, queries.count(db, info.id, team_id=team_id), more)
    if reason is not None:
        raise Conflict(reason, remedy="Remove some first.", code="too_many_pairs")


def _free_name(taken: set[str]) -> str:
    number = len(taken) + 1
    while f"p{number}" in taken:
        number += 1
    return f"p{number}"

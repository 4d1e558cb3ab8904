"""What is shown without labels: what systems answered to the development set, and what is still to be answered."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.core.records import contests as records
from quintain.data.tables import write_table
from quintain.services.contest.answers import answer_cells, given_answers
from quintain.services.contest.contests import ContestInfo, organises
from quintain.services.contest.freeze import freeze, parts_of
from quintain.services.contest.pairs import MAX_PAGE
from quintain.services.contest.systems import visible_systems
from quintain.services.contest.teams import team_of
from quintain.services.data.content import contains_text, scan_for_scoring
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of


def dev_answers(
    db: Session, blobs: Blobs, actor: Actor, ref: str, *, text: str = "", offset: int = 0, limit: int = 25
) -> records.DevAnswers:
    """Return a page of what every system answered to the development set: for teams, once building is over."""
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadInput("A page begins at 0 or later and has 1 to {most} answers.", most=MAX_PAGE)
    info = freeze(db, blobs, ref)
    _require_team(db, actor, info)
    if info.phase in (Phase.COMING, Phase.BUILD):
        raise Conflict(
            "What systems answer is shown when building is over, after {time}.",
            time=info.schedule.local(info.schedule.begins(Phase.BREAK)),
            code="too_early",
        )
    task = get_task(db, info.task)
    names = [field.name for field in kind_of(task).fields(task)]
    table = scan_for_scoring(blobs, parts_of(db, info)["dev"]).select("id", *names)
    if text:
        schema = table.collect_schema()
        table = table.filter(contains_text({name: schema[name] for name in names}, text))
    total = int(table.select(pl.len()).collect().item())
    rows = table.slice(offset, limit).collect().to_dicts()
    systems = visible_systems(db, actor, info)
    submitted = given_answers(db, info, [one for one, _ in systems])
    ids = [row["id"] for row in rows]
    cells = {
        name: answer_cells(blobs, task, blob, ids) for one, name in systems if (blob := submitted[one.id, "dev"].blob)
    }
    items = [
        records.DevAnswer(row.pop("id"), row, {name: own.get(key) for name, own in cells.items()})
        for key, row in zip(ids, rows, strict=True)
    ]
    return records.DevAnswers(items, total, offset)


def export_part(db: Session, blobs: Blobs, actor: Actor, ref: str, part: str, path: Path) -> int:
    """Write the ids and inputs that systems are to answer, `dev` or `pairs`, to *path*; give how many there are."""
    info = freeze(db, blobs, ref)
    _require_team(db, actor, info)
    parts = parts_of(db, info)
    if part not in {"dev", "pairs"}:
        raise BadInput("'{part}' is no part of a contest.", part=part, remedy="There are dev and pairs.")
    if part not in parts:
        raise NotFound(
            "{ref} has no pairs to answer yet.", ref=info.ref, remedy="They are there when breaking is over."
        )
    task = get_task(db, info.task)
    names = [field.name for field in kind_of(task).fields(task)]
    table = scan_for_scoring(blobs, parts[part]).select("id", *names).collect()
    write_table(table, path)
    return table.height


def _require_team(db: Session, actor: Actor, info: ContestInfo) -> None:
    if organises(actor, info) or team_of(db, actor, info) is not None or info.phase is Phase.OVER:
        return
    raise Forbidden("This is for the teams of {ref}.", ref=info.ref, remedy="Make a team, or join one.")

"""Variants that point at another word than their original, because a word was put in before it, point at theirs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from quintain.core.hashing import content_id
from quintain.core.texts import Text, packed
from quintain.stats.alignment import follow_word
from quintain.store.base import UtcTime

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

TOKENS, POINTER = "tokens", "preposition"  # of tasks about attachment, the only ones whose inputs point at a word
VARIANTS = sa.table(
    "contrast_variants", sa.column("id"), sa.column("pivot_id"), sa.column("inputs", sa.JSON()), sa.column("hash")
)
PIVOTS = sa.table("contrast_pivots", sa.column("id"), sa.column("project_id"), sa.column("inputs", sa.JSON()))
NOTIFICATIONS = sa.table(
    "notifications",
    *(sa.column(name) for name in ("user_id", "kind", "text", "url")),
    sa.column("at", UtcTime(timezone=True)),
    sa.column("said", sa.JSON()),
)
AUDIT = sa.table(
    "audit",
    *(sa.column(name) for name in ("actor", "action", "subject")),
    sa.column("at", UtcTime(timezone=True)),
    sa.column("details", sa.JSON()),
)


def upgrade() -> None:
    """Set right what an edit left on another word; say so in the log, and to the owners of the task."""
    connection = op.get_bind()
    query = sa.select(VARIANTS.c.id, VARIANTS.c.inputs, PIVOTS.c.inputs.label("before"), PIVOTS.c.project_id)
    rows = connection.execute(query.join(PIVOTS, PIVOTS.c.id == VARIANTS.c.pivot_id).order_by(VARIANTS.c.id)).all()
    repaired: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        number = _meant(row.before or {}, row.inputs or {})
        if number is None:
            continue
        inputs = {**row.inputs, POINTER: number}
        change = sa.update(VARIANTS).where(VARIANTS.c.id == row.id).values(inputs=inputs, hash=content_id(inputs))
        connection.execute(change)
        note = {"variant": row.id, "was": row.inputs[POINTER], "is": number, "word": inputs[TOKENS][number]}
        repaired.setdefault(row.project_id, []).append(note)
    for project, changes in repaired.items():
        _tell(connection, project, changes)


def _meant(before: dict[str, Any], inputs: dict[str, Any]) -> int | None:
    """Return the number that a variant should have; None where it is right, or where nobody can tell."""
    first, second, number = _words(before), _words(inputs), inputs.get(POINTER)
    if not isinstance(number, int) or number != before.get(POINTER):
        return None
    if first == second or not 0 <= number < len(first):
        return None
    if number < len(second) and second[number] == first[number]:
        return None
    position = follow_word(first, second, number)
    return position if position is not None and second[position] == first[number] else None


def _words(inputs: dict[str, Any]) -> list[str]:
    value = inputs.get(TOKENS)
    return value if isinstance(value, list) else []


def _tell(connection: sa.Connection, project: int, changes: list[dict[str, Any]]) -> None:
    named = sa.text(
        "SELECT t.id AS task_id, t.name AS task, p.name AS name FROM contrast_projects p JOIN tasks t"
        " ON t.id = p.task_id WHERE p.id = :project"
    )
    row = connection.execute(named, {"project": project}).one()
    moment, ref = datetime.now(UTC), f"{row.task}/{row.name}"
    entry = {"actor": "operator", "action": "contrast.repair", "subject": ref, "at": moment}
    op.bulk_insert(AUDIT, [{**entry, "details": {"positions": changes}}])
    message = Text(
        "Of the contrast project {ref}, {n} variants pointed at another word than their original, because words were "
        "put in before it. They are set right. Where the project was released, release it again.",
        ref=ref,
        n=len(changes),
    )
    owners = sa.text(
        "SELECT DISTINCT g.user_id FROM role_grants g JOIN users u ON u.id = g.user_id AND u.deleted_at IS NULL"
        " WHERE g.role = 'owner' AND (g.task_id = :task OR g.task_id IS NULL) AND g.revoked_at IS NULL"
    )
    url = f"/tasks/{row.task}/contrast/{row.name}"
    notice = {"at": moment, "kind": "contrast.repair", "text": str(message), "said": packed(message), "url": url}
    readers = [owner.user_id for owner in connection.execute(owners, {"task": row.task_id})]
    if readers:
        op.bulk_insert(NOTIFICATIONS, [{**notice, "user_id": reader} for reader in readers])

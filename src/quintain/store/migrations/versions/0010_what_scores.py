"""What scores on a board is written down: data sets that scored because nothing was set for them go on scoring."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_NEWEST = sa.text(
    "SELECT d.task_id, d.name FROM datasets d JOIN dataset_versions v ON v.dataset_id = d.id "
    "WHERE v.role IN ('test', 'contrast') "
    "AND v.number = (SELECT max(number) FROM dataset_versions WHERE dataset_id = d.id)"
)
_SETTINGS = sa.text(
    "SELECT task_id, settings FROM board_settings WHERE id IN (SELECT max(id) FROM board_settings GROUP BY task_id)"
)


def upgrade() -> None:
    """Add a state to the settings of each board on which a data set scored without having been named."""
    db = op.get_bind()
    settings = {task: _read(stored) for task, stored in db.execute(_SETTINGS)}
    unnamed: dict[int, dict[str, float]] = {}
    for task, name in db.execute(_NEWEST):
        if name not in (settings.get(task, {}).get("datasets") or {}):
            unnamed.setdefault(task, {})[name] = 1.0
    table = sa.table(
        "board_settings",
        sa.column("task_id", sa.Integer),
        sa.column("settings", sa.JSON),
        sa.column("created_at", sa.DateTime(timezone=True)),
    )
    for task, names in unnamed.items():
        before = settings.get(task, {})
        changed = {**before, "datasets": {**(before.get("datasets") or {}), **names}}
        db.execute(table.insert().values(task_id=task, settings=changed, created_at=datetime.now(UTC)))


def _read(stored: Any) -> dict[str, Any]:
    """Read JSON as SQLite gives it, a text, and as PostgreSQL does, read already."""
    return dict(json.loads(stored) if isinstance(stored, str) else stored)

"""Where prompts are from: the review, and whatever else a table says of them; reviews that were harvested."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None
PIECE = 5000


def upgrade() -> None:
    """Add the columns, and fill in the reviews that the items of harvests name."""
    text = sa.String(length=120)
    for table in ("prompts", "corpus_uses"):
        op.add_column(table, sa.Column("review", text, nullable=False, server_default=""))
    op.add_column("prompts", sa.Column("about", sa.JSON(), nullable=False, server_default="{}"))
    _fill(op.get_bind())
    op.create_index("ix_prompts_review", "prompts", ["review"])
    op.create_index("ix_corpus_uses_task_review", "corpus_uses", ["task_id", "review"])


def _fill(connection: sa.Connection) -> None:
    query = sa.text(
        "SELECT i.id, i.hash, v.task_id, i.source FROM validation_items i"
        " JOIN validations v ON v.id = i.validation_id"
        " WHERE i.attempt_id IS NULL AND i.id > :after ORDER BY i.id LIMIT :piece"
    )
    fill = sa.text("UPDATE corpus_uses SET review = :review WHERE task_id = :task AND hash = :hash")
    after = 0
    while rows := connection.execute(query, {"after": after, "piece": PIECE}).all():
        after = rows[-1].id
        reviews = [(row, _review(row.source)) for row in rows]
        facts = [{"review": name, "task": row.task_id, "hash": row.hash} for row, name in reviews if name]
        if facts:
            connection.execute(fill, facts)


def _review(source: object) -> str:
    facts = json.loads(source) if isinstance(source, str) else source
    return str(facts.get("review") or "")[:120] if isinstance(facts, dict) else ""

"""Who may read the inputs of data sets, requests to read them, and how variants were made."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from quintain.core.texts import Text, packed
from quintain.store.base import UtcTime

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the table. Hidden test sets are closed from now on; their owners are told, once for each."""
    op.add_column("datasets", sa.Column("inputs", sa.String(length=10), nullable=True))
    op.add_column("datasets", sa.Column("traces", sa.Boolean(), nullable=False, server_default=sa.false()))
    # What was made before has the public seed, and stays what every model met.
    op.add_column("variants", sa.Column("secret", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "input_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_input_requests_dataset_id_datasets")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_input_requests_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_input_requests")),
        sa.UniqueConstraint("dataset_id", "user_id", name=op.f("uq_input_requests_dataset_id_user_id")),
    )
    for column in ("dataset_id", "user_id"):
        op.create_index(op.f(f"ix_input_requests_{column}"), "input_requests", [column])
    _tell_owners(op.get_bind())


def _tell_owners(connection: sa.Connection) -> None:
    query = sa.text(
        "SELECT DISTINCT g.user_id, t.name AS task, d.name AS dataset FROM dataset_versions v"
        " JOIN datasets d ON d.id = v.dataset_id JOIN tasks t ON t.id = d.task_id"
        " JOIN role_grants g ON g.role = 'owner' AND (g.task_id = t.id OR g.task_id IS NULL) AND g.revoked_at IS NULL"
        " JOIN users u ON u.id = g.user_id AND u.deleted_at IS NULL"
        " WHERE v.hidden ORDER BY g.user_id, t.name, d.name"
    )
    by_owner: dict[tuple[int, str], list[str]] = {}
    for row in connection.execute(query):
        by_owner.setdefault((row.user_id, row.task), []).append(row.dataset)
    notifications = sa.table(
        "notifications",
        *(sa.column(name) for name in ("user_id", "kind", "text", "url")),
        sa.column("at", UtcTime(timezone=True)),
        sa.column("said", sa.JSON()),
    )
    for (owner, task), datasets in by_owner.items():
        words = Text(
            "The inputs of data sets with hidden labels are not shown to builders any more: {datasets}. "
            "Open them on the page of the data set if they may be read.",
            datasets=", ".join(datasets),
        )
        message = {"user_id": owner, "at": datetime.now(UTC), "kind": "data.inputs", "text": str(words)}
        op.bulk_insert(notifications, [{**message, "said": packed(words), "url": f"/tasks/{task}/data"}])

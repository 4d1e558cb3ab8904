"""What tokens and sessions are good for. Tokens from before keep what they could do, and are marked.

Sessions of people whom a panel's link brought in, and who have no password, are good for work only: until now whoever
knew somebody's panel id could have begun one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

EVERYTHING = "read work build own admin account"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("api_tokens", sa.Column("scopes", sa.String(80), nullable=False, server_default="read"))
    op.add_column("api_tokens", sa.Column("unscoped", sa.Boolean(), nullable=False, server_default=sa.false()))
    tokens = sa.table("api_tokens", sa.column("scopes", sa.String), sa.column("unscoped", sa.Boolean))
    op.execute(tokens.update().values(scopes=EVERYTHING, unscoped=True))
    with op.batch_alter_table("web_sessions") as table:
        table.add_column(sa.Column("scopes", sa.String(80), nullable=False, server_default=""))
        table.add_column(sa.Column("task_id", sa.Integer(), nullable=True))
        table.create_foreign_key(op.f("fk_web_sessions_task_id_tasks"), "tasks", ["task_id"], ["id"])
    op.execute(
        "UPDATE web_sessions SET scopes = 'read work' WHERE user_id IN (SELECT p.user_id FROM panel_people p"
        " JOIN users u ON u.id = p.user_id WHERE u.password_hash IS NULL)"
    )

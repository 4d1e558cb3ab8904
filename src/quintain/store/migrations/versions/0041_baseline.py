"""All tables as they were at revision 0041; what came before is in no published version."""

from __future__ import annotations

from alembic import op

from quintain.store.baseline import create_tables

revision = "0041"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of an empty database."""
    create_tables(op.get_bind())

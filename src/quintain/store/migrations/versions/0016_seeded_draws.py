"""Conditions, models and labels are drawn by a round's seed, and what each was drawn from is kept."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

SEED_BITS = 62
ROUNDS = sa.table("rounds", sa.column("id", sa.Integer), sa.column("seed", sa.BigInteger))


def upgrade() -> None:
    """Add the columns, and give every round a seed of its own; what was drawn before has no record."""
    op.add_column("rounds", sa.Column("seed", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("round_assignments", sa.Column("drawn", sa.JSON(), nullable=True))
    op.add_column("writing_sessions", sa.Column("drawn", sa.JSON(), nullable=True))
    connection = op.get_bind()
    for number in connection.scalars(sa.select(ROUNDS.c.id)).all():
        seed = secrets.randbits(SEED_BITS)
        connection.execute(sa.update(ROUNDS).where(ROUNDS.c.id == number).values(seed=seed))

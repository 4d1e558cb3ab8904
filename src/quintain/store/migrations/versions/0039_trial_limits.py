"""Rounds of trials that are open say how many sessions one person may do, and how many texts are wanted."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

ARMS = sa.table("crowd_arms", sa.column("id", sa.Integer), sa.column("toml", sa.Text))
PLACES = sa.table(
    "crowd_rounds", sa.column("arm_id", sa.Integer), sa.column("stage", sa.String), sa.column("round_id", sa.Integer)
)
ROUNDS = sa.table("rounds", sa.column("id", sa.Integer), sa.column("state", sa.String))
VERSIONS = sa.table(
    "round_versions",
    sa.column("round_id", sa.Integer),
    sa.column("number", sa.Integer),
    sa.column("toml", sa.Text),
    sa.column("created_at", sa.DateTime(timezone=True)),
)


def upgrade() -> None:
    """Add to each such round a version with the limits of its stage; until now they were in the protocol alone."""
    limit_rounds(op.get_bind())


def limit_rounds(connection: sa.Connection) -> None:
    """Add the versions that are missing."""
    query = (
        sa.select(PLACES.c.round_id, PLACES.c.stage, ARMS.c.toml)
        .join_from(PLACES, ARMS, ARMS.c.id == PLACES.c.arm_id)
        .join(ROUNDS, ROUNDS.c.id == PLACES.c.round_id)
        .where(ROUNDS.c.state == "open")
    )
    for round_id, stage, protocol in connection.execute(query).all():
        rule = next((own.get("writing") for own in tomllib.loads(protocol)["stages"] if own["name"] == stage), None)
        newest = sa.select(VERSIONS.c.number, VERSIONS.c.toml).where(VERSIONS.c.round_id == round_id)
        number, text = connection.execute(newest.order_by(VERSIONS.c.number.desc()).limit(1)).one()
        if rule is None or "sessions" in tomllib.loads(text):
            continue
        lines = [f"sessions = {rule.get('sessions', 1)}\n"]
        lines += [f"wanted = {rule['wanted']}\n"] if rule.get("wanted") else []
        version = {"round_id": round_id, "number": number + 1, "toml": "".join(lines) + text}
        connection.execute(sa.insert(VERSIONS).values(**version, created_at=datetime.now(UTC)))

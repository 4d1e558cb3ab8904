"""Keys that snapshots are signed with, and a salt in the hash of every version whose answers are hidden."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from quintain.store.base import UtcTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

FORM = b"quintain data set with hidden answers, form 1\n"
VERSIONS = sa.table(
    "dataset_versions",
    sa.column("id", sa.Integer),
    sa.column("hash", sa.String),
    sa.column("salt", sa.String),
    sa.column("hidden", sa.Boolean),
)
MODELS = sa.table("model_versions", sa.column("id", sa.Integer), sa.column("meta", sa.JSON))


def upgrade() -> None:
    """Create the table and the columns; give hidden versions their new names, wherever models refer to them."""
    op.create_table(
        "signing_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("public", sa.String(length=64), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("replaced_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signing_keys")),
        sa.UniqueConstraint("key_id", name=op.f("uq_signing_keys_key_id")),
    )
    op.add_column("board_snapshots", sa.Column("key_id", sa.String(length=32), nullable=True))
    op.add_column("dataset_versions", sa.Column("salt", sa.String(length=64), nullable=True))
    names = _rename_hidden(op.get_bind())
    if names:
        _rename_in_models(op.get_bind(), names)


def _rename_hidden(connection: sa.Connection) -> dict[str, list[str]]:
    """Salt what is hidden; give the new names by the old one, which stays among them where an open version has it."""
    rows = connection.execute(sa.select(VERSIONS).order_by(VERSIONS.c.id)).all()
    names: dict[str, list[str]] = {row.hash: [] for row in rows if row.hidden}
    for row in rows:
        if row.hidden:
            salt = secrets.token_hex(32)
            name = hmac.new(bytes.fromhex(salt), FORM + row.hash.encode(), hashlib.sha256).hexdigest()
            names[row.hash].append(name)
            connection.execute(sa.update(VERSIONS).where(VERSIONS.c.id == row.id).values(hash=name, salt=salt))
        elif row.hash in names:
            names[row.hash].insert(0, row.hash)
    return names


def _rename_in_models(connection: sa.Connection, names: Mapping[str, Sequence[str]]) -> None:
    """Models name data sets by hash: those that predictions cover, and those that one was trained and tried on."""
    for row in connection.execute(sa.select(MODELS)).all():
        meta: dict[str, Any] = dict(row.meta or {})
        if isinstance(meta.get("datasets"), list):
            meta["datasets"] = [name for old in meta["datasets"] for name in names.get(old, [old])]
        for key in ("data", "dev"):
            if isinstance(meta.get(key), list):
                meta[key] = [_renamed(named, names) for named in meta[key]]
        if meta != row.meta:
            connection.execute(sa.update(MODELS).where(MODELS.c.id == row.id).values(meta=meta))


def _renamed(named: Any, names: Mapping[str, Sequence[str]]) -> Any:
    if isinstance(named, str):
        return names.get(named, [named])[0]
    if isinstance(named, dict) and isinstance(named.get("hash"), str):
        return {**named, "hash": names.get(named["hash"], [named["hash"]])[0]}
    return named

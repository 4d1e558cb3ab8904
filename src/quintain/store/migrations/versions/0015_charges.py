"""What runs of models on paid servers have cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "charges",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(length=200), nullable=True),
        sa.Column("amount", sa.Double(), nullable=False),
        sa.Column("settled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["cell_id"], ["cells.id"], name=op.f("fk_charges_cell_id_cells")),
        sa.ForeignKeyConstraint(
            ["model_version_id"], ["model_versions.id"], name=op.f("fk_charges_model_version_id_model_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_charges")),
        sa.UniqueConstraint("cell_id", "generation", name=op.f("uq_charges_cell_id_generation")),
    )
    op.create_index(op.f("ix_charges_model_version_id"), "charges", ["model_version_id"], unique=False)
    op.create_index(op.f("ix_charges_secret"), "charges", ["secret"], unique=False)

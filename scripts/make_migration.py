"""Write a migration for the tables that the code has and the migrations do not.

Usage: `make_migration.py NAME "Docstring."`. New tables only, one function each; the rest is to be written by hand.
"""

from __future__ import annotations

import sys
import tempfile

from alembic.autogenerate import api, render
from alembic.migration import MigrationContext
from alembic.operations import ops

import quintain.store.tables  # noqa: F401 - importing the tables completes the metadata
from quintain.store import migrate
from quintain.store.base import Base, UtcTime
from quintain.store.database import connect

HEAD = '''"""{doc}"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "{new}"
down_revision = "{old}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
{calls}
'''


def main(name: str, doc: str) -> None:
    """Compare the code with a database that has every migration, and write what is missing."""
    with tempfile.TemporaryDirectory() as folder:
        engine = connect(f"sqlite:///{folder}/empty.db")
        migrate.upgrade(engine)
        with engine.connect() as connection:
            options = {
                "render_item": lambda kind, item, _: (
                    "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcTime) else False
                )
            }
            context = MigrationContext.configure(connection, opts=options)
            script = api.produce_migrations(context, Base.metadata)
            autogen = api.AutogenContext(
                context,
                Base.metadata,
                opts=context.opts
                | {
                    "sqlalchemy_module_prefix": "sa.",
                    "alembic_module_prefix": "op.",
                    "user_module_prefix": None,
                },
            )
            bodies: dict[str, list[str]] = {}
            made = script.upgrade_ops.ops if script.upgrade_ops else []
            steps = [inner for step in made for inner in getattr(step, "ops", [step])]
            for step in steps:
                if not isinstance(step, ops.CreateTableOp | ops.CreateIndexOp):
                    sys.exit(f"not a new table: {step!r}")
                bodies.setdefault(step.table_name, []).extend(render.render_op(autogen, step))
    old = migrate.newest()
    new = f"{int(old) + 1:04}"
    calls = "\n".join(f"    _create_{table}()" for table in bodies)
    text = HEAD.format(doc=doc, new=new, old=old, calls=calls)
    for table, lines in bodies.items():
        body = "\n".join(f"    {line}" for chunk in lines for line in chunk.splitlines())
        text += f"\n\ndef _create_{table}() -> None:\n{body}\n"
    (migrate.FOLDER / "versions" / f"{new}_{name}.py").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:3])

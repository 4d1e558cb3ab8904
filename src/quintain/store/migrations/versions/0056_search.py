"""What the search knows, and the index over its words; all that is there is entered."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

from quintain.core.search_words import words_of
from quintain.store.search_index import LONGEST_TEXT, create_index

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

Entry = dict[str, Any]
TASKS = """
    SELECT t.id, t.name, v.toml FROM tasks t JOIN task_versions v ON v.task_id = t.id
    WHERE v.number = (SELECT max(o.number) FROM task_versions o WHERE o.task_id = t.id)
"""
DATASETS = """
    SELECT d.id, d.task_id, d.name, v.description FROM datasets d JOIN dataset_versions v ON v.dataset_id = d.id
    WHERE v.number = (SELECT max(o.number) FROM dataset_versions o WHERE o.dataset_id = d.id)
"""
MODELS = """
    SELECT m.id, m.task_id, m.name, v.card FROM models m JOIN model_versions v ON v.model_id = m.id
    WHERE v.number = (SELECT max(o.number) FROM model_versions o WHERE o.model_id = m.id)
"""
ROUNDS = """
    SELECT r.id, r.task_id, r.number, v.toml FROM rounds r JOIN round_versions v ON v.round_id = r.id
    WHERE v.number = (SELECT max(o.number) FROM round_versions o WHERE o.round_id = r.id)
"""


def upgrade() -> None:
    """Create the table and its index, and enter what is there."""
    op.create_table(
        "search_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_search_entries_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_entries")),
        sa.UniqueConstraint("kind", "subject_id", name=op.f("uq_search_entries_kind_subject_id")),
    )
    op.create_index(op.f("ix_search_entries_task_id"), "search_entries", ["task_id"])
    entries = sa.table(
        "search_entries",
        *(sa.column(name) for name in ("kind", "subject_id", "task_id", "title", "text", "words")),
    )
    op.bulk_insert(entries, [_entry(**row) for row in _things()])
    create_index(op.get_bind())


def _entry(kind: str, subject_id: int, task_id: int, title: str, text: str) -> Entry:
    shown = text[:LONGEST_TEXT]
    words = " ".join(words_of(f"{title} {shown}"))
    return {
        "kind": kind,
        "subject_id": subject_id,
        "task_id": task_id,
        "title": title,
        "text": shown,
        "words": words,
    }


def _things() -> Iterator[Entry]:
    """Go through what can be found, as the first entries say it."""
    for row in _rows(TASKS):
        definition = tomllib.loads(row.toml)
        title = " ".join([row.name, *_texts(definition, "title")])
        yield _thing("task", row.id, row.id, title, _texts(definition, "instructions"))
    for row in _rows(DATASETS):
        yield _thing("dataset", row.id, row.task_id, row.name, [row.description])
    for row in _rows(MODELS):
        yield _thing("model", row.id, row.task_id, row.name, [row.card])
    for row in _rows(ROUNDS):
        definition = tomllib.loads(row.toml)
        title = str(definition.get("title", row.number))
        yield _thing("round", row.id, row.task_id, title, _texts(definition, "instructions"))


def _rows(query: str) -> sa.CursorResult[Any]:
    return op.get_bind().execute(sa.text(query))


def _thing(kind: str, subject_id: int, task_id: int, title: str, texts: list[str]) -> Entry:
    return {
        "kind": kind,
        "subject_id": subject_id,
        "task_id": task_id,
        "title": title,
        "text": "\n".join(filter(None, texts)),
    }


def _texts(definition: Mapping[str, Any], name: str) -> list[str]:
    """Return a text in each of its languages, or the one that there is."""
    value = definition.get(name, "")
    return [str(one) for one in value.values()] if isinstance(value, Mapping) else [str(value)]

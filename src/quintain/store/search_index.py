"""Finding things by words: entries that services write as things come and change, under the database's own index.

Words are compared without case and accents, and a word that was typed finds all that begin with it. SQLite's index is a
virtual table that triggers keep (`search_words`); it holds nothing that `search_entries` does not, so archives and
comparisons of tables leave it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Connection, func, literal_column, select, text
from sqlalchemy.orm import Session

from quintain.core.search_words import beginnings, words_of
from quintain.store.tables import SearchEntry

INDEX = "search_words"
POSTGRES_INDEX = "ix_search_entries_words"
LONGEST_TEXT = 4000  # characters of a description or card that are looked through


class Findable(StrEnum):
    """What kind of thing an entry is about."""

    TASK = "task"
    DATASET = "dataset"
    MODEL = "model"
    ROUND = "round"


@dataclass(frozen=True, slots=True)
class Match:
    """A thing whose words begin with all that were asked for."""

    subject_id: int
    title: str
    text: str


def keep_entry(db: Session, kind: Findable, subject_id: int, *, task_id: int, title: str, text: str = "") -> None:
    """Let a thing be found by its *title* and *text*, in place of what was known of it."""
    shown = text[:LONGEST_TEXT]
    words = " ".join(words_of(f"{title} {shown}"))
    entry = db.scalar(select(SearchEntry).where(SearchEntry.kind == kind.value, SearchEntry.subject_id == subject_id))
    if entry is None:
        entry = SearchEntry(kind=kind.value, subject_id=subject_id)
        db.add(entry)
    entry.title, entry.text, entry.words, entry.task_id = title, shown, words, task_id
    db.flush()


def matches(db: Session, kind: Findable, query: str, *, limit: int) -> list[Match]:
    """Return the things of a *kind* that hold every word of *query*, those first whose titles do.

    A query without words finds nothing.
    """
    begin = beginnings(query)
    if not begin:
        return []
    in_index, rank = _in_index(db, begin)
    looked_for = select(SearchEntry).where(SearchEntry.kind == kind.value, in_index).order_by(rank).limit(limit)
    ranked = [(_misses(entry.title, begin), entry) for entry in db.scalars(looked_for)]
    ordered = sorted(ranked, key=lambda pair: pair[0])
    return [Match(entry.subject_id, entry.title, entry.text) for _, entry in ordered]


def _in_index(db: Session, begin: list[str]) -> tuple[ColumnElement[bool], ColumnElement[float]]:
    """Return whether an entry holds words with each of these beginnings, and the order of those that do."""
    if db.get_bind().dialect.name == "postgresql":
        vector = func.to_tsvector(literal_column("'simple'::regconfig"), SearchEntry.words)
        query = func.to_tsquery(literal_column("'simple'::regconfig"), " & ".join(f"{word}:*" for word in begin))
        return vector.op("@@")(query), func.ts_rank(vector, query).desc()
    asked = " ".join(f'"{word}"*' for word in begin)
    rows = text("SELECT rowid FROM search_words WHERE search_words MATCH :asked").bindparams(asked=asked)
    return SearchEntry.id.in_(rows.columns(literal_column("rowid"))), func.length(SearchEntry.words)


def _misses(title: str, begin: list[str]) -> int:
    """Count the beginnings that no word of *title* has."""
    words = words_of(title)
    return sum(1 for start in begin if not any(word.startswith(start) for word in words))


def is_index(name: str | None) -> bool:
    """Whether *name* is the index's own, in the database: a table that it keeps itself, or itself."""
    return name is not None and (name in {INDEX, POSTGRES_INDEX} or name.startswith(f"{INDEX}_"))


def create_index(connection: Connection) -> None:
    """Make the index over `search_entries`, and fill it."""
    statements = _POSTGRES if connection.dialect.name == "postgresql" else _SQLITE
    for statement in statements:
        connection.execute(text(statement))


def drop_index(connection: Connection) -> None:
    """Take away the index, where there is one; nothing is lost with it."""
    if connection.dialect.name == "sqlite":
        connection.execute(text("DROP TABLE IF EXISTS search_words"))


_POSTGRES = (
    "CREATE INDEX ix_search_entries_words ON search_entries USING gin (to_tsvector('simple'::regconfig, words))",
)
_SQLITE = (
    "CREATE VIRTUAL TABLE search_words USING fts5(words, content='search_entries', content_rowid='id', "
    "tokenize='unicode61 remove_diacritics 0', prefix='2 3')",
    "CREATE TRIGGER search_words_added AFTER INSERT ON search_entries BEGIN "
    "INSERT INTO search_words(rowid, words) VALUES (new.id, new.words); END",
    "CREATE TRIGGER search_words_removed AFTER DELETE ON search_entries BEGIN "
    "INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words); END",
    "CREATE TRIGGER search_words_changed AFTER UPDATE ON search_entries BEGIN "
    "INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words); "
    "INSERT INTO search_words(rowid, words) VALUES (new.id, new.words); END",
    "INSERT INTO search_words(search_words) VALUES ('rebuild')",
)

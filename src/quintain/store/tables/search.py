"""What the search knows of tasks, data sets, models and rounds."""

from __future__ import annotations

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base


class SearchEntry(Base):
    """A thing that can be found: its *title* and *text* as they are shown, and their *words* as they are compared.

    *words* has an index for words: FTS5 on SQLite (`search_words`, kept by triggers), GIN on PostgreSQL.
    """

    __tablename__ = "search_entries"
    __table_args__ = (UniqueConstraint("kind", "subject_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(12))
    subject_id: Mapped[int]
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    title: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text, default="")
    words: Mapped[str] = mapped_column(Text)

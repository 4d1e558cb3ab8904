"""What people who work are asked and hold: quizzes, qualifications, and where they came from."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now


class Quiz(Base):
    """A quiz of a task by name; what it asks is in its newest version."""

    __tablename__ = "quizzes"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(default=now)


class QuizVersion(Base):
    """One state of a quiz: instructions, questions with their right answers, practice, tries."""

    __tablename__ = "quiz_versions"
    __table_args__ = (UniqueConstraint("quiz_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    quiz_id: Mapped[int] = mapped_column(ForeignKey("quizzes.id"), index=True)
    number: Mapped[int]
    definition: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class QuizTry(Fact, Base):
    """One try of a person at a quiz; *practice* does not count."""

    __tablename__ = "quiz_tries"
    __table_args__ = (Index("ix_quiz_tries_quiz_user", "quiz_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    quiz_id: Mapped[int] = mapped_column(ForeignKey("quizzes.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("quiz_versions.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    answers: Mapped[dict[str, Any]] = mapped_column(default=dict)
    right: Mapped[int]
    total: Mapped[int]
    passed: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(default=now)


class Qualification(Fact, Base):
    """A qualification on a task was given to a person or ended, by whom or by which rule. The newest counts."""

    __tablename__ = "qualifications"
    __table_args__ = (Index("ix_qualifications_task_user", "task_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(40))
    held: Mapped[bool]
    reason: Mapped[str] = mapped_column(Text, default="")
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class WorkerFact(Fact, Base):
    """Something known about a worker that rules ask for, such as the country, and who says so. The newest counts."""

    __tablename__ = "worker_facts"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(40))
    value: Mapped[str] = mapped_column(String(200))
    source: Mapped[str] = mapped_column(String(40))
    created_at: Mapped[datetime] = mapped_column(default=now)


class PanelPerson(Base):
    """The identity that a panel knows a worker by. It never leaves in an export, and erasing a person removes it.

    *source* is a keyed hash of the address that they came from first, by which many ids of one place are seen. Until
    they are *confirmed* by the panel, or by an owner's word (`PanelWord`), what they earn is held.
    """

    __tablename__ = "panel_people"
    __table_args__ = (UniqueConstraint("provider", "outside_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    provider: Mapped[str] = mapped_column(String(20))
    outside_id: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(default=now)
    source: Mapped[str] = mapped_column(String(32), default="", server_default="", index=True)
    confirmed_at: Mapped[datetime | None]
    confirmed_by: Mapped[str] = mapped_column(String(8), default="", server_default="")


class PanelVisit(Base):
    """One arrival from a panel at a round: what to send back when the work is done, and when that happened.

    *standing* is what the panel said last of the submission, in the words of `PanelStanding`; empty before it did.
    """

    __tablename__ = "panel_visits"
    __table_args__ = (UniqueConstraint("round_id", "user_id", "study", "outside_session"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    provider: Mapped[str] = mapped_column(String(20))
    study: Mapped[str] = mapped_column(String(200), default="")
    outside_session: Mapped[str] = mapped_column(String(200), default="")
    submit_to: Mapped[str] = mapped_column(String(500), default="")
    arrived_at: Mapped[datetime] = mapped_column(default=now)
    completed_at: Mapped[datetime | None]
    standing: Mapped[str] = mapped_column(String(12), default="", server_default="")


class PanelPlace(Base):
    """A place other than a round to which a panel may send people, such as `validation:12`, and its entry address."""

    __tablename__ = "panel_places"

    place: Mapped[str] = mapped_column(String(80), primary_key=True)
    key: Mapped[str] = mapped_column(String(40), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class PanelStay(Base):
    """One arrival from a panel at a place other than a round; like a `PanelVisit`."""

    __tablename__ = "panel_stays"
    __table_args__ = (UniqueConstraint("place", "user_id", "study", "outside_session"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    place: Mapped[str] = mapped_column(String(80))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    provider: Mapped[str] = mapped_column(String(20))
    study: Mapped[str] = mapped_column(String(200), default="")
    outside_session: Mapped[str] = mapped_column(String(200), default="")
    submit_to: Mapped[str] = mapped_column(String(500), default="")
    arrived_at: Mapped[datetime] = mapped_column(default=now)
    completed_at: Mapped[datetime | None]
    standing: Mapped[str] = mapped_column(String(12), default="", server_default="")


class Secret(Base):
    """A key of this installation, made on its first use: by it people get other names in what is exported."""

    __tablename__ = "secrets"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(default=now)

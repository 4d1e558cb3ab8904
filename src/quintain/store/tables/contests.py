"""Contests: what each asks, its teams, their systems and answers, their pairs, and how labels were settled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now


class ContestRow(Base):
    """A contest of a task, by name. *pairs_version_id* is the data set version of its pairs, once breaking is over.

    *facts* counts what was said of its pairs (disputes, judgements, rulings): figures rest on it.
    """

    __tablename__ = "contests"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(40))
    pairs_version_id: Mapped[int | None] = mapped_column(ForeignKey("dataset_versions.id"))
    frozen_at: Mapped[datetime | None]
    facts: Mapped[int] = mapped_column(default=0, server_default="0")
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestVersion(Fact, Base):
    """What a contest asks, as it was put: the newest counts."""

    __tablename__ = "contest_versions"
    __table_args__ = (UniqueConstraint("contest_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), index=True)
    number: Mapped[int]
    toml: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestTeam(Base):
    """A team: builders, breakers, or both. *key* is in the link with which others join."""

    __tablename__ = "contest_teams"
    __table_args__ = (UniqueConstraint("contest_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), index=True)
    name: Mapped[str] = mapped_column(String(40))
    role: Mapped[str] = mapped_column(String(10))
    key: Mapped[str] = mapped_column(String(40))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestMember(Base):
    """Somebody in a team; nobody is in two teams of one contest."""

    __tablename__ = "contest_members"
    __table_args__ = (UniqueConstraint("contest_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("contest_teams.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    joined_at: Mapped[datetime] = mapped_column(default=now)


class ContestSystem(Base):
    """A system to be broken: a team's, one of the board's (no team), or a *reference* of the organisers.

    *model_version_id* is set where the platform runs it. *alias* is its number while systems have no names. *counts*
    says whether it enters the breakers' scores. A team may have several, and takes one out again while it builds.
    """

    __tablename__ = "contest_systems"
    __table_args__ = (UniqueConstraint("contest_id", "name"), UniqueConstraint("contest_id", "alias"))

    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    team_id: Mapped[int | None] = mapped_column(ForeignKey("contest_teams.id"), index=True)
    name: Mapped[str] = mapped_column(String(120))
    alias: Mapped[int]
    reference: Mapped[bool] = mapped_column(default=False)
    counts: Mapped[bool] = mapped_column(default=True)
    model_version_id: Mapped[int | None] = mapped_column(ForeignKey("model_versions.id"))
    withdrawn_at: Mapped[datetime | None]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestAnswers(Fact, Base):
    """Answers that a system's team handed in for one *part*, `dev` or `pairs`; the newest count."""

    __tablename__ = "contest_answers"
    __table_args__ = (Index("ix_contest_answers_system_id_part", "system_id", "part"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    system_id: Mapped[int] = mapped_column(ForeignKey("contest_systems.id"))
    part: Mapped[str] = mapped_column(String(8))
    blob: Mapped[str] = mapped_column(String(80))
    rows: Mapped[int]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestPair(Base):
    """A minimal pair: an original and what a breaker made of it, with both labels. Teams change theirs until the end.

    *original_id* names the example of the starter set; a pair from scratch has none. *claimed_gold* is what the team
    says of the original where it disputes the label of the starter set, which is *original_gold*.
    """

    __tablename__ = "contest_pairs"
    __table_args__ = (UniqueConstraint("team_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), index=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("contest_teams.id"))
    name: Mapped[str] = mapped_column(String(80))
    original_id: Mapped[str | None] = mapped_column(String(64))
    original: Mapped[dict[str, Any]]
    modified: Mapped[dict[str, Any]]
    original_hash: Mapped[str] = mapped_column(String(64))
    modified_hash: Mapped[str] = mapped_column(String(64))
    original_gold: Mapped[Any] = mapped_column(JSON)
    modified_gold: Mapped[Any] = mapped_column(JSON)
    claimed_gold: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    rationale: Mapped[str] = mapped_column(Text, default="")
    strategy: Mapped[str] = mapped_column(String(80), default="")
    tags: Mapped[list[str]] = mapped_column(default=list)
    words: Mapped[int]
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestSearch(Base):
    """An automatic search for pairs: whose it is, the model that it asks, how it looks (*options*) and how far it is.

    *position* counts the sentences of the starter set that it has looked at, of *total*; *asked* the texts that the
    model was asked about.
    """

    __tablename__ = "contest_searches"

    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), index=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("contest_teams.id"), index=True)
    model_version_id: Mapped[int] = mapped_column(ForeignKey("model_versions.id"))
    options: Mapped[dict[str, Any]]
    total: Mapped[int]
    position: Mapped[int] = mapped_column(default=0)
    asked: Mapped[int] = mapped_column(default=0)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestProposal(Base):
    """A change of a starter sentence that turns the model of a search; *decision* is empty, `kept` or `rejected`.

    *was* and *says* are the model's answers to both sides. Where somebody made a pair of it, *pair* is its name.
    """

    __tablename__ = "contest_proposals"
    __table_args__ = (UniqueConstraint("search_id", "modified_hash"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    search_id: Mapped[int] = mapped_column(ForeignKey("contest_searches.id"), index=True)
    original: Mapped[dict[str, Any]]
    modified: Mapped[dict[str, Any]]
    modified_hash: Mapped[str] = mapped_column(String(64))
    gold: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    was: Mapped[str] = mapped_column(Text)
    says: Mapped[str] = mapped_column(Text)
    words: Mapped[int]
    decision: Mapped[str] = mapped_column(String(8), default="")
    pair: Mapped[str] = mapped_column(String(80), default="")
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    decided_at: Mapped[datetime | None]


class ContestDispute(Fact, Base):
    """Somebody of another team says that a pair's label is wrong, or that it is no minimal pair."""

    __tablename__ = "contest_disputes"

    id: Mapped[int] = mapped_column(primary_key=True)
    pair_id: Mapped[int] = mapped_column(ForeignKey("contest_pairs.id"), index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("contest_teams.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    reason: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestJudgement(Fact, Base):
    """What somebody outside the contest says of a pair: both labels and, where asked, whether it is minimal.

    One that came *late*, when enough others had judged the pair, was paid and settles nothing.
    """

    __tablename__ = "contest_judgements"
    __table_args__ = (UniqueConstraint("pair_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    pair_id: Mapped[int] = mapped_column(ForeignKey("contest_pairs.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    original_label: Mapped[Any] = mapped_column(JSON)
    modified_label: Mapped[Any] = mapped_column(JSON)
    minimal: Mapped[bool | None]
    late: Mapped[bool] = mapped_column(default=False, server_default=false())
    seconds: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContestLease(Base):
    """A pair that somebody was handed to judge: theirs until *lease_until*, or *skipped* and never theirs again."""

    __tablename__ = "contest_leases"
    __table_args__ = (
        UniqueConstraint("pair_id", "user_id"),
        Index("ix_contest_leases_contest_user", "contest_id", "user_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"))
    pair_id: Mapped[int] = mapped_column(ForeignKey("contest_pairs.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    held_since: Mapped[datetime]
    lease_until: Mapped[datetime]
    skipped: Mapped[bool] = mapped_column(default=False)


class ContestMark(Base):
    """What a pair is listed by: where it stands, its tags, the systems that it broke. It follows from facts."""

    __tablename__ = "contest_marks"

    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id"), primary_key=True, autoincrement=False)
    mark: Mapped[str] = mapped_column(String(100), primary_key=True)
    pair_id: Mapped[int] = mapped_column(ForeignKey("contest_pairs.id"), primary_key=True, autoincrement=False)


class ContestRuling(Fact, Base):
    """What the organisers decided about a pair: `keep`, `relabel` or `drop`; the newest counts."""

    __tablename__ = "contest_rulings"

    id: Mapped[int] = mapped_column(primary_key=True)
    pair_id: Mapped[int] = mapped_column(ForeignKey("contest_pairs.id"), index=True)
    decision: Mapped[str] = mapped_column(String(8))
    original_label: Mapped[Any] = mapped_column(JSON)
    modified_label: Mapped[Any] = mapped_column(JSON)
    reason: Mapped[str] = mapped_column(Text, default="")
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)

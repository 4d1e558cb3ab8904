"""Trials of protocols: arms, the rounds that they own, who is in which, and the record of what happened in each.

Where an arm stands follows from its events, in the order of their numbers, and from nothing else.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now

PLAIN = JSON(none_as_null=True)


class CrowdTrial(Base):
    """A trial of a task: draft, open or closed. *data* is the blob of items that came from elsewhere, if any.

    *doors* says how people from panels come in and go back, as plain data of `quintain.core.trial_entry.TrialEntry`.
    """

    __tablename__ = "crowd_trials"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(40))
    title: Mapped[str] = mapped_column(String(200), default="")
    seed: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(12), default="draft")
    data: Mapped[str] = mapped_column(String(64), default="")
    doors: Mapped[dict[str, Any] | None] = mapped_column(PLAIN, nullable=True)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    opened_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]


class CrowdArm(Base):
    """An arm of a trial with its protocol, exactly as it was given; it never changes once the trial is open."""

    __tablename__ = "crowd_arms"
    __table_args__ = (UniqueConstraint("trial_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    trial_id: Mapped[int] = mapped_column(ForeignKey("crowd_trials.id"), index=True)
    name: Mapped[str] = mapped_column(String(40))
    toml: Mapped[str] = mapped_column(Text)


class CrowdRound(Base):
    """The round in which people of an arm write at a stage."""

    __tablename__ = "crowd_rounds"
    __table_args__ = (UniqueConstraint("arm_id", "stage"), UniqueConstraint("round_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("crowd_arms.id"))
    stage: Mapped[str] = mapped_column(String(40))
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))


class CrowdMember(Fact, Base):
    """Who is in which arm, once and for all; by the trial's seed, *drawn* gives the same arm again.

    The *stratum* is what was known of the person by which arms are balanced; empty where they are not.
    *consent* is the hash of the text that they agreed to, where there was one.
    """

    __tablename__ = "crowd_members"
    __table_args__ = (
        UniqueConstraint("trial_id", "user_id"),
        Index("ix_crowd_members_trial_id_stratum", "trial_id", "stratum"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    trial_id: Mapped[int] = mapped_column(ForeignKey("crowd_trials.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("crowd_arms.id"), index=True)
    stratum: Mapped[str] = mapped_column(String(200), default="", server_default="")
    drawn: Mapped[dict[str, Any] | None] = mapped_column(PLAIN, nullable=True)
    consent: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(default=now)


class CrowdEvent(Fact, Base):
    """What happened in an arm. *token* tells apart two events that different servers took for the next."""

    __tablename__ = "crowd_events"
    __table_args__ = (UniqueConstraint("arm_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("crowd_arms.id"))
    number: Mapped[int]
    token: Mapped[str] = mapped_column(String(24))
    body: Mapped[dict[str, Any]] = mapped_column(default=dict)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class CrowdLease(Base):
    """An item that somebody was given to grade, until when; a lease that lapses makes room for others."""

    __tablename__ = "crowd_leases"
    __table_args__ = (UniqueConstraint("arm_id", "stage", "item", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("crowd_arms.id"))
    stage: Mapped[str] = mapped_column(String(40))
    item: Mapped[str] = mapped_column(String(40))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    given_at: Mapped[datetime]
    until: Mapped[datetime]


class CrowdAnswer(Fact, Base):
    """What somebody answered at one step of a tutorial's quiz: the first answer counts."""

    __tablename__ = "crowd_answers"
    __table_args__ = (UniqueConstraint("arm_id", "user_id", "quiz", "step"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("crowd_arms.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    quiz: Mapped[str] = mapped_column(String(40))
    step: Mapped[int]
    answer: Mapped[str] = mapped_column(String(12))
    right: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(default=now)


class CrowdLetter(Base):
    """A letter of feedback as it was sent, what its reader replied, and what the owner answered to that.

    An *appeal* asks the owner to look again.
    *said* is what *text* was made of, so that it can be read in another language; none where its owner wrote it.
    """

    __tablename__ = "crowd_letters"
    __table_args__ = (UniqueConstraint("arm_id", "stage", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    arm_id: Mapped[int] = mapped_column(ForeignKey("crowd_arms.id"))
    stage: Mapped[str] = mapped_column(String(40))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    text: Mapped[str] = mapped_column(Text)
    said: Mapped[dict[str, Any] | None] = mapped_column(PLAIN, nullable=True)
    sent_at: Mapped[datetime | None]
    reply: Mapped[str] = mapped_column(Text, default="")
    appeal: Mapped[bool] = mapped_column(default=False)
    replied_at: Mapped[datetime | None]
    answer: Mapped[str | None] = mapped_column(Text)

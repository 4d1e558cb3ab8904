"""Rounds of collecting: what is asked of writers, the prompts they edit, and every attempt they make.

Attempts, notes and flags are facts. Rounds, prompts and writing sessions have a state, and leases with a generation
as fencing token: it grows with every lease, and only the holder of the newest one may write.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now

_OPEN_FLAG = text("decision_id IS NULL")
PLAIN = JSON(none_as_null=True)  # an answer, in the shape of its kind


class Round(Base):
    """A round of a task: draft, open or closed. What it asks is in its newest version; *seed* is what it draws by.

    *kind* says where its texts are from: people write in it, or they were harvested and it is closed from the start.
    """

    __tablename__ = "rounds"
    __table_args__ = (UniqueConstraint("task_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    number: Mapped[int]
    kind: Mapped[str] = mapped_column(String(12), default="writing", server_default="writing")
    state: Mapped[str] = mapped_column(String(12), default="draft")
    entry_key: Mapped[str] = mapped_column(String(40), unique=True)
    seed: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    cloned_from: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    opened_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]


class RoundVersion(Base):
    """One state of a round's TOML file, exactly as it was given."""

    __tablename__ = "round_versions"
    __table_args__ = (UniqueConstraint("round_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    number: Mapped[int]
    toml: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class RoundTarget(Fact, Base):
    """A model version that writers of a round try to fool, from *day* on; *day* is empty for the whole round."""

    __tablename__ = "round_targets"
    __table_args__ = (UniqueConstraint("round_id", "day", "model_version_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), index=True)
    model_version_id: Mapped[int] = mapped_column(ForeignKey("model_versions.id"))
    day: Mapped[str] = mapped_column(String(10), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class RoundAssignment(Fact, Base):
    """The condition of a round that a worker was drawn for, once and for all; *drawn* is what from.

    By the round's seed, `Draw(**drawn)` of `quintain.protocols.assignment` gives the same condition again. It is None
    where there was nothing to draw.
    """

    __tablename__ = "round_assignments"
    __table_args__ = (UniqueConstraint("round_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    condition: Mapped[str] = mapped_column(String(40))
    drawn: Mapped[dict[str, Any] | None] = mapped_column(PLAIN, nullable=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class RoundChoice(Fact, Base):
    """What a worker said to a round: consent, warning (read and accepted), opt-out or opt-in. The newest counts."""

    __tablename__ = "round_choices"
    __table_args__ = (Index("ix_round_choices_round_user", "round_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    kind: Mapped[str] = mapped_column(String(12))
    text_hash: Mapped[str] = mapped_column(String(64), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class Prompt(Base):
    """An input that a writer may edit. *uses* counts the sessions in which something was written from it.

    *generation* counts how often it was shown. *review* is the id of the longer text that it is from, and *about* what
    else is known of it: its rating, its place in the review, and any further columns.
    """

    __tablename__ = "prompts"
    __table_args__ = (
        UniqueConstraint("round_id", "hash"),
        Index("ix_prompts_draw", "round_id", "uses", "draw"),
        Index("ix_prompts_hash", "hash"),
        Index("ix_prompts_leased", "round_id", "lease_until", "uses"),
        Index("ix_prompts_review", "review"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    hash: Mapped[str] = mapped_column(String(64))
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    answer: Mapped[Any] = mapped_column(PLAIN, nullable=True)
    tags: Mapped[list[str]] = mapped_column(default=list)
    corpus: Mapped[str] = mapped_column(String(200), default="")
    part: Mapped[str] = mapped_column(String(120), default="")
    row: Mapped[str] = mapped_column(String(120), default="")
    review: Mapped[str] = mapped_column(String(120), default="", server_default="")
    about: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    draw: Mapped[int] = mapped_column(BigInteger)
    uses: Mapped[int] = mapped_column(default=0)
    holder_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    lease_until: Mapped[datetime | None]
    generation: Mapped[int] = mapped_column(default=0)


class CorpusUse(Fact, Base):
    """A text of a corpus that a task has used for something other than a prompt, such as harvesting."""

    __tablename__ = "corpus_uses"
    __table_args__ = (
        Index("ix_corpus_uses_task_hash", "task_id", "hash"),
        Index("ix_corpus_uses_task_review", "task_id", "review"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"))
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"), index=True)
    hash: Mapped[str] = mapped_column(String(64))
    corpus: Mapped[str] = mapped_column(String(200), default="")
    part: Mapped[str] = mapped_column(String(120), default="")
    row: Mapped[str] = mapped_column(String(120), default="")
    review: Mapped[str] = mapped_column(String(120), default="", server_default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class WritingSession(Base):
    """One go of a worker at fooling the model: up to so many attempts, on one prompt or none.

    *outcome* is empty while it lasts, then fooled, exhausted, given_up, lapsed or closed. *drawn* has what `model` and
    `target` were drawn from, as in an assignment; what was not drawn is not there.
    """

    __tablename__ = "writing_sessions"
    __table_args__ = (
        Index("ix_writing_sessions_round_user", "round_id", "user_id"),
        Index("ix_writing_sessions_round_outcome", "round_id", "outcome"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(40), unique=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    condition: Mapped[str] = mapped_column(String(40))
    prompt_id: Mapped[int | None] = mapped_column(ForeignKey("prompts.id"), index=True)
    generation: Mapped[int] = mapped_column(default=0)
    models: Mapped[list[Any]] = mapped_column(PLAIN)
    target: Mapped[Any] = mapped_column(PLAIN, nullable=True)
    drawn: Mapped[dict[str, Any] | None] = mapped_column(PLAIN, nullable=True)
    allowed: Mapped[int]
    started_at: Mapped[datetime] = mapped_column(default=now, index=True)
    ended_at: Mapped[datetime | None]
    outcome: Mapped[str] = mapped_column(String(12), default="")


class Draft(Base):
    """What somebody has typed and not submitted yet; the newest state only."""

    __tablename__ = "drafts"

    session_id: Mapped[int] = mapped_column(ForeignKey("writing_sessions.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    target: Mapped[Any] = mapped_column(PLAIN, nullable=True)
    saved_at: Mapped[datetime] = mapped_column(default=now)


class Attempt(Fact, Base):
    """An example written at a model, or harvested with one: what was aimed at, what the model said.

    *aim* is the target as a text to count by; *fooled* is None where the writer decides, and then a note says it.
    *predictions* has one entry per target model: its version's id and hash, answer, probabilities, fooled.
    *text_key* is the hash of the task and the normalised text, by which duplicates are found. A harvested example
    has no writer, no session and no target.
    """

    __tablename__ = "attempts"
    __table_args__ = (
        UniqueConstraint("session_id", "token"),
        UniqueConstraint("session_id", "number"),
        Index("ix_attempts_round_created", "round_id", "created_at"),
        Index("ix_attempts_round_newest", "round_id", "id"),
        Index("ix_attempts_user_round", "user_id", "round_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    session_id: Mapped[int | None] = mapped_column(ForeignKey("writing_sessions.id"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    prompt_id: Mapped[int | None] = mapped_column(ForeignKey("prompts.id"), index=True)
    origin: Mapped[str] = mapped_column(String(12), default="written")
    condition: Mapped[str] = mapped_column(String(40), default="")
    number: Mapped[int] = mapped_column(default=1)
    token: Mapped[str | None] = mapped_column(String(80))
    hash: Mapped[str] = mapped_column(String(64), index=True)
    text_key: Mapped[str] = mapped_column(String(64), index=True)
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    target: Mapped[Any] = mapped_column(PLAIN, nullable=True)
    aim: Mapped[str] = mapped_column(String(80), default="")
    predictions: Mapped[list[Any]] = mapped_column(PLAIN)
    fooled: Mapped[bool | None]
    edit_distance: Mapped[int | None]
    seconds: Mapped[float | None]
    source: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[datetime] = mapped_column(default=now)


class AttemptBand(Fact, Base):
    """A band of an attempt's sketch: two texts that share one may be near-duplicates."""

    __tablename__ = "attempt_bands"

    band: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), primary_key=True, autoincrement=False)


class AttemptNote(Fact, Base):
    """What a writer adds to an attempt: decision and confirmed (yes or no), reason, tags, retracted. Newest counts."""

    __tablename__ = "attempt_notes"
    __table_args__ = (Index("ix_attempt_notes_attempt_kind", "attempt_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    kind: Mapped[str] = mapped_column(String(12))
    yes: Mapped[bool | None]
    text: Mapped[str] = mapped_column(Text, default="")
    tags: Mapped[list[str]] = mapped_column(default=list)
    created_at: Mapped[datetime] = mapped_column(default=now)


class AttemptFlag(Fact, Base):
    """Something in an attempt for the owner to look at: offensive, personal, or reported by a person."""

    __tablename__ = "attempt_flags"

    id: Mapped[int] = mapped_column(primary_key=True)
    attempt_id: Mapped[int] = mapped_column(ForeignKey("attempts.id"), index=True)
    kind: Mapped[str] = mapped_column(String(12))
    detail: Mapped[str] = mapped_column(Text, default="")
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class FlagDecision(Fact, Base):
    """What an owner made of a flag: keep the attempt, or withhold it from everything that leaves. Newest counts."""

    __tablename__ = "flag_decisions"

    id: Mapped[int] = mapped_column(primary_key=True)
    flag_id: Mapped[int] = mapped_column(ForeignKey("attempt_flags.id"), index=True)
    withhold: Mapped[bool]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    note: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class FlagStanding(Base):
    """Where a flag stands: of which round, and what was decided on it last. It follows flags and decisions."""

    __tablename__ = "flag_standings"
    __table_args__ = (
        Index("ix_flag_standings_round", "round_id", "flag_id"),
        Index("ix_flag_standings_open", "round_id", "flag_id", sqlite_where=_OPEN_FLAG, postgresql_where=_OPEN_FLAG),
    )

    flag_id: Mapped[int] = mapped_column(ForeignKey("attempt_flags.id"), primary_key=True, autoincrement=False)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    decision_id: Mapped[int | None] = mapped_column(ForeignKey("flag_decisions.id"))

"""Validation: items with slots to fill, pages of leased slots, and every judgement with what became of it.

An item has so many slots, one row each, with a lease time and a generation as fencing token: it grows with every
lease, and only the holder of the newest one fills the slot. Offers, judgements, notes, standings, reviews and
adjudications are facts. Labels are computed from judgements and stand nowhere here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from quintain.core.validation import SlotState
from quintain.store.base import Base, Fact, now

PLAIN = JSON(none_as_null=True)
OPEN = text("state = 'open'")
LEASED = text("state = 'leased'")
CAME_BACK = text("state = 'open' AND generation > 0")
GOLD_OFFER = text("slot_id IS NULL")
HELD = text("ended_at IS NULL")
CONTESTED = text("contested")
GOLD_ITEM = text("gold IS NOT NULL")
JUDGED_ITEM = text("gold IS NULL")


class Validation(Base):
    """The judging of a round's attempts, or of items from elsewhere (*round_id* is None): open, paused or closed.

    *seen_to* stands for the attempts, notes and flags that were looked at for items: while it is the same, there is
    nothing to take in. *revision* grows with every decision of an expert and every item that leaves or comes back:
    with the newest ids of what is only ever added, it says what figures rest on.
    """

    __tablename__ = "validations"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"), unique=True)
    name: Mapped[str] = mapped_column(String(80))
    state: Mapped[str] = mapped_column(String(12), default="open")
    seed: Mapped[int] = mapped_column(BigInteger, default=0)
    seen_to: Mapped[str] = mapped_column(String(80), default="", server_default="")
    revision: Mapped[int] = mapped_column(default=0, server_default="0")
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    closed_at: Mapped[datetime | None]


class ValidationPolicyVersion(Fact, Base):
    """One state of a validation's policy, as TOML. The newest counts."""

    __tablename__ = "validation_policies"
    __table_args__ = (UniqueConstraint("validation_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    number: Mapped[int]
    toml: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class ValidationItem(Base):
    """An example to be judged. One with a *gold* label has no slots: it is mixed in to get to know the judges.

    *aim* is the label that the writer aimed at; *predictions* is what the models said, as the attempt has it. *source*
    is what is known of where an item from elsewhere is from: the rating of its review. *part* is what samples are drawn
    within, such as an arm of a trial: judges never see it. *asked* is how many judgements an item was drawn to get that
    is judged more often than others; else the policy says.
    """

    __tablename__ = "validation_items"
    __table_args__ = (
        UniqueConstraint("validation_id", "hash"),
        Index(
            "ix_validation_items_gold",
            "validation_id",
            "retired_at",
            postgresql_where=GOLD_ITEM,
            sqlite_where=GOLD_ITEM,
        ),
        Index("ix_validation_items_newest", "validation_id", "id"),
        Index("ix_validation_items_judged", "validation_id", postgresql_where=JUDGED_ITEM, sqlite_where=JUDGED_ITEM),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    attempt_id: Mapped[int | None] = mapped_column(ForeignKey("attempts.id"), index=True)
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    batch: Mapped[int] = mapped_column(default=0)
    hash: Mapped[str] = mapped_column(String(64))
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    answer: Mapped[Any] = mapped_column(PLAIN, nullable=True)
    aim: Mapped[str] = mapped_column(String(80), default="")
    predictions: Mapped[list[Any]] = mapped_column(PLAIN, default=list)
    source: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    part: Mapped[str] = mapped_column(String(80), default="", server_default="")
    asked: Mapped[int | None]
    gold: Mapped[str | None] = mapped_column(String(80))
    gold_note: Mapped[str] = mapped_column(Text, default="")
    retired_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)


class Slot(Base):
    """A place for one judgement of an item: open, leased, filled, or dropped as not needed.

    Open slots are claimed by *batch*, *rank* and *draw*. The rank is how many judgements the item has or is getting
    before this one; the draw is random by the validation's seed. *author_id* repeats the item's, so that a claim
    reads one table; *judgement_id* is what fills the slot now.
    """

    __tablename__ = "validation_slots"
    __table_args__ = (
        UniqueConstraint("item_id", "k"),
        Index(
            "ix_validation_slots_open",
            "validation_id",
            "batch",
            "rank",
            "draw",
            postgresql_where=OPEN,
            sqlite_where=OPEN,
        ),
        Index(
            "ix_validation_slots_came_back",
            "validation_id",
            "batch",
            "rank",
            "draw",
            postgresql_where=CAME_BACK,
            sqlite_where=CAME_BACK,
        ),
        Index(
            "ix_validation_slots_lease", "validation_id", "lease_until", postgresql_where=LEASED, sqlite_where=LEASED
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("validation_items.id"))
    k: Mapped[int]
    batch: Mapped[int] = mapped_column(default=0)
    rank: Mapped[int]
    draw: Mapped[int] = mapped_column(BigInteger)
    author_id: Mapped[int | None]
    state: Mapped[str] = mapped_column(String(8), default=SlotState.OPEN.value)
    generation: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[datetime | None]
    judgement_id: Mapped[int | None]


class JudgePlace(Base):
    """How far a judge has come through the open slots of a validation: see `store.queries.places`."""

    __tablename__ = "judge_places"

    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    batch: Mapped[int]
    rank: Mapped[int]
    draw: Mapped[int] = mapped_column(BigInteger)
    newest: Mapped[int]


class JudgingPage(Base):
    """A page of items that one person holds. *outcome* is empty while it lasts: submitted, returned or lapsed."""

    __tablename__ = "judging_pages"
    __table_args__ = (
        Index("ix_judging_pages_validation_user", "validation_id", "user_id"),
        Index("ix_judging_pages_started", "validation_id", "started_at"),
        Index(
            "ix_judging_pages_held", "validation_id", "user_id", unique=True, postgresql_where=HELD, sqlite_where=HELD
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(40), unique=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    size: Mapped[int]
    lease_until: Mapped[datetime]
    started_at: Mapped[datetime] = mapped_column(default=now)
    ended_at: Mapped[datetime | None]
    outcome: Mapped[str] = mapped_column(String(12), default="")


class Offer(Fact, Base):
    """An item was shown to a person, once and for all; *slot_id* is None for a gold item."""

    __tablename__ = "judging_offers"
    __table_args__ = (
        UniqueConstraint("user_id", "item_id"),
        UniqueConstraint("page_id", "position"),
        Index("ix_judging_offers_gold", "item_id", postgresql_where=GOLD_OFFER, sqlite_where=GOLD_OFFER),
        Index("ix_judging_offers_gold_of", "user_id", postgresql_where=GOLD_OFFER, sqlite_where=GOLD_OFFER),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    page_id: Mapped[int] = mapped_column(ForeignKey("judging_pages.id"))
    position: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("validation_items.id"))
    slot_id: Mapped[int | None] = mapped_column(ForeignKey("validation_slots.id"))
    generation: Mapped[int] = mapped_column(default=0)


class JudgingDraft(Base):
    """What somebody has answered to an item of a page that they still hold: it counts for nothing until handed in.

    *number* grows with every change that the page makes to the answer: one that arrives late changes nothing. An
    answer that was undone is a draft with nothing in it.
    """

    __tablename__ = "judging_drafts"

    offer_id: Mapped[int] = mapped_column(ForeignKey("judging_offers.id"), primary_key=True, autoincrement=False)
    page_id: Mapped[int] = mapped_column(ForeignKey("judging_pages.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    label: Mapped[str | None] = mapped_column(String(80))
    skip: Mapped[str | None] = mapped_column(Text)
    flag: Mapped[str | None] = mapped_column(Text)
    seconds: Mapped[float | None]
    number: Mapped[int] = mapped_column(BigInteger, default=0)
    saved_at: Mapped[datetime] = mapped_column(default=now)


class Judgement(Fact, Base):
    """One person's label for one item. *late* came when its slot was somebody else's already: kept, paid, extra."""

    __tablename__ = "judgements"
    __table_args__ = (UniqueConstraint("item_id", "user_id"), Index("ix_judgements_validation", "validation_id", "id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("validation_items.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    offer_id: Mapped[int | None] = mapped_column(ForeignKey("judging_offers.id"), unique=True)
    label: Mapped[str] = mapped_column(String(80))
    late: Mapped[bool] = mapped_column(default=False)
    seconds: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(default=now)


class JudgingNote(Fact, Base):
    """What a judge says of an item besides a label: a skip with its reason, or a flag for the owner."""

    __tablename__ = "judging_notes"
    __table_args__ = (UniqueConstraint("offer_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), index=True)
    offer_id: Mapped[int] = mapped_column(ForeignKey("judging_offers.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("validation_items.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    kind: Mapped[str] = mapped_column(String(8))
    text: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class JudgeStanding(Fact, Base):
    """A judge was unqualified or requalified, by whom or by which rule. The newest counts.

    Judgements with an id up to *aside_through* are set aside: kept in the record, paid, and not counted.
    """

    __tablename__ = "judge_standings"
    __table_args__ = (
        Index("ix_judge_standings_validation_user", "validation_id", "user_id"),
        Index("ix_judge_standings_newest", "validation_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    qualified: Mapped[bool]
    rule: Mapped[str] = mapped_column(String(40), default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    aside_through: Mapped[int] = mapped_column(default=0)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class DueReview(Base):
    """A batch of which no slot was open when somebody handed in: it is reviewed once none is leased either.

    Written with the judgements themselves, so that a review is made up for where the process ended before it.
    """

    __tablename__ = "due_reviews"

    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), primary_key=True)
    batch: Mapped[int] = mapped_column(primary_key=True)


class ValidationReview(Fact, Base):
    """A pass over all judgements of a validation, after a batch or when somebody asked for it."""

    __tablename__ = "validation_reviews"

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), index=True)
    judgements: Mapped[int]
    summary: Mapped[dict[str, Any]] = mapped_column(default=dict)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class JudgeEstimate(Fact, Base):
    """What a review found about one judge; *right* and *wrong* are the Beta distribution of the accuracy."""

    __tablename__ = "judge_estimates"
    __table_args__ = (UniqueConstraint("review_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[int] = mapped_column(ForeignKey("validation_reviews.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    judgements: Mapped[int]
    compared: Mapped[int]
    agreed: Mapped[int]
    gold_seen: Mapped[int] = mapped_column(default=0)
    gold_right: Mapped[int] = mapped_column(default=0)
    right: Mapped[float]
    wrong: Mapped[float]


class Adjudication(Fact, Base):
    """An expert's decision on a contested item; an empty label takes the decision back. The newest counts."""

    __tablename__ = "adjudications"

    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("validation_items.id"), index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    label: Mapped[str] = mapped_column(String(80), default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class ItemFigure(Base):
    """What became of an item as it was counted last: lists filter, sort and page by it. Derived: it can be thrown away.

    *votes* are by label; *share* is that of the label with most of them, None where there are none. Of a gold item that
    was answered, whose state is `gold`, it is the share of right answers. The lower
    *sureness*, the more an item wants an expert: below 0 where it has no label, else how much speaks for the label.
    """

    __tablename__ = "item_figures"
    __table_args__ = (
        Index("ix_item_figures_number", "validation_id", "item_id", "state"),
        Index("ix_item_figures_state", "validation_id", "state", "item_id", "label", "contested"),
        Index("ix_item_figures_share", "validation_id", "share", "item_id", "state", "label", "contested"),
        Index("ix_item_figures_judgements", "validation_id", "judgements", "item_id", "state", "label", "contested"),
        Index("ix_item_figures_label", "validation_id", "label", "item_id", "state", "contested"),
        Index(
            "ix_item_figures_contested",
            "validation_id",
            "sureness",
            "item_id",
            postgresql_where=CONTESTED,
            sqlite_where=CONTESTED,
        ),
    )

    item_id: Mapped[int] = mapped_column(ForeignKey("validation_items.id"), primary_key=True, autoincrement=False)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    state: Mapped[str] = mapped_column(String(10))
    contested: Mapped[bool]
    label: Mapped[str | None] = mapped_column(String(80))
    judgements: Mapped[int]
    share: Mapped[float | None]
    sureness: Mapped[float]
    by_expert: Mapped[bool]
    votes: Mapped[dict[str, Any]]

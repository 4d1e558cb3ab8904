"""Payouts: approved earnings that are paid together, through a panel or by hand.

An earning is in one payout at most. A payout is planned, sent (`dispatch`), and booked when the provider has said that
it paid; one that was not sent can be cancelled, which sets its earnings free.
"""

from __future__ import annotations

import io
import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from quintain.adapters.panels.contract import PanelStanding
from quintain.core import ledger as book
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.records.pay import Owed, PayoutCallRecord, PayoutLine, PayoutRecord, Payouts
from quintain.core.rounds import MINOR_DIGITS, Money
from quintain.core.texts import Text
from quintain.data.cells import RowWriter
from quintain.services.access import audit
from quintain.services.access.notify import notify
from quintain.services.access.permissions import require_owner
from quintain.services.pay import ledger
from quintain.services.pay.deductions import deduct_overpaid
from quintain.services.pay.earnings import piece_of
from quintain.services.pay.held_pay import refuse_if_held
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.access.people import names as people_names
from quintain.store.queries.pay import ahead as ahead_queries
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.pay import overpaid as overpaid_queries
from quintain.store.queries.pay import owed as owed_queries
from quintain.store.queries.pay import payouts as queries
from quintain.store.tables import Payout

HAND = "hand"  # for people whom no panel knows
PROVIDERS = (HAND, "prolific", "panel", "mturk")
APPROVING = "prolific"  # where approving a submission pays the base pay of whoever sent it in
MOST_LINES = 200  # people in one payout: what Prolific takes at once
OPEN = ("planned", "prepared", "refused")


@dataclass(frozen=True, slots=True)
class PayoutPart:
    """What a payout is to pay to one person: their earnings, and the arrival from the panel that they belong to.

    *ahead* are earnings of which it pays so much, and not all.
    """

    user_id: int
    earnings: tuple[int, ...]
    amount: int
    stay: str = ""
    ahead: tuple[tuple[int, int], ...] = ()


def owed(db: Session, actor: Actor, task: str) -> list[Owed]:
    """Return what is approved and not yet in a payout, by provider and currency (owners)."""
    row = find_row(db, task)
    require_owner(actor, task)
    return [
        Owed(provider or HAND, people, amount, currency)
        for provider, currency, people, amount in owed_queries.by_provider(db, row.id)
    ]


def plan(db: Session, actor: Actor, task: str, *, provider: str, currency: str) -> list[PayoutRecord]:
    """Plan payouts of everything that is approved, in one currency, for the people of a provider (owners).

    Prolific pays bonuses by the study that somebody took part in, so that there is one for each.
    """
    if provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        fault = Fault("is '{provider}', not one of {known}", provider=provider, known=known, field="provider")
        raise BadInput(faults=[fault])
    task_id = find_row(db, task).id
    require_owner(actor, task)
    with transaction(db):
        lock(db, f"pay of {task_id}")
        deduct_overpaid(db, task, task_id, currency, _payable(db, task_id, provider, currency)[0])
    payable, waiting = _payable(db, task_id, provider, currency)
    if not payable:
        refuse_if_held(db, task_id, currency)
        raise _nothing_to_pay(provider, currency, waiting)
    step, records = "bonus" if provider == "prolific" else "file", []
    for study, parts in [*_parts(db, task_id, provider, payable)]:
        with transaction(db):  # one for each: others wait for no more than a payout takes
            lock(db, f"pay of {task_id}")
            owing = _as_now(db, task_id, parts, provider=provider, currency=currency)
            if not owing:
                continue  # others have planned all of it meanwhile
            payout = put_payout(db, actor, task_id, owing, provider=provider, step=step, study=study, currency=currency)
            audit.record(db, actor, "payout.plan", task, payouts=[payout.id])
            records.append(payout_record(db, task, payout))
    return records


def _payable(
    db: Session, task_id: int, provider: str, currency: str, users: Sequence[int] | None = None
) -> tuple[list[queries.Payable], int]:
    """List what can be paid through a provider, and count the people whose base pay the approval of a submission pays.

    Whoever has a submission that is not approved yet gets their base pay by that, and by nothing else.
    """
    payable = queries.payable(db, task_id, currency, None if provider == HAND else provider, users)
    open_ones = people_with_submissions(db, task_id) if any(one.kind == "base" for one in payable) else set()
    held = {one.user_id for one in payable if one.kind == "base" and one.user_id in open_ones}
    return [one for one in payable if one.kind != "base" or one.user_id not in held], len(held)


def people_with_submissions(db: Session, task_id: int) -> set[int]:
    """Return who has a submission on a panel that no payout approves, and that may be approved as far as is known."""
    done = queries.approved_stays(db, task_id)
    return {
        stay.user_id
        for stay in queries.stays(db, task_id, APPROVING)
        if stay.study and stay.ref not in done and stay.standing != PanelStanding.OVER
    }


def _nothing_to_pay(provider: str, currency: str, waiting: int) -> Conflict:
    if waiting:
        return Conflict(
            "Base pay of {n} people waits: approving their submissions pays it, and nothing else does.",
            n=waiting,
            remedy="Plan approvals; who has not finished yet is paid when they have, or when the panel has ended it.",
            code="waits_for_approval",
        )
    return Conflict(
        "Nothing is approved that could be paid in {currency} through {provider}.",
        currency=currency,
        provider=provider,
        remedy="Approve earnings first.",
    )


def _as_now(
    db: Session, task_id: int, parts: Sequence[PayoutPart], *, provider: str, currency: str
) -> list[PayoutPart]:
    """Return *parts* as they are once nobody else plans: of what was owed before, others may pay some by now."""
    users = [part.user_id for part in parts]
    payable, _ = _payable(db, task_id, provider, currency, users)
    left = {one.id: one.left for one in payable}
    now_owed = [replace(part, earnings=tuple(number for number in part.earnings if number in left)) for part in parts]
    return [replace(one, amount=sum(left[number] for number in one.earnings)) for one in now_owed if one.earnings]


def _parts(
    db: Session, task_id: int, provider: str, payable: Sequence[queries.Payable]
) -> Iterator[tuple[str, list[PayoutPart]]]:
    """Return what each person is owed, in payouts of one study and of no more people than a call takes."""
    studies = {stay.user_id: stay.study for stay in queries.stays(db, task_id, provider)} if provider != HAND else {}
    people: defaultdict[tuple[str, int], list[queries.Payable]] = defaultdict(list)
    for earning in payable:
        people[studies.get(earning.user_id, ""), earning.user_id].append(earning)
    by_study: defaultdict[str, list[PayoutPart]] = defaultdict(list)
    for (study, user_id), mine in sorted(people.items()):
        ids = tuple(one.id for one in mine)
        by_study[study].append(PayoutPart(user_id, ids, sum(one.left for one in mine)))
    for study, parts in by_study.items():
        for first in range(0, len(parts), MOST_LINES):
            yield study, parts[first : first + MOST_LINES]


def put_payout(
    db: Session,
    actor: Actor,
    task_id: int,
    parts: Sequence[PayoutPart],
    *,
    provider: str,
    step: str,
    study: str,
    currency: str,
) -> Payout:
    """Write a payout down and put the earnings into it, inside the caller's transaction."""
    row = Payout(
        key=f"pay-{secrets.token_hex(12)}",
        task_id=task_id,
        provider=provider,
        step=step,
        study=study,
        currency=currency,
        amount=sum(part.amount for part in parts),
        people=len({part.user_id for part in parts}),
        state="prepared" if step == "file" else "planned",
        content={"lines": [{"user": part.user_id, "amount": part.amount, "stay": part.stay} for part in parts]},
        created_by=actor.user_id,
    )
    db.add(row)
    db.flush()
    earning_ids = [number for part in parts for number in part.earnings]
    if queries.take(db, row.id, earning_ids, [part for one in parts for part in one.ahead]) != len(earning_ids):
        raise Conflict("Others were at work on the same earnings.", remedy="Try again.")
    return row


def list_payouts(db: Session, actor: Actor, task: str, *, limit: int = 25, offset: int = 0) -> Payouts:
    """List payouts of a task, the newest first (owners)."""
    row = find_row(db, task)
    require_owner(actor, task)
    rows, total = queries.page(db, row.id, limit=limit, offset=offset)
    return Payouts([payout_record(db, task, row, calls=False) for row in rows], total)


def get_payout(db: Session, actor: Actor, payout_id: int) -> PayoutRecord:
    """Show a payout with its people and the calls that were made for it (owners)."""
    row, task = find_payout(db, actor, payout_id)
    return payout_record(db, task, row)


def cancel(db: Session, actor: Actor, payout_id: int) -> PayoutRecord:
    """Cancel a payout that was not sent (owners): its earnings can be paid by another one.

    One that was sent is refused.
    """
    with transaction(db):
        _, task = find_payout(db, actor, payout_id)
        if not queries.change(db, payout_id, OPEN, state="cancelled", settled_at=now(), lease_until=None):
            raise Conflict(
                "Payout {number} was sent, or may have been, and cannot be cancelled.",
                number=payout_id,
                remedy="Where no answer came, look at the panel first and say whether it was paid.",
            )
        queries.release(db, payout_id)
        audit.record(db, actor, "payout.cancel", task, payout=payout_id)
    return get_payout(db, actor, payout_id)


def resolve(db: Session, actor: Actor, payout_id: int, *, paid: bool, note: str = "") -> PayoutRecord:
    """Set down whether a payout by hand, or one whose answer did not come, was paid (owners); others are refused."""
    with transaction(db):
        row, task = find_payout(db, actor, payout_id)
        by_hand = row.step == "file" and row.state == "prepared"
        if not by_hand and row.state != "unknown":
            raise Conflict(
                "Of payout {number} there is nothing to say.",
                number=payout_id,
                remedy="It is said of payouts by hand, and where no answer came.",
            )
        audit.record(db, actor, "payout.resolve", task, payout=payout_id, paid=paid, note=note[:500])
        if paid:
            book_payout(db, payout_id)
        else:
            back = "prepared" if row.step == "file" else "planned"
            queries.change(db, payout_id, ("unknown", "prepared"), state=back, reason=note[:500], lease_until=None)
    return get_payout(db, actor, payout_id)


def book_payout(db: Session, payout_id: int, **values: Any) -> bool:
    """Book a payout that was made, once, and tell the people; inside the caller's transaction or one of its own."""
    with transaction(db):
        states = ("prepared", "sending", "unknown")
        if not queries.change(
            db, payout_id, states, state="sent", settled_at=now(), reason="", lease_until=None, **values
        ):
            return False
        stored = queries.find(db, payout_id)
        if stored is None:
            return False
        row, task = stored
        _book(db, row)
        earning_queries.mark_paid(db, payout_id)
        for line in row.content["lines"]:
            money = Money(line["amount"], row.currency)
            text = Text("{money} for your work on {task}: paid.", money=money, task=task)
            notify(db, line["user"], "pay.paid", text, "/work/earnings")
    return True


def _book(db: Session, row: Payout) -> None:
    """Book what a payout has paid: its earnings, less what others paid ahead of them, and what it paid ahead itself."""
    paid = queries.earnings_in(db, row.id)
    before = ahead_queries.of_earnings(db, [one.id for one in paid])
    ahead = [(piece_of(one), amount) for one, amount in ahead_queries.by_payout(db, row.id)]
    pieces = [piece_of(one) for one in paid]
    ledger.post(db, [book.paid(row.id, row.provider, row.task_id, pieces, before=before, ahead=ahead)])


def export(db: Session, actor: Actor, payout_id: int) -> str:
    """Write a payout as CSV by the panel's own ids, to pay it there (owners)."""
    row, task = find_payout(db, actor, payout_id)
    shown = payout_record(db, task, row, calls=False)
    text = io.StringIO()
    writer = RowWriter(text)
    amounts = [decimal(Money(line.amount, row.currency)) for line in shown.lines]
    if row.provider == "mturk":  # as the tools that send bonuses there read it
        newest = {stay.user_id: stay.submission for stay in queries.stays(db, row.task_id, row.provider)}
        writer.row(("WorkerId", "AssignmentId", "BonusAmount", "Reason"))
        for line, stored_line, amount in zip(shown.lines, row.content["lines"], amounts, strict=True):
            writer.row((line.person, newest.get(stored_line["user"], ""), amount, row.key))
    else:
        writer.row(("id", "amount", "currency", "payout"))
        for line, amount in zip(shown.lines, amounts, strict=True):
            writer.row((line.person, amount, row.currency, row.key))
    with transaction(db):
        audit.record(db, actor, "payout.export", task, payout=payout_id)
    return text.getvalue()


def decimal(money: Money) -> str:
    """Write an amount in major units, without its currency.

    >>> decimal(Money(5, "USD")), decimal(Money(5, "JPY"))
    ('0.05', '5')
    """
    digits = MINOR_DIGITS.get(money.currency, 2)
    return str(money).rpartition(" ")[0] if digits else str(money.amount)


def find_payout(db: Session, actor: Actor, payout_id: int) -> tuple[Payout, str]:
    """Find a payout of a task that the actor owns."""
    stored = queries.find(db, payout_id)
    if stored is None:
        raise NotFound("There is no payout {number}.", number=payout_id)
    require_owner(actor, stored[1])
    return stored


def payout_record(db: Session, task: str, row: Payout, *, calls: bool = True) -> PayoutRecord:
    """Return a payout as owners see it."""
    lines: Sequence[Mapping[str, Any]] = row.content["lines"]
    users = [int(line["user"]) for line in lines]
    names = people_names(db, users)
    outside = queries.outside_names(db, users, row.provider) if row.provider != HAND else names
    return PayoutRecord(
        id=row.id,
        task=task,
        provider=row.provider,
        step=row.step,
        study=row.study,
        amount=row.amount,
        currency=row.currency,
        people=row.people,
        state=row.state,
        reason=row.reason,
        created_at=row.created_at,
        settled_at=row.settled_at,
        lines=[
            PayoutLine(names.get(line["user"], ""), outside.get(line["user"], ""), line["amount"]) for line in lines
        ],
        calls=[
            PayoutCallRecord(call.created_at, call.key, call.outcome, call.status, call.reply)
            for call in (queries.calls(db, row.id) if calls else [])
        ],
        over=overpaid_queries.left(db, [row.id]).get(row.id, 0) if row.step == overpaid_queries.STEP else 0,
        answer=str(row.content.get("answer", "")),
    )

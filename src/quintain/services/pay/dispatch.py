"""Sending payouts, so that nobody is paid twice and nobody is forgotten.

Before the call that moves money, the payout is written down as being sent; only one process can do so. If then no
answer comes, or the process dies, nobody knows whether money moved: the payout is `unknown`, and the provider is asked
what it has paid. Where that is not clear, it stays unknown until the owner has looked, and no other payout of its study
is sent meanwhile. A provider that pays once however often it is asked is simply asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.adapters.panels.contract import Declined, PayLine, PaymentCheck, PayProvider, ProviderAnswer, Uncertain
from quintain.core.errors import Conflict, QuintainError, Unavailable
from quintain.core.people import Actor
from quintain.core.records.pay import PayoutRecord
from quintain.core.texts import Text
from quintain.engine.process_names import is_gone, own_name
from quintain.services.access import audit
from quintain.services.pay import payouts
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.pay import payouts as queries
from quintain.store.tables import Payout, PayoutCall

LEASE = timedelta(minutes=5)  # longer than any call may take
LONGEST_REPLY = 2000
OVER = ("sent", "cancelled")


@dataclass(frozen=True, slots=True)
class LeasedPayout:
    """A payout that this process holds, with the people as the provider knows them; *names* are ours for them."""

    id: int
    key: str
    state: str
    study: str
    currency: str
    content: Mapping[str, Any]
    generation: int
    lines: tuple[PayLine, ...]
    names: Mapping[str, str]

    def without_outside_names(self, text: str) -> str:
        """Return a reply without what the panel calls people: that stays in one table."""
        for outside, name in self.names.items():
            text = text.replace(outside, name)
        return text[:LONGEST_REPLY]


def dispatch(db: Session, actor: Actor, payout_id: int, provider: PayProvider) -> PayoutRecord:
    """Send a payout, or go on where somebody left it; give how it stands then (owners)."""
    row, task = payouts.find_payout(db, actor, payout_id)
    if row.step == "file":
        raise Conflict(
            "Payout {number} is paid by hand.",
            number=payout_id,
            remedy="Download its file, pay it there, and say here that it is paid.",
        )
    if row.state in OVER:
        return payouts.payout_record(db, task, row)
    with transaction(db):
        audit.record(db, actor, "payout.dispatch", task, payout=payout_id)
    held = _hold(db, payout_id)
    try:
        _carry_on(db, held, provider)
    finally:
        with transaction(db):
            states = ("planned", "prepared", "refused", "unknown")
            queries.change(db, payout_id, states, held.generation, lease_until=None)
    return payouts.get_payout(db, actor, payout_id)


def _hold(db: Session, payout_id: int) -> LeasedPayout:
    with transaction(db):
        known = queries.find(db, payout_id)
        dead = known[0].holder if known is not None and is_gone(known[0].holder) else None
        generation = queries.claim(db, payout_id, now(), now() + LEASE, holder=own_name(), dead=dead)
        if generation is None:
            raise _held_by_others(db, payout_id)
        # Whoever held it before died or gave up in the middle: what came of the call is not known.
        queries.change(db, payout_id, ("sending",), generation, state="unknown", reason="No answer came.")
        stored = queries.find(db, payout_id)
        if stored is None:
            raise Conflict("Payout {number} is gone.", number=payout_id)
        row = stored[0]
        lines, names = _lines(db, row)
        return LeasedPayout(
            row.id, row.key, row.state, row.study, row.currency, dict(row.content), generation, lines, names
        )


def _held_by_others(db: Session, payout_id: int) -> Conflict:
    """Return the refusal that others hold a payout, and until when: whoever died holds it no longer than that."""
    known = queries.find(db, payout_id)
    until = known[0].lease_until if known is not None else None
    return Conflict(
        "Somebody else is sending payout {number}, until {until} UTC at the latest.",
        number=payout_id,
        until=f"{until or now():%H:%M:%S}",
        remedy=Text("If it is not sent by then, go on with it: `quintain pay send {number}`.", number=payout_id),
        page="If it is not sent by then, press the button again: what came of it is looked up first.",
        code="being_sent",
    )


def _lines(db: Session, row: Payout) -> tuple[tuple[PayLine, ...], dict[str, str]]:
    lines: Sequence[Mapping[str, Any]] = row.content["lines"]
    outside = queries.outside_names(db, [line["user"] for line in lines], row.provider)
    submissions = {stay.ref: stay.submission for stay in queries.stays(db, row.task_id, row.provider)}
    gone = sum(line["user"] not in outside for line in lines)
    if gone:
        raise Conflict(
            "{n} of the people in payout {number} are no longer known to the panel.",
            n=gone,
            number=row.id,
            remedy="Cancel it and plan it anew.",
        )
    pay_lines = tuple(
        PayLine(outside[line["user"]], line["amount"], submissions.get(line.get("stay", ""), "")) for line in lines
    )
    return pay_lines, {name: f"user:{user}" for user, name in outside.items()}


def _carry_on(db: Session, held: LeasedPayout, provider: PayProvider) -> None:
    """Take a payout as far as it goes."""
    state = held.state
    if state == "unknown":
        state = _look_again(db, held, provider)
    if state in {"planned", "refused"}:
        state = _prepare(db, held, provider)
    if state == "prepared":
        _send(db, held, provider)


def _look_again(db: Session, held: LeasedPayout, provider: PayProvider) -> str:
    """Find out what came of a call that was not answered."""
    before = held.content.get("before")
    payment = PaymentCheck.UNSENT  # what people had before is written down ahead of the call: without it, none was made
    if before is not None:
        outside = {name: before.get(ours, []) for name, ours in held.names.items()}
        payment = provider.find(held.study, held.lines, outside)
    _note(db, held, "look", payment.value, None, "")
    if payment is PaymentCheck.SENT:
        payouts.book_payout(db, held.id)
        return "sent"
    if payment is PaymentCheck.UNSENT or provider.repeatable:
        with transaction(db):
            if queries.change(db, held.id, ("unknown",), held.generation, state="prepared"):
                return "prepared"
    return "unknown"


def _prepare(db: Session, held: LeasedPayout, provider: PayProvider) -> str:
    paid_in = provider.currency()
    if paid_in != held.currency:
        raise Conflict(
            "The account pays in {paid_in}, and this payout is in {currency}.",
            paid_in=paid_in,
            currency=held.currency,
            remedy="Pay it by hand, or set rewards in the currency of the account.",
            code="currency_mismatch",
        )
    try:
        answer = provider.prepare(held.study, held.lines, held.key)
    except Declined as error:
        return _refused(db, held, "prepare", error)
    except Uncertain as error:  # nothing was paid: it can be set up again
        _note(db, held, "prepare", "unanswered", None, str(error))
        raise Unavailable("The panel does not answer: {error}.", error=error, remedy="Try again later.") from None
    _note(db, held, "prepare", "done", answer.status, answer.text)
    content = {key: value for key, value in held.content.items() if key != "before"}
    with transaction(db):
        values = {"state": "prepared", "outside_id": answer.outside_id, "content": content, "reason": ""}
        changed = queries.change(db, held.id, ("planned", "refused"), held.generation, **values)
    return "prepared" if changed else "lost"


def _send(db: Session, held: LeasedPayout, provider: PayProvider) -> None:
    """Make the call that moves money, once: who writes down first that it is being sent makes it."""
    outside_id = _begin(db, held, repeatable=provider.repeatable)
    if outside_id is None:
        return
    try:
        _remember(db, held, provider)
    except QuintainError:  # the call that pays was not made
        with transaction(db):
            queries.change(db, held.id, ("sending",), held.generation, state="prepared")
        raise
    try:
        answer = provider.send(outside_id, held.lines, held.key)
    except Declined as error:
        _refused(db, held, "send", error)
    except Uncertain as error:
        _note(db, held, "send", "unanswered", None, str(error))
        with transaction(db):
            reason = held.without_outside_names(f"No answer came: {error}")
            queries.change(db, held.id, ("sending",), held.generation, state="unknown", reason=reason)
    else:
        _paid(db, held, answer)


def _begin(db: Session, held: LeasedPayout, *, repeatable: bool) -> str | None:
    """Write down that a payout is being sent; give what the provider calls it, or None where somebody else was first.

    Payouts of one study go one after the other, so that what people have had says which of them was made.
    """
    with transaction(db):
        lock(db, f"payouts of study {held.study}")
        stored = queries.find(db, held.id)
        if stored is None:
            return None
        other = None if repeatable else queries.others_underway(db, stored[0])
        if other is not None:
            raise Conflict(
                "Payout {other} of the same study is on its way.",
                other=other,
                remedy="Go on with that one first.",
            )
        changed = queries.change(db, held.id, ("prepared",), held.generation, state="sending")
        return stored[0].outside_id if changed else None


def _remember(db: Session, held: LeasedPayout, provider: PayProvider) -> None:
    """Write down what people have had, with what is paid and may not show yet, to compare with after the call."""
    had = provider.payments_so_far(held.study, held.lines)
    stored = queries.find(db, held.id)
    ours: dict[str, Counter[int]] = {}
    for user, amount in queries.sent_amounts(db, stored[0]) if stored else []:
        ours.setdefault(f"user:{user}", Counter())[amount] += 1
    before = {}
    for outside, name in held.names.items():
        seen, paid = Counter[int](had.get(outside, [])), ours.get(name, Counter())
        before[name] = sorted(amount for amount in {*seen, *paid} for _ in range(max(seen[amount], paid[amount])))
    with transaction(db):
        content = {**held.content, "before": before}
        if not queries.change(db, held.id, ("sending",), held.generation, content=content):
            raise Unavailable("Payout {number} was taken over meanwhile.", number=held.id)


def _paid(db: Session, held: LeasedPayout, answer: ProviderAnswer) -> None:
    with transaction(db):
        _note(db, held, "send", "done", answer.status, answer.text)
        payouts.book_payout(db, held.id)


def _refused(db: Session, held: LeasedPayout, step: str, error: Declined) -> str:
    with transaction(db):
        _note(db, held, step, "refused", error.status, error.message)
        states = ("planned", "prepared", "sending", "refused")
        reason = held.without_outside_names(error.message)
        queries.change(db, held.id, states, held.generation, state="refused", reason=reason)
    return "refused"


def _note(db: Session, held: LeasedPayout, step: str, outcome: str, status: int | None, reply: str) -> None:
    with transaction(db):
        key = f"{held.key}:{step}:{held.generation}"
        db.add(
            PayoutCall(
                payout_id=held.id, key=key, outcome=outcome, status=status, reply=held.without_outside_names(reply)
            )
        )

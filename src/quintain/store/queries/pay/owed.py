"""What is owed to whom: kept beside the earnings that it is the sum of, and added up by provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Select, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.queries.pay import ahead
from quintain.store.tables import Earning, EarningStanding, OwedPay, PaidAhead, PanelPerson

_owed = table_of(OwedPay)


class OwedTo(NamedTuple):
    """To whom something is owed, by which task, and in what money."""

    task_id: int
    user_id: int
    currency: str


def change(db: Session, changes: Mapping[OwedTo, int]) -> None:
    """Owe so much more to people, or less; in one order for everybody, in the transaction that changes earnings."""
    rows = [{**key._asdict(), "amount": by} for key, by in sorted(changes.items()) if by]
    if not rows:
        return
    dialect = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    row = dialect.insert(_owed)
    more = {"amount": _owed.c.amount + row.excluded.amount}
    keys = [_owed.c.task_id, _owed.c.user_id, _owed.c.currency]
    db.execute(row.on_conflict_do_update(index_elements=keys, set_=more), rows)


def of_payout(db: Session, payout_id: int) -> dict[OwedTo, int]:
    """Add up what a payout pays, by whom it belongs to: the earnings in it, and what it pays ahead of others."""
    totals = Counter(_summed(db, _sums().where(EarningStanding.payout_id == payout_id)))
    of = (Earning.task_id, Earning.user_id, Earning.currency)
    query = select(*of, func.sum(PaidAhead.amount)).join(PaidAhead, PaidAhead.earning_id == Earning.id).group_by(*of)
    totals.update(_summed(db, query.where(PaidAhead.payout_id == payout_id)))
    return dict(totals)


def by_provider(db: Session, task_id: int) -> list[tuple[str | None, str, int, int]]:
    """Add up what a task owes: by provider and currency, to how many people, and how much."""
    provider = (
        select(func.min(PanelPerson.provider))
        .where(PanelPerson.user_id == OwedPay.user_id)
        .correlate(OwedPay)
        .scalar_subquery()
    )
    people = select(provider.label("provider"), OwedPay.currency, OwedPay.amount)
    each = people.where(OwedPay.task_id == task_id, OwedPay.amount != 0).subquery()
    of = (each.c.provider, each.c.currency)
    query = select(*of, func.count(), func.sum(each.c.amount)).group_by(*of).order_by(*of)
    return [(name, currency, int(people), int(amount)) for name, currency, people, amount in db.execute(query)]


def stored_counts(db: Session) -> dict[OwedTo, int]:
    """Return everything that is owed, as it is kept."""
    query = select(OwedPay.task_id, OwedPay.user_id, OwedPay.currency, OwedPay.amount).where(OwedPay.amount != 0)
    return {OwedTo(*row[:3]): int(row[3]) for row in db.execute(query)}


def counted(db: Session) -> dict[OwedTo, int]:
    """Add everything up that is owed, from the earnings."""
    free = EarningStanding.status == "approved", EarningStanding.payout_id.is_(None)
    return _summed(db, _sums().where(*free))


def replace(db: Session, rows: Mapping[OwedTo, int]) -> None:
    """Throw away what is kept, and keep *rows*."""
    db.execute(delete(_owed))
    if rows:
        db.execute(insert(_owed), [{**key._asdict(), "amount": amount} for key, amount in rows.items()])


def _sums() -> Select[int, int, str, int]:
    of = (EarningStanding.task_id, EarningStanding.user_id, Earning.currency)
    query = select(*of, func.sum(ahead.left())).join(Earning, Earning.id == EarningStanding.earning_id)
    return query.group_by(*of)


def _summed(db: Session, query: Select[int, int, str, int]) -> dict[OwedTo, int]:
    return {OwedTo(*row[:3]): int(row[3]) for row in db.execute(query)}

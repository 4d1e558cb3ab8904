"""Where earnings stand, and what accounts hold: both follow from facts and entries, and are set right by them.

Sums of earnings are counted from where these stand, so that this comes first. What was booked is never changed: where
entries disagree with facts, `quintain.services.pay.ledger.check` says so.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.ledger import Account
from quintain.services.jobs.counts import CountKind, Numbers
from quintain.store.queries.pay import earnings, ledger


def pay_kinds() -> tuple[CountKind, ...]:
    """Name what is kept beside the facts of pay, and sums are counted from."""
    return (
        CountKind("where earnings stand", _nothing, _misplaced, _restand, held=("earning_standings",)),
        CountKind("balances of accounts", _held, _summed, _rebuild, held=("ledger_tails",)),
    )


def _nothing(db: Session) -> Numbers:
    return {}


def _misplaced(db: Session) -> Numbers:
    return {("earning", row["earning_id"]): 1 for row in earnings.misplaced(db)}


def _restand(db: Session, stored: Numbers, counted: Numbers) -> None:
    earnings.rebuild_standings(db, earnings.misplaced(db))


def _held(db: Session) -> Numbers:
    """Return what accounts hold whose entries add up to something else."""
    return {(one.holder, one.name, one.currency): held for one, held, _ in ledger.miscounted(db)}


def _summed(db: Session) -> Numbers:
    """Return what the entries of those accounts add up to."""
    return {(one.holder, one.name, one.currency): summed for one, _, summed in ledger.miscounted(db)}


def _rebuild(db: Session, stored: Numbers, counted: Numbers) -> None:
    ledger.rebuild(db, [Account(*key) for key in {**stored, **counted}])

"""What a text costs: by round, with what was spent on training and without it, the time of experts priced in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from quintain.core.ledger import Account
from quintain.core.people import Actor
from quintain.core.records.pay import CostReport, GroupCost
from quintain.core.rounds import Money
from quintain.services.access.permissions import require_owner
from quintain.services.pay.policy import policy_of
from quintain.services.tasks.definitions import find_row
from quintain.store.queries.pay import costs as queries
from quintain.store.queries.pay import ledger


def cost_report(db: Session, actor: Actor, task: str, *, currency: str = "") -> CostReport:
    """Return what a text has cost in each round of a task, in one currency (owners).

    Work that belongs to no round (judging, quizzes, steps of trials, bonuses by hand) is a group by the task's name.
    What was set aside is no cost. Without *currency*, it is that of the pay policy.
    """
    row = find_row(db, task)
    require_owner(actor, task)
    spec = policy_of(db, row.id)
    known = queries.currencies(db, row.id)
    report_currency = currency or (spec.currency if spec.currency in known or not known else known[0])
    texts, seconds = queries.texts(db, row.id), queries.expert_seconds(db, row.id)
    hourly = spec.expert_hourly if report_currency == spec.currency else 0
    groups = [
        group_cost(
            f"{task}/{number}",
            ledger.balances(db, f"round:{round_id}"),
            report_currency,
            texts=texts.get(round_id, 0),
            expert=round(seconds.get(round_id, 0.0) * hourly / 3600),
            training=number in spec.training,
        )
        for round_id, number in queries.rounds(db, row.id)
    ]
    besides = group_cost(
        task, ledger.balances(db, f"task:{row.id}"), report_currency, texts=0, expert=0, training=False
    )
    groups += [besides] if besides.total.amount else []
    return summed(task, report_currency, groups, [one for one in known if one != report_currency])


def group_cost(
    name: str, balances: Mapping[Account, int], currency: str, *, texts: int, expert: int, training: bool
) -> GroupCost:
    """Make the cost of a group of the balances of who pays for it."""
    spent = {"base": 0, "bonus": 0}
    for account, amount in balances.items():
        kind, _, status = account.name.partition(".")
        if account.currency == currency and kind in spent and status != "declined":
            spent[kind] -= amount
    total = spent["base"] + spent["bonus"] + expert
    return GroupCost(
        name,
        training,
        texts,
        Money(spent["base"], currency),
        Money(spent["bonus"], currency),
        Money(expert, currency),
        Money(total, currency),
        _each(total, texts, currency),
    )


def summed(task: str, currency: str, groups: Sequence[GroupCost], others: Sequence[str] = ()) -> CostReport:
    """Put groups together. Training leaves no texts: with it, they cost more."""
    counted = [group for group in groups if not group.training]
    texts = sum(one.texts for one in counted)
    whole, without = (sum(one.total.amount for one in some) for some in (groups, counted))
    return CostReport(
        task,
        currency,
        list(groups),
        texts,
        Money(whole, currency),
        _each(whole, texts, currency),
        Money(without, currency),
        _each(without, texts, currency),
        list(others),
    )


def _each(total: int, texts: int, currency: str) -> Money | None:
    return Money(round(total / texts), currency) if texts else None

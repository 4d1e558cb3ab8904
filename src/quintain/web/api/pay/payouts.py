"""Paying out, for programs: policies, payouts and what becomes of them, costs, and questions about pay."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from fastapi import Query as Parameter

from quintain.core.records.pay import (
    CostReport,
    OwedList,
    PayoutFile,
    PayoutRecord,
    Payouts,
    PayPolicyText,
    PayQuestions,
)
from quintain.core.rounds import Money
from quintain.services.pay import earnings, overpaid, payouts, policy, prolific, questions, report
from quintain.web.api.call import Calling
from quintain.web.api.params import Changing, Limit, Offset, TaskName
from quintain.web.api.pay.shapes import (
    BonusRequest,
    OverpaidRequest,
    PayAnswerRequest,
    PayoutOutcomeRequest,
    PayoutRequest,
    PayPolicyRequest,
    PayQuestionRequest,
)

PayoutId = Annotated[int, Path(description="Number of the payout.", ge=1, le=2**31 - 1)]
QuestionId = Annotated[int, Path(description="Number of the question.", ge=1, le=2**31 - 1)]
InCurrency = Annotated[str, Parameter(description="A currency; that of the policy by default.", max_length=3)]


def get_pay_policy(call: Calling, task: TaskName) -> PayPolicyText:
    """Return what the owner of a task promises and allows, as TOML (owners)."""
    return policy.policy_text(call.db, call.actor, task)


def set_pay_policy(call: Calling, task: TaskName, definition: PayPolicyRequest, edit: Changing) -> PayPolicyText:
    """Let another pay policy hold from now on (owners)."""
    policy.put_policy(call.db, call.actor, task, definition.toml, edit=edit)
    return policy.policy_text(call.db, call.actor, task)


def get_costs(call: Calling, task: TaskName, currency: InCurrency = "") -> CostReport:
    """Return what a text has cost in each round of a task, with training and without it (owners)."""
    return report.cost_report(call.db, call.actor, task, currency=currency)


def list_owed(call: Calling, task: TaskName) -> OwedList:
    """List what is approved and in no payout yet, by provider and currency (owners)."""
    return OwedList(payouts.owed(call.db, call.actor, task))


def grant_bonus(call: Calling, task: TaskName, bonus: BonusRequest) -> OwedList:
    """Grant a worker a bonus, once for each key; it is pending until it is approved (owners)."""
    money = Money(bonus.amount, bonus.currency)
    earnings.grant_bonus(call.db, call.actor, task, bonus.worker, money, what=bonus.what, key=bonus.key)
    return OwedList(payouts.owed(call.db, call.actor, task))


def list_payouts(call: Calling, task: TaskName, limit: Limit = 25, offset: Offset = 0) -> Payouts:
    """List payouts of a task, the newest first (owners)."""
    return payouts.list_payouts(call.db, call.actor, task, limit=limit, offset=offset)


def plan_payouts(call: Calling, task: TaskName, plan: PayoutRequest) -> Payouts:
    """Plan payouts of everything that is approved for the people of a provider, in one currency (owners)."""
    planned = prolific.plan(
        call.db,
        call.actor,
        task,
        call.workspace.outside,
        provider=plan.provider,
        currency=plan.currency,
        approvals=plan.approvals,
    )
    return Payouts(planned, len(planned))


def get_payout(call: Calling, payout: PayoutId) -> PayoutRecord:
    """Show a payout with its people and the calls that were made for it (owners)."""
    return payouts.get_payout(call.db, call.actor, payout)


def get_payout_file(call: Calling, payout: PayoutId) -> PayoutFile:
    """Return a payout as CSV by the panel's own ids (owners)."""
    return PayoutFile(payouts.export(call.db, call.actor, payout))


def send_payout(call: Calling, payout: PayoutId) -> PayoutRecord:
    """Send a payout through its panel, or go on where it was left; nobody is paid twice (owners)."""
    return prolific.send(call.db, call.actor, payout, call.workspace.outside)


def cancel_payout(call: Calling, payout: PayoutId) -> PayoutRecord:
    """Cancel a payout that was not sent (owners)."""
    return payouts.cancel(call.db, call.actor, payout)


def resolve_payout(call: Calling, payout: PayoutId, outcome: PayoutOutcomeRequest) -> PayoutRecord:
    """Set down whether a payout by hand, or one whose answer did not come, was made (owners)."""
    return payouts.resolve(call.db, call.actor, payout, paid=outcome.paid, note=outcome.note)


def answer_overpaid(call: Calling, payout: PayoutId, decision: OverpaidRequest) -> PayoutRecord:
    """Hold what was paid twice back from the person's later pay, or let it go (owners)."""
    return overpaid.answer(call.db, call.actor, payout, hold_back=decision.hold_back)


def list_pay_questions(call: Calling, task: TaskName, limit: Limit = 25, offset: Offset = 0) -> PayQuestions:
    """List what workers asked about their pay, those without an answer first (owners)."""
    return questions.list_questions(call.db, call.actor, task, limit=limit, offset=offset)


def answer_pay_question(call: Calling, task: TaskName, question: QuestionId, answer: PayAnswerRequest) -> PayQuestions:
    """Answer a question about pay; the worker is told (owners)."""
    questions.answer(call.db, call.actor, task, question, answer.text)
    return questions.list_questions(call.db, call.actor, task)


def list_my_questions(call: Calling, limit: Limit = 25, offset: Offset = 0) -> PayQuestions:
    """List what one asked about one's pay, with the answers."""
    return questions.my_questions(call.db, call.actor, limit=limit, offset=offset)


def ask_about_pay(call: Calling, asked: PayQuestionRequest) -> PayQuestions:
    """Ask about one of one's earnings; the owners of the task are told."""
    questions.ask(call.db, call.actor, asked.earning, asked.text)
    return questions.my_questions(call.db, call.actor)

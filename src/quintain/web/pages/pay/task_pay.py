"""Pay of a task, for its owners: what is owed, payouts, caps, costs, what is promised, and questions."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound, QuintainError, Unavailable
from quintain.core.pay import PaySpec
from quintain.core.rounds import Money
from quintain.core.spec import plain
from quintain.core.spec_changes import ChangesToConfirm
from quintain.services.pay import caps, earnings, overpaid, payouts, policy, prolific, questions, report
from quintain.services.pay.held_pay import held_pay
from quintain.services.tasks import definitions as tasks
from quintain.web.confirming import page_edit, show_changes
from quintain.web.errors import Trouble, trouble_of
from quintain.web.form_reading import FormReading
from quintain.web.listing import SIZE, Asking, ListQuery
from quintain.web.pages.pay.charts import cost_chart
from quintain.web.pages.pay.words import cap_names, overpaid_answers, payout_states, provider_names, study_places
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.spec_form import Sheet, SpecForm
from quintain.web.visit import Posting, Visit, Visiting

FORM = SpecForm(PaySpec)
REFUSED = (BadInput, Conflict, Forbidden, NotFound, Unavailable)


def show(visit: Visiting, task: str, asked: Asking) -> Response:
    """Show what is owed, payouts, caps, costs, what is promised, and questions."""
    return show_task_pay(visit, task, asked)


def save_policy(post: Posting, task: str) -> Response:
    """Change what is promised and allowed."""
    visit, typed = post.visit, FORM.typed(post)
    try:
        before = policy.get_policy(visit.db, visit.actor, task)
        reading = FormReading(dict(typed))
        data = FORM.data(reading, before)
        if reading.faults:
            raise BadInput(faults=reading.faults)
        policy.save_policy(visit.db, visit.actor, task, data, edit=page_edit(post, always=True))
    except ChangesToConfirm as error:
        return show_changes(post, error.changes, f"/tasks/{task}/pay#policy", PaySpec)
    except BadInput as error:
        return show_task_pay(visit, task, ListQuery(), error, typed)
    return visit.redirect(f"/tasks/{task}/pay", visit.tongue.gettext("Saved."))


def grant(post: Posting, task: str) -> Response:
    """Grant a worker a bonus; the form's own key keeps a double click from giving two."""
    visit, reading = post.visit, FormReading({"amount": post.text("amount")})
    currency = post.text("currency").upper()
    try:
        amount = reading.money("amount", currency)
        if reading.faults:
            raise BadInput(faults=reading.faults)
        money, key = Money(amount, currency), post.text("key") or secrets.token_hex(8)
        what = post.text("what")
        earnings.grant_bonus(visit.db, visit.actor, task, post.text("worker"), money, what=what, key=key)
    except REFUSED as error:
        return show_task_pay(visit, task, ListQuery(), error)
    return visit.redirect(f"/tasks/{task}/pay", visit.tongue.gettext("Given. It is pending until it is approved."))


def answer(post: Posting, task: str) -> Response:
    """Answer what a worker asked."""
    visit = post.visit
    try:
        questions.answer(visit.db, visit.actor, task, post.number("question"), post.text("text"))
    except REFUSED as error:
        return show_task_pay(visit, task, ListQuery(), error)
    return visit.redirect(f"/tasks/{task}/pay#questions", visit.tongue.gettext("Answered."))


def plan(post: Posting, task: str) -> Response:
    """Plan payouts of what is owed to the people of a provider."""
    visit = post.visit
    provider, currency = post.text("provider"), post.text("currency")
    try:
        payouts_made = prolific.plan(
            visit.db,
            visit.actor,
            task,
            visit.workspace.outside,
            provider=provider,
            currency=currency,
            approvals=post.flag("approvals"),
        )
    except REFUSED as error:
        return show_task_pay(visit, task, ListQuery(), error)
    where = f"/tasks/{task}/pay/payouts/{payouts_made[0].id}" if len(payouts_made) == 1 else f"/tasks/{task}/pay"
    return visit.redirect(where, visit.tongue.gettext("Planned. Nothing is paid yet."))


def show_payout(visit: Visiting, task: str, payout: int) -> Response:
    """Show one payout: its people, its calls, and what can be done."""
    return _show_payout(visit, task, payout)


def act(post: Posting, task: str, payout: int) -> Response:
    """Send a payout, cancel it, or say what became of it."""
    visit, action = post.visit, post.text("act")
    db, actor = visit.db, visit.actor
    try:
        if action == "send":
            prolific.send(db, actor, payout, visit.workspace.outside)
        elif action == "cancel":
            payouts.cancel(db, actor, payout)
        elif action in {"paid", "not-paid"}:
            payouts.resolve(db, actor, payout, paid=action == "paid", note=post.text("note"))
        elif action in {"hold-back", "let-go"}:
            overpaid.answer(db, actor, payout, hold_back=action == "hold-back")
        else:
            raise BadInput(faults=[Fault("choose what to do", field="act")])
    except REFUSED as error:
        return _show_payout(visit, task, payout, error)
    return visit.redirect(f"/tasks/{task}/pay/payouts/{payout}", visit.tongue.gettext("Saved."))


def fetch(visit: Visiting, task: str, payout: int) -> Response:
    """Send a payout as CSV."""
    text = payouts.export(visit.db, visit.actor, payout)
    headers = {"content-disposition": f'attachment; filename="payout-{payout}.csv"'}
    return Response(text, media_type="text/csv", headers=headers)


def show_task_pay(
    visit: Visit,
    task: str,
    asked: ListQuery,
    error: QuintainError | None = None,
    typed: Mapping[str, Any] | None = None,
) -> Response:
    """Show the pay of a task, with what was refused; *typed* is the policy as it was sent."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    spec = policy.get_policy(visit.db, visit.actor, task)
    offset = max(asked.offset, 0)
    page = payouts.list_payouts(visit.db, visit.actor, task, limit=SIZE, offset=offset)
    costs = report.cost_report(visit.db, visit.actor, task)
    trouble: Trouble | None = trouble_of(error) if error else None
    faults = FORM.faults_by_control(error.faults, visit.language) if isinstance(error, BadInput) and typed else {}
    return visit.render(
        "pay/task_pay.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="pay",
        home=f"/tasks/{task}/pay",
        made_from=visit.made_from("pay policy", plain(spec)),
        owed=payouts.owed(visit.db, visit.actor, task),
        held=held_pay(visit.db, visit.actor, task),
        payouts=page.payouts,
        paid_twice=overpaid.unanswered(visit.db, visit.actor, task),
        paging=Paging(f"/tasks/{task}/pay", {}, offset, len(page.payouts), page.total, SIZE),
        costs=costs,
        chart=cost_chart(visit, costs),
        caps=[
            *caps.standings(visit.db, tasks.find_row(visit.db, task).id, spec),
            *caps.trial_standings(visit.db, task, spec),
        ],
        cap_names=cap_names(visit),
        policy=spec,
        sheet=Sheet(FORM, visit.tongue, typed or FORM.show(spec), faults, {}),
        open_policy=bool(faults),
        questions=questions.list_questions(visit.db, visit.actor, task).questions,
        states=payout_states(visit),
        overpaid_answers=overpaid_answers(visit),
        providers=provider_names(visit),
        study_places=study_places(visit),
        key=secrets.token_hex(8),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Pay"), None)],
        error=trouble,
    )


def _show_payout(visit: Visit, task: str, payout: int, error: QuintainError | None = None) -> Response:
    definition = tasks.get_task(visit.db, task)
    shown = payouts.get_payout(visit.db, visit.actor, payout)
    if shown.task != task:
        raise NotFound("There is no payout {number}.", number=payout)
    _ = visit.tongue.gettext
    trouble = trouble_of(error) if error else None
    home = f"/tasks/{task}/pay"
    return visit.render(
        "pay/payout.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="pay",
        home=f"{home}/payouts/{payout}",
        payout=shown,
        money_of=lambda amount: Money(amount, shown.currency),
        states=payout_states(visit),
        overpaid_answers=overpaid_answers(visit),
        providers=provider_names(visit),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Pay"), home),
            (_("Payout %(n)s", n=payout), None),
        ],
        error=trouble,
    )

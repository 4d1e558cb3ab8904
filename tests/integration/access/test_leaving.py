"""Whoever leaves is told what is not paid yet, and has it paid or gives it up by their own word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict
from quintain.core.people import OPERATOR, RoleName
from quintain.core.rounds import Money
from quintain.services.house.job_kinds import count_kinds
from quintain.services.house.personal_data import delete_person, open_pay_of
from quintain.services.jobs.counts import check
from quintain.services.pay import earnings, final_pay, ledger, payouts, questions
from quintain.services.tasks.definitions import find_row, put_task
from quintain.store.database import transaction
from quintain.store.tables import Earning, EarningDecision, LedgerTransaction, User
from tests.collecting import TASK
from tests.people import make_person
from tests.refusals import refusal
from tests.web_support import browser_of, on_one_line, post, running, token_for

TASK_NAME = "mood"
EURO = Money(320, "EUR")


def add_task(db: Session) -> None:
    """Add a task at which something can be earned."""
    put_task(db, OPERATOR, TASK)


def owe(db: Session, name: str, money: Money = EURO, *, work: str = "one", task: str = TASK_NAME) -> int:
    """Let somebody earn something; give the number of the earning."""
    user = db.scalars(select(User).where(User.name == name)).one()
    with transaction(db):
        assert earnings.earn(db, user.id, find_row(db, task).id, kind="base", work=work, money=money)
    return db.scalars(select(Earning.id).where(Earning.work == work)).one()


def balanced(workspace: Workspace) -> None:
    """The books and every count are as the facts say."""
    with workspace.session() as db:
        assert ledger.check(db, OPERATOR).discrepancies == []
        assert check(db, count_kinds())[1] == []


@pytest.mark.both_databases
def test_who_is_owed_something_does_not_leave_by_chance(workspace: Workspace) -> None:
    """The amount is named and nothing is deleted; given up, it is set aside by a decision of their own, and booked."""
    with workspace.session() as db:
        worker = make_person(db, "wilma", RoleName.WORKER)
        add_task(db)
        owe(db, "wilma")
        approved = owe(db, "wilma", Money(100, "USD"), work="two")
        earnings.decide(db, OPERATOR, TASK_NAME, [approved])
        with pytest.raises(Conflict) as refused:
            delete_person(db, worker)
        assert refused.value.code == "unpaid_work"
        assert "3.20 EUR, 1.00 USD" in str(refused.value)
        assert db.get_one(User, worker.user_id).name == "wilma"
        assert [str(one) for one in open_pay_of(db, worker).open] == ["3.20 EUR", "1.00 USD"]
        delete_person(db, worker, give_up_pay=True)
        assert payouts.owed(db, OPERATOR, TASK_NAME) == []
        assert final_pay.open_pay(db, worker.user_id or 0).open == ()
        last = [one for one in db.scalars(select(EarningDecision)) if not one.approved]
        assert [(one.by, one.reason) for one in last] == [(worker.user_id, "given up with the account")] * 2
        kinds = list(db.scalars(select(LedgerTransaction.kind).order_by(LedgerTransaction.id)))
        assert kinds[-2:] == ["declined", "declined"]
    balanced(workspace)


def test_what_somebody_else_gives_up_is_not_called_their_own_word(workspace: Workspace) -> None:
    """An admin is told whose money it is, and the decision keeps that it was theirs and not the person's."""
    with workspace.session() as db:
        admin = make_person(db, "ada", RoleName.ADMIN)
        make_person(db, "wilma", RoleName.WORKER)
        add_task(db)
        owe(db, "wilma")
        with pytest.raises(Conflict, match=r"3\.20 EUR of what wilma earned is not paid yet"):
            delete_person(db, admin, "wilma")
        delete_person(db, admin, "wilma", give_up_pay=True)
        last = db.scalars(select(EarningDecision)).one()
        assert (last.by, last.approved, last.reason) == (admin.user_id, False, "given up by who deleted the account")
        make_person(db, "walt", RoleName.WORKER)
        earnings.decide(db, OPERATOR, TASK_NAME, [owe(db, "walt", work="two")])
        payouts.plan(db, OPERATOR, TASK_NAME, provider="hand", currency="EUR")
        with pytest.raises(Conflict, match=r"3\.20 EUR of what walt earned is on its way"):
            delete_person(db, admin, "walt", give_up_pay=True)


def test_nothing_is_owed_to_somebody_who_is_gone(workspace: Workspace) -> None:
    """What is decided later, such as a bonus for a text, is not earned by an account that nobody has any more."""
    with workspace.session() as db:
        worker = make_person(db, "wilma", RoleName.WORKER)
        add_task(db)
        delete_person(db, worker)
        with transaction(db):
            task_id = find_row(db, TASK_NAME).id
            assert worker.user_id is not None
            assert not earnings.earn(db, worker.user_id, task_id, kind="bonus", work="late", money=EURO)
        assert db.scalars(select(Earning)).all() == []
    balanced(workspace)


def test_what_is_on_its_way_is_waited_for(workspace: Workspace) -> None:
    """A payout cannot be called back: the account stays until the money has arrived."""
    with workspace.session() as db:
        worker = make_person(db, "wilma", RoleName.WORKER)
        add_task(db)
        earnings.decide(db, OPERATOR, TASK_NAME, [owe(db, "wilma")])
        plan = payouts.plan(db, OPERATOR, TASK_NAME, provider="hand", currency="EUR")[0]
        with pytest.raises(Conflict, match=r"3\.20 EUR of your pay is on its way"):
            delete_person(db, worker, give_up_pay=True)
        payouts.resolve(db, OPERATOR, plan.id, paid=True, note="by hand")
        delete_person(db, worker)
    balanced(workspace)


def test_the_last_pay_is_asked_for_once(workspace: Workspace) -> None:
    """Owners of what is open are asked to pay it: one question a task, however often the button is pressed."""
    with workspace.session() as db:
        worker = make_person(db, "wilma", RoleName.WORKER)
        add_task(db)
        owe(db, "wilma")
        owe(db, "wilma", work="two")
        assert final_pay.ask_for_last_pay(db, worker) == final_pay.ask_for_last_pay(db, worker) == [TASK_NAME]
        asked = questions.list_questions(db, OPERATOR, TASK_NAME).questions
        assert [one.text for one in asked] == [final_pay.LAST_WISH]


def test_an_account_is_deleted_on_every_surface(own_demo: Workspace, cli: Callable[..., Result]) -> None:
    """Page, API, client and command say what is open, delete nothing, and delete when it is given up."""
    with own_demo.session() as db:
        for name in ("paul", "clara", "carl"):
            make_person(db, name, RoleName.WORKER)
            owe(db, name, work=name, task="sentiment")
        owe(db, "demo-worker", work="page", task="sentiment")
    worker = browser_of(own_demo, "demo-worker")
    assert "3.20 EUR of your work is not paid yet." in on_one_line(worker.get("/account"))
    refused = post(worker, "/account", "/account/delete", name="demo-worker")
    assert (refused.status_code, "Have it paid first" in refused.text) == (409, True)
    assert post(worker, "/account", "/account/delete", pay="ask").status_code == 303
    assert post(worker, "/account", "/account/delete", name="Demo-Worker", pay="give-up").status_code == 303
    with running(own_demo) as url:
        mine = Client(url, token_for(own_demo, "paul"))
        assert [str(one) for one in mine.open_pay().open] == ["3.20 EUR"]
        with refusal(Conflict, "unpaid_work"):
            mine.delete_me("paul")
        with pytest.raises(BadInput, match="not the name"):
            mine.delete_me("clara", give_up_pay=True)
        mine.delete_me("paul", give_up_pay=True)
        Client(url, token_for(own_demo, "admin")).delete_user("clara", give_up_pay=True)
    folder = str(own_demo.settings.workspace)
    refused_too = cli("-w", folder, "user", "delete", "carl", "--yes")
    assert (refused_too.exit_code, "3.20 EUR" in refused_too.stderr) == (1, True)
    assert cli("-w", folder, "user", "delete", "carl", "--yes", "--give-up-pay").exit_code == 0
    with own_demo.session() as db:
        names = set(db.scalars(select(User.name)))
    assert not names & {"demo-worker", "paul", "clara", "carl"}
    balanced(own_demo)

"""Pay on pages, for programs and at the command line: one task from the promise to the money."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import Result

from quintain.client import Client
from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import OPERATOR
from quintain.core.rounds import Money
from quintain.services.access.actors import find_user
from quintain.services.collect.rounds import round_pay
from quintain.services.collect.rounds.manage import get_round
from quintain.services.jobs.running import run_all
from quintain.services.pay import earnings, payouts
from quintain.services.pay.policy import get_policy, put_policy
from quintain.store.database import transaction
from quintain.store.tables import Earning
from tests.web_support import csrf_of, on_one_line, post, running, token_for
from tests.write_site import Site

HOME = "/tasks/sentiment/pay"
PROLIFIC = 'currency = "{currency}"\nhourly = 0\n[prolific]\nsecret = "none"\n'


def grant(site: Site, amount: str = "2.50", key: str = "one") -> object:
    """Give the demo's worker a bonus by the form."""
    return post(
        site.owner,
        HOME,
        f"{HOME}/bonus",
        worker="demo-worker",
        amount=amount,
        currency="GBP",
        what="For the tutorial",
        key=key,
    )


def test_an_owner_promises_pays_and_answers(site: Site) -> None:
    """Policy, bonus, payout by hand and a question, each on its page; a double click gives one bonus."""
    assert "What does a text cost?" in on_one_line(site.owner.get(HOME))
    refused = post(site.owner, HOME, f"{HOME}/policy", currency="GBP", hourly="9", project_cap="1", worker_cap="5")
    assert refused.status_code == 422
    assert "is more than" in on_one_line(refused)
    shown = post(site.owner, HOME, f"{HOME}/policy", currency="GBP", hourly="9")
    assert (shown.status_code, "Nothing is saved yet." in shown.text) == (200, True)
    assert re.search(r'<span dir="auto">USD</span> .*? <b dir="auto">GBP</b>', on_one_line(shown))
    with site.workspace.session() as db:
        assert get_policy(db, OPERATOR, "sentiment").currency == "USD"
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', shown.text))
    assert post(site.owner, HOME, f"{HOME}/policy", **sent | {"csrf": csrf_of(site.owner, HOME)}).status_code == 303
    for _ in range(2):
        assert grant(site).status_code == 303  # type: ignore[attr-defined]
    with site.workspace.session() as db:
        found = earnings.list_earnings(db, OPERATOR, "sentiment", status="pending").earnings
        mine = [one for one in found if one.what == "For the tutorial"]
        assert [str(one.money) for one in mine] == ["2.50 GBP"]
        earnings.decide(db, OPERATOR, "sentiment", [mine[0].id])
    page = on_one_line(site.client.get("/work/earnings?show=approved"))
    assert "2.50 GBP" in page
    asked = post(site.client, "/work/earnings", "/work/earnings/questions", earning=mine[0].id, text="When is it paid?")
    assert asked.status_code == 303
    assert "When is it paid?" in on_one_line(site.owner.get(HOME))
    assert post(site.owner, HOME, f"{HOME}/answers", question=1, text="On Friday.").status_code == 303
    assert "On Friday." in on_one_line(site.client.get("/work/earnings"))
    planned = post(site.owner, HOME, f"{HOME}/payouts", provider="hand", currency="GBP")
    where = planned.headers["location"]
    assert "demo-worker,2.50,GBP,pay-" in site.owner.get(f"{where}/file").text
    assert "It is paid" in on_one_line(site.owner.get(where))
    assert post(site.owner, where, where, act="paid").status_code == 303
    assert "paid out" in on_one_line(site.owner.get(where))
    assert "2.50 GBP" in on_one_line(site.client.get("/work/earnings?show=paid"))
    again = post(site.owner, HOME, where, act="cancel")
    assert (again.status_code, "cannot be cancelled" in on_one_line(again)) == (409, True)
    assert site.client.get(HOME).status_code == 403
    assert site.client.get(where).status_code == 403
    assert post(site.owner, HOME, f"{HOME}/payouts", provider="hand", currency="CHF").status_code == 409


def test_an_owner_makes_studies_by_the_form(site: Site) -> None:
    """It asks where a study is to lead; what cannot be is said on the page, and nothing is made."""
    place = site.open().rpartition("/")[2]
    with site.workspace.session() as db:
        put_policy(db, OPERATOR, "sentiment", PROLIFIC.format(currency="GBP"))
    assert "Where it leads" in on_one_line(site.owner.get(HOME))
    makes = f"{HOME}/studies"
    refused = post(site.owner, HOME, makes, to="round", place=place, places=5)
    assert "does not take people from Prolific" in on_one_line(refused)
    assert post(site.owner, HOME, makes, to="trial", place="nothing", places=5).status_code == 404
    assert post(site.owner, HOME, makes, to="moon", place=place, places=5).status_code == 422
    unknown = post(site.owner, HOME, makes, study="s1", action="publish")
    assert "no key called" in on_one_line(unknown)


def test_many_are_approved_by_a_worker(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page and programs are given the job that approves them, and the button comes back with what is new."""
    monkeypatch.setattr(round_pay, "AT_ONCE", 0)
    page = "/tasks/sentiment/rounds/1/pay"
    site.open()
    with site.workspace.session() as db:
        info = get_round(db, OPERATOR, "sentiment/1")
        worker = find_user(db, "demo-worker").id

    def earned(number: int) -> None:
        with site.workspace.session() as db, transaction(db):
            work, money = f"more:{number}", Money(5, "USD")
            earnings.earn(db, worker, info.task_id, kind="base", work=work, money=money, round_id=info.id)

    earned(1)
    assert "Approve everything that is pending" in on_one_line(site.owner.get(page))
    assert post(site.owner, page, page, decision="approve-all").status_code == 303
    shown = on_one_line(site.owner.get(page))
    assert ("being approved" in shown, "Approve everything that is pending" in shown) == (True, False)
    with running(site.workspace) as url, Client(url, token_for(site.workspace, "demo-owner")) as client:
        told = client.approve_round_pay("sentiment/1").approving
    assert told is not None
    assert f"/jobs/{told.id}" in shown
    assert "Approving what people earned" in on_one_line(site.owner.get(f"/jobs/{told.id}"))
    run_all(site.workspace.session, site.workspace.blobs, {round_pay.JOB: round_pay.approve_many})
    earned(2)
    shown = on_one_line(site.owner.get(page))
    assert ("being approved" in shown, "Approve everything that is pending" in shown) == (False, True)


def check_policy_files(cli: Callable[..., Result], folder: Path) -> None:
    """Let a file hold by commands: what changes is shown and asked about, and nothing is reset in silence."""
    empty, capped, less = (folder / f"{name}.toml" for name in ("empty", "capped", "less"))
    empty.write_text("# to do\n")
    capped.write_text(f"project_cap = 5000\n{PROLIFIC.format(currency='EUR')}")
    less.write_text(PROLIFIC.format(currency="EUR"))
    assert "there is no key" in cli("pay", "policy", "sentiment", str(empty)).stderr
    asked = cli("pay", "policy", "sentiment", str(capped))
    assert (asked.exit_code, "project_cap: 0 → 5000" in asked.stderr, "--yes" in asked.stderr) == (1, True, True)
    assert cli("pay", "policy", "sentiment", str(capped), "--yes").exit_code == 0
    silent = cli("pay", "policy", "sentiment", str(less), "--yes")
    assert (silent.exit_code, "--remove project_cap" in silent.stderr) == (1, True)
    assert "project_cap = 5000" in cli("pay", "policy", "sentiment").stdout
    assert cli("pay", "policy", "sentiment", str(less), "--yes", "--remove", "project_cap").exit_code == 0
    assert "project_cap = 0" in cli("pay", "policy", "sentiment").stdout


def test_programs_and_commands_do_the_same(
    site: Site, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The client plans, looks and resolves; commands print the same figures."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(site.workspace.settings.workspace))
    site.open()
    tokens = [token_for(site.workspace, name) for name in ("demo-owner", "demo-worker")]
    with running(site.workspace) as address, Client(address, tokens[0]) as owner, Client(address, tokens[1]) as worker:
        owner.set_pay_policy("sentiment", PROLIFIC.format(currency="GBP"))
        euros = PROLIFIC.format(currency="EUR")
        with pytest.raises(BadInput, match="prolific"):
            owner.set_pay_policy("sentiment", 'currency = "EUR"')
        (seen,) = owner.preview_changes("pay policy", "sentiment", [euros]).changes
        assert (seen.option, seen.before, seen.after) == ("currency", "GBP", "EUR")
        assert 'currency = "GBP"' in owner.pay_policy("sentiment").toml
        assert 'currency = "EUR"' in owner.set_pay_policy("sentiment", euros).toml
        owner.grant_bonus("sentiment", "demo-worker", 700, "EUR", "Thanks", "thanks-1")
        with site.workspace.session() as db:
            number = db.scalars(select(Earning.id).where(Earning.currency == "EUR")).one()
        owner.decide_earnings("sentiment", [number])
        assert [(one.provider, one.amount) for one in owner.owed("sentiment") if one.currency == "EUR"] == [
            ("hand", 700)
        ]
        (made,) = owner.plan_payouts("sentiment", "hand", "EUR").payouts
        assert owner.payout(made.id).state == "prepared"
        assert owner.cancel_payout(made.id).state == "cancelled"
        (made,) = owner.plan_payouts("sentiment", "hand", "EUR").payouts
        assert "7.00,EUR" in owner.payout_file(made.id)
        assert owner.resolve_payout(made.id, True).state == "sent"
        assert owner.payouts("sentiment").total >= 2
        report = owner.costs("sentiment")
        assert report.total.amount == sum(one.total.amount for one in report.groups)
        place = report.groups[0].name
        assert owner.round_books(place).holder.startswith("round:")
        worker.ask_about_pay(number, "Thank you?")
        (asked, *_) = owner.pay_questions("sentiment").questions
        assert owner.answer_pay_question("sentiment", asked.id, "You are welcome.").total >= 1
        assert worker.my_questions().questions[0].answer or worker.my_questions().total > 1
        with pytest.raises(Forbidden):
            worker.payouts("sentiment")
    assert json.loads(cli("pay", "costs", "sentiment", "--json").stdout)["currency"] == report.currency
    assert "sent" in cli("pay", "list", "sentiment").stdout
    assert json.loads(cli("pay", "show", str(made.id), "--json").stdout)["state"] == "sent"
    assert "7.00,EUR" in cli("pay", "file", str(made.id)).stdout
    assert cli("pay", "cancel", str(made.id)).exit_code == 1
    assert 'currency = "EUR"' in cli("pay", "policy", "sentiment").stdout
    check_policy_files(cli, tmp_path)
    given = ("pay", "bonus", "sentiment", "demo-worker", "5", "--for", "x", "--key", "k", "--currency", "EUR")
    assert "Given." in cli(*given).stderr
    assert "before" in cli(*given).stderr
    assert cli("pay", "owed", "sentiment").exit_code == 0
    assert "welcome" in cli("pay", "questions", "sentiment", "--json").stdout
    assert cli("pay", "check").exit_code == 0
    with site.workspace.session() as db:
        assert payouts.get_payout(db, OPERATOR, made.id).state == "sent"

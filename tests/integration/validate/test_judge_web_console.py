"""The console of a validation over HTTP: opening, pausing, judges, gold, export, the trail, and who may see it."""

from __future__ import annotations

import re

import pytest

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.validate.console import manage as validate
from quintain.services.validate.quality import gold, gold_list
from tests.people import make_person
from tests.statements import counted
from tests.validation_support import REF, judge_all, make_ground, make_judges, truth
from tests.web_support import PASSWORD, browser_of, on_one_line, post

HOME = "/tasks/mood/validation/check"


@pytest.fixture
def web(workspace: Workspace) -> Workspace:
    """Twelve texts judged by five people, one of whom always says neutral; an owner and an expert."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        make_ground(db, owner, 12, "automatic = false\n[gold]\nrate = 0")
        gold.add_gold(db, owner, REF, [{"inputs": {"text": "surely nice"}, "label": "positive", "note": "plain"}])
        judge_all(db, make_judges(db, 5), [truth, truth, truth, truth, lambda inputs: "neutral"])
        make_person(db, "edda", RoleName.EXPERT)
        make_person(db, "wilma", RoleName.WORKER)
        for name in ("olga", "edda", "wilma"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace


def test_owners_act_on_judges_and_everything_is_in_the_trail(web: Workspace) -> None:
    """A judge is unqualified and qualified again; a rule and a review name people; what was done is listed."""
    client = browser_of(web, "olga")
    page = on_one_line(client.get(f"{HOME}/judges?rule=disagreement&limit=50&least=5"))
    assert "1 judge:</b> judge4" in page
    assert "12 of 12" not in page
    applied = post(client, HOME, f"{HOME}/unqualify", rule="disagreement", limit="50", least="5")
    assert applied.headers["location"] == f"{HOME}/judges?sort=look"
    assert "12 judgements are set aside" in client.get(HOME).text
    post(client, HOME, f"{HOME}/requalify", worker="judge4", restore="1")
    post(client, HOME, f"{HOME}/review")
    page = client.get(HOME).text
    assert "set aside" not in page.split("<details")[0]
    for action in ("judge.unqualify", "judge.requalify", "validation.review", "validation.open", "gold.add"):
        assert f"<code>{action}</code>" in page, action
    post(client, HOME, "/tasks/mood/validation", name="second", policy="")
    post(client, HOME, "/tasks/mood/validation/second/unqualify", worker="judge3", reason="clicks at random")
    page = on_one_line(client.get(f"{HOME}/judges?show=unqualified"))
    assert "clicks at random (mood/second) · elsewhere; the judgements here count" in page
    assert "Set aside here" in page
    assert "Qualification of the whole task" in client.get(f"{HOME}/judges/judge3").text
    post(client, HOME, f"{HOME}/requalify", worker="judge3")
    assert "No judge is like that." in client.get(f"{HOME}/judges?show=unqualified").text
    without = post(client, HOME, f"{HOME}/unqualify", worker="judge1", reason=" ")
    assert without.status_code == 422
    assert "Say why" in without.text
    assert "qualified" in client.get(f"{HOME}/judges/judge4").text


def test_opening_pausing_policy_gold_and_export(web: Workspace) -> None:
    """A validation is opened by a form, with its faults said; states and policy change; judgements leave as a file."""
    client = browser_of(web, "olga")
    opened = post(client, HOME, "/tasks/mood/validation", name="second", policy="page_size = 5")
    assert opened.headers["location"] == "/tasks/mood/validation/second"
    refused = post(client, HOME, "/tasks/mood/validation", name="7", policy="")
    assert refused.status_code == 404
    assert "no round 7" in refused.text
    assert client.get("/tasks/mood/validation?round=second").status_code == 303
    assert 'value="3"' in client.get("/tasks/mood/validation?round=3").text
    post(client, HOME, f"{HOME}/state", state="paused")
    assert "Open again" in client.get(HOME).text
    assert post(client, HOME, f"{HOME}/state", state="gone").status_code == 422
    assert post(client, HOME, f"{HOME}/policy", policy="judgements = 0").status_code == 422
    assert (
        post(client, HOME, f"{HOME}/policy", policy="judgements = 7\nautomatic = false\n[gold]\nrate = 0").status_code
        == 303
    )
    assert "judgements = 7" in client.get(HOME).text
    fields = {"judgements": "9", "minimum": "3", "page_size": "6", "items": "all", "method": "majority"}
    fields |= {"pay_amount": "0.25", "pay_currency": "EUR", "lease_seconds": "900", "seconds_per_item": "12"}
    wrong = post(client, HOME, f"{HOME}/policy", as_form="1", **fields | {"minimum": "many"})
    assert wrong.status_code == 422
    assert re.search(r'id="minimum-fault">&#39;many&#39; is not a whole number<', wrong.text)
    assert post(client, HOME, f"{HOME}/policy", as_form="1", **fields).status_code == 303
    with web.session() as db:
        policy = validate.find_validation(db, REF).policy
    assert (policy.judgements, policy.page_size, str(policy.reward.for_items(6, 6))) == (9, 6, "0.25 EUR")
    assert not policy.automatic
    assert client.get(f"{HOME}/judges?rule=nothing&limit=x&least=1").status_code == 422
    with web.session() as db:
        item = gold_list.list_gold(db, OPERATOR, REF).gold[0]
    post(client, HOME, f"{HOME}/gold/retire", item=item.id)
    assert "Show again" in client.get(f"{HOME}/gold").text
    post(client, HOME, f"{HOME}/gold/restore", item=item.id)
    assert "Show again" not in client.get(f"{HOME}/gold").text
    lines = client.get(f"{HOME}/export?form=csv").text.splitlines()
    assert lines[0] == "item,worker,label,kept,late,seconds,asked"
    assert len(lines) == 61
    lines = client.get(f"{HOME}/export?what=labels&form=csv").text.splitlines()
    assert lines[0].startswith("item,text,label,complete,by_expert,asked,votes_mixed")
    assert len(lines) == 13


def test_the_owner_sees_what_an_hour_of_judging_pays(web: Workspace) -> None:
    """Before anybody was timed, from the owner's own estimate: ten items of twelve seconds for a quarter."""
    client = browser_of(web, "olga")
    policy = "seconds_per_item = 12\n[reward]\namount = 25\ncurrency = 'USD'"
    post(client, HOME, "/tasks/mood/validation", name="second", policy=policy)
    text = client.get("/tasks/mood/validation/second/live").text
    assert "0.25 USD" in text
    assert "that is 7.50 USD an hour" in text


def test_the_console_is_the_owners_and_the_queue_is_for_experts(web: Workspace) -> None:
    """Workers see neither; experts see the queue and not the console; a bad decision is refused."""
    worker, expert = browser_of(web, "wilma"), browser_of(web, "edda")
    parts = ("live", "export", "adjudicate", "judges", "judges/judge1", "items", "gold")
    for path in ("/tasks/mood/validation", HOME, *(f"{HOME}/{part}" for part in parts)):
        assert worker.get(path).status_code == 403, path
    for part in ("gold/from-item", "gold/retire", "gold/restore", "gold/quiz", "unqualify", "gold", "items"):
        assert post(expert, "/account", f"{HOME}/{part}", item="1", reason="x").status_code == 403, part
    assert expert.get("/tasks/mood/validation").status_code == 200
    assert expert.get(HOME).status_code == 403
    assert "Nothing is contested" in expert.get(f"{HOME}/adjudicate").text
    wrong = post(expert, "/account", f"{HOME}/adjudicate", item="1", at="0", label="postive")
    assert wrong.status_code == 422
    assert "not one of negative" in wrong.text
    none = post(expert, "/account", f"{HOME}/adjudicate", item="1", at="0")
    assert "Choose a label first" in none.text
    assert browser_of(web, "olga").get("/tasks/mood/validation/other").status_code == 404


def test_a_look_at_the_console_reads_what_is_kept_once(web: Workspace) -> None:
    """However many parts of the page show some of it, figures, forecast and validation are asked for once."""
    client = browser_of(web, "olga")
    client.get(HOME)
    with counted(web) as sent:
        assert client.get(HOME).status_code == 200
    found = [one for one in sent if "FROM validations v JOIN tasks" in one]
    assert len(found) <= 2, "the validation itself, and what its figures rest on"
    assert sum("FROM kept_figures" in one for one in sent) <= 2, "its own figures, and those of people"
    assert sum("judgements.seconds" in one for one in sent) <= 1, "one forecast"
    assert len(sent) <= 28, "\n".join(sent)

"""Judges from panels: they come by the validation's own address, and leave with a code once they have judged."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.services.collect.panels.admission import PanelArrival, Visitor
from quintain.services.collect.panels.panel_people import confirm_guests
from quintain.services.pay import payouts
from quintain.services.pay.earnings import decide, my_earnings
from quintain.services.validate.console.manage import set_policy
from quintain.services.validate.judging import panel_entry
from quintain.services.validate.judging.claim_page import claim_page
from tests.validation_support import REF, answer_page, make_ground

POLICY = """
judgements = 1
minimum = 1
page_size = 2
[gold]
rate = 0.0
[reward]
amount = 40
[entry]
provider = "panel"
id_parameter = "pid"
completion_code = "DONE1"
completion_url = "https://panel.example/back?who={id}&code={code}"
"""


def door_of(db: Session, owner: Actor) -> str:
    """Give the key in the address for the panel."""
    address = panel_entry.judging_entry(db, owner, REF, "https://quintain.example/").url
    assert address.endswith("?pid=…")
    return address.removeprefix("https://quintain.example/enter/").partition("?")[0]


def arrive(db: Session, key: str, device: str = "", **ids: str) -> PanelArrival:
    """Come by the address."""
    return panel_entry.enter(db, key, ids, Visitor(device=device))


def test_a_judge_comes_judges_and_goes_back(db: Session, owner: Actor, worker: Actor) -> None:
    """The same person keeps their account; the code comes after a page, and pay goes out by the panel's id."""
    make_ground(db, owner, 4, POLICY)
    key = door_of(db, owner)
    assert door_of(db, owner) == key
    arrival = arrive(db, key, pid="P7")
    judge = arrival.actor
    assert judge is not None
    assert arrival.place == "/tasks/mood/judge/check"
    assert arrive(db, key, arrival.device, pid="P7").actor == judge
    with pytest.raises(Conflict, match="not handed in a page"):
        panel_entry.complete(db, judge, REF)
    assert not panel_entry.may_complete(db, judge, REF)
    page = claim_page(db, judge, REF)
    assert page is not None
    answer_page(db, judge, page)
    assert panel_entry.may_complete(db, judge, REF)
    done = panel_entry.complete(db, judge, REF)
    assert (done.code, done.url) == ("DONE1", "https://panel.example/back?who=P7&code=DONE1")
    decide(db, owner, "mood", [one.id for one in my_earnings(db, judge)])
    with pytest.raises(Conflict, match=r"nobody has confirmed \(1\)"):
        payouts.plan(db, owner, "mood", provider="panel", currency="USD")
    confirm_guests(db, owner, "mood", [judge.name])
    (made,) = payouts.plan(db, owner, "mood", provider="panel", currency="USD")
    assert payouts.export(db, owner, made.id).splitlines()[1].startswith("P7,0.40,USD,")
    with pytest.raises(NotFound, match="from a panel"):
        panel_entry.complete(db, worker, REF)


def test_wrong_addresses_are_refused(db: Session, owner: Actor, worker: Actor) -> None:
    """An id that is missing, a key that leads nowhere, a policy without a panel: each is said."""
    make_ground(db, owner, 4, POLICY)
    key = door_of(db, owner)
    with pytest.raises(BadInput, match="pid"):
        arrive(db, key)
    for strange in ("nothing", "a\x00b"):
        with pytest.raises(NotFound):
            arrive(db, strange, pid="P7")
    with pytest.raises(Forbidden):
        panel_entry.judging_entry(db, worker, REF, "https://quintain.example")
    less = EditOrigin(remove=frozenset({"page_size", "gold", "reward", "entry"}))
    set_policy(db, owner, REF, "judgements = 1\nminimum = 1", edit=less)
    with pytest.raises(NotFound, match="leads nowhere"):
        arrive(db, key, pid="P7")
    with pytest.raises(Conflict, match="has no"):
        panel_entry.judging_entry(db, owner, REF, "https://quintain.example")

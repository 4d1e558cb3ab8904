"""Whoever comes to a trial late is told so plainly, whichever arm has closed a stage, and is drawn into none."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import Conflict
from quintain.core.people import Actor, RoleName
from quintain.services.collect.panels.admission import Visitor
from quintain.services.trial import panel_entry
from quintain.services.trial.offers import trial_offers
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.stages import close_stage
from quintain.store.blobs import Blobs
from quintain.store.tables import CrowdMember, User
from tests.collecting import writers
from tests.integration.trial.life import TRAINED, WHERE, begin
from tests.integration.trial.test_trial_entry import BASE, DOORS, come, key_in
from tests.people import make_person
from tests.web_support import browser_of, copy_demo, post


@pytest.mark.both_databases
def test_entry_is_over_for_all_arms_at_once(db: Session, blobs: Blobs, owner: Actor) -> None:
    """When one arm has closed its first stage, nobody is drawn into any; those who are in go on."""
    begin(db, blobs, owner)
    people = writers(db, 4)
    for one in people:
        enter(db, one, *WHERE)
    late = [make_person(db, f"late-{n}", RoleName.WORKER) for n in range(3)]
    assert trial_part(db, late[0], *WHERE).what == "enter"
    assert [one.enter for one in trial_offers(db, late[0], ["mood"])] == [True]
    close_stage(db, owner, *WHERE, "trained", "tutorial")
    for one in late:
        part = trial_part(db, one, *WHERE)
        assert (part.what, part.reasons) == (
            "shut",
            ["Nobody can enter any more: those who take part are further on."],
        )
        assert trial_offers(db, one, ["mood"]) == []
        with pytest.raises(Conflict, match="Nobody can enter any more") as refused:
            enter(db, one, *WHERE)
        assert refused.value.code == "entry_over"
        assert "tutorial" not in str(refused.value)
    assert db.scalar(select(func.count(CrowdMember.id))) == 4
    assert {enter(db, one, *WHERE).what for one in people} == {"work", "end"}


def test_a_panel_gets_back_who_comes_late(db: Session, blobs: Blobs, owner: Actor) -> None:
    """At the door they are told to return, and no account is made; who takes part comes in again."""
    begin(db, blobs, owner)
    key = key_in(panel_entry.put_doors(db, owner, *WHERE, DOORS, base_url=BASE).entry)
    inside, waiting = come(db, key, "P1"), come(db, key, "P2")
    enter(db, inside, *WHERE)
    close_stage(db, owner, *WHERE, "trained", "tutorial")
    accounts = db.scalar(select(func.count(User.id)))
    for person in ("P2", "P3"):
        with pytest.raises(Conflict, match="Return to the panel; nothing is owed") as refused:
            panel_entry.enter(db, key, {"pid": person}, Visitor())
        assert refused.value.code == "entry_over"
    assert db.scalar(select(func.count(User.id))) == accounts
    assert come(db, key, "P1") == inside
    assert trial_part(db, waiting, *WHERE).what == "shut"
    assert panel_entry.came_by_panel(db, waiting, *WHERE)
    assert not panel_entry.came_by_panel(db, owner, *WHERE)


def test_pages_say_that_entry_is_over(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A worker reads why and where else there is work; a panel's person where to return; the owner that it ended."""
    workspace = copy_demo(demo, tmp_path_factory.mktemp("late") / "demo")
    home = "/tasks/sentiment/trials"
    place = f"{home}/late"
    with browser_of(workspace, "demo-owner") as owner, browser_of(workspace) as panel:
        post(owner, home, home, name="late", toml=TRAINED)
        post(owner, place, f"{place}/open", source="", models="")
        post(owner, place, f"{place}/doors", entry_provider="panel", entry_id_parameter="pid")
        assert "People can enter until you close a stage" in owner.get(place).text
        found = re.search(r"/enter/([\w-]+)\?pid=", owner.get(place).text)
        assert found
        assert panel.get(f"/enter/{found[1]}?pid=P5").status_code == 303
        post(owner, place, f"{place}/stage", arm="trained", stage="tutorial")
        assert "nobody can enter any more, in any arm" in owner.get(place).text
        page = post(panel, place, f"{place}/enter")
        assert page.status_code == 409
        assert "Return to the panel; nothing is owed" in page.text
        refused = panel.get(f"/enter/{found[1]}?pid=P6")
        assert (refused.status_code, "Return to the panel" in refused.text) == (409, True)
    with browser_of(workspace, "demo-worker") as worker:
        page = worker.get(place).text
        assert "Nobody can enter any more" in page
        assert 'href="/work">See what other work there is' in page

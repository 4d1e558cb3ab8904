"""Asking adaptively: items end with a label, and what it saves and risks is said before it is switched on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.validate.console import forecast as adaptive_forecast
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status as validation_status
from quintain.store.database import transaction
from quintain.store.tables import Judgement, ValidationPolicyVersion
from tests.people import make_person
from tests.validation_support import REF, judge_all, make_ground, make_judges
from tests.web_support import PASSWORD, browser_of, post

Cli = Callable[..., Result]


def test_the_defaults_label_every_item_on_which_judges_agree(db: Session, owner: Actor) -> None:
    """Twenty unanimous items end with three judgements and a label each."""
    make_ground(db, owner, 20, "[adaptive]\n[gold]\nrate = 0")
    judge_all(db, make_judges(db, 6))
    progress = validation_status.status(db, owner, REF)["progress"]
    assert (progress["complete"], progress["labelled"]) == (20, 20)
    assert progress["saved_share"] == pytest.approx(0.4)
    assert set(Counter(db.scalars(select(Judgement.item_id))).values()) == {3}


def test_settings_that_contradict_each_other_are_refused_and_old_ones_mended(db: Session, owner: Actor) -> None:
    """A new policy names both settings and the way out; one that an earlier version stored still works, and labels."""
    ground = make_ground(db, owner, 6, "rules = []\n[gold]\nrate = 0")
    with pytest.raises(BadInput, match=r"adaptive.least.*'minimum'.*set adaptive.least = 3, or minimum = 2"):
        validate.set_policy(db, owner, REF, "[adaptive]\nleast = 2")
    with transaction(db):
        text = "judgements = 5\nminimum = 3\nrules = []\n[adaptive]\nleast = 2\n[gold]\nrate = 0\n"
        db.add(ValidationPolicyVersion(validation_id=ground.id, number=2, toml=text))
    judge_all(db, make_judges(db, 6))
    progress = validation_status.status(db, owner, REF)["progress"]
    assert (progress["complete"], progress["labelled"]) == (6, 6)


def test_what_it_would_save_is_said_from_a_model_then_from_what_was_judged(db: Session, owner: Actor) -> None:
    """Before enough items have all their judgements, judges are drawn; afterwards their own votes are played again."""
    make_ground(db, owner, 40, "rules = []\n[gold]\nrate = 0")
    drawn = adaptive_forecast.foresee_adaptive(db, owner, REF)
    assert (drawn.switched_on, drawn.accuracy) == (False, 0.8)
    assert [(one.minimum, one.least, one.chosen) for one in drawn.settings] == [(3, 3, True), (2, 2, False)]
    judge_all(db, make_judges(db, 5))
    played = adaptive_forecast.foresee_adaptive(db, owner, REF, "minimum = 2\n[adaptive]")
    assert (played.switched_on, played.accuracy, played.items) == (True, None, 40)
    chosen, safe = played.settings
    assert (chosen.minimum, chosen.least, chosen.saving) == (2, 2, pytest.approx(0.6))
    assert (safe.minimum, safe.saving, safe.changed) == (3, pytest.approx(0.4), 0.0)
    with pytest.raises(BadInput):
        adaptive_forecast.foresee_adaptive(db, owner, REF, "[adaptive]\nleast = 2")
    with pytest.raises(Forbidden):
        adaptive_forecast.foresee_adaptive(db, make_person(db, "wilma", RoleName.WORKER), REF)


@pytest.mark.both_databases
def test_of_much_that_was_judged_some_is_drawn(db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the judgements of items that were drawn are read, and that is said; drawing all of them gives the same."""
    make_ground(db, owner, 40, "rules = []\n[gold]\nrate = 0")
    judge_all(db, make_judges(db, 5))
    small = adaptive_forecast.foresee_adaptive(db, owner, REF)
    read: list[int] = []
    table = adaptive_forecast.queries.table

    def counted(*given: Any) -> Any:
        found = table(*given)
        read.append(len(found))
        return found

    monkeypatch.setattr(adaptive_forecast, "is_large", lambda db, validation: True)
    monkeypatch.setattr(adaptive_forecast.queries, "table", counted)
    assert adaptive_forecast.foresee_adaptive(db, owner, REF) == replace(small, drawn=True)
    monkeypatch.setattr(adaptive_forecast, "DRAWN_ITEMS", 35)
    few = adaptive_forecast.foresee_adaptive(db, owner, REF)
    assert (few.items, few.drawn, few.basis) == (35, True, "judgements")
    assert read == [200, 175]
    monkeypatch.setattr(adaptive_forecast, "LOOKED_AT", 20)
    assert (adaptive_forecast.foresee_adaptive(db, owner, REF).basis) == "model"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_it_is_said_on_the_page_and_by_command(cli: Cli, workspace: Workspace, db: Session, owner: Actor) -> None:
    """The page shows the table for what was typed and saves nothing; the command gives the same as JSON."""
    make_ground(db, owner, 12, "rules = []\n")
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    client = browser_of(workspace, "olga")
    page = client.get("/tasks/mood/validation/check").text
    assert "What would adaptive asking bring?" in page
    home, typed = "/tasks/mood/validation/check", "minimum = 2\n[adaptive]\n"
    shown = post(client, home, f"{home}/adaptive", policy=typed).text
    assert "Asking adaptively: what it saves, and what it risks" in shown
    assert "adaptive.least = 2" in shown
    assert validate.find_validation(db, REF).policy.adaptive is None
    found = cli("--workspace", workspace.settings.workspace, "validate", "adaptive", REF, "--json")
    assert json.loads(found.stdout)["basis"] == "model"
    assert json.loads(found.stdout)["settings"][0]["saving"] > 0.2
    table = cli("--workspace", workspace.settings.workspace, "validate", "adaptive", REF)
    assert "judgements saved" in table.stdout

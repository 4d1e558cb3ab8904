"""Solved? Models against people on released rounds: the evidence, the signal, the next round, the timeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy.orm import Session

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.access.notify import list_notifications
from quintain.services.collect.rounds.manage import get_round, list_rounds
from quintain.services.models.registry import set_visibility, withdraw
from quintain.services.release.releases import parse_release, release
from quintain.services.validate.console.manage import add_items, open_validation
from quintain.services.validate.quality.review import review
from quintain.services.wheel import standings
from quintain.services.wheel.next_round import start_next
from quintain.services.wheel.timeline import timeline
from tests.evaluation import add_task
from tests.people import make_person
from tests.refusals import refusal
from tests.released import REF, judge
from tests.web_support import PASSWORD, browser_of, on_one_line, post, running, token_for
from tests.wheel_support import SPEC, TEST, answered, half, perfect, released_round


def test_the_owner_is_told_once_with_the_evidence(
    workspace: Workspace, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """A model above people solves the round and one far below does not; the message comes once, with the figures."""
    released_round(db, workspace, owner)
    assert standings.solved(db, owner, REF).state == "waiting"
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    worst = answered(db, workspace, owner, tmp_path, "worst", half)
    assert standings.catch_up(db, workspace.blobs) == 2
    assert standings.catch_up(db, workspace.blobs) == 0
    found = standings.solved(db, owner, REF)
    assert [(one.model, one.state) for one in found.models] == [(best, "solved"), (worst, "open")]
    assert (found.state, found.solved_by, found.test, found.models[0].items) == ("solved", [best], TEST, 108)
    assert found.human is not None
    assert found.human.value == pytest.approx(0.9, abs=0.03)
    messages = list_notifications(db, owner)
    assert [one.kind for one in messages] == ["round.solved"]
    assert best in messages[0].text
    assert "people 0.896" in messages[0].text
    assert messages[0].url == "/tasks/mood/timeline"


def test_few_items_say_so(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """Under a hundred items no model is good enough, and nobody is told; one that is far behind is seen to be."""
    released_round(db, workspace, owner, test=45, per_cell=6)
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    worst = answered(db, workspace, owner, tmp_path, "worst", half)
    standings.catch_up(db, workspace.blobs)
    found = standings.solved(db, owner, REF)
    assert found.state == "too_few"
    assert [(one.model, one.state) for one in found.models] == [(best, "too_few"), (worst, "open")]
    assert all(one.difference.low < one.difference.value < one.difference.high for one in found.models)
    assert list_notifications(db, owner) == []


def test_labels_that_can_be_read_solve_nothing(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """Neither an open test counts, nor a hidden one whose items were released once more."""
    released_round(db, workspace, owner, hidden=False)
    answered(db, workspace, owner, tmp_path, "best", perfect)
    standings.catch_up(db, workspace.blobs)
    assert standings.solved(db, owner, REF).state == "shown"
    assert list_notifications(db, owner) == []


def test_a_second_release_ends_the_secret(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """What one release hides the other may show: the round is not solved any more."""
    released_round(db, workspace, owner)
    answered(db, workspace, owner, tmp_path, "best", perfect)
    standings.catch_up(db, workspace.blobs)
    assert standings.solved(db, owner, REF).state == "solved"
    again = SPEC.format(test=108, hidden="true") + 'again = true\nseed = 5\nname = "second"\n'
    release(db, workspace.blobs, owner, REF, parse_release(again))
    assert standings.solved(db, owner, REF).state == "shown"


def test_the_margin_decides_and_is_the_owners(
    workspace: Workspace, db: Session, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """A model somewhat below people is not good enough by .02, and is by .4: the owner is then told."""
    released_round(db, workspace, owner)
    answered(db, workspace, owner, tmp_path, "fair", lambda at, gold: gold if at % 5 else "neutral")
    standings.catch_up(db, workspace.blobs)
    assert standings.solved(db, owner, REF).solved_by == []
    with pytest.raises(Forbidden):
        standings.set_margin(db, worker, "mood", 0.4)
    with pytest.raises(BadInput, match="not between 0 and"):
        standings.set_margin(db, owner, "mood", 0.9)
    assert standings.set_margin(db, owner, "mood", 0.4).margin == 0.4
    standings.catch_up(db, workspace.blobs)
    assert standings.solved(db, owner, REF).solved_by == ["mood/fair@1"]
    assert len(list_notifications(db, owner)) == 1


def test_evidence_is_for_owners(workspace: Workspace, db: Session, owner: Actor, worker: Actor) -> None:
    """Nobody else is told how models stand on a hidden test, or starts a round."""
    released_round(db, workspace, owner)
    with pytest.raises(Forbidden):
        standings.solved(db, worker, REF)
    with pytest.raises(Forbidden):
        start_next(db, worker, REF, "mood/best")


def test_the_next_round_is_one_action(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """It is a draft with the last round's options, aimed at the model; twice gives the same one."""
    released_round(db, workspace, owner)
    with refusal(Conflict, "not_solved"):
        start_next(db, owner, REF)
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    standings.catch_up(db, workspace.blobs)
    assert [one.round for one in standings.solved_rounds(db, owner, "mood")] == [REF]
    set_visibility(db, owner, best, "private")
    made = start_next(db, owner, REF)
    assert made.spec.title == "Fool the model"  # everybody reads it once the round is open
    before = get_round(db, owner, REF).spec
    assert (made.ref, made.state, made.spec.targets.models) == ("mood/2", "draft", (best,))
    assert made.spec.reward == before.reward
    assert start_next(db, owner, REF, best).ref == made.ref
    assert len(list_rounds(db, owner, "mood")) == 2
    assert standings.solved_rounds(db, owner, "mood") == []  # the next one is there


def test_a_withdrawn_model_is_out(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """It counts no longer, and no round is aimed at it."""
    released_round(db, workspace, owner)
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    standings.catch_up(db, workspace.blobs)
    withdraw(db, owner, best)
    assert standings.solved(db, owner, REF).models == []
    with pytest.raises(Conflict, match="withdrawn"):
        start_next(db, owner, REF, best)


def test_the_timeline_has_rounds_people_and_models(
    workspace: Workspace, db: Session, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """VMER is the review's, the scores are those that were compared; a draft is its owner's alone."""
    released_round(db, workspace, owner)
    review(db, owner, REF)
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    standings.catch_up(db, workspace.blobs)
    start_next(db, owner, REF)
    first, second = timeline(db, owner, "mood").rounds
    assert (first.ref, first.number, first.best, first.items) == (REF, 1, best, 108)
    assert first.vmer is not None
    assert first.vmer.value == pytest.approx(2 / 3)
    assert first.models[0].score.value == 1.0
    assert first.targets == ["mood/m0"]
    assert (second.ref, second.targets, second.state, second.vmer) == ("mood/2", [best], "unreleased", None)
    assert [one.ref for one in timeline(db, worker, "mood").rounds] == [REF]


def test_what_is_judged_under_a_name_is_no_round(workspace: Workspace, db: Session, owner: Actor) -> None:
    """A check of old labels is a validation, released or not, and has no place among the rounds."""
    released_round(db, workspace, owner)
    db.rollback()
    open_validation(db, owner, "mood/old-labels")
    rows = [
        {"inputs": {"text": text}, "answer": label} for text, label in (("Fine.", "positive"), ("Bad.", "negative"))
    ]
    add_items(db, owner, "mood/old-labels", rows)
    judge(db, {"Fine.": ("positive",) * 5, "Bad.": ("neutral",) * 5}, "mood/old-labels", "checker")
    review(db, owner, "mood/old-labels")
    assert [one.ref for one in timeline(db, owner, "mood").rounds] == [REF]


def test_the_page_shows_it_and_starts_the_next_round(
    workspace: Workspace, db: Session, owner: Actor, tmp_path: Path
) -> None:
    """Chart and table are for everybody; signal, button and margin for the owner, also on the task and its round."""
    released_round(db, workspace, owner)
    review(db, owner, REF)
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    standings.catch_up(db, workspace.blobs)
    make_person(db, "rita", RoleName.WORKER)
    for name in (owner.name, "rita"):
        redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    mine, hers = browser_of(workspace, owner.name), browser_of(workspace, "rita")
    for page in ("/tasks/mood/timeline", "/tasks/mood", "/tasks/mood/rounds/1"):
        assert "Start the next round with this model" in mine.get(page).text
        assert "Start the next round with this model" not in hers.get(page).text
    seen = on_one_line(hers.get("/tasks/mood/timeline"))
    assert best.removeprefix("mood/") + ": 1.000" in seen
    assert "66.7%" in seen
    assert "What do people and models reach on the test of each round?" in seen
    saved = post(mine, "/tasks/mood/timeline", "/tasks/mood/timeline", margin="0.05")
    assert saved.status_code == 303
    assert standings.margin_of(db, "mood") == 0.05
    assert post(mine, "/tasks/mood/timeline", "/tasks/mood/timeline", margin="much").status_code == 422
    gone = post(mine, "/tasks/mood/timeline", "/tasks/mood/validation/1/next", model=best)
    assert gone.headers["location"] == "/tasks/mood/rounds/2/edit"


def test_the_client_asks_and_acts(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """Owners ask how a round stands, set the margin and start the next one; others see the timeline only."""
    released_round(db, workspace, owner)
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    standings.catch_up(db, workspace.blobs)
    make_person(db, "rita", RoleName.WORKER)
    db.rollback()
    with running(workspace) as url:
        with Client(url, token_for(workspace, owner.name)) as client:
            assert client.parity(REF) == standings.solved(db, owner, REF)
            assert client.set_margin("mood", 0.03).margin == 0.03
            assert client.start_next(REF).ref == client.start_next(REF, best).ref == "mood/2"
            db.rollback()  # what was read before is forgotten
            assert client.timeline("mood") == timeline(db, owner, "mood")
        with Client(url, token_for(workspace, "rita")) as client:
            assert [one.ref for one in client.timeline("mood").rounds] == [REF]
            for call in (lambda: client.parity(REF), lambda: client.set_margin("mood", 0.1)):
                with pytest.raises(Forbidden):
                    call()


def test_an_empty_timeline_says_so(workspace: Workspace, db: Session, owner: Actor) -> None:
    """Nothing is drawn where there is nothing."""
    add_task(db, owner)
    page = browser_of(workspace).get("/tasks/mood/timeline")
    assert page.status_code == 200
    assert "No rounds yet" in page.text


def test_the_commands_say_it(
    workspace: Workspace,
    db: Session,
    owner: Actor,
    tmp_path: Path,
    cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`round solved`, `round next`, `task timeline` and `task margin`."""
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url or "")
    released_round(db, workspace, owner)
    best = answered(db, workspace, owner, tmp_path, "best", perfect)
    db.rollback()
    at = ["--workspace", workspace.settings.workspace]
    told = cli(*at, "round", "solved", REF)
    assert told.exit_code == 0, told.stderr
    assert f"{best} does as well as people" in told.stderr
    assert json.loads(cli(*at, "round", "solved", REF, "--json").stdout)["solved_by"] == [best]
    assert "aimed at" in cli(*at, "round", "next", REF).stderr
    assert [one["ref"] for one in json.loads(cli(*at, "task", "timeline", "mood", "--json").stdout)["rounds"]] == [
        REF,
        "mood/2",
    ]
    assert "1.000" in cli(*at, "task", "timeline", "mood").stdout
    assert "0.02" in cli(*at, "task", "margin", "mood").stderr
    assert "0.03" in cli(*at, "task", "margin", "mood", "0.03").stderr

"""How a contest is run, through the services: phases by the clock, what was promised, teams, models of the board."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.services.contest import pairs, scores, systems, teams
from quintain.services.contest.contests import extend, find_contest, history, put_contest
from quintain.services.contest.freeze import freeze
from quintain.store.blobs import Blobs
from tests.beginnings import Build
from tests.contests import (
    BEGIN,
    CONTEST,
    REF,
    add_contest,
    at,
    draft,
    during,
    run_cells,
    with_contest_task,
)
from tests.evaluation import add_model
from tests.refusals import refusal


@pytest.fixture
def beginning() -> Build:
    """A task with a development set and a starter set, its owner olga, and people."""
    return with_contest_task


def test_a_phase_ends_to_the_second_by_the_clocks_of_the_contest(
    db: Session, blobs: Blobs, owner: Actor, people: dict[str, Actor]
) -> None:
    """At nine in Berlin it is still time; one second later it is not, and organisers may extend before that."""
    with during("coming"):
        put_contest(db, owner, CONTEST.replace('"UTC"', '"Europe/Berlin"').format(more=""))
    last = BEGIN + timedelta(days=4) - timedelta(hours=2)  # nine o'clock in the summer of Berlin
    with at(last - timedelta(days=3)):
        teams.create_team(db, people["ben"], REF, "knots", "breaker")
    with at(last):
        pairs.put_pair(db, blobs, people["ben"], REF, draft(0))
    with at(last + timedelta(seconds=1)), pytest.raises(Conflict, match=r"too late.* 2024-05-05 09:00:00 CEST") as late:
        pairs.put_pair(db, blobs, people["ben"], REF, draft(1))
    assert late.value.code == "too_late"
    with at(last - timedelta(hours=1)):
        extend(db, owner, REF, Phase.BREAK, datetime(2024, 5, 5, 21))
    with at(last + timedelta(seconds=1)):
        pairs.put_pair(db, blobs, people["ben"], REF, draft(1))
        assert find_contest(db, REF).phase is Phase.BREAK
    assert [one.number for one in history(db, owner, REF)] == [2, 1]


def test_what_was_promised_does_not_change_and_the_past_stays(db: Session, owner: Actor) -> None:
    """Once it has begun, data and rules stand, a moment that passed cannot move, and none moves into the past."""
    add_contest(db, owner)
    with during("build"):
        with pytest.raises(Conflict, match="anonymous cannot change"):
            put_contest(db, owner, CONTEST.format(more="anonymous = true"))
        with pytest.raises(BadInput, match=r"starts.*has passed"):
            put_contest(db, owner, CONTEST.replace("2024-05-01T09", "2024-05-01T08").format(more=""))
        with pytest.raises(BadInput, match=r"build_ends.*lies in the past"):
            extend(db, owner, REF, Phase.BUILD, datetime(2024, 5, 1, 10))
        with pytest.raises(BadInput, match=r"break_ends.*is not after 'build_ends'"):
            extend(db, owner, REF, Phase.BUILD, datetime(2024, 5, 6))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('dev = "mood/dev"', 'dev = "mood/starter"'), "labels of mood/starter@1 are open"),
        (('starter = "mood/starter"', 'starter = "mood/dev"'), "labels of mood/dev@1 are hidden"),
        (('starter = "mood/starter"', ""), "without it pairs have to be written from scratch"),
        (('"UTC"', '"Berlin"'), "no time zone 'Berlin'"),
        (("build_ends = 2024-05-03T09:00:00", ""), "no models are named"),
        (('dev = "mood/dev"', 'dev = "mood/nothing"'), "no data set version 'mood/nothing'"),
        (("{more}", "pears = 3"), "no such key; did you mean 'pairs'?"),
    ],
)
def test_a_bad_contest_is_refused_with_its_place(
    db: Session, owner: Actor, change: tuple[str, str], reason: str
) -> None:
    """What is wrong is named, and nothing is added."""
    text = CONTEST.replace(*change)
    with during("coming"):
        with pytest.raises(BadInput) as caught:
            put_contest(db, owner, text.format(more=""))
        assert reason in str(caught.value)
        with pytest.raises(NotFound):
            find_contest(db, REF)


def test_teams_are_joined_by_link_and_have_their_limits(db: Session, owner: Actor, people: dict[str, Actor]) -> None:
    """Nobody is in two teams, a full one is closed, a wrong key is refused, and organisers are in none."""
    add_contest(db, owner, "team_size = 2\nboth = false")
    with during("build"):
        made = teams.create_team(db, people["anna"], REF, "words", "builder")
        with pytest.raises(Forbidden, match="by invitation"):
            teams.join_team(db, people["ben"], REF, "words", "wrong")
        assert teams.join_team(db, people["ben"], REF, "words", made.key or "").people == ("anna", "ben")
        with pytest.raises(Conflict, match="is full"):
            teams.join_team(db, people["cleo"], REF, "words", made.key or "")
        with pytest.raises(Conflict, match="nobody is in two"):
            teams.create_team(db, people["ben"], REF, "other", "breaker")
        with pytest.raises(Conflict, match="in no team"):
            teams.create_team(db, owner, REF, "judges", "builder")
        with pytest.raises(BadInput, match="'both' is not one of builder, breaker"):
            teams.create_team(db, people["cleo"], REF, "third", "both")
        [seen] = teams.list_teams(db, people["cleo"], REF)
        assert (seen.size, seen.people, seen.key, seen.pairs) == (2, None, None, None)
        teams.leave_team(db, people["ben"], REF)
        assert teams.list_teams(db, people["anna"], REF)[0].people == ("anna",)
    with during("score"), refusal(Conflict, "too_late"):
        teams.create_team(db, people["cleo"], REF, "late", "breaker")


def test_a_break_phase_over_models_of_the_board(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, people: dict[str, Actor], tmp_path: Path
) -> None:
    """Without building, breakers have the board's models before them from the beginning."""
    model = add_model(db, blobs, builder, tmp_path)
    with during("coming"):
        text = CONTEST.replace("build_ends = 2024-05-03T09:00:00", "")
        put_contest(db, owner, text.format(more=f'models = ["{model.ref}"]\nscratch = true'))
    assert run_cells(db, blobs, {"bad": "negative"}) == 1
    with during("build"):
        assert find_contest(db, REF).phase is Phase.BREAK
        with pytest.raises(BadInput, match="'builder' is not one of breaker"):
            teams.create_team(db, people["ben"], REF, "knots", "builder")
        teams.create_team(db, people["ben"], REF, "knots", "breaker")
        [seen] = systems.list_systems(db, blobs, people["ben"], REF)
        assert (seen.name, seen.team, seen.dev_accuracy) == ("constant", None, 1.0)
        own = draft(0, original={"text": "All new and good."}, modified={"text": "All new and bad."})
        own = pairs.put_pair(db, blobs, people["ben"], REF, own)
        assert own.scratch
    with during("score"):
        freeze(db, blobs, REF)
        run_cells(db, blobs, {})
        assert scores.results(db, blobs, owner, REF).score.systems["constant"].broken == 0

"""A simulated crowd in a real trial: through the real services, recognisable, and not among real people by accident."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace, create_workspace
from quintain.core.errors import BadInput, Conflict
from quintain.core.people import OPERATOR, Actor
from quintain.data.trials import TrialArm
from quintain.protocols.crowd.people import CrowdModel
from quintain.services.models.train import train
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.model_runs import get_models
from quintain.services.trial.reporting import arms_of
from quintain.services.trial.stored_report import get_report
from quintain.services.trial.trials import OpenTrial, get_trial, open_trial, put_trial
from quintain.services.validate.console.status import status
from quintain.settings import Settings
from quintain.simulate.crowd_drive import CrowdSize
from quintain.simulate.crowd_trial import Beginning, simulate_trial
from quintain.store.blobs import Blobs
from quintain.store.tables import CrowdLetter, Earning, User
from tests.collecting import TASK
from tests.integration.trial.life import PLAIN, TRAINED
from tests.integration.trial.modelled import import_training, run_all

WHERE = ("mood", "rehearsal")
# Many who cheat, so that a small crowd has some of each kind.
SIZE = CrowdSize(workers=16, judges=5, model=CrowdModel(cheats=0.4, leaving=0.03))
BEGINNING = Beginning([PLAIN.replace("sample = 1", "sample = 50"), TRAINED.replace("sample = 1", "sample = 50")])


def texts_by(arms: list[TrialArm]) -> dict[str, int]:
    """Count the items of each arm."""
    return {one.name: len(one.items) for one in arms}


@pytest.mark.both_databases
def test_a_crowd_goes_through_a_whole_trial(
    db: Session, blobs: Blobs, workspace: Workspace, owner: Actor, tmp_path: Path
) -> None:
    """Stages are closed, letters went out, all is judged and paid once; models are asked, and the report has them."""
    put_task(db, owner, TASK)
    import_training(db, blobs, owner, tmp_path)
    train(db, blobs, owner, "mood", "lexicon", ["mood/train"])
    db.rollback()
    made = simulate_trial(workspace, WHERE, 3, SIZE, BEGINNING)
    assert made.entered == 16
    assert {one.arm: one.people for one in made.arms} == {"plain": 8, "trained": 8}
    assert texts_by(arms_of(db, blobs, owner, *WHERE)) == {one.arm: one.items for one in made.arms}
    assert all(one.items > 0 for one in made.arms)
    assert made.models == ["lexicon@1"]
    trial = get_trial(db, owner, *WHERE)
    assert (trial.state, trial.title) == ("closed", "Simulated trial rehearsal")
    assert all(one.closed for arm in trial.arms for one in arm.stages if one.kind not in {"entry", "bonus"})
    people = db.scalars(select(User).where(User.name.startswith("sim3-rehearsal-"))).all()
    assert len(people) == 16 + 5 + 3
    assert all(one.display_name.startswith("Simulated") for one in people)
    assert db.scalars(select(CrowdLetter).where(CrowdLetter.sent_at.is_not(None))).first() is not None
    works = db.scalars(select(Earning.work)).all()
    assert len(works) == len({*works}) > 0
    pool = status(db, owner, "mood/trial-rehearsal")
    assert pool.progress.items == sum(one.items for one in made.arms)
    assert made.judgements == pool.progress.judgements > 0
    run_all(db, workspace, tmp_path)
    assert [one.state for one in get_models(db, owner, *WHERE).runs] == ["done"]
    found = get_report(db, blobs, owner, *WHERE)
    assert "gap to lexicon@1" in [one.title for one in found.sections[0].tables[0].columns]
    with pytest.raises(Conflict, match="takes nobody in"):
        simulate_trial(workspace, WHERE, 3, SIZE)


def test_a_crowd_that_was_interrupted_goes_on(db: Session, workspace: Workspace, owner: Actor) -> None:
    """The same people come back to the same trial: nobody enters twice, and nothing that was written is lost."""
    put_task(db, owner, TASK)
    db.rollback()

    def stop(what: str, _done: int, _of: int) -> None:
        if what == "trained: tutorial":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_trial(workspace, WHERE, 3, SIZE, BEGINNING, progress=stop)
    before = sum(one.people for one in get_trial(db, owner, *WHERE).arms)
    db.rollback()
    made = simulate_trial(workspace, WHERE, 3, SIZE)
    assert made.entered == before == 16
    assert all(one.items > 0 for one in made.arms)


def test_simulated_people_do_not_mix_with_real_ones(
    db: Session, blobs: Blobs, workspace: Workspace, owner: Actor, tmp_path: Path
) -> None:
    """Neither in a trial that is not called simulated, nor in a task with rounds of real people, unless asked."""
    put_task(db, owner, TASK)
    put_trial(db, owner, "mood", "real", [PLAIN], title="Words of mood")
    open_trial(db, blobs, owner, "mood", "real")
    db.rollback()
    with pytest.raises(Conflict, match="not called simulated"):
        simulate_trial(workspace, ("mood", "real"), 1, SIZE)
    assert db.scalars(select(User).where(User.name.startswith("sim1-"))).all() == []
    with pytest.raises(Conflict, match="has rounds of real people here"):
        simulate_trial(workspace, ("mood", "new"), 1, SIZE, BEGINNING)
    small = CrowdSize(workers=4, judges=4)
    assert simulate_trial(workspace, ("mood", "real"), 1, small, anyway=True).entered == 4


def test_tasks_and_trials_that_do_not_suit_are_refused(db: Session, workspace: Workspace, owner: Actor) -> None:
    """They write sentences about what they like: other labels and other kinds are refused with the reason."""
    put_task(db, owner, 'name = "topic"\nkind = "text-classification"\ntitle = "Topic"\nlabels = ["sport", "art"]')
    put_task(db, owner, 'name = "quiz"\nkind = "multiple-choice"\ntitle = "Quiz"')
    put_task(db, owner, TASK)
    db.rollback()
    with pytest.raises(BadInput, match="about what they like and dislike"):
        simulate_trial(workspace, ("topic", "one"), 1, SIZE, BEGINNING)
    with pytest.raises(BadInput, match="more than one sentence"):
        simulate_trial(workspace, ("quiz", "one"), 1, SIZE, BEGINNING)
    with pytest.raises(BadInput, match="no trial"):
        simulate_trial(workspace, WHERE, 1, SIZE)


def test_a_model_to_fool_can_be_in_the_trial(
    db: Session, blobs: Blobs, workspace: Workspace, owner: Actor, tmp_path: Path
) -> None:
    """In an arm with a target, a session ends once the model is fooled; what fooled it is judged."""
    put_task(db, owner, TASK)
    import_training(db, blobs, owner, tmp_path)
    train(db, blobs, owner, "mood", "lexicon", ["mood/train"])
    db.rollback()
    fooling = PLAIN.replace("items = 1,", "items = 1, target = true, attempts = 5,")
    beginning = Beginning([fooling], OpenTrial(models=("mood/lexicon",)))
    made = simulate_trial(workspace, WHERE, 2, CrowdSize(workers=6, judges=4), beginning)
    items = arms_of(db, blobs, owner, *WHERE)[0].items
    assert len(items) == made.arms[0].items > 0
    assert all(one.predictions["lexicon@1"] != one.label for one in items)


def test_the_command_says_what_came_of_it(cli: Callable[..., Result], tmp_path: Path) -> None:
    """`quintain simulate trial` begins a trial with protocols from files and gives what `--json` documents."""
    made = create_workspace(Settings(workspace=tmp_path / "place"))
    with made.session() as db:
        put_task(db, OPERATOR, TASK)
    file = tmp_path / "plain.toml"
    file.write_text(PLAIN)
    given = cli(
        *("--workspace", tmp_path / "place", "simulate", "trial", "mood/small", file),
        *("--workers", "4", "--judges", "4", "--json"),
    )
    assert given.exit_code == 0, given.output
    told = json.loads(given.stdout)
    assert (told["entered"], told["seed"], [one["arm"] for one in told["arms"]]) == (4, 1, ["plain"])
    with made.session() as db:
        assert get_trial(db, OPERATOR, "mood", "small").state == "closed"

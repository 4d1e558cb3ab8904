"""What is known of a validation is kept until something happens, in this process or in another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st
from sqlalchemy.orm import Session
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.compose import Workspace, create_workspace
from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.base import plain
from quintain.services.house.job_kinds import figure_kinds, job_handlers
from quintain.services.jobs.figures import check
from quintain.services.jobs.running import run_all
from quintain.services.release import stations
from quintain.services.validate.console import items as validation_items
from quintain.services.validate.console import manage as validate
from quintain.services.validate.console import status
from quintain.services.validate.judging import adjudicate, claim_page
from quintain.services.validate.quality import judges, recount, review, validation_figures
from quintain.services.validate.quality.unqualify import requalify, unqualify
from quintain.settings import Settings
from quintain.store.database import transaction
from quintain.store.queries.validate import item_figures
from quintain.store.queries.validate import items as item_queries
from tests.properties import examples
from tests.validation_support import REF, answer_page, judge_all, make_ground, make_judges

LABELS = ("negative", "neutral", "positive")
NUMBERS = count()


@pytest.fixture
def elsewhere(settings: Settings, workspace: Workspace) -> Iterator[Session]:
    """A session of another process on the same database: it shares no memory that is kept by engine."""
    other = create_workspace(settings)
    with other.session() as session:
        yield session
    other.engine.dispose()


@pytest.fixture
def grown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A site on which every validation is too large to be counted while somebody waits."""
    monkeypatch.setattr(validation_figures, "VALIDATION", replace(validation_figures.VALIDATION, at_once=0))


def counted(db: Session) -> int:
    """Give how many judgements count now."""
    db.rollback()
    return validation_figures.validation_figures(db, validate.find_validation(db, REF)).progress.counted


def test_nothing_is_read_again_while_nothing_happens(
    db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists, previews and the queue of contested items share one reading of the judgements."""
    make_ground(db, owner, 12)
    judge_all(db, make_judges(db, 5))
    assert counted(db) == 60
    monkeypatch.setattr(recount, "gather", None)
    assert counted(db) == 60
    assert len(judges.judge_table(db, owner, REF)) == 5
    assert validation_items.list_items(db, owner, REF).counts["labelled"] == 12
    assert adjudicate.adjudication_queue_of(db, owner, REF) == []


def test_a_text_is_looked_for_in_the_newest_items(db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many items only so many are read as nobody waits for, and the list says so."""
    make_ground(db, owner, 12)
    everything = validation_items.list_items(db, owner, REF)
    last = everything.items[-1].id
    text = str(everything.items[-1].inputs["text"])[:3]
    wanted = validation_items.ItemQuery(text=text)
    whole = validation_items.list_items(db, owner, REF, wanted)
    assert whole.total > 0
    assert whole.searched is None
    monkeypatch.setattr(item_queries, "SEARCHED", 1)
    some = validation_items.list_items(db, owner, REF, wanted)
    assert ([one.id for one in some.items], some.total, some.searched) == ([last], 1, 1)


def test_every_act_elsewhere_is_seen(db: Session, owner: Actor, elsewhere: Session) -> None:
    """Judgements that are added, set aside and restored by one process change the figures of another."""
    make_ground(db, owner, 12, "automatic = false")
    people = make_judges(db, 6)
    judge_all(db, people[:5])
    assert counted(elsewhere) == 60
    unqualify(db, owner, REF, [people[0].name], reason="a test")
    assert counted(elsewhere) == 48
    page = claim_page.claim_page(db, people[5], REF)
    assert page is not None
    answer_page(db, people[5], page, lambda _: "mixed")
    assert counted(elsewhere) == 58
    assert {row["worker"]: row["judgements"] for row in judges.judge_table(elsewhere, owner, REF)}[people[5].name] == 10
    requalify(db, owner, REF, people[0].name, restore=True)
    assert counted(elsewhere) == 70


def test_what_depends_on_more_than_judgements_is_always_as_it_is(db: Session, owner: Actor, elsewhere: Session) -> None:
    """An expert's decision and a changed policy show at once, though no judgement has come."""
    make_ground(db, owner, 3)
    turns = iter(["negative", "neutral", "positive", "mixed", "negative"] * 3)
    for actor in make_judges(db, 5):
        page = claim_page.claim_page(db, actor, REF)
        assert page is not None
        said = next(turns)
        answer_page(db, actor, page, lambda _: said)  # noqa: B023 - used at once
    assert [item.label for item in validation_items.list_items(elsewhere, owner, REF).items] == [None] * 3
    elsewhere.rollback()
    (first, *_) = adjudicate.adjudication_queue_of(db, owner, REF)
    adjudicate.adjudicate(db, owner, REF, first.id, "neutral")
    assert [item.label for item in validation_items.list_items(elsewhere, owner, REF).items].count("neutral") == 1
    elsewhere.rollback()
    validate.set_policy(db, owner, REF, "minimum = 2")
    labels = [item.label for item in validation_items.list_items(elsewhere, owner, REF).items]
    assert sorted(str(label) for label in labels) == ["negative", "negative", "neutral"]


def test_where_there_is_much_a_worker_counts(
    db: Session, workspace: Workspace, owner: Actor, grown: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks reads what was counted last, with its time; handing in wakes the worker, who also reviews."""
    make_ground(db, owner, 12)
    assert status.status(db, owner, REF).progress.items == 0
    judge_all(db, make_judges(db, 5))
    with monkeypatch.context() as nobody:
        nobody.setattr(recount, "gather", None)
        nobody.setattr(review, "gather", None)
        found = status.status(db, owner, REF)
        assert (found.progress.judgements, found.judges, found.rates.collected) == (0, [], 0)
        assert review.ask_review(db, owner, REF).job is not None
    run_all(workspace.session, workspace.blobs, job_handlers())
    found = status.status(db, owner, REF)
    assert (found.progress.judgements, len(found.judges), found.as_of) == (60, 5, None)
    assert len(found.agreement_by_review) == 2  # one after the batch, one that the owner asked for
    unqualify(db, owner, REF, [found.judges[0].worker], reason="a test")
    outrun = status.status(db, owner, REF)
    assert (outrun.progress.counted, outrun.as_of is not None) == (60, True)


def test_a_wrong_row_is_repaired_and_reported(db: Session, workspace: Workspace, owner: Actor) -> None:
    """What is kept of an item and disagrees with its judgements does not stay: the check finds it."""
    make_ground(db, owner, 12)
    judge_all(db, make_judges(db, 5))
    assert counted(db) == 60
    (first, *_) = validation_items.list_items(db, owner, REF).items
    with transaction(db):
        item_figures.decide(db, first.id, "mixed")
    (fault,) = check(db, workspace.blobs, OPERATOR, figure_kinds()).faults
    assert (fault.subject, fault.kept) == (REF, {"wrong rows": 1})
    assert validation_items.list_items(db, owner, REF).items[0] == first
    assert check(db, workspace.blobs, OPERATOR, figure_kinds()).faults == ()


ACTS = ("judge", "unqualify", "requalify", "decide", "take back", "policy")


@settings_of_hypothesis(
    max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 4), st.sampled_from(LABELS)), max_size=8))
def test_figures_equal_a_full_recount_after_any_history(
    db: Session, workspace: Workspace, owner: Actor, acts: list[tuple[str, int, str]]
) -> None:
    """Whatever happens, in whatever order: what is shown is what a full count finds, and the check agrees."""
    ref = f"mood/h{next(NUMBERS)}"
    make_ground(db, owner, 4, "automatic = false\npage_size = 2", ref=ref)
    people = make_judges(db, 5, name=f"judge{next(NUMBERS)}-")
    for act, number, label in acts:
        do_act(db, owner, ref, people[number], act, label)
        validation_items.list_items(db, owner, ref)  # somebody looks in between
    found = validate.find_validation(db, ref)
    assert validation_figures.validation_figures(db, found).whole == json.loads(
        json.dumps(recount.recount(db, found).whole, default=plain)
    )
    rows = item_figures.page(db, found.id, item_figures.ItemFilter(), order="item", down=False, offset=0, limit=10)
    assert {row.item_id: row for row in rows} == recount.recount(db, found).items
    assert check(db, workspace.blobs, OPERATOR, figure_kinds()).faults == ()


def do_act(db: Session, owner: Actor, ref: str, person: Actor, act: str, label: str) -> None:
    """Let something happen to a validation; what cannot happen now does not."""
    ids = [one.id for one in validation_items.list_items(db, owner, ref).items]
    with suppress(Conflict, Forbidden):
        if act == "judge" and (page := claim_page.claim_page(db, person, ref)) is not None:
            answer_page(db, person, page, lambda _: label)
        elif act == "unqualify":
            unqualify(db, owner, ref, [person.name], reason="a test")
        elif act == "requalify":
            requalify(db, owner, ref, person.name, restore=True)
        elif act in {"decide", "take back"}:
            adjudicate.adjudicate(db, owner, ref, ids[0], label if act == "decide" else "")
        elif act == "policy":
            validate.set_policy(db, owner, ref, "automatic = false\npage_size = 2\nminimum = 2")


def test_what_nobody_has_counted_yet_is_said_to_be_pending(
    workspace: Workspace, db: Session, owner: Actor, grown: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a worker there are no numbers: record, command and stations say so, and nobody is sent to release."""
    make_ground(db, owner, 12)
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["-w", str(workspace.settings.workspace), *words])
        assert done.exit_code == 0, done.output
        return done.output

    assert not status.progress(db, owner, REF).counted
    assert "pending" in run("validate", "status", REF)
    assert "pending" in run("validate", "status")
    assert "figures are pending" in run("validate", "items", REF)
    validation = validate.find_validation(db, REF)
    label, _ = stations._label(
        (validation, validation_figures.validation_figures(db, validation)), judged=True, released=False
    )
    assert (label.done, label.counted) == (False, False)
    assert run_all(workspace.session, workspace.blobs, job_handlers())
    db.rollback()
    assert status.progress(db, owner, REF).counted
    assert "12 items" in run("validate", "items", REF)

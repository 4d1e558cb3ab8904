"""People from panels in a trial: they come to take part and to grade, go back with codes, and are paid by their ids."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.services.collect.panels.admission import Visitor
from quintain.services.collect.panels.panel_people import confirm_guests
from quintain.services.pay import payouts
from quintain.services.pay.earnings import decide, my_earnings
from quintain.services.tasks.definitions import put_task
from quintain.services.trial import panel_entry
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.rubric import grade, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import OpenTrial, close_trial, open_trial, put_trial
from quintain.store.blobs import Blobs
from tests.collecting import TASK
from tests.integration.trial.life import WHERE, grade_all, write
from tests.integration.trial.test_grading import FAIR, PROMOTED
from tests.people import make_person

DOORS = """
batch = 2
[entry]
provider = "panel"
id_parameter = "pid"
completion_code = "WRITTEN"
completion_url = "https://panel.example/back?who={id}&code={code}"
[grading]
provider = "panel"
id_parameter = "pid"
completion_code = "GRADED"
"""
BASE = "https://quintain.example"


@pytest.fixture
def keys(db: Session, blobs: Blobs, owner: Actor) -> tuple[str, str]:
    """An open trial with doors: the keys of the two addresses."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [PROMOTED])
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    made = panel_entry.put_doors(db, owner, *WHERE, DOORS, base_url=BASE)
    assert made == panel_entry.get_doors(db, owner, *WHERE, base_url=BASE)
    return key_in(made.entry), key_in(made.grading)


def key_in(address: str | None) -> str:
    """Give the key in an address for a panel."""
    assert address is not None
    assert address.endswith("?pid=…")
    return address.removeprefix(f"{BASE}/enter/").partition("?")[0]


def come(db: Session, key: str, person: str) -> Actor:
    """Come by an address, each person in a browser of their own."""
    found = panel_entry.enter(db, key, {"pid": person}, Visitor(device=f"browser of {person}")).actor
    assert found is not None
    return found


def test_people_write_go_back_grade_and_are_paid_by_their_ids(
    db: Session, blobs: Blobs, owner: Actor, keys: tuple[str, str]
) -> None:
    """A code comes after a session and after a batch of grades; the same id is the same person at every door."""
    to_write, to_grade = keys
    people = [come(db, to_write, name) for name in ("P1", "P2", "P3")]
    assert come(db, to_write, "P1") == people[0]
    for one in people:
        enter(db, one, *WHERE)
        assert not panel_entry.may_complete(db, one, *WHERE, "trial")
        with pytest.raises(Conflict, match="Nothing is finished"):
            panel_entry.complete(db, one, *WHERE, "trial")
        for _ in range(2):
            write(db, blobs, one)
        assert panel_entry.may_complete(db, one, *WHERE, "trial")
    done = panel_entry.complete(db, people[1], *WHERE, "trial")
    assert (done.code, done.url) == ("WRITTEN", "https://panel.example/back?who=P2&code=WRITTEN")

    expert = make_person(db, "eva", RoleName.EXPERT)
    close_stage(db, owner, *WHERE, "graded", "first")
    assert grade_all(db, expert) == 6
    for stage in ("by-experts", "promote"):
        close_stage(db, owner, *WHERE, "graded", stage)
    for one in people:
        write(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "second")
    (grader, *_) = [one for one in people if trial_part(db, one, *WHERE).grading]
    outside = f"P{people.index(grader) + 1}"
    assert come(db, to_grade, outside) == grader
    with pytest.raises(Conflict, match="not graded enough"):
        panel_entry.complete(db, grader, *WHERE, "grading")
    for _ in range(2):
        item = next_to_grade(db, grader, *WHERE)
        assert item is not None
        grade(db, grader, *WHERE, stage=item.stage, item=item.item, answers=FAIR)
    assert panel_entry.may_complete(db, grader, *WHERE, "grading")
    assert panel_entry.complete(db, grader, *WHERE, "grading").code == "GRADED"

    earned = my_earnings(db, grader)
    assert sum(one.amount for one in earned) == 3 * 100 + 2 * 50
    decide(db, owner, "mood", [one.id for one in earned])
    confirm_guests(db, owner, "mood", everybody=True)
    (made,) = payouts.plan(db, owner, "mood", provider="panel", currency="USD")
    assert payouts.export(db, owner, made.id).splitlines()[1].startswith(f"{outside},4.00,USD,")


def test_wrong_doors_are_refused(db: Session, owner: Actor, worker: Actor, keys: tuple[str, str]) -> None:
    """An id that is missing, a trial that is closed or never had doors, people who came by themselves: each is said."""
    to_write, to_grade = keys
    with pytest.raises(BadInput, match="pid"):
        panel_entry.enter(db, to_write, {}, Visitor())
    for strange in ("nothing", "a\x00b"):
        with pytest.raises(NotFound):
            panel_entry.enter(db, strange, {"pid": "P1"}, Visitor())
    for what in ("trial", "grading"):
        with pytest.raises(NotFound, match="from a panel"):
            panel_entry.complete(db, worker, *WHERE, what)  # type: ignore[arg-type] # one of the two
    with pytest.raises(Forbidden):
        panel_entry.get_doors(db, worker, *WHERE, base_url=BASE)
    with pytest.raises(BadInput, match="provider"):
        panel_entry.put_doors(db, owner, *WHERE, "[entry]\nprovider = 'nobody'", base_url=BASE)
    stranger = come(db, to_grade, "P9")
    with pytest.raises(Forbidden, match="nothing for you to grade"):
        next_to_grade(db, stranger, *WHERE)
    close_trial(db, owner, *WHERE)
    with pytest.raises(Conflict, match="not open"):
        panel_entry.enter(db, to_write, {"pid": "P1"}, Visitor())
    without = EditOrigin(remove=frozenset({"entry", "grading"}))
    shut = panel_entry.put_doors(db, owner, *WHERE, "batch = 2", base_url=BASE, edit=without)
    assert (shut.entry, shut.grading) == (None, None)
    with pytest.raises(NotFound, match="leads nowhere"):
        panel_entry.enter(db, to_write, {"pid": "P1"}, Visitor())


def test_an_owner_may_let_experts_in_by_the_door_for_grading(
    db: Session, blobs: Blobs, owner: Actor, keys: tuple[str, str]
) -> None:
    """They grade in this trial and hold no role; who takes part is no expert, and a door that is changed lets none."""
    to_write, to_grade = keys
    writer, expert, elsewhere = come(db, to_write, "P1"), come(db, to_grade, "E1"), come(db, to_write, "P2")
    for one in (writer, elsewhere):
        enter(db, one, *WHERE)
        for _ in range(2):
            write(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "first")
    with pytest.raises(Forbidden, match="nothing for you to grade"):
        next_to_grade(db, expert, *WHERE)
    panel_entry.put_doors(db, owner, *WHERE, f"experts = true\n{DOORS}", base_url=BASE)
    assert come(db, to_grade, "P1") == writer
    assert next_to_grade(db, writer, *WHERE) is None
    with pytest.raises(Forbidden, match="nothing for you to grade"):
        next_to_grade(db, make_person(db, "somebody", RoleName.WORKER), *WHERE)
    item = next_to_grade(db, expert, *WHERE)
    assert item is not None
    grade(db, expert, *WHERE, stage=item.stage, item=item.item, answers=FAIR)
    assert not come(db, to_grade, "E1").has(RoleName.EXPERT, "mood")
    panel_entry.put_doors(db, owner, *WHERE, f"experts = false\n{DOORS}", base_url=BASE)
    with pytest.raises(Forbidden, match="nothing for you to grade"):
        next_to_grade(db, expert, *WHERE)

"""Whoever takes part in a trial never learns of other arms: not by guessing numbers, by messages, or by words."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.editing import EditOrigin
from quintain.core.errors import Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.house import MovementKind
from quintain.core.stage_qualifications import stage_qualification
from quintain.services.access.notify import list_notifications
from quintain.services.collect.panels.entry import shown_round
from quintain.services.collect.rounds.definition import dump_round
from quintain.services.collect.rounds.eligible import may_write
from quintain.services.collect.rounds.manage import get_round, put_round
from quintain.services.collect.rounds.round_pay import round_pay
from quintain.services.collect.writing.list_attempts import my_attempts
from quintain.services.collect.writing.readiness import readiness, record_choice
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.writing_aids import try_session
from quintain.services.house.front import front
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.trials import close_trial
from quintain.services.work.qualify import qualification_history, set_qualification
from quintain.store.blobs import Blobs
from tests.collecting import add_round, writers
from tests.exported import export_person
from tests.integration.trial.life import WHERE, begin, train, write
from tests.people import make_person
from tests.refusals import refusal


def _take_part(db: Session, blobs: Blobs, owner: Actor) -> tuple[Actor, str, list[str]]:
    """Open a trial, let somebody of the plain arm in, and give the rounds of their arm and of the other."""
    begin(db, blobs, owner)
    for one in writers(db, 2):
        part = enter(db, one, *WHERE)
        if part.round is not None:
            own = f"mood/{part.round}"
            return one, own, [ref for ref in (f"mood/{n}" for n in (1, 2, 3)) if ref != own]
    raise AssertionError("nobody is in the plain arm")


def _told(db: Session, actor: Actor, ref: str) -> str:
    with pytest.raises(NotFound) as refused:
        get_round(db, actor, ref)
    return refused.value.message.replace(ref, "")


def test_rounds_of_other_arms_are_not_there(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A round of another arm is refused as one that does not exist, whatever is asked of it; one's own is found."""
    person, own, others = _take_part(db, blobs, owner)
    stranger = make_person(db, "stranger", RoleName.WORKER)
    for actor, refs in ((person, others), (stranger, [own, *others]), (Actor(None, ""), [own, *others])):
        for ref in refs:
            assert _told(db, actor, ref) == _told(db, actor, "mood/99")
            assert get_round(db, owner, ref).ref == ref
    for ask in (readiness, may_write, my_attempts, try_session, lambda *at: record_choice(*at, "opt_out"), round_pay):
        with pytest.raises(NotFound):
            ask(db, person, others[0])
    with pytest.raises(NotFound):
        start_session(db, blobs, person, others[0])
    assert get_round(db, person, own).ref == own
    write(db, blobs, person)
    write(db, blobs, person)
    assert trial_part(db, person, *WHERE).what == "end"
    assert len(my_attempts(db, person, own)) == 2  # what they did there stays theirs to read


def test_no_text_names_a_pass(db: Session, blobs: Blobs, owner: Actor) -> None:
    """What lets somebody write is told in words that name no arm; its owner reads all of it."""
    person, own, _ = _take_part(db, blobs, owner)
    shown = shown_round(db, person, get_round(db, person, own), "")
    assert "trial-" not in shown.toml
    assert "trial-" in shown_round(db, owner, get_round(db, owner, own), "").toml
    assert [one.text for one in may_write(db, person, own).reasons] == ["This work is yours now."]
    write(db, blobs, person)
    write(db, blobs, person)
    trial_part(db, person, *WHERE)
    with pytest.raises(Forbidden) as refused:
        start_session(db, blobs, person, own)
    assert "trial-" not in refused.value.message
    assert "nothing to write for you here now" in refused.value.message
    assert qualification_history(db, person, "mood") == []
    assert qualification_history(db, owner, "mood", person.name)


def test_nobody_is_told_of_a_round_of_a_trial(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Opening a trial sends no message to those who wrote before, and closing it moves nothing on the front page."""
    info = add_round(db, blobs, owner, tmp_path)
    (before,) = writers(db, 1)
    start_session(db, blobs, before, info.ref)
    begin(db, blobs, owner)
    assert list_notifications(db, before) == []
    close_trial(db, owner, *WHERE)
    for reader in (before, owner):
        (card,) = front(db, blobs, reader).cards
        assert card.moved is not None
        assert card.moved.kind is MovementKind.MODEL


def test_what_is_kept_of_somebody_tells_them_of_no_arm(db: Session, blobs: Blobs, owner: Actor) -> None:
    """The file with all that is kept about a person has their work and pay, and nothing of arms or draws."""
    begin(db, blobs, owner)
    for one in writers(db, 2):
        enter(db, one, *WHERE)
        if trial_part(db, one, *WHERE).quiz:
            train(db, blobs, one)
            trial_part(db, one, *WHERE)
            person = one
    with zipfile.ZipFile(io.BytesIO(export_person(db, person))) as bundle:
        found = {name: bundle.read(name).decode() for name in bundle.namelist()}
    assert "crowd_members.json" in found
    assert json.loads(found["earnings.json"])[0]["amount"] == 350
    whole = "\n".join(found.values())
    for word in ('"arm_id"', '"drawn"', "trial-", "trial:", '"plain"', '"trained"'):
        assert word not in whole, word


def test_an_owner_cannot_let_another_arm_in(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Who writes in a round of a trial is the trial's to say: neither its file nor a pass by hand changes it."""
    person, _, others = _take_part(db, blobs, owner)
    text = dump_round(get_round(db, owner, others[0]).spec)
    head, _, _ = text.partition("[[qualifications]]")
    assert head != text
    with refusal(Conflict, "round_of_trial") as refused:
        put_round(db, owner, head, edit=EditOrigin(remove=frozenset({"qualifications"})))
    assert refused.value.code == "round_of_trial"
    changed = put_round(db, owner, text.replace("Mood of texts", "Moods of texts"))
    assert changed.spec.title == "Moods of texts"
    with pytest.raises(Conflict, match="gives and ends"):
        set_qualification(db, owner, "mood", person.name, stage_qualification(2, "final"), held=True)
    with pytest.raises(NotFound):
        get_round(db, person, others[0])
    assert get_round(db, OPERATOR, others[0])


def test_a_pass_fits_its_column() -> None:
    """However long a stage is called, its pass has a name that fits, and two stages never share one."""
    names = {stage_qualification(12, "s" * 39 + last) for last in "ab"}
    assert len(names) == 2
    assert all(len(one) <= 40 for one in names)


def test_who_has_written_in_an_unlisted_round_still_finds_it(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """A qualification that is asked for later closes a round for those who come, not for who is at it."""
    info = add_round(db, blobs, owner, tmp_path, more="listed = false")
    writer, stranger = writers(db, 2)
    start_session(db, blobs, writer, info.ref)
    text = dump_round(get_round(db, owner, info.ref).spec)
    put_round(db, owner, f'{text}\n[[qualifications]]\nrule = "holds"\nname = "invited"\n')
    assert get_round(db, writer, info.ref).id == info.id
    with pytest.raises(NotFound):
        get_round(db, stranger, info.ref)

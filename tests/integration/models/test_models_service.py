"""Registering, finding, showing and withdrawing models, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, NotSignedIn
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.core.records.tasks import Visibility
from quintain.models.card import HEADINGS, write_card
from quintain.services.models import registry as service
from quintain.services.models.registry import ModelVersionInfo
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from tests.people import make_person
from tests.refusals import refusal

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
[[labels]]
name = "negative"
[[labels]]
name = "positive"
"""
CARD = write_card("A model", dict.fromkeys(HEADINGS, "Some words."))


@pytest.fixture(autouse=True)
def _task(db: Session) -> None:
    put_task(db, OPERATOR, TASK)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an artefact."""
    path = tmp_path / "artefact"
    path.mkdir()
    (path / "model.json").write_text("{}")
    return path


def register(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    folder: Path,
    *,
    name: str = "m",
    card: str = CARD,
    visibility: Visibility = "public",
) -> ModelVersionInfo:
    """Register a version with the usual settings."""
    return service.register_version(
        db, blobs, actor, "mood", name, adapter="builtin", folder=folder, card=card, visibility=visibility
    )


@pytest.mark.both_databases
def test_the_same_content_is_the_same_version(db: Session, blobs: Blobs, builder: Actor, folder: Path) -> None:
    """Registering twice changes nothing; another artefact or card makes the next version."""
    one = register(db, blobs, builder, folder)
    assert one.ref == "mood/m@1"
    assert register(db, blobs, builder, folder).number == 1
    (folder / "more.json").write_text("{}")
    two = register(db, blobs, builder, folder)
    assert (two.number, two.hash != one.hash) == (2, True)
    assert register(db, blobs, builder, folder, card=CARD + "\nMore.").number == 3
    assert blobs.has(one.blob or "")


@pytest.mark.both_databases
def test_references_find_versions(db: Session, blobs: Blobs, builder: Actor, folder: Path) -> None:
    """By name, by number, by hash, and with a clear message where there is none."""
    one = register(db, blobs, builder, folder)
    (folder / "more.json").write_text("{}")
    two = register(db, blobs, builder, folder)
    assert service.get_model(db, ANONYMOUS, "mood/m").version.number == 2
    assert service.get_model(db, ANONYMOUS, "mood/m@1").version.hash == one.hash
    assert service.get_model(db, ANONYMOUS, two.hash[:10]).version.number == 2
    assert service.get_model(db, ANONYMOUS, f"mood/m@{one.hash[:8]}").version.number == 1
    for wrong in ("mood/x", "nowhere/m", "abcdef012345", "m", "", "%", "mood/m@9", "mood/m@zzz"):
        with pytest.raises(NotFound):
            service.get_model(db, ANONYMOUS, wrong)


def test_one_hash_in_two_models_is_ambiguous(db: Session, blobs: Blobs, builder: Actor, folder: Path) -> None:
    """The same content under two names: the hash alone does not say which."""
    one = register(db, blobs, builder, folder, name="a")
    register(db, blobs, builder, folder, name="b")
    with pytest.raises(Conflict, match="mood/a@1, mood/b@1"):
        service.get_model(db, ANONYMOUS, one.hash)


def test_who_may_register(db: Session, blobs: Blobs, worker: Actor, builder: Actor, folder: Path) -> None:
    """Builders and owners may; workers and strangers may not; nobody may add to another's model."""
    with pytest.raises(NotSignedIn):
        register(db, blobs, ANONYMOUS, folder)
    with pytest.raises(Forbidden):
        register(db, blobs, worker, folder)
    register(db, blobs, builder, folder)
    with refusal(Conflict, "name_taken"):
        register(db, blobs, make_person(db, "bill", RoleName.BUILDER), folder, card=CARD + "\n")


@pytest.mark.both_databases
def test_private_models_are_seen_by_few(
    db: Session, blobs: Blobs, builder: Actor, owner: Actor, admin: Actor, worker: Actor, folder: Path
) -> None:
    """Its owner, the task's owner and admins see it; to others it is not there, by name or by hash."""
    version = register(db, blobs, builder, folder, visibility="private")
    for person in (builder, owner, admin, OPERATOR):
        assert service.get_model(db, person, "mood/m").name == "m"
        assert [model.name for model in service.list_models(db, person, "mood")] == ["m"]
        assert service.list_names(db, person, "mood") == [("mood", "m")]
    for person in (worker, ANONYMOUS, make_person(db, "bill", RoleName.BUILDER)):
        assert service.list_models(db, person) == service.list_names(db, person) == []
        for ref in ("mood/m", version.hash):
            with pytest.raises(NotFound):
                service.get_model(db, person, ref)


def test_anonymous_models_do_not_say_whose_they_are(
    db: Session, blobs: Blobs, builder: Actor, worker: Actor, folder: Path
) -> None:
    """They are shown, without an owner anywhere; their owner sees the name."""
    register(db, blobs, builder, folder, visibility="anonymous")
    service.update_card(db, builder, "mood/m", CARD + "\nMore.\n")
    seen = service.get_model(db, worker, "mood/m")
    assert (seen.owner, seen.version.owner) == (None, None)
    assert all(one.author is None for one in service.card_history(db, worker, "mood/m"))
    assert service.get_model(db, builder, "mood/m").owner == builder.name


def test_visibility_can_be_changed_by_those_who_may(
    db: Session, blobs: Blobs, builder: Actor, worker: Actor, folder: Path
) -> None:
    """Owner yes, others no, and only to what there is."""
    register(db, blobs, builder, folder)
    with pytest.raises(Forbidden):
        service.set_visibility(db, worker, "mood/m", "private")
    assert service.set_visibility(db, builder, "mood/m", "private").visibility == "private"
    with pytest.raises(BadInput, match="public, private, anonymous"):
        service.set_visibility(db, builder, "mood/m", "secret")  # type: ignore[arg-type]  # what a form may send


def test_a_withdrawn_version_steps_back(db: Session, blobs: Blobs, builder: Actor, worker: Actor, folder: Path) -> None:
    """The name then means the newest one left; a model with none left disappears from lists of others."""
    register(db, blobs, builder, folder)
    (folder / "more.json").write_text("{}")
    register(db, blobs, builder, folder)
    with pytest.raises(Forbidden):
        service.withdraw(db, worker, "mood/m@2")
    assert service.withdraw(db, builder, "mood/m@2").withdrawn_at is not None
    assert service.get_model(db, worker, "mood/m").version.number == 1
    assert service.get_model(db, worker, "mood/m@2").version.withdrawn_at is not None
    service.withdraw(db, builder, "mood/m@1")
    assert service.list_models(db, worker) == service.list_names(db, worker) == []
    assert len(service.list_models(db, builder)) == len(service.list_names(db, builder)) == 1


def test_a_new_card_keeps_the_hash_and_the_old_card(db: Session, blobs: Blobs, builder: Actor, folder: Path) -> None:
    """Editing a card is not a new model: its results stay valid, and its history can be read."""
    before = register(db, blobs, builder, folder)
    text = CARD.replace("Some words.", "Other words.")
    after = service.update_card(db, builder, "mood/m", text)
    assert (after.hash, after.number, after.card) == (before.hash, 1, text)
    service.update_card(db, builder, "mood/m", text)
    assert [one.text for one in service.card_history(db, builder, "mood/m")] == [CARD, text]


def test_incomplete_cards_and_bad_names_are_refused(db: Session, blobs: Blobs, builder: Actor, folder: Path) -> None:
    """The faults name each heading, and nothing is registered."""
    with pytest.raises(BadInput) as caught:
        register(db, blobs, builder, folder, card="# Nothing")
    assert len(caught.value.faults) == len(HEADINGS)
    for name in ("", "A", "a b", "a/b", "a@1", "-a", "x" * 121):
        with pytest.raises(BadInput, match="cannot be the name"):
            register(db, blobs, builder, folder, name=name)
    with pytest.raises(NotFound, match="no folder"):
        register(db, blobs, builder, folder / "none")
    assert service.list_models(db, OPERATOR) == []

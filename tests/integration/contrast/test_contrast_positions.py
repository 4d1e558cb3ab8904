"""What an example points at follows an edit: prepositions, predicates, marked spans, and the answer itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.contrasting import ContrastVariant as Variant
from quintain.services.access.notify import list_notifications
from quintain.services.contrast import authoring, checking, listing, releasing, uploading
from quintain.services.contrast.authoring import Edit
from quintain.services.contrast.checking import Opinion
from quintain.services.data.content import preview
from quintain.store.tables import AuditEntry, ContrastVariant
from tests.beginnings import Build
from tests.contrast_site import PASSAGE, TASKS, add_kind
from tests.contrasting import expert
from tests.people import find_or_make_person

ATTACH, ROLES, READING = "attach/near", "roles/near", "reading/near"
WORDS = "He ate pizza with friends ."


@pytest.fixture
def beginning() -> Build:
    """Projects over attachment, semantic roles and reading."""
    return build


def build(workspace: Workspace, folder: Path) -> None:
    """Add a task of each kind with one example and a project, and three experts."""
    with workspace.session() as db:
        owner = find_or_make_person(db, "olga", RoleName.OWNER)
        for name in ("xenia", "yann", "zoe"):
            find_or_make_person(db, name, RoleName.EXPERT)
        for name in ("attach", "roles", "reading"):
            toml, rows = TASKS[name]
            add_kind(db, workspace.blobs, owner, folder, name, toml, rows)


def words(text: str) -> list[str]:
    """Give a sentence as tokens."""
    return text.split()


def keep(db: Session, ref: str, edit: Edit, who: str = "xenia") -> Variant:
    """Write one variant of the only example."""
    actor = expert(db, who)
    return authoring.add_variant(db, actor, ref, authoring.take_pivot(db, actor, ref).id, edit)


def refused(call: Callable[[], object]) -> dict[str, str]:
    """Give what a call complains about, by field."""
    with pytest.raises(BadInput) as caught:
        call()
    return {str(fault.field): str(fault.reason) for fault in caught.value.faults}


@pytest.mark.parametrize("sent", [{}, {"preposition": 3}, {"preposition": "with"}, {"preposition": "4:with"}])
def test_a_preposition_follows_a_word_put_in_before_it(db: Session, sent: dict[str, object]) -> None:
    """Whether nothing is said of it, its old number, or the word itself: it is stored where the word stands."""
    tokens = ["He", "ate", "cold", "pizza", "with", "olives", "."]
    made = keep(db, ATTACH, Edit({"tokens": tokens, **sent}, "pizza"))
    assert (made.inputs["preposition"], made.answer) == (4, 3)


def test_another_word_is_asked_about(db: Session) -> None:
    """An exchanged or missing word is not taken for the preposition, until somebody says so by its name."""
    other = {"tokens": words("He ate pizza without friends .")}
    assert "was 'with' and is 'without' now" in refused(lambda: keep(db, ATTACH, Edit(other, "pizza")))["preposition"]
    numbered = {**other, "preposition": 2}
    assert "is 'pizza' now" in refused(lambda: keep(db, ATTACH, Edit(numbered, 1)))["preposition"]
    gone = {"tokens": words("He ate pizza quickly indeed .")}
    assert "preposition" in refused(lambda: keep(db, ATTACH, Edit(gone, "pizza")))
    assert keep(db, ATTACH, Edit({**other, "preposition": "without"}, "pizza")).inputs["preposition"] == 3


def test_an_answer_that_stands_twice_is_asked_for(db: Session) -> None:
    """A word alone is not enough then, for who writes and for who checks; its number with it is."""
    twice = {"tokens": words("He ate pizza with pizza .")}
    said = refused(lambda: keep(db, ATTACH, Edit(twice, "pizza")))
    assert "stands 2 times" in said["answer"]
    assert "2:pizza, 4:pizza" in said["answer"]
    assert "is no word of" in refused(lambda: keep(db, ATTACH, Edit(twice, "cake")))["answer"]
    made = keep(db, ATTACH, Edit(twice, "2:pizza"))
    yann = expert(db, "yann")
    checking.next_check(db, yann, ATTACH)
    assert "answer" in refused(lambda: checking.check_variant(db, yann, ATTACH, made.id, Opinion("pizza", True, True)))
    assert checking.check_variant(db, yann, ATTACH, made.id, Opinion("2:pizza", True, True)) == "accepted"


def test_an_answer_that_is_meant_to_stay_moves_with_its_word(db: Session) -> None:
    """It need not be given; its new number is the same answer, and another one is not."""
    longer = {"tokens": words("Then he ate pizza with friends .")}
    assert "answer" in refused(lambda: keep(db, ATTACH, Edit(longer, 1, keeps_label=True)))
    assert "is that of the original" in refused(lambda: keep(db, ATTACH, Edit(longer, 2)))["answer"]
    made = keep(db, ATTACH, Edit(longer, keeps_label=True))
    assert (made.answer, made.keeps_label) == (2, True)
    gone = {"tokens": words("He had pizza with friends .")}
    assert "is not what it was" in refused(lambda: keep(db, ATTACH, Edit(gone, keeps_label=True)))["answer"]


def test_a_predicate_stays_a_word_of_its_sentence(db: Session) -> None:
    """A part of another word is not it; a second one on the left does no harm; one that moved must be the only one."""

    def edit(sentence: str, answer: str = "The butcher") -> Edit:
        return Edit({"sentence": sentence}, answer, reason="it has to be")

    part = refused(lambda: keep(db, ROLES, edit("The butcher resold us two loaves .")))
    assert "only a part of another word" in part["predicate"]
    twice = "The butcher gave us the sold ones he sold ."
    assert "stands 2 times now" in refused(lambda: keep(db, ROLES, edit(twice)))["predicate"]
    made = keep(db, ROLES, edit("The butcher who sold bread sold us two loaves .", "The butcher"))
    assert made.answer == [{"text": "The butcher", "start": 0}]


def test_a_marked_span_follows_its_text(db: Session) -> None:
    """A start from before the edit is moved; a text that stands twice is asked for."""
    longer = {"passage": "Today " + PASSAGE}
    old = [{"text": "tea", "start": PASSAGE.index("tea")}]
    made = keep(db, READING, Edit(longer, old, keeps_label=True))
    assert made.answer == [{"text": "tea", "start": PASSAGE.index("tea") + 6}]
    twice = {"passage": PASSAGE.replace("a large coffee", "tea")}
    assert "stands 2 times" in refused(lambda: keep(db, READING, Edit(twice, "tea", keeps_label=True)))["answer"]


def test_a_table_of_variants_names_words(db: Session, owner: Actor) -> None:
    """Rows from elsewhere say words, numbers, or nothing of the preposition; whether the answer stays is found out."""
    rows = [
        {"original": WORDS, "tokens": words("So he ate pizza with friends ."), "answer": 2},
        {"original": WORDS, "tokens": words("He ate pizza with olives ."), "answer": "pizza", "preposition": "3:with"},
    ]
    uploading.add_variants(db, owner, ATTACH, rows, checked=True)
    written = listing.list_sets(db, owner, ATTACH).sets[0].variants
    assert [(one.inputs["preposition"], one.answer, one.keeps_label) for one in written] == [
        (4, 2, True),
        (3, 2, False),
    ]


def test_what_was_stored_wrongly_is_set_right(db: Session, workspace: Workspace, owner: Actor) -> None:
    """The migration finds variants on another word, moves them, says so in the log and to owners; a release is new."""
    made = keep(
        db, ATTACH, Edit({"tokens": words("He ate very cold pizza with friends .")}, "pizza", reason="it has to be")
    )
    right = dict(made.inputs)
    checking.check_variant(db, expert(db, "yann"), ATTACH, made.id, Opinion("pizza", True, True))
    row = db.get_one(ContrastVariant, made.id)
    hashed = row.hash
    row.inputs, row.hash = {**row.inputs, "preposition": 3}, "0" * 32
    db.commit()
    wrong = releasing.release_project(db, workspace.blobs, OPERATOR, ATTACH)
    migration = import_module("quintain.store.migrations.versions.0051_positions")
    for _ in range(2):
        with Operations.context(MigrationContext.configure(db.connection())):
            migration.upgrade()
        db.commit()
        db.expire_all()
    assert (db.get_one(ContrastVariant, made.id).inputs, db.get_one(ContrastVariant, made.id).hash) == (right, hashed)
    entries = db.scalars(select(AuditEntry).where(AuditEntry.action == "contrast.repair")).all()
    assert [entry.details["positions"][0]["is"] for entry in entries] == [5]
    assert "set right" in list_notifications(db, owner)[0].text
    again = releasing.release_project(db, workspace.blobs, OPERATOR, ATTACH)
    assert again.new
    assert again.version != wrong.version
    assert "with" in str(preview(db, workspace.blobs, owner, again.version))


def test_what_nobody_can_tell_is_listed(db: Session, owner: Actor) -> None:
    """Of a preposition that was exchanged the owners are told: whether it is meant, a person has to say."""
    edit = Edit({"tokens": words("He ate pizza without friends ."), "preposition": "without"}, "pizza")
    made = keep(db, ATTACH, edit)
    migration = import_module("quintain.store.migrations.versions.0055_unclear_positions")
    with Operations.context(MigrationContext.configure(db.connection())):
        migration.upgrade()
    db.commit()
    entry = db.scalars(select(AuditEntry).where(AuditEntry.action == "positions.unclear")).one()
    assert entry.details == {"contrast": [{"id": made.id, "why": "preposition"}], "total": 1}
    assert f"original: {made.id}." in list_notifications(db, owner)[0].text

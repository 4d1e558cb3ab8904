"""What the sides of a pair point at: a preposition, a predicate, a span; read as words, and moved along with them."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.data.plan import ImportPlan
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.access.notify import list_notifications
from quintain.services.contest import pairs, teams
from quintain.services.contest.contests import put_contest
from quintain.services.contest.pair_checks import PairDraft
from quintain.services.data.datasets import import_dataset
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.tables import Attempt, AuditEntry, ContestPair, Prompt, Round, TaskRow
from tests.beginnings import Build
from tests.contests import CONTEST, move_to
from tests.contrast_site import TASKS
from tests.people import find_or_make_person
from tests.web_support import PASSWORD, browser_of, on_one_line, post

KINDS = ("attach", "roles", "reading")
WORDS = "He ate cold pizza with olives ."
PASSAGE = "Mira ordered tea, and Tom ordered tea with milk."
READING = {"passage": PASSAGE, "question": "What did Mira order?", "answer": [{"text": "tea", "start": 13}]}
ROWS = {"attach": TASKS["attach"][1][0], "roles": TASKS["roles"][1][0], "reading": READING}


@pytest.fixture
def beginning() -> Build:
    """Contests over attachment, semantic roles and reading, in which ben breaks."""
    return build


def build(workspace: Workspace, folder: Path) -> None:
    """Add a task of each kind with one example, a contest on it, and a team of breakers."""
    with workspace.session() as db:
        owner = find_or_make_person(db, "olga", RoleName.OWNER)
        ben = find_or_make_person(db, "ben", RoleName.WORKER)
        redeem_link(db, make_link(db, OPERATOR, "ben").token, PASSWORD)
        for name in KINDS:
            put_task(db, owner, f'name = "{name}"\n{TASKS[name][0]}')
            for dataset in ("dev", "starter"):
                file = folder / f"{name}-{dataset}.jsonl"
                file.write_text(json.dumps(ROWS[name]))
                plan = ImportPlan(role="dev", hidden=dataset == "dev")
                import_dataset(db, workspace.blobs, owner, name, dataset, file, plan)
            contest = CONTEST.format(more="").replace("mood", name).replace("2024", "2044")
            put_contest(db, owner, contest)
            move_to(db, "build", f"{name}/spring")
            teams.create_team(db, ben, f"{name}/spring", "knots", "breaker")
            move_to(db, "break", f"{name}/spring")


@pytest.fixture
def ben(db: Session) -> Actor:
    """Whoever breaks."""
    return actor_of(db, find_user(db, "ben"))


def draft(kind: str, modified: dict[str, Any], label: Any, **more: Any) -> PairDraft:
    """Return a pair that changes the only sentence of the starter set."""
    row = {name: value for name, value in ROWS[kind].items() if name != "answer"}
    unsaid = {"preposition"} - {*modified}
    given = {name: value for name, value in row.items() if name not in unsaid}
    return PairDraft("p", row, {**given, **modified}, modified_label=label, **more)


def stored(db: Session) -> ContestPair:
    """Return the only pair, as it stands in the database."""
    return db.scalars(select(ContestPair)).one()


def refused(db: Session, blobs: Blobs, ben: Actor, kind: str, pair: PairDraft) -> dict[str, str]:
    """Return what is wrong with a pair, by field."""
    with pytest.raises(BadInput) as caught:
        pairs.put_pair(db, blobs, ben, f"{kind}/spring", pair)
    return {str(fault.field): str(fault.reason) for fault in caught.value.faults}


@pytest.mark.parametrize("sent", [{}, {"preposition": 3}, {"preposition": "with"}, {"preposition": "4:with"}])
@pytest.mark.parametrize("label", ["pizza", "3:pizza", "3"])
def test_a_preposition_follows_its_word(
    db: Session, blobs: Blobs, ben: Actor, sent: dict[str, Any], label: str
) -> None:
    """Left out, with its old number or as a word, it is stored where the word stands; moving is no change of it."""
    pairs.put_pair(db, blobs, ben, "attach/spring", draft("attach", {"tokens": WORDS.split(), **sent}, label))
    pair = stored(db)
    assert (pair.modified["preposition"], pair.modified_gold, pair.original_id is not None) == (4, 3, True)
    assert pair.words == 2  # "cold" was put in, and "friends" exchanged


@pytest.mark.parametrize(
    ("kind", "modified", "label", "field", "reason"),
    [
        (
            "attach",
            {"tokens": ["He", "ate", "pizza", "without", "olives", "."]},
            "1",
            "modified.preposition",
            "is 'without' now",
        ),
        ("attach", {"tokens": ["He", "ate", "pizza", "."]}, "ate", "modified.preposition", "'with' is gone"),
        (
            "attach",
            {"tokens": ["He", "and", "he", "ate", "he", "with", "us", "."]},
            "he",
            "modified_label",
            "2:he, 4:he",
        ),
        ("roles", {"sentence": "The baker resold us two loaves ."}, "The baker", "modified.predicate", "another word"),
        ("reading", {"question": "What did Tom order?"}, "tea", "modified_label", "13:tea, 34:tea"),
    ],
)
def test_what_is_not_clear_is_asked(
    db: Session,
    blobs: Blobs,
    ben: Actor,
    kind: str,
    modified: dict[str, Any],
    label: str,
    field: str,
    reason: str,
) -> None:
    """A word that is gone or exchanged, a predicate that became a part of another, an answer that stands twice."""
    faults = refused(db, blobs, ben, kind, draft(kind, modified, label))
    assert list(faults) == [field]
    assert reason in faults[field]


@pytest.mark.parametrize("label", ["34:tea", {"text": "tea", "start": 34}])
def test_a_span_is_stored_with_its_start(db: Session, blobs: Blobs, ben: Actor, label: Any) -> None:
    """An answer that stands once is found, and one that stands twice is named by its start."""
    modified = {"question": "What did Tom order?"}
    pairs.put_pair(db, blobs, ben, "reading/spring", draft("reading", modified, "tea with milk"))
    assert stored(db).modified_gold == [{"text": "tea with milk", "start": 34}]
    pairs.put_pair(db, blobs, ben, "reading/spring", draft("reading", modified, label))
    assert stored(db).modified_gold == [{"text": "tea", "start": 34}]


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_table_of_pairs_names_words(db: Session, blobs: Blobs, ben: Actor, tmp_path: Path, suffix: str) -> None:
    """An upload is read as the page is: words by name or number, in CSV and JSON lines, and moved along."""
    row = ROWS["attach"]
    sides = [
        {"pair_id": "p", "side": "a", "tokens": row["tokens"], "preposition": 3, "label": "ate"},
        {"pair_id": "p", "side": "b", "tokens": WORDS.split(), "preposition": 3, "label": "pizza"},
    ]
    table = tmp_path / f"pairs.{suffix}"
    if suffix == "jsonl":
        table.write_text("".join(json.dumps(side) + "\n" for side in sides))
    else:
        quoted = [json.dumps(side["tokens"]).replace('"', '""') for side in sides]
        lines = [f'p,{side["side"]},"{text}",with,{side["label"]}' for side, text in zip(sides, quoted, strict=True)]
        table.write_text("\n".join(["pair_id,side,tokens,preposition,label", *lines]) + "\n")
    assert pairs.upload_pairs(db, blobs, ben, "attach/spring", table).added == 1
    assert (stored(db).modified["preposition"], stored(db).original_id is not None) == (4, True)


def test_the_page_shows_words_and_moves_them(workspace: Workspace) -> None:
    """The form holds the word, not its number; kept as it is, it is the word's new place, and the list shows words."""
    browser, base = browser_of(workspace, "ben"), "/tasks/attach/contests/spring/break"
    page = browser.get(base)
    example = re.search(r"break\?of=(\w+)", page.text)
    assert example
    assert "He ate pizza with friends . · with" in on_one_line(page)
    form = browser.get(f"{base}?of={example[1]}")
    assert 'name="in-preposition" type="text" value="with"' in on_one_line(form)
    fields = {"example": example[1], "in-tokens": WORDS, "in-preposition": "with", "original_label": "ate"}
    assert post(browser, base, base, **fields, modified_label="pizza").status_code == 303
    with workspace.session() as db:
        assert stored(db).modified["preposition"] == 4
    assert "ate → pizza" in on_one_line(browser.get(base))


def test_the_page_asks_which_place_is_meant(workspace: Workspace) -> None:
    """An answer that stands twice comes back with both places to choose from, and the chosen one is stored."""
    browser, base = browser_of(workspace, "ben"), "/tasks/reading/contests/spring/break"
    example = re.search(r"break\?of=(\w+)", browser.get(base).text)
    assert example
    fields = {"example": example[1], "in-question": "What did Tom order?", "modified_label": "tea"}
    asked = post(browser, base, base, **fields)
    assert asked.status_code == 422
    assert 'name="place-modified_label" value="34:tea"' in on_one_line(asked)
    assert post(browser, base, base, **fields, **{"place-modified_label": "34:tea"}).status_code == 303
    with workspace.session() as db:
        assert stored(db).modified_gold == [{"text": "tea", "start": 34}]


def test_what_was_kept_before_is_listed(db: Session, blobs: Blobs, ben: Actor, owner: Actor) -> None:
    """The migration tells owners of pairs, variants and texts on another word, and changes nothing."""
    pairs.put_pair(db, blobs, ben, "attach/spring", draft("attach", {"tokens": WORDS.split()}, "pizza"))
    pairs.put_pair(db, blobs, ben, "roles/spring", draft("roles", {"sentence": "The cook sold us rolls ."}, "rolls"))
    pairs.put_pair(db, blobs, ben, "reading/spring", draft("reading", {"question": "What did Tom order?"}, "34:tea"))
    moved, resold, twice = db.scalars(select(ContestPair).order_by(ContestPair.id)).all()
    migrate(db)
    assert not db.scalars(select(AuditEntry).where(AuditEntry.action == "positions.unclear")).all()
    moved.modified = {**moved.modified, "preposition": 3}
    resold.modified = {**resold.modified, "sentence": "The cook resold us rolls ."}
    twice.modified_gold = [{"text": "tea", "start": None}]
    task = db.scalars(select(TaskRow).where(TaskRow.name == "roles")).one()
    row = Round(task_id=task.id, number=7, state="closed", entry_key="k", seed=1)
    db.add(row)
    db.flush()
    prompt = Prompt(round_id=row.id, hash="h", inputs=moved.original, draw=1)
    db.add(prompt)
    db.flush()
    text = Attempt(round_id=row.id, prompt_id=prompt.id, hash="h", text_key="k", inputs=moved.modified, predictions=[])
    db.add(text)
    db.commit()
    before = {row.id: dict(row.modified) for row in (moved, resold, twice)}
    migrate(db)
    entries = db.scalars(select(AuditEntry).where(AuditEntry.action == "positions.unclear")).all()
    listed = {entry.subject: entry.details for entry in entries}
    assert {ref: details.get("contests", details.get("rounds")) for ref, details in listed.items()} == {
        "attach/spring": [{"id": moved.id, "why": "preposition"}],
        "roles/spring": [{"id": resold.id, "why": "predicate"}],
        "reading/spring": [{"id": twice.id, "why": "answer"}],
        "roles/7": [{"id": text.id, "why": "preposition"}],
    }
    told = list_notifications(db, owner)
    assert {one.url for one in told if "may be about another word" in one.text} >= {
        "/tasks/attach/contests/spring",
        "/tasks/roles/rounds/7",
    }
    assert {row.id: dict(row.modified) for row in (moved, resold, twice)} == before


def migrate(db: Session) -> None:
    """Look for what is unclear, as the migration does."""
    migration = import_module("quintain.store.migrations.versions.0055_unclear_positions")
    with Operations.context(MigrationContext.configure(db.connection())):
        migration.upgrade()
    db.commit()
    db.expire_all()

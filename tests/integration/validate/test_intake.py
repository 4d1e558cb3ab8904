"""Items from elsewhere come in some at a time: others write meanwhile, and what was interrupted is made up for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, NotFound, Unavailable
from quintain.core.people import Actor
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import intake, item_files, manage
from quintain.store.database import transaction
from quintain.store.queries.validate import slots
from quintain.store.tables import CorpusUse, Slot, ValidationItem
from tests.validation_support import REF, TASK, make_ground, text_of

OFTEN = "judgements = 2\nminimum = 2\n[often]\njudgements = 4\nitems = 3\n"


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows make a step."""
    monkeypatch.setattr(intake, "ROWS_AT_A_TIME", 3)


def rows(count: int) -> list[dict[str, Any]]:
    """Give rows of so many texts."""
    return [{"inputs": {"text": text_of(number)}} for number in range(count)]


def there(db: Session) -> tuple[int, int, int]:
    """Count the items, their slots, and the texts that no round gives out any more."""
    db.rollback()
    counted = [db.scalar(select(func.count()).select_from(one)) or 0 for one in (ValidationItem, Slot, CorpusUse)]
    return counted[0], counted[1], counted[2]


@pytest.mark.both_databases
def test_a_step_that_fails_leaves_those_before_and_the_next_time_adds_the_rest(
    db: Session, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is whole: items, slots and used texts. The sample that is judged often has its size in the end."""
    make_ground(db, owner, 0, OFTEN)
    add, calls = slots.add, []

    def full(db: Session, some: Any, **more: Any) -> None:
        calls.append(len(some))
        if len(calls) == 3:
            raise Unavailable("The disk is full.")
        add(db, some, **more)

    with monkeypatch.context() as broken:
        broken.setattr(slots, "add", full)
        with pytest.raises(Unavailable):
            manage.add_items(db, owner, REF, rows(10))
    items, made, used = there(db)
    assert (items, used) == (6, 6)
    assert made == sum(calls[:2])
    taken = manage.add_items(db, owner, REF, rows(10))
    assert (taken.added, taken.repeats) == (4, 6)
    assert there(db) == (10, 3 * 4 + 7 * 2, 10)
    assert db.scalar(select(func.count()).where(ValidationItem.asked == 4)) == 3
    assert manage.add_items(db, owner, REF, rows(10)).added == 0


def test_others_write_between_the_steps(
    db: Session, workspace: Workspace, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others hold the lock for is done before all rows are in."""
    make_ground(db, owner, 0)
    some, seen = intake._add_some, []

    def look(db: Session, *given: Any) -> int:
        with workspace.session() as other:
            seen.append(there(other)[0])
        return some(db, *given)

    monkeypatch.setattr(intake, "_add_some", look)
    manage.add_items(db, owner, REF, rows(8))
    assert seen == [0, 3, 6]


def test_inside_a_transaction_it_is_all_or_nothing(db: Session, owner: Actor) -> None:
    """A service that adds items with other things keeps all of it, or none."""
    make_ground(db, owner, 0)

    def both() -> None:
        with transaction(db):
            manage.add_items(db, owner, REF, rows(8))
            raise Unavailable("The disk is full.")

    with pytest.raises(Unavailable):
        both()
    assert there(db) == (0, 0, 0)


def test_a_file_with_faults_opens_nothing(db: Session, workspace: Workspace, owner: Actor, tmp_path: Path) -> None:
    """All of a file is read and checked before a validation is opened for it."""
    tasks.put_task(db, owner, TASK)
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in ("fine", "")))
    with pytest.raises(BadInput):
        item_files.open_with_items(db, workspace.blobs, owner, REF, items=path)
    with pytest.raises(NotFound):
        manage.find_validation(db, REF)
    path.write_text(json.dumps({"text": "fine"}))
    item_files.open_with_items(db, workspace.blobs, owner, REF, items=path)
    assert there(db)[0] == 1

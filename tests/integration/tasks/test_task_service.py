"""Tasks in a workspace: who may define them, what changes, what is kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, NotSignedIn
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Grant, RoleName
from quintain.services.tasks.definitions import archive_task, get_task, list_tasks, put_task, task_history
from quintain.store.tables import AuditEntry, RoleGrant, TaskRow

TOML = 'name = "sentiment"\nkind = "text-classification"\nlabels = ["bad", "good"]\n'


@pytest.mark.both_databases
def test_put_and_get(db: Session, admin: Actor) -> None:
    """What was put is got again, listed, and written down in the log."""
    task = put_task(db, admin, TOML)
    assert get_task(db, "sentiment") == task
    (summary,) = list_tasks(db)
    assert (summary.task, summary.version, summary.archived) == (task, 1, False)
    assert [entry.action for entry in db.scalars(select(AuditEntry))] == ["task.add"]


def test_creator_becomes_owner(db: Session, owner: Actor) -> None:
    """Whoever makes a task owns it."""
    put_task(db, owner, TOML)
    grant = db.scalars(select(RoleGrant).where(RoleGrant.task_id.is_not(None))).one()
    assert (grant.user_id, grant.role) == (owner.user_id, "owner")


def test_change_makes_a_version_and_repetition_none(db: Session, owner: Actor) -> None:
    """Another text is another version; the same text again changes nothing."""
    put_task(db, owner, TOML)
    put_task(db, owner, TOML)
    assert len(task_history(db, "sentiment")) == 1
    put_task(db, owner, TOML + 'extra_labels = ["mixed"]\n')
    newest, first = task_history(db, "sentiment")
    assert (newest.number, first.number) == (2, 1)
    assert first.toml == TOML
    assert newest.by == "olga"
    assert get_task(db, "sentiment").judgement_labels == ("bad", "good", "mixed")


def test_kind_cannot_change(db: Session, owner: Actor) -> None:
    """A task keeps its kind, because its data and models are made for it."""
    put_task(db, owner, TOML)
    with pytest.raises(Conflict, match="'text-classification'"):
        put_task(db, owner, 'name = "sentiment"\nkind = "free-text"\n')
    assert len(task_history(db, "sentiment")) == 1


def test_roles(db: Session, owner: Actor, worker: Actor) -> None:
    """Only admins and owners define tasks, and only a task's own owner changes it."""
    with pytest.raises(NotSignedIn):
        put_task(db, ANONYMOUS, TOML)
    with pytest.raises(Forbidden):
        put_task(db, worker, TOML)
    assert db.scalars(select(TaskRow)).all() == []
    put_task(db, OPERATOR, TOML)
    with pytest.raises(Forbidden):
        put_task(db, worker, TOML + "# changed\n")
    with pytest.raises(Forbidden):
        archive_task(db, worker, "sentiment")
    own = Actor(user_id=worker.user_id, name="wilma", grants=frozenset({Grant(RoleName.OWNER, "sentiment")}))
    put_task(db, own, TOML + "# changed\n")
    assert task_history(db, "sentiment")[0].by == "wilma"
    with pytest.raises(Forbidden):
        put_task(db, own, TOML.replace("sentiment", "other"))


def test_bad_text_changes_nothing(db: Session, owner: Actor) -> None:
    """A bad file is refused whole; unknown metrics and those for other answers are named with it."""
    with pytest.raises(BadInput) as caught:
        put_task(db, owner, TOML + 'metrics = ["acuracy", "bleu"]\nlanguage = "en"\n', file="s.toml")
    reasons = [str(fault) for fault in caught.value.faults]
    assert len(reasons) == 3
    assert any("did you mean 'accuracy'" in reason for reason in reasons)
    assert any("'bleu' is not for kind" in reason for reason in reasons)
    assert list_tasks(db) == []


def test_unknown_task_lists_close_names(db: Session, owner: Actor) -> None:
    """A name with a typo is answered with the names that are close."""
    put_task(db, owner, TOML)
    with pytest.raises(NotFound, match="Did you mean sentiment"):
        get_task(db, "sentimant")
    with pytest.raises(NotFound, match="quintain task list"):
        task_history(db, "zzz")


@pytest.mark.both_databases
def test_archived_tasks_are_kept_out_of_the_list(db: Session, owner: Actor) -> None:
    """An archived task is gone from the list, still there by name, and can come back."""
    put_task(db, owner, TOML)
    archive_task(db, owner, "sentiment")
    assert list_tasks(db) == []
    assert [one.archived for one in list_tasks(db, archived=True)] == [True]
    assert get_task(db, "sentiment").name == "sentiment"
    archive_task(db, owner, "sentiment", archived=False)
    assert len(list_tasks(db)) == 1


@pytest.mark.both_databases
def test_two_at_once(workspace: Workspace, db: Session) -> None:
    """People who put the same task at the same moment get versions one after the other, and none is lost."""

    def put(number: int) -> None:
        with workspace.session() as own:
            put_task(own, OPERATOR, f"{TOML}# {number}\n")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(16)))
    assert [change.number for change in task_history(db, "sentiment")] == list(range(16, 0, -1))

"""Accounts: made by invitation, opened by a link, allowed what their roles say."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, NotSignedIn, QuintainError
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Grant, RoleName
from quintain.services.access import accounts, audit, links, notify
from quintain.services.access.sign_in import authenticate
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.tables import OneTimeLink, TaskRow, User
from tests.refusals import refusal

PASSWORD = "correct horse battery"


def _add_task(db: Session, name: str) -> None:
    with transaction(db):
        db.add(TaskRow(name=name))


@pytest.mark.both_databases
def test_the_first_start_makes_one_admin(workspace: Workspace, db: Session) -> None:
    """Of several that start at once one makes the admin; afterwards nobody does."""

    def start(_: int) -> bool:
        with workspace.session() as mine:
            return accounts.first_admin(mine) is not None

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(start, range(4)))
    assert made.count(True) == 1
    assert [person.name for person in accounts.list_people(db, OPERATOR)] == ["admin"]
    assert accounts.first_admin(db) is None


def test_an_invitation_opens_an_account_once(db: Session, admin: Actor) -> None:
    """The link sets the password, the account can sign in, and the link is void from then on."""
    person, link = accounts.invite(db, admin, "Wilma", email="W@Example.org", roles=[RoleName.WORKER])
    assert (person.name, person.email, person.opened) == ("wilma", "w@example.org", False)
    assert links.look_up_link(db, link.token) == ("wilma", links.Purpose.INVITATION)
    assert links.redeem_link(db, link.token, PASSWORD).has(RoleName.WORKER)
    assert authenticate(db, "wilma", PASSWORD).name == "wilma"
    assert authenticate(db, "w@example.org", PASSWORD).name == "wilma"
    with pytest.raises(NotFound, match="used"):
        links.redeem_link(db, link.token, PASSWORD)


@pytest.mark.both_databases
def test_a_link_is_used_by_one_of_two(workspace: Workspace, db: Session, admin: Actor) -> None:
    """Of two who redeem the same link at the same moment one succeeds."""
    _, link = accounts.invite(db, admin, "wilma")

    def redeem(number: int) -> bool:
        with workspace.session() as mine:
            try:
                return bool(links.redeem_link(mine, link.token, f"{PASSWORD} {number}"))
            except NotFound:
                return False

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(redeem, range(4))) == 1


def test_a_link_expires_and_is_replaced(db: Session, admin: Actor) -> None:
    """A link past its time is void, and so is an older one when a new one is made."""
    _, first = accounts.invite(db, admin, "wilma")
    second = links.make_link(db, admin, "wilma")
    with pytest.raises(NotFound):
        links.look_up_link(db, first.token)
    with transaction(db):
        db.execute(update(OneTimeLink).values(expires_at=now() - timedelta(seconds=1)))
    db.expire_all()
    with pytest.raises(NotFound, match="expired"):
        links.redeem_link(db, second.token, PASSWORD)
    assert db.scalar(select(User.password_hash).where(User.name == "wilma")) is None


def test_the_database_keeps_no_secret(db: Session, admin: Actor) -> None:
    """Neither the link nor the password can be read from the database."""
    _, link = accounts.invite(db, admin, "wilma")
    assert link.token not in db.scalars(select(OneTimeLink.token_hash)).all()
    links.redeem_link(db, link.token, PASSWORD)
    kept = db.scalar(select(User.password_hash).where(User.name == "wilma")) or ""
    assert kept.startswith("$argon2id$")


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaa", "wilma.wilma", "x" * 600])
def test_weak_passwords_are_refused_and_the_link_stays_good(db: Session, admin: Actor, password: str) -> None:
    """What is too short, too long, or too plain sets nothing."""
    _, link = accounts.invite(db, admin, "wilma.wilma")
    with pytest.raises(BadInput, match="password"):
        links.redeem_link(db, link.token, password)
    assert links.redeem_link(db, link.token, PASSWORD).name == "wilma.wilma"


@pytest.mark.parametrize("name", ["", "a", "has space", "x" * 41, "deleted-1", "-dash", "zero\x00", "ünal"])
def test_impossible_names_are_refused(db: Session, admin: Actor, name: str) -> None:
    """A name that could not be typed, or belongs to the erased, makes no account."""
    with pytest.raises(BadInput, match="name"):
        accounts.invite(db, admin, name)
    assert len(accounts.list_people(db, admin)) == 1


@pytest.mark.both_databases
def test_names_and_addresses_are_taken_once(db: Session, admin: Actor) -> None:
    """A second account of the same name or address is a conflict, in whatever case it is written."""
    accounts.invite(db, admin, "wilma", email="w@example.org")
    with pytest.raises(Conflict, match="'wilma'"):
        accounts.invite(db, admin, "WILMA")
    with refusal(Conflict, "email_taken"):
        accounts.invite(db, admin, "other", email="W@example.ORG")
    with pytest.raises(BadInput, match="e-mail"):
        accounts.invite(db, admin, "other", email="not an address")


@pytest.mark.both_databases
def test_names_taken_at_the_same_moment(workspace: Workspace, db: Session, admin: Actor) -> None:
    """Of four who take the same name at once one gets it and the others are told, without a traceback."""

    def take(_: int) -> bool:
        with workspace.session() as mine:
            try:
                accounts.invite(mine, admin, "wilma")
            except Conflict:
                return False
            return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take, range(4))) == 1


@pytest.mark.parametrize(
    "attempt",
    [
        lambda db, actor: accounts.invite(db, actor, "new"),
        accounts.list_people,
        lambda db, actor: accounts.get_person(db, actor, "ada"),
        lambda db, actor: accounts.grant_role(db, actor, "ada", RoleName.ADMIN),
        lambda db, actor: accounts.revoke_role(db, actor, "ada", RoleName.ADMIN),
        lambda db, actor: links.make_link(db, actor, "ada"),
        audit.entries,
    ],
)
def test_only_admins_look_after_accounts(db: Session, admin: Actor, worker: Actor, attempt: object) -> None:
    """A worker is forbidden what an admin does, and a stranger is asked to sign in."""
    assert callable(attempt)
    with pytest.raises(Forbidden):
        attempt(db, worker)
    with pytest.raises(NotSignedIn):
        attempt(db, ANONYMOUS)
    db.rollback()
    assert accounts.get_person(db, admin).grants == (Grant(RoleName.ADMIN),)


def test_owners_share_their_own_task(db: Session, admin: Actor, worker: Actor) -> None:
    """An owner of one task may make others its workers and owners; not of another task, and not admins."""
    _add_task(db, "sentiment")
    _add_task(db, "nli")
    accounts.invite(db, admin, "olga", roles=[])
    person = accounts.grant_role(db, admin, "olga", RoleName.OWNER, task="sentiment")
    olga = Actor(user_id=person.id, name="olga", grants=frozenset(person.grants))
    given = accounts.grant_role(db, olga, "wilma", RoleName.EXPERT, task="sentiment")
    assert Grant(RoleName.EXPERT, "sentiment") in given.grants
    for role, task in ((RoleName.EXPERT, "nli"), (RoleName.EXPERT, None), (RoleName.BUILDER, "sentiment")):
        with pytest.raises(Forbidden):
            accounts.grant_role(db, olga, "wilma", role, task=task)
    taken = accounts.revoke_role(db, olga, "wilma", RoleName.EXPERT, task="sentiment")
    assert Grant(RoleName.EXPERT, "sentiment") not in taken.grants


def test_owners_see_who_holds_a_role_on_their_task(db: Session, admin: Actor, worker: Actor) -> None:
    """Names and roles of the one task, and of the account no more; others see nothing; who is named is told."""
    _add_task(db, "sentiment")
    _add_task(db, "nli")
    accounts.invite(db, admin, "olga", roles=[])
    person = accounts.grant_role(db, admin, "olga", RoleName.OWNER, task="sentiment")
    accounts.grant_role(db, admin, "wilma", RoleName.OWNER, task="nli")
    olga = Actor(user_id=person.id, name="olga", grants=frozenset(person.grants))
    given = accounts.grant_role(db, olga, "wilma", RoleName.EXPERT, task="sentiment")
    assert (given.email, given.grants) == (None, (Grant(RoleName.EXPERT, "sentiment"),))
    listed = accounts.roles_on_task(db, olga, "sentiment")
    assert [(one.name, one.role, one.given_by) for one in listed.roles] == [
        ("olga", RoleName.OWNER, "ada"),
        ("wilma", RoleName.EXPERT, "olga"),
    ]
    assert accounts.roles_on_task(db, olga, "sentiment", search="WIL").total == 1
    assert accounts.roles_on_task(db, olga, "sentiment", role=RoleName.WORKER).roles == []
    assert "expert of the task 'sentiment'" in notify.list_notifications(db, worker)[0].text
    for task in ("nli", "nothing"):
        with pytest.raises((Forbidden, NotFound)):
            accounts.roles_on_task(db, olga, task)
    with pytest.raises(Forbidden):
        accounts.roles_on_task(db, worker, "sentiment")


def test_roles_are_given_once_and_taken_once(db: Session, admin: Actor, worker: Actor) -> None:
    """Granting twice changes nothing; taking what is not held, or on a task that is not there, is an error."""
    for _ in range(2):
        person = accounts.grant_role(db, admin, "wilma", RoleName.BUILDER)
    assert [grant.role for grant in person.grants] == [RoleName.WORKER, RoleName.BUILDER]
    assert len(accounts.revoke_role(db, admin, "wilma", RoleName.BUILDER).grants) == 1
    with pytest.raises(NotFound, match="does not hold"):
        accounts.revoke_role(db, admin, "wilma", RoleName.BUILDER)
    with pytest.raises(NotFound, match="no task"):
        accounts.grant_role(db, admin, "wilma", RoleName.OWNER, task="nothing")
    with pytest.raises(NotFound, match="no account"):
        accounts.grant_role(db, admin, "nobody", RoleName.WORKER)


def test_the_last_admin_stays(db: Session, admin: Actor, worker: Actor) -> None:
    """The role cannot be taken from the only admin; with a second one it can."""
    with refusal(Conflict, "only_admin"):
        accounts.revoke_role(db, OPERATOR, "ada", RoleName.ADMIN)
    accounts.grant_role(db, admin, "wilma", RoleName.ADMIN)
    assert accounts.revoke_role(db, OPERATOR, "ada", RoleName.ADMIN).grants == ()


@pytest.mark.both_databases
def test_two_admins_cannot_remove_each_other(workspace: Workspace, db: Session, admin: Actor, worker: Actor) -> None:
    """Of two admins who take the role from each other at the same moment one stays."""
    accounts.grant_role(db, admin, "wilma", RoleName.ADMIN)

    def revoke(name: str) -> bool:
        with workspace.session() as mine:
            try:
                accounts.revoke_role(mine, OPERATOR, name, RoleName.ADMIN)
            except Conflict:
                return False
            return True

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(revoke, ["ada", "wilma"])) == 1


def test_registration_is_by_invitation_unless_opened(db: Session) -> None:
    """Strangers make accounts only where the settings allow it, and become workers."""
    with pytest.raises(Forbidden, match="invitation"):
        accounts.register(db, "wilma", PASSWORD, is_open=False)
    actor = accounts.register(db, "wilma", PASSWORD, is_open=True, address="10.0.0.1")
    assert actor.grants == {Grant(RoleName.WORKER)}
    assert authenticate(db, "wilma", PASSWORD) == actor


def test_a_profile_changes_only_what_is_given(db: Session, worker: Actor) -> None:
    """Fields that are not named stay; an empty address removes it; a wrong one changes nothing."""
    accounts.update_profile(db, worker, display_name="  Wilma   W. ", language="de")
    person = accounts.update_profile(db, worker, email_notifications=True)
    assert (person.display_name, person.language, person.email) == ("Wilma W.", "de", "wilma@example.org")
    for wrong in ({"email": "x"}, {"language": "Klingon!"}, {"display_name": "x" * 121}):
        with pytest.raises(QuintainError):
            accounts.update_profile(db, worker, **wrong)  # type: ignore[arg-type]  # wrong on purpose
    assert accounts.update_profile(db, worker, email="").email is None


@pytest.mark.both_databases
def test_what_happens_is_written_down(db: Session, admin: Actor) -> None:
    """Every change names who did it, newest first, and pages go on where they ended."""
    accounts.invite(db, admin, "wilma")
    accounts.grant_role(db, admin, "wilma", RoleName.EXPERT)
    found = audit.entries(db, admin, limit=1)
    assert [(entry.actor, entry.action) for entry in found] == [("ada", "role.grant")]
    assert found[0].details == {"role": "expert", "task": None}
    assert [entry.action for entry in audit.entries(db, admin, before=found[0].id)] == ["user.invite"]


def test_an_invited_account_speaks_what_was_chosen_or_what_the_browser_asks(db: Session, admin: Actor) -> None:
    """The inviter's choice of a language stays; without one, opening the account decides, and only once."""
    _, chosen = accounts.invite(db, admin, "wilma", language="de")
    links.redeem_link(db, chosen.token, "a long password 1", language="en")
    assert accounts.get_person(db, admin, "wilma").language == "de"
    invited, open_link = accounts.invite(db, admin, "otto")
    assert invited.language == ""
    links.redeem_link(db, open_link.token, "a long password 2", language="de")
    assert accounts.get_person(db, admin, "otto").language == "de"
    links.redeem_link(db, links.make_link(db, admin, "otto").token, "a long password 3", language="en")
    assert accounts.get_person(db, admin, "otto").language == "de"
    with pytest.raises(BadInput, match="not a language code"):
        accounts.invite(db, admin, "berta", language="deutsch!")

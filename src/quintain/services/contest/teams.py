"""Teams of a contest: making one, joining, leaving, and keeping them from each other's drafts."""

from __future__ import annotations

import hmac
import secrets
from typing import Literal

from sqlalchemy.orm import Session

from quintain.core.contests import TEAM_ROLES, ContestSpec, Phase, TeamRole
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.core.records import contests as records
from quintain.services.access import audit
from quintain.services.access.permissions import require_user
from quintain.services.contest.contests import ContestInfo, find_contest, organises, require_phase
from quintain.services.plain.files.contest import is_reserved
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.contest.contests import TeamRow
from quintain.store.tables import ContestMember, ContestTeam
from quintain.tasks.definition import NAME

Part = Literal["build", "break"]
DOES: dict[str, tuple[TeamRole, ...]] = {"build": ("builder", "both"), "break": ("breaker", "both")}
FORMING = (Phase.COMING, Phase.BUILD, Phase.BREAK)


def create_team(db: Session, actor: Actor, ref: str, name: str, role: str) -> records.ContestTeam:
    """Make a team of builders, breakers or both, with oneself in it; others join until breaking ends."""
    user_id = require_user(actor)
    with transaction(db):
        info = find_contest(db, ref)
        lock(db, f"teams of {info.ref}")
        require_phase(info, *FORMING)
        _refuse_organiser(actor, info)
        known = _role(info.spec, role)
        _check_name(name)
        if queries.team(db, info.id, name) is not None:
            raise Conflict("There is a team '{name}' in this contest already.", name=name, remedy="Use another name.")
        team = ContestTeam(contest_id=info.id, name=name, role=known, key=secrets.token_urlsafe(18), created_by=user_id)
        db.add(team)
        db.flush()
        _enter(db, info, team, user_id)
        audit.record(db, actor, "contest.team", info.ref, team=name, role=known)
    return _own(db, actor, info, team.id)


def join_team(db: Session, actor: Actor, ref: str, name: str, key: str = "") -> records.ContestTeam:
    """Join a team: with the *key* that its people have or, where the contest is open, without."""
    user_id = require_user(actor)
    with transaction(db):
        info = find_contest(db, ref)
        lock(db, f"teams of {info.ref}")
        require_phase(info, *FORMING)
        _refuse_organiser(actor, info)
        team = find_team(db, info, name)
        if info.spec.joining != "open" and not hmac.compare_digest(team.key.encode(), key.encode()):
            raise Forbidden(
                "Team '{name}' is joined by invitation.", name=name, remedy="Ask somebody of the team for its link."
            )
        _enter(db, info, team, user_id)
        audit.record(db, actor, "contest.join", info.ref, team=name)
    return _own(db, actor, info, team.id)


def leave_team(db: Session, actor: Actor, ref: str) -> None:
    """Leave one's team; what one did there stays with it."""
    user_id = require_user(actor)
    with transaction(db):
        info = find_contest(db, ref)
        require_phase(info, Phase.COMING, Phase.BUILD)
        membership = queries.membership(db, info.id, user_id)
        if membership is None:
            raise NotFound("{name} is in no team of this contest.", name=actor.name)
        db.delete(membership)
        audit.record(db, actor, "contest.leave", info.ref)


def list_teams(db: Session, actor: Actor, ref: str) -> list[records.ContestTeam]:
    """List the teams; who is in them and what they have is for the team and the organisers."""
    info = find_contest(db, ref)
    return _described(db, actor, info)


def find_team(db: Session, info: ContestInfo, name: str) -> ContestTeam:
    """Find a team by its name."""
    team = queries.team(db, info.id, name)
    if team is None:
        raise NotFound("There is no team '{name}' in {ref}.", name=name, ref=info.ref)
    return team


def team_of(db: Session, actor: Actor, info: ContestInfo) -> ContestTeam | None:
    """Return the team that *actor* is in; None without one."""
    return None if actor.user_id is None else queries.team_of(db, info.id, actor.user_id)


def require_part(db: Session, actor: Actor, info: ContestInfo, part: Part) -> ContestTeam:
    """Return the actor's team, which has to *build* or to *break*; others are refused."""
    require_user(actor)
    team = team_of(db, actor, info)
    if team is None:
        raise Forbidden(
            "{name} is in no team of {ref}.",
            name=actor.name,
            ref=info.ref,
            remedy="Make a team, or join one, on the contest's page.",
        )
    if team.role not in DOES[part]:
        raise Forbidden(
            "Team '{team}' does not break." if part == "break" else "Team '{team}' does not build.", team=team.name
        )
    return team


def require_drafts(db: Session, actor: Actor, info: ContestInfo, team: ContestTeam) -> None:
    """Refuse a team's drafts to all but the team and the organisers, and write down who asked for them."""
    if organises(actor, info):
        return
    own = team_of(db, actor, info)
    if own is not None and own.id == team.id:
        return
    with transaction(db):
        audit.record(
            db, actor, "contest.refused", info.ref, team=team.name, asked_by=own.name if own is not None else None
        )
    raise Forbidden(
        "The pairs of team '{team}' are for that team until breaking is over. That somebody asked is noted.",
        team=team.name,
        code="drafts_of_others",
    )


def _enter(db: Session, info: ContestInfo, team: ContestTeam, user_id: int) -> None:
    current = queries.team_of(db, info.id, user_id)
    if current is not None:
        raise Conflict(
            "You are in team '{name}' of this contest already, and nobody is in two.",
            name=current.name,
            remedy="Leave that team first.",
        )
    people = sum(member.team_id == team.id for member in queries.members(db, info.id))
    if people >= info.spec.team_size:
        raise Conflict("Team '{name}' is full: it has {n} people.", name=team.name, n=people)
    db.add(ContestMember(contest_id=info.id, team_id=team.id, user_id=user_id))
    db.flush()


def _refuse_organiser(actor: Actor, info: ContestInfo) -> None:
    if organises(actor, info):
        raise Conflict("Whoever organises a contest sees the labels and all drafts, and is in no team.")


def _role(spec: ContestSpec, role: str) -> TeamRole:
    known = [one for one in TEAM_ROLES if spec.both or one != "both"]
    if spec.build_ends is None:  # nobody builds
        known = ["breaker"]
    team_role = next((one for one in known if one == role), None)
    if team_role is None:
        reason = Fault("'{role}' is not one of {known}", role=role, known=", ".join(known), field="role")
        raise BadInput(faults=[reason])
    return team_role


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name) or len(name) > 40 or is_reserved(name):
        raise BadInput(
            faults=[
                Fault("'{name}' is not a name: use up to 40 small letters, digits, - and _", name=name, field="name")
            ]
        )


def _own(db: Session, actor: Actor, info: ContestInfo, team_id: int) -> records.ContestTeam:
    name = next(team.row.name for team in queries.teams(db, info.id) if team.row.id == team_id)
    return next(one for one in _described(db, actor, info) if one.name == name)


def _described(db: Session, actor: Actor, info: ContestInfo) -> list[records.ContestTeam]:
    people: dict[int, list[str]] = {}
    for member in queries.members(db, info.id):
        people.setdefault(member.team_id, []).append(member.name)
    mine, sees_all = team_of(db, actor, info), organises(actor, info)
    systems: dict[int | None, list[str]] = {}
    for item in queries.systems(db, info.id):
        systems.setdefault(item.team_id, []).append(item.name)
    return [
        _described_team(info, team, people, tuple(systems.get(team.row.id, ())), mine, sees_all)
        for team in queries.teams(db, info.id)
    ]


def _described_team(
    info: ContestInfo,
    team: TeamRow,
    people: dict[int, list[str]],
    systems: tuple[str, ...],
    mine: ContestTeam | None,
    sees_all: bool,
) -> records.ContestTeam:
    own = mine is not None and mine.id == team.row.id
    role = next(known for known in TEAM_ROLES if known == team.row.role)
    if own or sees_all:
        names = tuple(people.get(team.row.id, ()))
        return records.ContestTeam(
            team.row.name, role, team.people, own, names, team.pairs, team.row.key, systems=systems
        )
    hidden = info.phase in (Phase.COMING, Phase.BUILD) or (info.spec.anonymous and info.phase is not Phase.OVER)
    return records.ContestTeam(team.row.name, role, team.people, own, systems=() if hidden else systems)

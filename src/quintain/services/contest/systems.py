"""Building: a team hands in a model, which the platform runs, or its answers in both phases; reference systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.contests import HandedState, Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.core.records import contests as records
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.contest.answers import SubmittedAnswers, dev_accuracies, given_answers
from quintain.services.contest.contests import (
    ContestInfo,
    add_system,
    find_contest,
    free_system_name,
    organises,
    require_phase,
)
from quintain.services.contest.freeze import freeze, parts_of, queue_runs
from quintain.services.contest.prediction_files import store_predictions
from quintain.services.contest.teams import require_part, team_of
from quintain.services.models.registry import ModelChoices, get_model, models_to_choose, versions_by_id
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.contest import contests as queries
from quintain.store.tables import ContestAnswers, ContestSystem, ContestTeam

MOST_NAME = 120
AFTER_BREAKING = (Phase.SCORE, Phase.REVIEW, Phase.OVER)


def submit_model(db: Session, actor: Actor, ref: str, model: str, *, system: str = "") -> records.ContestSystem:
    """Let a model of one's own be a system of the team: it is run on the development set now and on the pairs later.

    *system* is its name, where the team has or wants several; a new name adds one.
    """
    with transaction(db):
        info = find_contest(db, ref)
        team = require_part(db, actor, info, "build")
        require_phase(info, Phase.BUILD)
        lock(db, f"systems of {info.ref}")
        chosen = get_model(db, actor, model)
        if chosen.task != info.task:
            raise BadInput("'{model}' is a model of another task.", model=model)
        if not chosen.may_edit:
            raise Forbidden("'{model}' is not yours to hand in.", model=model, remedy="Submit a model of your own.")
        row = _own_system(db, info, team, actor, system)
        _refuse_too_often(db, info, row, chosen.version.id)
        row.model_version_id = chosen.version.id
        db.flush()
        # Answers to the development set count, whoever computes them: each look at them tells something of the labels.
        db.add(ContestAnswers(system_id=row.id, part="model", blob="", rows=0, created_by=actor.user_id))
        queue_runs(db, info)
        audit.record(db, actor, "contest.system", info.ref, team=team.name, system=row.name, model=chosen.version.ref)
        name = row.name
    return next(system for system in list_systems(db, None, actor, ref) if system.mine and system.name == name)


def hand_in(
    db: Session, blobs: Blobs, actor: Actor, ref: str, path: Path, *, system: str = ""
) -> records.ContestSystem:
    """Hand in a team's answers, a table `id,prediction`: to the development set while building, then to the pairs.

    *system* says of which of the team's systems they are; while it builds, a new name adds one. Organisers hand in the
    answers of a reference *system*, to either part: the ids tell to which.
    """
    info = freeze(db, blobs, ref)
    task = get_task(db, info.task)
    reference = organises(actor, info) or _is_reference(db, info, system)
    if reference:
        require_owner(actor, info.task)
        part = None
    else:
        require_part(db, actor, info, "build")
        part = "dev" if require_phase(info, Phase.BUILD, Phase.SCORE) is Phase.BUILD else "pairs"
    parts = parts_of(db, info)
    db.rollback()  # hold no connection while a file is read
    answers = store_predictions(blobs, task, parts, part, path)
    with transaction(db):
        lock(db, f"systems of {info.ref}")
        if reference:
            row = _reference(db, info, system)
        else:
            require_phase(info, Phase.BUILD if part == "dev" else Phase.SCORE)  # reading a file takes its time
            row = _team_system(db, info, actor, answers.part, system)
        db.add(
            ContestAnswers(
                system_id=row.id, part=answers.part, blob=answers.blob, rows=answers.rows, created_by=actor.user_id
            )
        )
        audit.record(db, actor, "contest.answers", info.ref, system=row.name, part=answers.part, rows=answers.rows)
        name = row.name
    return next(system for system in list_systems(db, blobs, actor, ref) if system.name == name)


def withdraw_system(db: Session, actor: Actor, ref: str, name: str) -> None:
    """Take a system of one's team out again, while building lasts; what was handed in still counts as handed in."""
    with transaction(db):
        info = find_contest(db, ref)
        team = require_part(db, actor, info, "build")
        require_phase(info, Phase.BUILD)
        lock(db, f"systems of {info.ref}")
        row = next((item for item in systems_of(db, info, team) if item.name == name), None)
        if row is None:
            raise NotFound("Team '{team}' has no system '{name}'.", team=team.name, name=name)
        row.withdrawn_at = now()
        audit.record(db, actor, "contest.withdraw", info.ref, team=team.name, system=name)


def add_reference(
    db: Session, blobs: Blobs, actor: Actor, ref: str, name: str, *, model: str = "", counts: bool = False
) -> records.ContestSystem:
    """Add a reference system after breaking (organisers): a *model*, or a name whose answers are handed in next.

    *counts* says whether it enters the breakers' scores.
    """
    info = freeze(db, blobs, ref)
    with transaction(db):
        require_owner(actor, info.task)
        require_phase(info, *AFTER_BREAKING)
        lock(db, f"systems of {info.ref}")
        version = get_model(db, actor, model).version if model else None
        if version is not None and version.task != info.task:
            raise BadInput("'{model}' is a model of another task.", model=model)
        chosen_name = name.strip() or (version.model if version else "")
        _check_name(db, info, chosen_name)
        row = ContestSystem(
            contest_id=info.id,
            name=chosen_name,
            reference=True,
            counts=counts,
            model_version_id=version.id if version else None,
            created_by=actor.user_id,
        )
        add_system(db, row)
        queue_runs(db, info)
        audit.record(db, actor, "contest.reference", info.ref, system=chosen_name, counts=counts)
    return next(system for system in list_systems(db, blobs, actor, ref) if system.name == chosen_name)


def let_count(db: Session, actor: Actor, ref: str, name: str, counts: bool) -> None:
    """Let a reference system enter the breakers' scores, or not (organisers)."""
    with transaction(db):
        info = find_contest(db, ref)
        require_owner(actor, info.task)
        _reference(db, info, name).counts = counts
        audit.record(db, actor, "contest.counts", info.ref, system=name, counts=counts)


def list_systems(db: Session, blobs: Blobs | None, actor: Actor, ref: str) -> list[records.ContestSystem]:
    """List the systems, by the names that the actor may know them by.

    What a system reached on the development set is for its team and the organisers, and from breaking on for all.
    Without *blobs* nothing is computed.
    """
    info = find_contest(db, ref)
    systems = visible_systems(db, actor, info)
    submitted = given_answers(db, info, [one for one, _ in systems])
    accuracies = dev_accuracies(db, blobs, info, get_task(db, info.task), submitted) if blobs is not None else {}
    teams = {team.row.id: team.row.name for team in queries.teams(db, info.id)}
    models = versions_by_id(db, [one.model_version_id for one, _ in systems if one.model_version_id is not None])
    own, open_ = team_of(db, actor, info), info.phase not in (Phase.COMING, Phase.BUILD)
    listed = []
    for row, name in systems:
        mine = own is not None and own.id == row.team_id
        known = name == row.name
        version = models.get(row.model_version_id) if row.model_version_id is not None else None
        listed.append(
            records.ContestSystem(
                name=name,
                team=teams.get(row.team_id) if known and row.team_id is not None else None,
                mine=mine,
                reference=row.reference,
                counts=row.counts,
                source="model" if row.model_version_id is not None else "predictions",
                model=version.ref if version and known and (mine or version.visibility == "public") else None,
                dev=submitted[row.id, "dev"].state.value,
                pairs=submitted.get((row.id, "pairs"), SubmittedAnswers(HandedState.MISSING)).state.value,
                dev_accuracy=accuracies.get(row.id) if mine or open_ or organises(actor, info) else None,
            )
        )
    return listed


def visible_systems(db: Session, actor: Actor, info: ContestInfo) -> list[tuple[ContestSystem, str]]:
    """Return the systems that *actor* may know of, with the names to call them by.

    While they are built, teams know their own; without names they are called by their numbers until the end.
    """
    own, sees_all = team_of(db, actor, info), organises(actor, info)
    hidden = info.spec.anonymous and info.phase is not Phase.OVER and not sees_all
    visible = []
    for system in queries.systems(db, info.id):
        mine = own is not None and system.team_id == own.id
        if info.phase in (Phase.COMING, Phase.BUILD) and not (mine or sees_all):
            continue
        visible.append((system, f"system-{system.alias}" if hidden and not mine else system.name))
    return sorted(visible, key=lambda pair: (pair[0].reference, pair[1]))


def _own_system(db: Session, info: ContestInfo, team: ContestTeam, actor: Actor, name: str) -> ContestSystem:
    """Return the system of a team that is called *name*, a new one where there is none; one name may be left out."""
    own = systems_of(db, info, team)
    asked_name = name.strip()
    if asked_name or len(own) > 1:
        known = (
            _named(own, team, asked_name)
            if not asked_name
            else next((item for item in own if item.name == asked_name), None)
        )
    else:
        known = own[0] if own else None
    if known is not None:
        return known
    if len(own) >= info.spec.systems:
        raise Conflict(
            "Team '{team}' has {n} systems, which is all that this contest allows.",
            team=team.name,
            n=len(own),
            remedy="Hand in for one of them by its name, or take one out first.",
        )
    if asked_name:
        _check_name(db, info, asked_name)
    free = asked_name or free_system_name(db, info.id, team.name)
    return add_system(db, ContestSystem(contest_id=info.id, team_id=team.id, name=free, created_by=actor.user_id))


def systems_of(db: Session, info: ContestInfo, team: ContestTeam) -> list[ContestSystem]:
    """List the systems of a team."""
    return [item for item in queries.systems(db, info.id) if item.team_id == team.id]


def _named(own: Sequence[ContestSystem], team: ContestTeam, name: str) -> ContestSystem:
    """Find the system of a team by its name, which may be left out where there is only one."""
    known = next((item for item in own if item.name == name or (not name and len(own) == 1)), None)
    if known is None:
        names = ", ".join(item.name for item in own)
        raise BadInput(
            "Team '{team}' has several systems: {names}."
            if not name
            else "Team '{team}' has no system '{name}'; it has {names}.",
            team=team.name,
            names=names,
            name=name,
            remedy="Say of which one the answers are.",
        )
    return known


def _team_system(db: Session, info: ContestInfo, actor: Actor, part: str, name: str) -> ContestSystem:
    """Return the system that a team's answers are of; refuse where there cannot be any."""
    team = require_part(db, actor, info, "build")
    if part == "dev":
        system = _own_system(db, info, team, actor, name)
        _refuse_too_often(db, info, system, None)
        system.model_version_id = None
        return system
    own = systems_of(db, info, team)
    if not own:
        raise Conflict(
            "Team '{team}' has no system: nothing was handed in while building.", team=team.name, code="too_late"
        )
    system = _named(own, team, name.strip())
    if system.model_version_id is not None:
        raise Conflict("The platform runs the model of team '{team}' on the pairs by itself.", team=team.name)
    return system


def _check_name(db: Session, info: ContestInfo, name: str) -> None:
    """Refuse what cannot be the name of a new system."""
    taken = free_system_name(db, info.id, name) != name
    if not name or taken or len(name) > MOST_NAME or not name.isprintable() or any(mark in name for mark in ",="):
        raise Conflict("'{name}' cannot be the name of a system here.", name=name, remedy="Use another name.")


def _is_reference(db: Session, info: ContestInfo, name: str) -> bool:
    return any(item.reference and item.name == name for item in queries.systems(db, info.id))


def _reference(db: Session, info: ContestInfo, name: str) -> ContestSystem:
    reference = next(
        (system for system in queries.systems(db, info.id) if system.reference and system.name == name), None
    )
    if reference is None:
        raise NotFound("There is no reference system '{name}' in {ref}.", name=name, ref=info.ref)
    return reference


def _refuse_too_often(db: Session, info: ContestInfo, system: ContestSystem, model: int | None) -> None:
    if model is not None and system.model_version_id == model:
        return
    times = queries.times_of_team(db, system.team_id, ("dev", "model")) if system.team_id is not None else 0
    if times >= info.spec.submissions:
        raise Conflict("Your team has handed in {n} times, which is all that this contest allows.", n=times)


def reference_models(db: Session, info: ContestInfo) -> ModelChoices:
    """Return the models that organisers may add as references; of many, the newest."""
    taken = {system.model_version_id for system in queries.systems(db, info.id)}
    choices = models_to_choose(db, OPERATOR, info.task)
    return replace(choices, models=[model for model in choices.models if model.id not in taken])

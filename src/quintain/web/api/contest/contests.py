"""Contests, for programs: what organisers set, teams, systems and their answers."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, File, Form, Path, Response, UploadFile
from fastapi import Query as Parameter

from quintain.core.records.contests import (
    Contest,
    ContestHistory,
    Contests,
    ContestSystem,
    ContestSystems,
    ContestTeam,
    ContestTeams,
    DevAnswers,
)
from quintain.services.contest import blind, contests, systems, teams
from quintain.web.api.call import Calling
from quintain.web.api.contest.shapes import (
    ContestDefinition,
    CountsRequest,
    ExtendRequest,
    JoinRequest,
    ReferenceRequest,
    SystemRequest,
    TeamRequest,
)
from quintain.web.api.params import Changing, Filter, Format, Offset, TaskName
from quintain.web.api.shapes import Text
from quintain.web.files import download, on_disk

ContestName = Annotated[str, Path(description="Name of the contest.", max_length=40, pattern=r"^[^\x00]+$")]
TeamName = Annotated[str, Path(description="Name of the team.", max_length=40, pattern=r"^[^\x00]+$")]
SystemName = Annotated[str, Path(description="Name of the system.", max_length=120, pattern=r"^[^\x00]+$")]
Part = Annotated[Literal["dev", "pairs"], Path(description="The blind development set, or the sentences of pairs.")]
PageSize = Annotated[int, Parameter(description="At most so many.", ge=1, le=200)]


async def _ref(task: TaskName, contest: ContestName) -> str:
    return f"{task}/{contest}"


ContestRef = Annotated[str, Depends(_ref)]


def list_contests(call: Calling, task: TaskName) -> Contests:
    """List the contests of a task, the newest first."""
    return Contests([contest.record() for contest in contests.list_contests(call.db, task)])


def put_contest(call: Calling, task: TaskName, definition: ContestDefinition, edit: Changing) -> Contest:
    """Add the contest that a TOML file defines, or change the one of that name (owners)."""
    return contests.put_contest(call.db, call.actor, definition.toml, task=task, edit=edit).record()


def get_contest(call: Calling, ref: ContestRef) -> Contest:
    """Return a contest, and the phase it is in."""
    return contests.find_contest(call.db, ref).record()


def list_contest_history(call: Calling, ref: ContestRef) -> ContestHistory:
    """List every state of a contest's file, the newest first (owners)."""
    return ContestHistory(contests.history(call.db, call.actor, ref))


def extend_phase(call: Calling, ref: ContestRef, body: ExtendRequest) -> Contest:
    """Let a phase end at another moment, while it lasts or before it (owners)."""
    return contests.extend(call.db, call.actor, ref, body.phase, body.until).record()


def list_contest_teams(call: Calling, ref: ContestRef) -> ContestTeams:
    """List the teams; who is in them is for the team and the organisers."""
    return ContestTeams(teams.list_teams(call.db, call.actor, ref))


def create_contest_team(call: Calling, ref: ContestRef, body: TeamRequest) -> ContestTeam:
    """Make a team, with oneself in it."""
    return teams.create_team(call.db, call.actor, ref, body.name, body.role)


def join_contest_team(call: Calling, ref: ContestRef, team: TeamName, body: JoinRequest | None = None) -> ContestTeam:
    """Join a team, with its key or, where the contest is open, without."""
    return teams.join_team(call.db, call.actor, ref, team, body.key if body else "")


def leave_contest_team(call: Calling, ref: ContestRef) -> None:
    """Leave one's team, until building ends."""
    teams.leave_team(call.db, call.actor, ref)


def list_contest_systems(call: Calling, ref: ContestRef) -> ContestSystems:
    """List the systems, by the names that one may know them by."""
    return ContestSystems(systems.list_systems(call.db, call.blobs, call.actor, ref))


def submit_contest_model(call: Calling, ref: ContestRef, body: SystemRequest) -> ContestSystem:
    """Let a model of one's own be a system of the team: the platform runs it in both phases."""
    return systems.submit_model(call.db, call.actor, ref, body.model, system=body.system)


def withdraw_contest_system(call: Calling, ref: ContestRef, system: SystemName) -> None:
    """Take a system of one's team out again, while building lasts."""
    systems.withdraw_system(call.db, call.actor, ref, system)


def hand_in_answers(
    call: Calling,
    ref: ContestRef,
    *,
    file: Annotated[UploadFile, File(description="A table id,prediction: CSV, TSV, JSONL or Parquet.")],
    system: Annotated[Text, Form(description="Which of the team's systems, or a reference (organisers).")] = "",
) -> ContestSystem:
    """Hand in answers: to the development set while building, and to the pairs while scoring."""
    with on_disk(file, call.workspace.limits_at_once) as path:
        return systems.hand_in(call.db, call.blobs, call.actor, ref, path, system=system)


def add_contest_reference(call: Calling, ref: ContestRef, body: ReferenceRequest) -> ContestSystem:
    """Add a reference system after breaking (organisers)."""
    return systems.add_reference(call.db, call.blobs, call.actor, ref, body.name, model=body.model, counts=body.counts)


def let_reference_count(call: Calling, ref: ContestRef, system: SystemName, body: CountsRequest) -> None:
    """Let a reference system enter the breakers' scores, or not (organisers)."""
    systems.let_count(call.db, call.actor, ref, system, body.counts)


def list_dev_answers(
    call: Calling, ref: ContestRef, text: Filter = "", offset: Offset = 0, limit: PageSize = 25
) -> DevAnswers:
    """List what every system answered to the blind development set, once building is over (teams)."""
    return blind.dev_answers(call.db, call.blobs, call.actor, ref, text=text, offset=offset, limit=limit)


def download_contest_part(
    call: Calling,
    ref: ContestRef,
    part: Part,
    format: Format = "csv",  # noqa: A002 - the word in the address
) -> Response:
    """Send what is to be answered: ids and inputs, without labels (teams)."""
    return download(
        f"{ref.replace('/', '-')}-{part}",
        format,
        lambda path: blind.export_part(call.db, call.blobs, call.actor, ref, part, path),
    )

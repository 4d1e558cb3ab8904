"""`quintain contest put`, `list`, `show`, `extend`, `teams`, `systems`, `reference`, `answers`: for organisers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table, say
from quintain.cli.plain.contest import app
from quintain.cli.plain.rank import number
from quintain.cli.streams import in_file
from quintain.core.contests import Phase
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.contests import Contests, ContestSystems, ContestTeams
from quintain.core.toml import read_text
from quintain.services.contest import contests, systems, teams
from quintain.services.contest.definition import dump_contest, parse_contest

ContestRef = Annotated[
    str, typer.Argument(metavar="CONTEST", help="The contest, as task/name, such as sentiment/spring.")
]


@app.command()
def put(
    context: typer.Context,
    file: Annotated[Path, in_file("TOML file of the contest.")],
    check: Annotated[bool, typer.Option("--check", help="Only say what is wrong with it; needs no workspace.")] = False,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Add the contest that a TOML file defines, or change the one of that name.

    Example: quintain contest put spring.toml
    """
    text = read_text(file)
    if check:
        spec = parse_contest(text, file=file.name)
        say(f"{file} defines the contest {spec.task}/{spec.name}.")
        if json:
            print_json({"file": str(file), "task": spec.task, "name": spec.name})
        return
    with workspace_of(context).session() as db:
        contest = confirm_changes(
            lambda edit: contests.put_contest(db, OPERATOR, text, file=file.name, edit=edit), remove, revision, yes=yes
        ).record()
    say(f"The contest {contest.ref} is there, version {contest.version}; phase: {contest.phase}.")
    if json:
        print_json(contest)


@app.command("list")
def list_(
    context: typer.Context, task: Annotated[str, typer.Argument(help="Name of the task.")], json: JsonFlag = False
) -> None:
    """List the contests of a task, with the phase that each is in.

    Example: quintain contest list sentiment
    """
    with workspace_of(context).session() as db:
        records = [contest.record() for contest in contests.list_contests(db, task)]
    if json:
        print_json(Contests(records))
    elif not records:
        say(f"Task '{task}' has no contests. Add one with `quintain contest put FILE`.")
    else:
        rows = [(record.ref, record.title, record.phase, record.phase_ends) for record in records]
        print_table(["contest", "title", "phase", "until (UTC)"], rows)


@app.command()
def show(context: typer.Context, ref: ContestRef, json: JsonFlag = False) -> None:
    """Print a contest as the TOML file that defines it.

    Example: quintain contest show sentiment/spring > spring.toml
    """
    with workspace_of(context).session() as db:
        info = contests.find_contest(db, ref)
    if json:
        print_json(info.record())
    else:
        say(f"Phase: {info.phase.value}.")
        print_line(dump_contest(info.spec).rstrip("\n"))


@app.command()
def extend(
    context: typer.Context,
    ref: ContestRef,
    phase: Annotated[str, typer.Argument(help="build, break, score or review.")],
    until: Annotated[str, typer.Argument(help="When it ends, by the contest's clocks: 2026-12-01T09:00.")],
    json: JsonFlag = False,
) -> None:
    """Let a phase end at another moment, while it lasts or before it.

    Example: quintain contest extend sentiment/spring break 2026-12-01T09:00
    """
    try:
        moment = datetime.fromisoformat(until)
    except ValueError:
        raise BadInput("'{until}' is no date and time.", until=until, remedy="Write 2026-12-01T09:00.") from None
    known = {one.value: one for one in Phase}
    if phase not in known:
        raise BadInput("'{phase}' is no phase.", phase=phase, remedy="There are build, break, score and review.")
    with workspace_of(context).session() as db:
        contest = contests.extend(db, OPERATOR, ref, known[phase], moment).record()
    say(f"The phase '{phase}' of {ref} ends on {until}.")
    if json:
        print_json(contest)


@app.command("teams")
def teams_(context: typer.Context, ref: ContestRef, json: JsonFlag = False) -> None:
    """List the teams of a contest, who is in them, and how many pairs they have.

    Example: quintain contest teams sentiment/spring
    """
    with workspace_of(context).session() as db:
        listed = teams.list_teams(db, OPERATOR, ref)
    if json:
        print_json(ContestTeams(listed))
    else:
        print_table(
            ["team", "role", "people", "pairs"], [(one.name, one.role, one.people, one.pairs) for one in listed]
        )


@app.command("systems")
def systems_(context: typer.Context, ref: ContestRef, json: JsonFlag = False) -> None:
    """List the systems of a contest, and how far their answers are.

    Example: quintain contest systems sentiment/spring
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        listed = systems.list_systems(db, workspace.blobs, OPERATOR, ref)
    if json:
        print_json(ContestSystems(listed))
        return
    rows = [
        (one.name, one.team, "reference" if one.reference else "", number(one.dev_accuracy, 3), one.dev, one.pairs)
        for one in listed
    ]
    print_table(["system", "team", "", "dev accuracy", "dev answers", "answers to the pairs"], rows)


@app.command()
def reference(
    context: typer.Context,
    ref: ContestRef,
    name: Annotated[str, typer.Option("--name", help="Its name; that of the model by default.")] = "",
    model: Annotated[str, typer.Option("--model", help="A model to run, as task/name; else hand in answers.")] = "",
    counts: Annotated[bool, typer.Option("--counts", help="Let it enter the breakers' scores.")] = False,
    json: JsonFlag = False,
) -> None:
    """Add a reference system after breaking; it is marked, and enters the breakers' scores only with --counts.

    Example: quintain contest reference sentiment/spring --model sentiment/ngram
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        system = systems.add_reference(db, workspace.blobs, OPERATOR, ref, name, model=model, counts=counts)
    say(f"{system.name} is a reference system of {ref}.")
    if json:
        print_json(system)


@app.command()
def answers(
    context: typer.Context,
    ref: ContestRef,
    file: Annotated[Path, in_file("A table id,prediction.")],
    system: Annotated[str, typer.Option("--system", help="The reference system that they are of.", show_default=False)],
    json: JsonFlag = False,
) -> None:
    """Hand in the answers of a reference system, to the development set or to the pairs: the ids tell which.

    Example: quintain contest answers sentiment/spring ngrams.csv --system ngrams
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        handed_in = systems.hand_in(db, workspace.blobs, OPERATOR, ref, file, system=system)
    say(f"The answers of {system} are taken.")
    if json:
        print_json(handed_in)

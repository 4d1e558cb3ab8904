"""`quintain pay study|study-change|group`: studies on Prolific."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.context import link_base, workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table
from quintain.cli.pay.pay import app
from quintain.core.people import OPERATOR
from quintain.core.records.pay import Study
from quintain.services.collect.panels import prolific
from quintain.services.trial import studies

PlaceArgument = Annotated[
    str, typer.Argument(help="The round, task/number, or judging or trial, task/name.", metavar="TASK/PLACE")
]


@app.command()
def study(
    context: typer.Context,
    ref: PlaceArgument,
    places: Annotated[int, typer.Option(help="How many people may take part.", min=1)],
    to: Annotated[str, typer.Option(help="Where it leads: round, judging, trial or grading.")] = "round",
    group: Annotated[str, typer.Option(help="Only people of this participant group.")] = "",
    reward: Annotated[
        int | None, typer.Option(help="What it pays, in minor units; by default what is done there pays.", min=1)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Make a draft of a study on Prolific that sends people to a round, a judging, a trial or its grading.

    Example: quintain pay study sentiment/2 --places 50

    Example: quintain pay study sentiment/first --to trial --places 200
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        created = studies.create_study(
            db,
            OPERATOR,
            ref,
            workspace.outside,
            link_base(workspace),
            to=to,  # type: ignore[arg-type] # the service refuses what it does not know
            places=places,
            group=group,
            reward=reward,
        )
    _print(created, json)


@app.command("study-change")
def study_change(
    context: typer.Context,
    ref: PlaceArgument,
    number: Annotated[str, typer.Argument(help="What Prolific calls the study.", metavar="STUDY")],
    action: Annotated[str, typer.Option(help="publish, pause, start or stop.")] = "",
    places: Annotated[int, typer.Option(help="How many people may take part; only more once it is published.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Publish, pause, start or stop a study, or let more people take part.

    Example: quintain pay study-change sentiment/2 65f1c0 --action publish
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        changed = prolific.change_study(db, OPERATOR, ref, number, workspace.outside, action=action, places=places)
    _print(changed, json)


@app.command()
def group(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="The task.", metavar="TASK")],
    qualification: Annotated[str, typer.Argument(help="Whose holders are to be in the group.")],
    number: Annotated[str, typer.Option("--group", help="The group; a new one by default.")] = "",
    json: JsonFlag = False,
) -> None:
    """Let a participant group on Prolific hold exactly who holds a qualification.

    Example: quintain pay group sentiment second-round
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        synced = prolific.sync_group(db, OPERATOR, task, qualification, workspace.outside, group=number)
    if json:
        print_json(synced)
    else:
        print_table(["group", "qualification", "people"], [(synced.group, synced.qualification, synced.people)])


def _print(study: Study, json: bool) -> None:
    if json:
        print_json(study)
    else:
        rows = [(study.study, study.round, study.status, study.places)]
        print_table(["study", "leads to", "status", "places"], rows)

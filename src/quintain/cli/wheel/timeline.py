"""`quintain task timeline` and `quintain task margin`: how the post moves, and when a round counts as solved."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.cli.plain.task import app
from quintain.cli.tasks.task import TaskName
from quintain.core.people import OPERATOR
from quintain.core.records.figures import Estimate
from quintain.core.records.wheel import Margin, TimelineRound
from quintain.services.wheel import standings
from quintain.services.wheel.timeline import timeline as service


@app.command()
def timeline(context: typer.Context, name: TaskName, json: JsonFlag = False) -> None:
    """Show the rounds of a task in their order: vMER, and what people and models reach on each.

    Example: quintain task timeline sentiment
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        standings.catch_up(db, workspace.blobs)
        rounds = service(db, OPERATOR, name)
    if json:
        print_json(rounds)
    elif not rounds.rounds:
        say("There are no rounds yet.")
    else:
        heads = ["round", "title", "targets", "collected", "vMER", "test", "people", "highest", "its macro F1", ""]
        print_table(heads, [_row(one) for one in rounds.rounds])


@app.command()
def margin(
    context: typer.Context,
    name: TaskName,
    value: Annotated[float | None, typer.Argument(metavar="[MARGIN]", help="The new margin, such as 0.02.")] = None,
    json: JsonFlag = False,
) -> None:
    """Show or set how much lower than that of people a model's macro F1 may be for a round to count as solved.

    Example: quintain task margin sentiment 0.03
    """
    with workspace_of(context).session() as db:
        if value is None:
            service(db, OPERATOR, name)  # which says so where there is no such task
            current = Margin(name, standings.margin_of(db, name))
        else:
            current = standings.set_margin(db, OPERATOR, name, value)
    if json:
        print_json(current)
    else:
        say(f"In task '{name}' the margin is {current.margin:g}.")


def _row(entry: TimelineRound) -> tuple[object, ...]:
    best = entry.models[0].score if entry.models else None
    vmer = "" if entry.vmer is None or entry.vmer.value is None else f"{entry.vmer.value:.1%}"
    return (
        entry.ref,
        entry.title,
        entry.targets,
        entry.collected,
        vmer,
        entry.items or "",
        _figure(entry.human),
        entry.best,
        _figure(best),
        entry.state,
    )


def _figure(figure: Estimate | None) -> str:
    return "" if figure is None or figure.value is None else f"{figure.value:.3f}"

"""`quintain round solved` and `quintain round next`: whether a round is solved, and the next turn."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.collect.round import app as round_app
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.core.people import OPERATOR
from quintain.core.records.figures import Estimate
from quintain.core.wheel import ParityState
from quintain.services.wheel import standings
from quintain.services.wheel.next_round import start_next

RoundRef = Annotated[
    str, typer.Argument(metavar="ROUND", help="The round, as task/number, or a validation's own name.")
]
SAID = {
    ParityState.SOLVED: "Solved: {models} {do} as well as people, within the margin of {margin:g}.",
    ParityState.OPEN: "Not solved: even the highest model is surely worse than people, by more than {margin:g}.",
    ParityState.UNDECIDED: "Undecided: the interval of the difference holds −{margin:g}.",
    ParityState.TOO_FEW: "Too few items to tell.",
    ParityState.SHOWN: "The labels of the test can be read, so that a model may have learned them: nothing is said.",
    ParityState.WAITING: "No model has been run on the test yet.",
    ParityState.UNRELEASED: "It has not been released yet.",
}


@round_app.command()
def solved(context: typer.Context, ref: RoundRef, json: JsonFlag = False) -> None:
    """Show whether models do as well as people on a released round, with the evidence.

    Example: quintain round solved sentiment/2
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        standings.catch_up(db, workspace.blobs)
        parity = standings.solved(db, OPERATOR, ref)
    if json:
        print_json(parity)
        return
    print_table(
        ["model", "items", "macro F1", "people", "difference", ""],
        [
            (
                model.model,
                model.items,
                _figure(model.score),
                _figure(model.human),
                _figure(model.difference),
                model.state,
            )
            for model in parity.models
        ],
    )
    do = "does" if len(parity.solved_by) == 1 else "do"
    state = ParityState.SOLVED if parity.solved_by else ParityState(parity.state)
    say(SAID[state].format(models=", ".join(parity.solved_by), do=do, margin=parity.margin))
    if parity.waiting:
        say(f"Runs that are still to come: {parity.waiting}.")
    if parity.solved_by:
        say(f"`quintain round next {ref}` starts the next round with {parity.solved_by[0]}.")


@round_app.command("next")
def next_(
    context: typer.Context,
    ref: RoundRef,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="The model to aim at.", show_default="the best that solved the round"),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Add a draft of the next round: what this one asks, aimed at the model that solved it.

    Example: quintain round next sentiment/2 --model sentiment/ngram
    """
    with workspace_of(context).session() as db:
        draft = start_next(db, OPERATOR, ref, model)
    if json:
        print_json(draft.record())
    else:
        say(f"Round {draft.ref} is a draft that is aimed at {draft.spec.targets.models[0]}. It has no prompts yet.")


def _figure(figure: Estimate) -> str:
    if figure.value is None:
        return figure.reason or ""
    shown = f"{figure.value:.3f}"
    return shown if figure.low is None else f"{shown} ({figure.low:.3f} to {figure.high:.3f})"

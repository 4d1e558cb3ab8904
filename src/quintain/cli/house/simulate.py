"""`quintain simulate`: people who are not there, at work in a workspace."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, bar, print_json, print_table, say
from quintain.core.records.wheel import WheelReport
from quintain.simulate import wheel as service
from quintain.simulate.stations import Sizes

app = typer.Typer(help="Let simulated people work in a workspace.", no_args_is_help=True)


@app.callback()
def simulate() -> None:
    """Let simulated people work in a workspace."""


@app.command()
def wheel(
    context: typer.Context,
    seed: Annotated[int, typer.Option(min=0, max=99_999, help="What all chance comes from.")] = 1,
    harvested: Annotated[int, typer.Option(min=100, max=100_000, help="Sentences to harvest.")] = 400,
    written: Annotated[int, typer.Option(min=100, max=100_000, help="Texts to write.")] = 300,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also where real people have rounds in the task.")] = False,
    json: JsonFlag = False,
) -> None:
    """Turn the wheel twice with simulated people: harvest, judge, release, train, write, judge, release, train.

    Ctrl-C interrupts it; the same command again goes on where it stopped. Another seed makes another wheel beside it.

    Example: quintain simulate wheel --seed 1
    """
    workspace = workspace_of(context)
    # A review has two to five sentences, and many of them are of strata that are full.
    sizes = Sizes(reviews=max(1000, 3 * harvested), harvested=harvested, written=written)
    try:
        with bar() as progress:
            report = service.turn(workspace, seed, sizes, progress=progress, anyway=anyway)
    except KeyboardInterrupt:
        say(f"Interrupted. `quintain simulate wheel --seed {seed}` goes on where it stopped.")
        raise
    finally:
        workspace.close()
    if json:
        print_json(report)
    else:
        _show(report)


def _show(report: WheelReport) -> None:
    print_table(
        ["round", "target", "collected", "vMER", "train", "test"],
        [
            (one.ref, one.target, one.collected, "" if one.vmer is None else f"{one.vmer:.1%}", one.train, one.rows)
            for one in report.rounds
        ],
    )
    found = {(one.model, one.test): one.macro_f1 for one in report.scores}
    print_table(
        ["macro F1", *(one.ref for one in report.rounds)],
        [(model, *(f"{found[model, one.test]:.3f}" for one in report.rounds)) for model in report.models],
    )

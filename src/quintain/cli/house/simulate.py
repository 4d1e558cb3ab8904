"""`quintain simulate`: people who are not there, at work in a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, bar, print_json, print_table, say
from quintain.core.records.wheel import WheelReport
from quintain.data.text import read_bytes
from quintain.protocols.reading import shipped, shipped_text
from quintain.services.trial.trials import OpenTrial
from quintain.simulate import wheel as service
from quintain.simulate.crowd_drive import CrowdSize
from quintain.simulate.crowd_trial import Beginning, simulate_trial
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
            report = service.simulate_rounds(workspace, seed, sizes, progress=progress, anyway=anyway)
    except KeyboardInterrupt:
        say(f"Interrupted. `quintain simulate wheel --seed {seed}` goes on where it stopped.")
        raise
    finally:
        workspace.close()
    if json:
        print_json(report)
    else:
        _show(report)


@app.command()
def trial(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="TRIAL", help="The trial, as task/name; it is begun if need be.")],
    protocols: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PROTOCOL…]", help="Its arms, if it is begun: protocols that ship, or TOML files."),
    ] = None,
    workers: Annotated[int, typer.Option(min=2, max=10_000, help="People who take part.")] = 20,
    judges: Annotated[int, typer.Option(min=1, max=1000, help="People who judge what was written.")] = 12,
    source: Annotated[str, typer.Option(help="Data set whose texts are the contexts.", show_default=False)] = "",
    model: Annotated[list[str] | None, typer.Option(help="A model to fool, where an arm has one.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=99_999, help="What all chance comes from.")] = 1,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also in a trial that is not called simulated.")] = False,
    json: JsonFlag = False,
) -> None:
    """Let a simulated crowd go through a trial of the workspace: enter, be trained, write, be graded, read letters.

    Others judge the final items, and models of the task are asked to answer them. `quintain trial simulate` does it in
    memory, thousands of times as fast.

    Example: quintain simulate trial sentiment/rehearsal baseline crowd --workers 20 --seed 1
    """
    task, _, name = ref.partition("/")
    texts = [
        shipped_text(protocol.lower()) if protocol.lower() in shipped() else _read(protocol)
        for protocol in protocols or ()
    ]
    beginning = Beginning(texts, OpenTrial(source, tuple(model or ())))
    size = CrowdSize(workers=workers, judges=judges)
    workspace = workspace_of(context)
    try:
        with bar() as progress:
            outcome = simulate_trial(workspace, (task, name), seed, size, beginning, progress=progress, anyway=anyway)
    finally:
        workspace.close()
    if json:
        print_json(outcome)
        return
    rows = [(arm.arm, arm.people, arm.finalists, arm.items) for arm in outcome.arms]
    print_table(["arm", "people", "wrote in the end", "items"], rows)
    say(f"{outcome.judgements:,} judgements. The report: quintain trial report-of {ref}")
    if outcome.models:
        say(f"A worker runs {', '.join(outcome.models)} on it: quintain worker")


def _read(file: str) -> str:
    return read_bytes(Path(file)).decode()


def _show(report: WheelReport) -> None:
    print_table(
        ["round", "target", "collected", "vMER", "train", "test"],
        [
            (one.ref, one.target, one.collected, "" if one.vmer is None else f"{one.vmer:.1%}", one.train, one.rows)
            for one in report.rounds
        ],
    )
    scores = {(score.model, score.test): score.macro_f1 for score in report.scores}
    print_table(
        ["macro F1", *(one.ref for one in report.rounds)],
        [(model, *(f"{scores[model, one.test]:.3f}" for one in report.rounds)) for model in report.models],
    )

"""`quintain trial`: compare ways of writing; here what needs no workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.reporting import FolderOption, give_report
from quintain.cli.streams import out_folder, out_option, read_path
from quintain.core.records.figures import Estimate
from quintain.core.records.trial import ArmForecast, TrialForecast
from quintain.core.rounds import Money
from quintain.library.trials import write_tables
from quintain.protocols.reading import shipped, shipped_text
from quintain.services.plain.reports.trial_measures import ReportOptions
from quintain.services.plain.reports.trials import Simulation, find_protocol, report, simulate

app = typer.Typer(name="trial", help="Compare ways of writing in a randomised trial.", no_args_is_help=True)

ProtocolArgument = Annotated[
    list[str],
    typer.Argument(metavar="PROTOCOL…", help="Names of protocols that ship, or TOML files.", show_default=False),
]


@app.callback()
def trial() -> None:
    """Compare ways of writing in a randomised trial."""


@app.command()
def protocols(
    show: Annotated[str, typer.Option(help="Print the file of one, to start your own from.", show_default=False)] = "",
    json: output.JsonFlag = False,
) -> None:
    """List the protocols that ship.

    Example: quintain trial protocols --show expert > mine.toml
    """
    if show:
        output.print_line(shipped_text(show.lower()).rstrip())
        return
    listed = [
        {"name": one.name, "title": one.title, "stages": [stage.name for stage in one.stages], "about": one.about}
        for one in shipped().values()
    ]
    if json:
        output.print_json(listed)
        return
    output.print_table(
        ["protocol", "what it is", "stages"], [(one["name"], one["title"], len(one["stages"])) for one in listed]
    )


@app.command()
def check(names: ProtocolArgument, json: output.JsonFlag = False) -> None:
    """Read protocols and say every fault in them.

    Example: quintain trial check mine.toml
    """
    protocols = [find_protocol(name) for name in names]
    if json:
        output.print_json(
            [{"name": protocol.name, "stages": [stage.name for stage in protocol.stages]} for protocol in protocols]
        )
        return
    for protocol in protocols:
        output.print_line(f"{protocol.name}: {' → '.join(stage.name for stage in protocol.stages)}")


@app.command(name="simulate")
def simulate_(
    names: ProtocolArgument,
    workers: Annotated[int, typer.Option(help="People in each arm.", min=1, max=100_000)] = 500,
    trials: Annotated[int, typer.Option(help="How many trials to simulate.", min=1, max=10_000)] = 20,
    gap: Annotated[float, typer.Option(help="A difference to look for, in points.", min=0.1, max=100)] = 5.0,
    data: Annotated[Path | None, out_option("Write the first trial, for `trial report`.", "--data")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 0,
    json: output.JsonFlag = False,
) -> None:
    """Let a simulated crowd go through protocols in memory, and forecast cost, time, yield and power.

    `quintain simulate trial` lets one go through a trial of a workspace instead, by the services that people use.

    Example: quintain trial simulate baseline expert --workers 500 --seed 1
    """
    forecast = simulate(names, Simulation(workers, trials, seed, gap / 100, data))
    if json:
        output.print_json(forecast)
        return
    _print(forecast)
    if data is not None:
        output.say(f"{data} has the first trial: quintain trial report {data}")


@app.command(name="report")
def report_(
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=read_path, metavar="FILE…", help="Items of the arms, as published or simulated.", show_default=False
        ),
    ],
    sample: Annotated[int, typer.Option(help="Votes that set a label beside the writer's.", min=1, max=50)] = 4,
    draws: Annotated[int, typer.Option(help="How often to draw them.", min=1, max=10_000)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 0,
    out: FolderOption = None,
    json: output.JsonFlag = False,
) -> None:
    """Report on a trial: per arm people, models, agreement, cost, attrition, and whether arms differ.

    Example: quintain trial report baseline.json.gz justification.json.gz --out report
    """
    give_report(report(files, ReportOptions(sample, draws, seed)), out, json=json)


@app.command()
def tables(
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=read_path, metavar="FILE…", help="Items of the arms, as published or exported.", show_default=False
        ),
    ],
    out: Annotated[Path, out_folder("Folder for the tables.", "--out")],
    json: output.JsonFlag = False,
) -> None:
    """Write a trial as tables: items with their texts, judgements, grades, and what models said.

    Example: quintain trial tables first.json --out tables
    """
    rows = write_tables(files, out)
    if json:
        output.print_json({"folder": str(out), "rows": rows})
        return
    output.print_table(["table", "rows"], [(str(out / name), number) for name, number in rows.items()])


def _print(forecast: TrialForecast) -> None:
    rows = [_row(arm, forecast.currency) for arm in forecast.arms]
    heads = [
        "arm",
        "finalists",
        "items",
        "kept",
        "a question",
        "with experts",
        "paid",
        "days",
        "people",
        "model",
        "gap",
    ]
    output.print_table(
        heads, rows, title=f"{forecast.workers:,} workers in each arm, {forecast.trials:,} simulated trials"
    )
    for pair in forecast.power:
        output.print_line(
            f"{pair.first} and {pair.second}: the gaps differ by {_points(pair.difference)} points, which "
            f"{_percent(pair.seen)} of trials show."
        )
        if pair.gap_seen is not None:
            output.print_line(
                f"With {pair.workers:,} workers per arm you will see a {100 * pair.gap:g}-point gap between them in "
                f"{pair.gap_seen:.0%} of trials."
            )
    if forecast.trials < 5:
        output.say("Five trials or more also give ranges, and say how likely a difference is seen: --trials 20.")


def _row(arm: ArmForecast, currency: str) -> tuple[str, ...]:
    return (
        arm.arm,
        f"{arm.finalists:.0f} of {arm.workers:.0f}",
        f"{arm.items:,.0f}",
        f"{arm.kept:,.0f}",
        _money(arm.question_cost.value, currency),
        _money(arm.expert_cost.value, currency),
        _money(arm.paid, currency),
        f"{arm.days:.0f}",
        _percent(arm.human),
        _percent(arm.model),
        _points(arm.gap),
    )


def _money(value: float | None, currency: str) -> str:
    return "–" if value is None else str(Money(round(value), currency))


def _percent(figure: Estimate) -> str:
    if figure.value is None:
        return "–"
    ends = "" if figure.low is None or figure.high is None else f" ({figure.low:.0%}–{figure.high:.0%})"
    return f"{figure.value:.0%}{ends}"


def _points(figure: Estimate) -> str:
    if figure.value is None:
        return "–"
    ends = "" if figure.low is None or figure.high is None else f" ({100 * figure.low:.1f} to {100 * figure.high:.1f})"
    return f"{100 * figure.value:.1f}{ends}"

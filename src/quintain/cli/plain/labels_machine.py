"""`quintain labels machine|estimate`: machines beside people, on plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.plain.labels import (
    AllOption,
    ColumnOption,
    FileArgument,
    LabelsOption,
    RepeatsOption,
    SeedOption,
    app,
    reading,
)
from quintain.cli.streams import in_file
from quintain.core.records.machines import (
    CountedEstimate,
    EstimateBeside,
    LabelAgreement,
    LeftOutPerson,
    MachineAgreement,
)
from quintain.library import machines as library

PeopleArgument = Annotated[Path, in_file("People's labels of some items: item,worker,label.", metavar="PEOPLE")]
MachineArgument = Annotated[Path, in_file("The machine's labels of all items: item,label.", metavar="MACHINE")]


@app.command()
def machine(
    file: FileArgument,
    name: Annotated[str, typer.Option("--machine", help="Which worker is the machine.")],
    epsilon: Annotated[float, typer.Option(help="By how much a person may be better and still be replaced.")] = 0.1,
    seed: SeedOption = 0,
    column: ColumnOption = None,
    labels: LabelsOption = None,
    repeats: RepeatsOption = "refuse",
    everything: AllOption = False,
    json: output.JsonFlag = False,
) -> None:
    """Compare a machine that judges with people, and say whether it may replace one of them.

    Example: quintain labels machine judgements.csv --machine gpt --epsilon 0.1
    """
    agreement = library.machine_agreement(
        file, name, epsilon=epsilon, seed=seed, **reading(column, labels, repeats, everything)
    )
    if json:
        output.print_json(agreement.record)
        return
    _print_agreement(agreement.record)
    for note in agreement.notes:
        output.say(note)


def _print_agreement(report: MachineAgreement) -> None:
    output.print_table(
        ["agreement with people", "share", "kappa"],
        [
            _agreement(report.machine, report.agreement),
            _agreement("people, each with the others", report.people_agreement),
        ],
    )
    if report.persons:
        output.print_table(
            ["person left out", "items", "machine at least as good", "p", "beaten"],
            [(part.person, f"{part.items:,}", *_beside(part)) for part in report.persons],
        )
    recall = [(name, _share(part.value, part.low, part.high)) for name, part in report.recall.items()]
    output.print_table(["people say", "the machine, too"], recall)
    if report.winning_rate is not None and report.advantage is not None:
        output.print_line(
            f"Winning rate {report.winning_rate:.1%} (of people beaten), advantage {report.advantage:.1%}."
        )
    output.print_line(f"{report.machine}: {report.verdict}.")


def _beside(part: LeftOutPerson) -> tuple[str, str, str]:
    return f"{part.advantage:.1%}", f"{part.p:.3f}", "yes" if part.beaten else "no"


def _agreement(name: str, part: LabelAgreement) -> tuple[str, str, str]:
    kappa = part.kappa
    beyond = "–" if kappa.value is None else f"{kappa.value:.3f} ({kappa.low:.3f} to {kappa.high:.3f})"
    return name, _share(part.value, part.low, part.high), beyond


def _share(value: float | None, low: float | None, high: float | None) -> str:
    return "–" if value is None else f"{value:.1%} ({low:.1%} to {high:.1%})"


@app.command()
def estimate(
    people: PeopleArgument,
    machine: MachineArgument,
    metric: Annotated[str, typer.Option(help="share, accuracy or macro_f1.")] = "share",
    label: Annotated[str | None, typer.Option(help="The label whose share it is.", show_default=False)] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Answers of the model that is scored: id,prediction.", show_default=False)
    ] = None,
    half_width: Annotated[float, typer.Option("--within", help="Tell how many judged items give ± this.")] = 0.01,
    votes: Annotated[bool, typer.Option("--votes", help="Take shares of votes, not each item's plurality.")] = False,
    column: ColumnOption = None,
    labels: LabelsOption = None,
    repeats: RepeatsOption = "refuse",
    everything: AllOption = False,
    json: output.JsonFlag = False,
) -> None:
    """Estimate a figure from people's labels of some items and a machine's of all; people's items are a random draw.

    Example: quintain labels estimate people.csv machine.csv --metric share --label positive
    """
    report = library.estimate(
        people,
        machine,
        metric,
        label=label,
        predictions=predictions,
        half_width=half_width,
        votes=votes,
        **reading(column, labels, repeats, everything),
    )
    output.warn(report.warnings)
    if json:
        output.print_json(report.record)
        return
    _print_estimate(report.record)
    for note in report.notes:
        output.say(note)


def _print_estimate(report: EstimateBeside) -> None:
    title = f"{report.metric} of '{report.label}'" if report.label else report.metric
    rows = [_counted("people alone", report.people, report.needed.people)]
    rows.append(_counted("people and machine", report.together, report.needed.together))
    output.print_table([title, "interval", "judged", "machine", f"judged for ± {report.needed.half_width:g}"], rows)


def _counted(name: str, part: CountedEstimate, needed: int) -> tuple[str, str, str, str, str]:
    more = "–" if part.machine_n is None else f"{part.machine_n:,}"
    figure = f"{part.value:.2%} ({part.low:.2%} to {part.high:.2%})"
    return name, figure, f"{part.n:,}", more, f"{needed:,}"

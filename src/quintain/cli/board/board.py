"""`quintain board`: rank models by what the reader cares about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli import output
from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.plain.rank import app, number, say_dominant, say_unranked, traded
from quintain.cli.streams import in_file, named, out_option
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.base import plain, to_plain
from quintain.core.records.board import BoardView, QueuedRuns
from quintain.core.toml import parse_toml, read_text
from quintain.services.board import snapshots as board_keep
from quintain.services.board.cache import warm_board
from quintain.services.board.choices import aggregations, sensitivity
from quintain.services.board.claims import claim_of, claim_text
from quintain.services.board.export import KINDS
from quintain.services.board.export import export as write_export
from quintain.services.board.parts import BoardPart, MatrixModel
from quintain.services.board.ranking import parse_view
from quintain.services.board.ranking import rank as rank_board
from quintain.services.board.uncertainty import uncertainty
from quintain.services.evaluate.cells.lifecycle import fill_dataset
from quintain.services.tasks.board_settings import board_spec, let_score, set_board
from quintain.services.tasks.definitions import get_task

Task = Annotated[str, typer.Argument(help="Name of the task.")]
Weights = Annotated[str, typer.Option(help="Weights of axes: performance=4,memory=1; others get 0.")]
Datasets = Annotated[str, typer.Option(help="Weights of data sets: test=1,contrast=2; others get 0.")]
Epsilon = Annotated[float | None, typer.Option(help="Ignore neighbours at most this far apart.")]
Base = Annotated[str, typer.Option(help="In whose units to score; by default performance.")]
Rates = Annotated[str, typer.Option(help="Exchange rates fixed by hand: memory=0.5.")]
Rate = Annotated[
    str, typer.Option(help="What a rate is of those of neighbours, mean or median; by default the owner's.")
]
Tag = Annotated[str | None, typer.Option(help="Only examples with this tag.", show_default=False)]
Language = Annotated[str | None, typer.Option(help="Only data sets in this language.", show_default=False)]


def _say_machine(machine: dict[str, Any]) -> None:
    """Print on what throughput and memory were measured, where more than one class of machine was used."""
    others = {name: count for name, count in machine["models"].items() if name != machine["name"]}
    if others:
        listed = ", ".join(f"{name} ({count})" for name, count in others.items())
        output.say(f"Throughput and memory rank as measured on {machine['name']}; models measured elsewhere: {listed}.")


@app.command()
def show(
    context: typer.Context,
    task: Task,
    weights: Weights = "",
    datasets: Datasets = "",
    epsilon: Epsilon = None,
    base: Base = "",
    amrs: Rates = "",
    rate: Rate = "",
    tag: Tag = None,
    language: Language = None,
    seeds: Annotated[bool, typer.Option(help="List several seeds of one model apart.")] = False,
    fork: Annotated[str, typer.Option(help="Rank by the weights kept under this name, instead of --weights.")] = "",
    sure: Annotated[bool, typer.Option(help="Say how sure the ranking is and what it hangs on.")] = True,
    json: output.JsonFlag = False,
) -> None:
    """Show the board of a task, ranked by your weights or the owner's, with intervals of ranks.

    Example: quintain board show sentiment --weights performance=4,memory=1
    """
    workspace = workspace_of(context)
    view = parse_view(weights, datasets, epsilon=epsilon, base=base, amrs=amrs, rate=rate)
    if fork and view != BoardView():
        raise BadInput("A fork is a whole view already.", remedy="Give --fork, or weights and other choices, not both.")
    with workspace.session() as db:
        view = board_keep.fork_view(db, task, fork) if fork else view
        unranked = warm_board(db, workspace.blobs, OPERATOR, task, BoardPart(tag, language, seeds), wait=True).board
        ranked = rank_board(unranked, view)
        order = ranked.order()
        sections = plain(ranked.page(order, limit=len(order))) | {"rounds": [one.record() for one in unranked.rounds]}
        if sure:
            sections["uncertainty"] = uncertainty(db, workspace.blobs, unranked, view)
            claim = claim_of(ranked, sections["uncertainty"])
            sections["claim"] = plain(claim)
            sections["sensitivity"] = sensitivity(unranked, view)
            sections["aggregations"] = aggregations(unranked, view)
    shape = to_plain(sections)
    if json:
        output.print_json(shape)
    else:
        _print_board(shape)
        _say_busy(unranked.models)
        if sure:
            output.say(claim_text(claim))


def _print_board(shape: dict[str, Any]) -> None:
    sure = {row["model"]: row for row in shape.get("uncertainty", {}).get("models", [])}
    axes = list(shape["weights"])

    def line(row: dict[str, Any]) -> list[object]:
        certainty = sure.get(row["model"])
        span = f" ({certainty['rank']['low']}–{certainty['rank']['high']})" if certainty else ""
        figures = [row["values"][name] for name in axes]
        return [
            None if row["rank"] is None else f"{row['rank']}{span}",
            row["name"],
            number(row["dynascore"], 2) or "unranked",
            *(number(figure["value"], 2) if figure else None for figure in figures),
        ]

    output.print_table(["rank", "model", "dynascore", *axes], map(line, shape["models"]))
    if shape["held"]:
        held = shape["held"]
        output.print_line(
            f"This is the ranking of {held['at']}; the next one needs {held['runs']['waiting']} more runs."
        )
    if shape["provisional"]:
        runs = shape["runs"]
        output.print_line(f"The order is provisional: {runs['waiting']} of {runs['needed']} runs are still to come.")
    say_unranked(shape["models"])
    _say_coming(shape)
    _say_machine(shape["machine"])
    rates = [
        [name, f"{shape['weights'][name]:.3f}", *traded(shape["amounts"][name], shape["worth"][name])] for name in axes
    ]
    output.print_table(["axis", "weight", "so much of it", f"is worth, in {shape['base']}"], rates)
    if shape["rounds"]:
        output.print_table(["round", "model", "items", "vMER", "interval", "people"], _round_lines(shape["rounds"]))
    for name, note in shape["notes"].items():
        output.say(f"{name}: {note}.")
    _say_datasets(shape)
    _say_cover(shape)
    by_median = {row["name"]: row["by_median"]["rank"] for row in shape["models"] if row.get("by_median")}
    say_dominant(shape["dominant"], by_median, rate=shape["rate"])
    for pair in shape.get("uncertainty", {}).get("pairs", []):
        more = "" if not pair["more"] else f"; about {pair['more']} more examples would settle it"
        output.say(f"{pair['first']} is above {pair['second']} with probability {pair['probability']:.2f}{more}.")


def _say_busy(models: Sequence[MatrixModel]) -> None:
    """Note of which models speed and memory were measured beside other work, also where they do not rank for it."""
    for model in models:
        if model.disturbed is not None:
            output.print_line(
                f"{model.ref} was measured while the machine was busy: {model.disturbed:.0%} of it with other work."
            )


def _say_coming(shape: dict[str, Any]) -> None:
    """Print which versions and models take a place once they have been run, and how far they are."""
    for row in shape["models"]:
        if row.get("newer"):
            output.say(f"{row['model']} keeps its place until {_progress(row['newer'])}.")
    for coming in (shape["held"] or {}).get("coming", []):
        output.say(f"A place on the next ranking waits until {_progress(coming)}.")


def _progress(coming: dict[str, Any]) -> str:
    runs = coming["runs"]
    return f"{coming['model']} has been run: {runs['needed'] - runs['waiting']} of {runs['needed']} runs are over"


def _say_cover(shape: dict[str, Any]) -> None:
    """Print which axes are not averaged over all data sets that score."""
    scoring = sum(weight > 0 for weight in shape["datasets"].values())
    for name, names in shape["over"].items():
        if name in shape["dropped"]:
            output.print_line(f"{name} is dropped for all models: no perturbation changes the examples that score.")
        elif len(names) < scoring:
            output.print_line(f"{name}: over {len(names)} of {scoring} data sets ({', '.join(names)}).")


def _say_datasets(shape: dict[str, Any]) -> None:
    """Print which data sets do not score, and which that do are weak ground for a ranking."""
    for name, weight in shape["datasets"].items():
        if name in shape["unrun"]:
            where = f"{shape['task']}/{name}"
            output.say(f"{name} does not score and was not run for all ranked models: quintain board queue {where}")
        elif not weight:
            output.say(f"{name} is shown and does not score: quintain board score {shape['task']}/{name} on")
        for warning in shape["warnings"].get(name, []) if weight else []:
            output.say(f"{name} is {warning}.")


def _round_lines(rounds: list[dict[str, Any]]) -> list[list[object]]:
    """Return a line for each model of each round; people's rate is how often one agrees with most others."""
    return [
        [
            one["round"],
            rate["name"],
            rate["collected"],
            *_rate(rate["vmer"]),
            f"{one['human']['value']:.1%}" if one["human"] else None,
        ]
        for one in rounds
        for rate in one["models"]
    ]


def _rate(rate: dict[str, Any]) -> list[str]:
    """Write a rate and its interval; a dash before anything is validated."""
    known = rate["value"] is not None
    return [f"{rate['value']:.1%}", f"{rate['low']:.1%} – {rate['high']:.1%}"] if known else ["–", "–"]


@app.command()
def export(
    context: typer.Context,
    task: Task,
    format: Annotated[str, typer.Option(help=f"One of {', '.join(KINDS)}.")] = "csv",  # noqa: A002 - the option's word
    model: Annotated[str | None, typer.Option(help="For harness and model-index: which model.")] = None,
    out: Annotated[Path | None, out_option("File to write; else stdout.", "--out", "-o")] = None,
    weights: Weights = "",
    datasets: Datasets = "",
    epsilon: Epsilon = None,
    base: Base = "",
    rate: Rate = "",
    tag: Tag = None,
    language: Language = None,
    json: output.JsonFlag = False,
) -> None:
    """Write the ranking as CSV, JSON, LaTeX or Markdown, or one model's results for other tools.

    Example: quintain board export sentiment --format latex -o table.tex
    """
    workspace = workspace_of(context)
    view = parse_view(weights, datasets, epsilon=epsilon, base=base, rate=rate)
    with workspace.session() as db:
        unranked = warm_board(db, workspace.blobs, OPERATOR, task, BoardPart(tag, language), wait=True).board
        ranked = rank_board(unranked, view)
    text = write_export(ranked, format, model)
    if out is not None:
        output.write_file(out, text.encode())
    if json:
        output.print_json({"format": format, "file": out, "text": None if out else text})
    elif out is None:
        output.print_document(text, nl=False)
    else:
        output.say(f"Wrote {named(out)}.")


@app.command(name="set")
def set_settings(
    context: typer.Context,
    task: Task,
    file: Annotated[Path | None, in_file("A TOML file of settings; without it, show them.")] = None,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: output.JsonFlag = False,
) -> None:
    """Set a board from a TOML file: datasets, weights, caps, metric, machine, hidden_models, freeze_until and more.

    Example: quintain board set sentiment board.toml
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        get_task(db, task)
        spec = board_spec(db, task)
        if file is not None:
            settings, name = _settings(file), file.name
            spec = confirm_changes(
                lambda edit: set_board(db, OPERATOR, task, settings, file=name, edit=edit), remove, revision, yes=yes
            )
    if json:
        output.print_json(spec.record())
    else:
        output.print_table(["setting", "value"], [[name, value] for name, value in to_plain(spec.record()).items()])


@app.command()
def score(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(metavar="TASK/DATASET", help="The data set.", show_default=False)],
    state: Annotated[str, typer.Argument(metavar="on|off", help="Whether it scores.", show_default=False)],
    json: output.JsonFlag = False,
) -> None:
    """Let a data set score on its task's board, or show it without scoring.

    Example: quintain board score sentiment/reviews on
    """
    if state not in {"on", "off"}:
        raise BadInput(
            "'{state}' is neither on nor off.", state=state, remedy="Write: quintain board score TASK/DATASET on"
        )
    workspace = workspace_of(context)
    with workspace.session() as db:
        spec = let_score(db, OPERATOR, dataset, state == "on")
    if json:
        output.print_json(spec.record())
    else:
        output.say(f"{dataset} scores." if state == "on" else f"{dataset} is shown and does not score.")


@app.command()
def queue(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(metavar="TASK/DATASET", help="The data set.", show_default=False)],
    json: output.JsonFlag = False,
) -> None:
    """Queue all runs that a data set needs to be weighed, though it does not score yet.

    Example: quintain board queue sentiment/reviews
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        queued = fill_dataset(db, OPERATOR, dataset)
    if json:
        output.print_json(QueuedRuns(dataset.partition("/")[2], queued))
    else:
        output.say(f"Runs queued on {dataset}: {queued}.")


def _settings(file: Path) -> dict[str, Any]:
    settings = parse_toml(read_text(file), file=file.name)
    until = settings.get("freeze_until")
    return {**settings, "freeze_until": until.isoformat()} if isinstance(until, date) else settings

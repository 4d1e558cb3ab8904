"""`quintain harvest`: sentences from a corpus that a model may get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.names import split_names
from quintain.cli.streams import in_option, named, out_option
from quintain.core.people import OPERATOR
from quintain.data.harvest_rules import DEFAULT_RULES, DEFAULT_SIZE, read_rules
from quintain.data.readers.contract import Options
from quintain.data.tables import parse_columns
from quintain.models.contract import MODEL_FILE
from quintain.services.harvest.model import HarvestTarget, target_from_folder
from quintain.services.harvest.report import HarvestReport
from quintain.services.harvest.run import Harvesting
from quintain.services.harvest.run import Progress as Report
from quintain.services.harvest.run import harvest as run
from quintain.tasks.definition import read_task

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:
    from quintain.services.collect.rounds.manage import RoundInfo


def harvest(
    context: typer.Context,
    corpus: Annotated[
        list[Path] | None,
        typer.Argument(metavar="CORPUS", help="JSONL, CSV, TSV, Parquet or text files.", show_default=False),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Model of the workspace, or a trained folder.")
    ] = None,
    out: Annotated[Path | None, out_option("Where the sentences go.", "--out", "-o")] = None,
    task: Annotated[str | None, typer.Option("--task", "-t", help="Task, or its TOML file; else the model's.")] = None,
    rules: Annotated[Path | None, in_option("TOML file of strata; else the default ones.", "--rules")] = None,
    where: Annotated[str, typer.Option("--where", help="Condition that every sentence must meet.")] = "",
    size: Annotated[
        int | None, typer.Option("--size", "-n", help="Sentences to take.", show_default=str(DEFAULT_SIZE))
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed gives another sample.")] = 0,
    column: Annotated[
        list[str] | None, typer.Option("--column", help="Map text, rating or id: rating=stars; repeat.")
    ] = None,
    keep: Annotated[list[str] | None, typer.Option("--keep", help="Columns to keep as meta, by commas.")] = None,
    report: Annotated[Path | None, out_option("Where the report goes, as JSON.", "--report")] = None,
    as_round: Annotated[
        bool, typer.Option("--round", help="Make it the task's next round, and open its validation.")
    ] = False,
    title: Annotated[str, typer.Option("--title", help="Title of the round.")] = "",
    policy: Annotated[Path | None, in_option("TOML file of the validation's policy, for --round.", "--policy")] = None,
    form: Annotated[str, typer.Option("--format", help="Format, where the name does not tell.")] = "",
    names: Annotated[list[str] | None, typer.Option("--names", help="Columns of a CSV or TSV without header.")] = None,
    quotes: Annotated[bool, typer.Option("--quotes/--no-quotes", help="Whether quotation marks quote.")] = True,
    encoding: Annotated[str, typer.Option("--encoding", help="Encoding; found out by default.")] = "",
    show_rules: Annotated[bool, typer.Option("--show-rules", help="Print the default rules, and stop.")] = False,
    json: output.JsonFlag = False,
) -> None:
    """Sample sentences of a corpus by what a model predicts and by what their reviews' ratings say.

    Half of the sample contradicts the rating; --rules asks for something else. With --round the sample is the task's
    next round at once: nobody writes in it, and its sentences are judged as those of any round.

    Example: quintain harvest reviews.jsonl --model sentiment/ngram --column rating=stars --size 1000 --out sample.jsonl

    Example: quintain harvest reviews.csv --model model --where "length < 30 and city == 'Bonn'" --out sample.csv
    """
    if show_rules:
        typer.echo(DEFAULT_RULES, nl=False)
        return
    if not corpus or model is None or out is None:
        raise typer.BadParameter("CORPUS, --model and --out are needed.")
    settings = Harvesting(
        rules=read_rules(rules) if rules is not None else None,
        where=where,
        size=size,
        seed=seed,
        columns=parse_columns(column or []),
        keep=split_names(keep),
        format=form,
        options=Options(names=tuple(split_names(names)), quotes=quotes, encoding=encoding),
    )
    if as_round:
        _check_policy(policy)
    with _target(context, model, task) as target, _bar(corpus) as progress:
        outcome = run(corpus, target, out, settings, report=report, progress=progress)
    info = _add_round(context, target.task, out, title, policy, seed) if as_round else None
    if json:
        output.print_json(outcome.as_dict() | ({"round": info.record()} if info else {}))
    else:
        _print(outcome, out)
    if info:
        _say_round(info)


# Rounds are in the store, which a harvest on files does without: it is imported where a round is asked for.
def _check_policy(policy: Path | None) -> None:
    from quintain.cli.harvest_round import check_policy

    check_policy(policy)


def _add_round(
    context: typer.Context, task: str, sample: Path, title: str, policy: Path | None, seed: int
) -> RoundInfo:
    from quintain.cli.harvest_round import add_round

    return add_round(context, task, sample, title=title, policy=policy, seed=seed)


def _say_round(info: RoundInfo) -> None:
    from quintain.cli.harvest_round import say_round

    say_round(info)


@contextmanager
def _target(context: typer.Context, model: str, task: str | None) -> Iterator[HarvestTarget]:
    folder = Path(model)
    if (folder / MODEL_FILE).is_file():
        definition = read_task(Path(task)) if task is not None and task.endswith(".toml") else None
        yield target_from_folder(folder, task=definition)
        return
    from quintain.services.harvest.stored_model import target_from_workspace

    workspace = workspace_of(context)
    name = read_task(Path(task)).name if task is not None and task.endswith(".toml") else task
    with workspace.session() as db:
        yield target_from_workspace(db, workspace.blobs, OPERATOR, model, task=name, runners=workspace.runners)


@contextmanager
def _bar(corpus: list[Path]) -> Iterator[Report]:
    """Show how far the reading is and how fast it goes, where somebody is watching."""
    columns = (
        TextColumn("Harvesting"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[sentences]:,} sentences, {task.fields[rate]:,}/s"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    total = sum(path.stat().st_size for path in corpus if path.is_file())
    with Progress(*columns, console=output.err, transient=True, disable=not output.err.is_terminal) as bar:
        shown = bar.add_task("", total=total, sentences=0, rate=0)

        def update(done: int, sentences: int) -> None:
            elapsed = bar.tasks[shown].elapsed or 0
            bar.update(shown, completed=done, sentences=sentences, rate=int(sentences / elapsed) if elapsed else 0)

        yield update


def _print(report: HarvestReport, out: Path) -> None:
    figures = report.as_dict()
    rows: list[tuple[Any, ...]] = []
    for entry in figures["strata"]:
        rows.append((entry["name"], entry["seen"], _about(entry), entry["wanted"], entry["taken"]))
        for cell in entry.get("cells", []):
            values = ", ".join(f"{name} {cell[name]}" for name in cell if name not in _FIGURES)
            rows.append((f"  {values}", cell["seen"], _about(cell), cell["wanted"], cell["taken"]))
    output.print_table(["stratum", "seen", "different", "wanted", "taken"], rows)
    for fault in report.tally.faults:
        output.say(f"Left out: {fault}")
    if report.tally.faulty > len(report.tally.faults):
        output.say(f"… and {report.tally.faulty - len(report.tally.faults):,} more bad rows.")
    for entry in figures["shortfalls"]:
        filled = ", ".join(f"{part['count']:,} from {part['from']}" for part in entry["filled"])
        output.say(
            f"'{entry['name']}' has {entry['found']:,} of the {entry['wanted']:,} that are wanted"
            + (f"; made up for by {filled}" if filled else "")
            + (f"; {entry['short']:,} are missing." if entry["short"] else ".")
        )
    rate = figures["sentences_per_second"]
    output.say(
        f"Read {report.tally.sentences:,} sentences of {report.tally.rows:,} texts ({rate:,} per second); "
        f"wrote {report.taken:,} to {named(out)}."
    )


_FIGURES = ("wanted", "taken", "seen", "distinct", "estimated")


def _about(counts: dict[str, Any]) -> str:
    return f"{'about ' if counts['estimated'] else ''}{counts['distinct']}"

"""`quintain round`: collecting examples from people who write at a model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli.confirm_changes import RemoveOption, YesOption, confirm_changes
from quintain.cli.context import RevisionOption, link_base, workspace_of
from quintain.cli.output import UNCOUNTED, JsonFlag, bar, print_json, print_line, print_table, say
from quintain.cli.streams import in_file, named, out_file
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.collect import Counters, Rounds
from quintain.core.texts import Text
from quintain.core.toml import read_text
from quintain.data.tables import parse_columns
from quintain.services.collect.panels import entry
from quintain.services.collect.rounds import export as attempt_export
from quintain.services.collect.rounds import manage as service
from quintain.services.collect.rounds import prompts, round_figures
from quintain.services.pay import earnings

app = typer.Typer(help="Collect examples in rounds.", no_args_is_help=True)

RoundName = Annotated[str, typer.Argument(metavar="ROUND", help="The round, as task/number, such as sentiment/2.")]


@app.command()
def new(
    context: typer.Context,
    file: Annotated[Path, in_file("TOML file of the round.")],
    check: Annotated[bool, typer.Option("--check", help="Only say what is wrong with it; needs no workspace.")] = False,
    remove: RemoveOption = None,
    yes: YesOption = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Add a round as a draft, or change it.

    Example: quintain round new round-2.toml
    """
    text = read_text(file, remedy=Text("`quintain round new --help` says what is in one."))
    if check:
        spec = service.check_round(text, file=str(file))
        say(f"{file} defines a round of task '{spec.task}'.")
        if json:
            print_json({"file": str(file), "task": spec.task, "title": spec.title})
        return
    with workspace_of(context).session() as db:
        info = confirm_changes(
            lambda edit: service.put_round(db, OPERATOR, text, file=str(file), edit=edit), remove, revision, yes=yes
        )
    _show(info, json, f"Round {info.ref} is a {info.state}, version {info.version}.")


@app.command("open")
def open_(context: typer.Context, ref: RoundName, json: JsonFlag = False) -> None:
    """Open a round: from now on people may write.

    Example: quintain round open sentiment/2
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        info = service.open_round(db, OPERATOR, ref)
        wage = earnings.wage(db, info.id, info.spec)
    if info.spec.entry is not None:
        say(f"The panel sends people to: {entry.entry_url(info, link_base(workspace))}")
    say(f"A session takes about {wage.minutes:g} minutes and pays {info.spec.reward.base}: {wage.hourly} an hour.")
    _show(info, json, f"Round {ref} is open.")


@app.command()
def close(context: typer.Context, ref: RoundName, json: JsonFlag = False) -> None:
    """Close a round: nobody can write any more, and what was written stays.

    Example: quintain round close sentiment/2
    """
    with workspace_of(context).session() as db:
        info = service.close_round(db, OPERATOR, ref)
    _show(info, json, f"Round {ref} is closed.")


@app.command()
def clone(
    context: typer.Context,
    ref: RoundName,
    title: Annotated[str | None, typer.Option("--title", help="Title of the new round.", show_default=False)] = None,
    json: JsonFlag = False,
) -> None:
    """Add a draft that asks the same, as the task's next round.

    Example: quintain round clone sentiment/2
    """
    with workspace_of(context).session() as db:
        info = service.clone_round(db, OPERATOR, ref, title=title)
    _show(info, json, f"Round {info.ref} is a draft that asks what {ref} does. It has no prompts yet.")


@app.command()
def status(
    context: typer.Context,
    ref: Annotated[
        str | None, typer.Argument(metavar="[ROUND]", help="The round; all rounds by default.", show_default=False)
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Show how a round goes, or list all rounds.

    Example: quintain round status sentiment/2
    """
    with workspace_of(context).session() as db:
        if ref is None:
            _list(service.list_rounds(db, OPERATOR), json)
            return
        counters = round_figures.counters(db, OPERATOR, ref)
        info = service.get_round(db, OPERATOR, ref)
        wage = earnings.wage(db, info.id, info.spec)
        totals = earnings.round_totals(db, OPERATOR, info.task, info.id)
    if json:
        print_json({"round": info.record(), "counters": counters, "pay": totals, "session": wage})
        return
    _print_counters(counters)
    print_table(["", ""], [(f"{total.kind}, {total.status}", str(total.money)) for total in totals])


@app.command("prompts")
def prompts_(
    context: typer.Context,
    ref: RoundName,
    file: Annotated[Path, in_file("Table of prompts: CSV, TSV, JSONL or Parquet.")],
    column: Annotated[
        list[str] | None, typer.Option("--column", help="NAME=COLUMN: what a field is called in the file.")
    ] = None,
    corpus: Annotated[str | None, typer.Option("--corpus", help="The corpus; the file's name by default.")] = None,
    part: Annotated[str | None, typer.Option("--part", help="The part of the corpus that all rows are from.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag for all of them; may be repeated.")] = None,
    contexts: Annotated[
        bool, typer.Option("--contexts", help="Only what writers may not change, such as the passage.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Add prompts to a round; what earlier rounds of the task used is left out.

    Example: quintain round prompts sentiment/2 reviews.csv --column text=review --part b

    Example: quintain round prompts quiz/3 passages.jsonl --contexts
    """
    with workspace_of(context).session() as db:
        report = prompts.import_prompts(
            db,
            OPERATOR,
            ref,
            file,
            columns=parse_columns(column or []),
            corpus=corpus,
            part=part,
            tags=tag or (),
            contexts=contexts,
        )
    if json:
        print_json(report)
    say(
        f"{report.added} of {report.rows} prompts were added. Left out: {report.repeated} repeated, "
        f"{report.used} shown in another round or harvested, {report.used_parts} from parts of which anything was, "
        f"{report.used_reviews} from reviews of which a sentence was."
    )


@app.command()
def export(
    context: typer.Context,
    ref: RoundName,
    file: Annotated[Path, out_file("Where to: .csv, .tsv, .jsonl or .parquet.")],
    fooling: Annotated[bool, typer.Option("--fooling", help="Only attempts that fooled the model.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write the attempts of a round to a file, with other names for the writers.

    Example: quintain round export sentiment/2 attempts.jsonl
    """
    if file.is_dir():
        raise BadInput("{file} is a folder.", file=file, remedy="Name a file in it.")
    with workspace_of(context).session() as db, bar() as show:
        report = partial(show, "Attempts")
        rows = attempt_export.export_attempts(db, OPERATOR, ref, file, nonfooling=not fooling, tell=report)
    if json:
        print_json({"round": ref, "file": str(file), "rows": rows})
    say(f"Wrote {rows} attempts to {named(file)}.")


def _show(info: service.RoundInfo, json: bool, message: str) -> None:
    say(message)
    if json:
        print_json(info.record())


def _list(rounds: list[service.RoundInfo], json: bool) -> None:
    if json:
        print_json(Rounds([one.record() for one in rounds]))
    elif not rounds:
        say("There are no rounds yet. Add one with `quintain round new FILE`.")
    else:
        rows = [
            (one.ref, one.kind.value, one.state.value, one.spec.title, _day(one.opened_at), _day(one.closed_at))
            for one in rounds
        ]
        print_table(["round", "kind", "state", "title", "opened", "closed"], rows)


def _print_counters(counters: Counters) -> None:
    if not counters.counted:
        print_line(f"{counters.round} is {counters.state}. {UNCOUNTED}")
        return
    rows: list[tuple[str, Any]] = [
        ("state", counters.state),
        ("attempts", counters.attempts),
        ("fooled the model", f"{counters.fooled} ({_percent(counters.rate)})"),
        ("workers", counters.workers),
        ("retracted", counters.retracted),
        ("flags to look at", counters.flags),
        *((f"sessions {name}", count) for name, count in counters.sessions.items()),
        *((f"prompts {name}" if name != "prompts" else name, count) for name, count in counters.prompts.items()),
    ]
    print_table(["", ""], rows)
    for title, counts in (
        ("label", counters.by_label),
        ("condition", counters.by_condition),
        ("worker", counters.by_worker),
    ):
        if counts:
            print_table(
                [title, "attempts", "fooled", "rate"],
                [(count.name, count.attempts, count.fooled, _percent(count.rate)) for count in counts],
            )


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.1%}"


def _money(money: Any) -> dict[str, Any]:
    return {"amount": money.amount, "currency": money.currency}


def _day(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""

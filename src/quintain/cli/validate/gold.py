"""`quintain validate gold`: items with known labels, mixed in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_table, say
from quintain.cli.streams import in_file
from quintain.cli.validate.validate import Columns, Ref, rate
from quintain.cli.validate.validate import app as validate
from quintain.core.people import OPERATOR
from quintain.core.records.judging import GOLD_USES
from quintain.data.tables import parse_columns
from quintain.services.validate.console import item_files
from quintain.services.validate.quality import gold, gold_list, gold_quiz
from quintain.services.validate.quality.gold_list import GOLD_ORDERS, GoldQuery

app = typer.Typer(help="Items with known labels, which are mixed in.", no_args_is_help=True)
validate.add_typer(app, name="gold")

GoldId = Annotated[int, typer.Argument(metavar="ITEM", help="Id of the gold item.", show_default=False)]


@app.command("list")
def list_(
    context: typer.Context,
    ref: Ref,
    use: Annotated[str, typer.Option(help=f"Only those that are {' or '.join(GOLD_USES)}.", show_default=False)] = "",
    text: Annotated[str, typer.Option(help="Only items that contain this.", show_default=False)] = "",
    sort: Annotated[str, typer.Option(help=f"By {', '.join(GOLD_ORDERS)}.")] = "added",
    down: Annotated[bool, typer.Option("--down", help="The largest first.")] = False,
    limit: Annotated[int, typer.Option(help="List at most so many.", min=1)] = 50,
    json: JsonFlag = False,
) -> None:
    """List the gold items with how judges do on them.

    Example: quintain validate gold list sentiment/2 --sort accuracy
    """
    with workspace_of(context).session() as db:
        _show(db, ref, json, GoldQuery(use, text, sort, down, 0, limit))


@app.command()
def add(
    context: typer.Context,
    ref: Ref,
    file: Annotated[Path, in_file("File with the fields, label and note.")],
    column: Columns = None,
    json: JsonFlag = False,
) -> None:
    """Add the gold items of a table.

    Example: quintain validate gold add sentiment/2 gold.csv
    """
    with workspace_of(context).session() as db:
        added = item_files.add_gold_from_file(db, OPERATOR, ref, file, parse_columns(column or []))
        say(f"{added} gold items added.")
        _show(db, ref, json)


@app.command()
def make(
    context: typer.Context,
    ref: Ref,
    item: Annotated[int, typer.Argument(help="Id of an item that is judged to the end.", show_default=False)],
    note: Annotated[str, typer.Option(help="Why its label is sure.")] = "",
    json: JsonFlag = False,
) -> None:
    """Make a gold item of one that is judged to the end.

    Example: quintain validate gold make sentiment/2 17 --note "All say so."
    """
    with workspace_of(context).session() as db:
        say(f"Item {item} is a gold item now: {gold.gold_from_item(db, OPERATOR, ref, item, note=note)}.")
        _show(db, ref, json)


@app.command()
def retire(context: typer.Context, ref: Ref, item: GoldId, json: JsonFlag = False) -> None:
    """Show a gold item no more; the answers to it stay.

    Example: quintain validate gold retire sentiment/2 21
    """
    with workspace_of(context).session() as db:
        gold.retire_gold(db, OPERATOR, ref, item)
        _show(db, ref, json)


@app.command()
def restore(context: typer.Context, ref: Ref, item: GoldId, json: JsonFlag = False) -> None:
    """Show a gold item again that was retired.

    Example: quintain validate gold restore sentiment/2 21
    """
    with workspace_of(context).session() as db:
        gold.restore_gold(db, OPERATOR, ref, item)
        _show(db, ref, json)


@app.command()
def quiz(
    context: typer.Context,
    ref: Ref,
    instructions: Annotated[str, typer.Option(help="What it says before its questions.")] = "",
    json: JsonFlag = False,
) -> None:
    """Make the entry quiz of the policy from gold items.

    Example: quintain validate gold quiz sentiment/2
    """
    with workspace_of(context).session() as db:
        say(f"The quiz '{gold_quiz.make_quiz(db, OPERATOR, ref, instructions=instructions)}' is ready.")
        _show(db, ref, json)


def _show(db: Session, ref: str, json: bool, selection: GoldQuery | None = None) -> None:
    listed = gold_list.list_gold(db, OPERATOR, ref, selection)
    if json:
        print_json(listed)
        return
    if len(listed.gold) < listed.total:
        say(f"{len(listed.gold)} of {listed.total} gold items:")
    columns = ["id", "label", "shown", "answered", "right", "retired", "quiz"]
    print_table([*columns, "accuracy"], [[*(one[name] for name in columns), rate(one.accuracy)] for one in listed.gold])

"""`quintain validate rule|unqualify|requalify`: whose judgements count, by a rule or by name."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.context import workspace_of
from quintain.cli.names import split_names
from quintain.cli.output import JsonFlag, print_json, print_line
from quintain.cli.validate.validate import Ref
from quintain.cli.validate.validate import app as validate
from quintain.core.people import OPERATOR
from quintain.core.records.judging import RuleEffect
from quintain.core.validation import RULE_NAMES
from quintain.services.validate.quality import unqualify

app = typer.Typer(help="Rules that tell random clickers from honest judges.", no_args_is_help=True)
validate.add_typer(app, name="rule")

Rule = Annotated[str, typer.Option(help=f"The rule: {', '.join(RULE_NAMES)}.")]
Limit = Annotated[float | None, typer.Option(help="The rule's limit, from 0 to 1.", show_default=False)]
Least = Annotated[int, typer.Option(help="Nobody with fewer judgements to compare.")]
Workers = Annotated[list[str], typer.Option("--worker", help="These judges.", show_default=False)]


@app.command("try")
def try_(
    context: typer.Context,
    ref: Ref,
    rule: Rule = "disagreement",
    limit: Limit = None,
    least: Least = 10,
    json: JsonFlag = False,
) -> None:
    """Show whom a rule would catch, and how surely it catches random clickers; change nothing.

    Example: quintain validate rule try sentiment/2 --rule wilson --limit 0.5
    """
    with workspace_of(context).session() as db:
        _tell(unqualify.try_rule(db, OPERATOR, ref, unqualify.rule_of(rule, limit, least)), json)


@app.command("apply")
def apply_(
    context: typer.Context,
    ref: Ref,
    rule: Rule = "disagreement",
    limit: Limit = None,
    least: Least = 10,
    json: JsonFlag = False,
) -> None:
    """Unqualify everybody whom a rule catches: their work is paid, set aside and done anew.

    Example: quintain validate rule apply sentiment/2 --rule wilson --limit 0.5
    """
    with workspace_of(context).session() as db:
        _tell(unqualify.apply_rule(db, OPERATOR, ref, unqualify.rule_of(rule, limit, least)), json)


def _tell(effect: RuleEffect, json: bool) -> None:
    if json:
        print_json(effect)
        return
    caught = ", ".join(effect.workers) or "nobody"
    power = "; ".join(f"{one.clicker:.0%} after {one.judgements}" for one in effect.power)
    print_line(f"{effect.rule}: {caught} ({effect.judgements} judgements). Random clickers caught: {power}.")
    if effect.weak:
        print_line(effect.advice)


@validate.command("unqualify")
def unqualify_(
    context: typer.Context,
    ref: Ref,
    worker: Workers,
    reason: Annotated[str, typer.Option(help="Why; they read it.", show_default=False)],
    json: JsonFlag = False,
) -> None:
    """Unqualify judges by name: their work is paid, set aside and done anew.

    Example: quintain validate unqualify sentiment/2 --worker wilma --reason "The same key throughout."
    """
    with workspace_of(context).session() as db:
        done = unqualify.unqualify(db, OPERATOR, ref, split_names(worker), reason=reason)
    print_json(done) if json else print_line(f"{done.opened} slots are open again.")


@validate.command()
def requalify(
    context: typer.Context,
    ref: Ref,
    worker: Workers,
    reason: Annotated[str, typer.Option(help="Why; they read it.")] = "",
    restore: Annotated[bool, typer.Option("--restore", help="What they judged counts again.")] = False,
    json: JsonFlag = False,
) -> None:
    """Let judges work again who were unqualified.

    Example: quintain validate requalify sentiment/2 --worker wilma --restore
    """
    names = split_names(worker)
    with workspace_of(context).session() as db:
        for name in names:
            unqualify.requalify(db, OPERATOR, ref, name, reason=reason, restore=restore)
    print_json({"qualified": names}) if json else print_line(f"{', '.join(names)} may judge again.")

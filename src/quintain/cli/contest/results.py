"""`quintain contest pairs`, `rule`, `dispute`, `results`, `export`: every pair, its labels, and what came of it all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.contest.contests import ContestRef
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, print_json, print_line, print_table, say
from quintain.cli.plain.contest import app, print_score
from quintain.cli.streams import named, out_file
from quintain.core.people import OPERATOR
from quintain.services.contest import rulings, scores


@app.command()
def pairs(
    context: typer.Context,
    ref: ContestRef,
    team: Annotated[str, typer.Option("--team", help="Only those of a team.")] = "",
    status: Annotated[
        str,
        typer.Option(
            "--status",
            help="Only those contested, undecided, settled, dropped, waiting (for you) or expired (as they were).",
        ),
    ] = "",
    offset: Annotated[int, typer.Option("--offset", help="Skip so many.", min=0)] = 0,
    limit: Annotated[int, typer.Option("--limit", help="At most so many.", min=1, max=200)] = 50,
    json: JsonFlag = False,
) -> None:
    """List the pairs of a contest, with the systems that each broke.

    Example: quintain contest pairs sentiment/spring --status contested
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        page = scores.list_pairs(
            db, workspace.blobs, OPERATOR, ref, team=team, status=status, offset=offset, limit=limit
        )
    if json:
        print_json(page)
        return
    rows = [
        (pair.id, pair.team, pair.name, pair.original_label, pair.modified_label, pair.status, pair.broken)
        for pair in page.pairs
    ]
    print_table(["id", "team", "pair", "original", "modified", "status", "broke"], rows)
    say(f"{len(page.pairs)} of {page.total} pairs.")


@app.command()
def rule(
    context: typer.Context,
    ref: ContestRef,
    pair: Annotated[int, typer.Argument(help="Id of the pair.")],
    decision: Annotated[str, typer.Argument(help="keep, relabel or drop.")],
    original: Annotated[str, typer.Option("--original", help="With relabel: the original's label.")] = "",
    modified: Annotated[str, typer.Option("--modified", help="With relabel: the other side's label.")] = "",
    reason: Annotated[str, typer.Option("--reason", help="Why: the teams concerned read it.", show_default=False)] = "",
    json: JsonFlag = False,
) -> None:
    """Decide about a pair: keep it, change its labels, or drop it from the score.

    Example: quintain contest rule sentiment/spring 12 drop --reason "Not English."
    """
    with workspace_of(context).session() as db:
        rulings.rule_pair(db, OPERATOR, ref, pair, decision, original=original, modified=modified, reason=reason)
    say(f"Pair {pair} of {ref}: {decision}.")
    if json:
        print_json({"pair": pair, "decision": decision})


@app.command("rule-rest")
def rule_rest(
    context: typer.Context,
    ref: ContestRef,
    reason: Annotated[str, typer.Option("--reason", help="Why: the teams concerned read it.", show_default=False)] = "",
    json: JsonFlag = False,
) -> None:
    """Let every pair that waits for the organisers count as it was written.

    Example: quintain contest rule-rest sentiment/spring --reason "Nobody showed that they are wrong."
    """
    with workspace_of(context).session() as db:
        decided = rulings.rule_rest(db, OPERATOR, ref, reason)
    say(f"{decided.pairs} pairs of {ref} count as they were written.")
    if json:
        print_json(decided)


@app.command()
def dispute(
    context: typer.Context,
    ref: ContestRef,
    pair: Annotated[int, typer.Argument(help="Id of the pair.")],
    reason: Annotated[str, typer.Option("--reason", help="What is wrong with it.", show_default=False)] = "",
    json: JsonFlag = False,
) -> None:
    """Contest a pair as the organisers: it leaves the score until judges settle it, or you decide.

    Example: quintain contest dispute sentiment/spring 12 --reason "The new sentence is not negative at all."
    """
    with workspace_of(context).session() as db:
        rulings.contest_pair(db, OPERATOR, ref, pair, reason)
    say(f"Pair {pair} of {ref} is contested.")
    if json:
        print_json({"pair": pair, "contested": True})


@app.command()
def disputes(context: typer.Context, ref: ContestRef, json: JsonFlag = False) -> None:
    """List what was said against pairs, by whom, and what came of it.

    Example: quintain contest disputes sentiment/spring
    """
    with workspace_of(context).session() as db:
        listed = rulings.list_disputes(db, OPERATOR, ref)
    if json:
        print_json(listed)
        return
    rows = [
        (one.pair, one.team, one.name, one.by, one.status, "yes" if one.upheld else "", one.reason)
        for one in listed.disputes
    ]
    print_table(["id", "team", "pair", "contested by", "status", "upheld", "reason"], rows)


@app.command()
def results(context: typer.Context, ref: ContestRef, json: JsonFlag = False) -> None:
    """Show what came of a contest: builders, breakers, and what lies behind their scores.

    Example: quintain contest results sentiment/spring
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        outcome = scores.results(db, workspace.blobs, OPERATOR, ref)
    for note in outcome.notes:
        say(note)
    if json:
        print_json(outcome)
    else:
        print_score(outcome.score)


@app.command()
def export(
    context: typer.Context,
    ref: ContestRef,
    out: Annotated[Path, out_file("Where to: CSV, TSV, JSONL or Parquet.", metavar="OUT")],
    json: JsonFlag = False,
) -> None:
    """Write every pair with every system's answers, and print the command that computes the figures from it.

    Example: quintain contest export sentiment/spring pairs.csv
    """
    workspace = workspace_of(context)
    with workspace.session() as db:
        command = scores.export(db, workspace.blobs, OPERATOR, ref, out)
    say(f"Wrote {named(out)}; this command gives the figures:")
    if json:
        print_json({"file": str(out), "command": command})
    else:
        print_line(command)

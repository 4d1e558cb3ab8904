"""`quintain evaluate answers`: what a model answered, example by example."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli import output
from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag
from quintain.cli.plain.score import app
from quintain.core.people import OPERATOR
from quintain.core.records.evaluate import GivenAnswer
from quintain.services.evaluate.results.answers import AnswerFilter, list_answers, read_show

SHOWN = 80


@app.command()
def answers(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="task/name or task/name@version.", show_default=False)],
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="Its name, or name@version.", show_default=False)],
    wrong: Annotated[bool, typer.Option("--wrong", help="Only wrong ones; the same as --show wrong.")] = False,
    show: Annotated[str, typer.Option(help="all, right, wrong or failed.")] = "all",
    label: Annotated[str, typer.Option(help="Only those whose right answer is this.")] = "",
    answered: Annotated[str, typer.Option("--said", metavar="TEXT", help="Only those that were answered so.")] = "",
    text: Annotated[str, typer.Option(help="Only those whose inputs contain this.")] = "",
    offset: Annotated[int, typer.Option(min=0, help="Skip so many.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=500, help="At most so many.")] = 50,
    json: JsonFlag = False,
) -> None:
    """List what a model answered to each example of a data set, with the right answer and what became of it.

    Example: quintain evaluate answers sentiment/tfidf reviews --wrong --json
    """
    sieve = AnswerFilter(read_show("wrong" if wrong else show), label, answered, text)
    workspace = workspace_of(context)
    with workspace.session() as db:
        page = list_answers(db, workspace.blobs, OPERATOR, model, dataset, sieve, offset=offset, limit=limit)
    if json:
        output.print_json(page)
        return
    output.print_table(["result", "inputs", "right answer", "its answer", "sure", "id"], map(_line, page.answers))
    output.say(f"{len(page.answers):,} of {page.total:,} answers, from number {offset + 1:,}.")


def _line(row: GivenAnswer) -> list[object]:
    inputs = " · ".join(str(value) for value in row.inputs.values() if value is not None).replace("\n", " ")
    sure = max((share for share in (row.probabilities or {}).values() if share is not None), default=None)
    answer = row.reason or "" if row.state == "failed" else row.answer
    return [row.state, _cut(inputs), row.gold, _cut(str(answer)), "" if sure is None else f"{sure:.3f}", row.id]


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"

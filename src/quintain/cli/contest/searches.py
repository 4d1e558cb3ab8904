"""`quintain contest break`: let a search propose pairs, and say of each whether it is one."""

from __future__ import annotations

from typing import Annotated

import typer

from quintain.cli.contest.contests import ContestRef
from quintain.cli.contest.teams import TokenOption, UrlOption, team_client
from quintain.cli.output import JsonFlag, print_json, print_line, say
from quintain.cli.plain.contest import app
from quintain.client import Client
from quintain.core.errors import BadInput
from quintain.core.records.contests import ContestProposal, ContestSearch
from quintain.stats.diff import word_diff

AT_A_TIME = 50


@app.command("break")
def break_(
    context: typer.Context,
    ref: ContestRef,
    url: UrlOption,
    token: TokenOption = "",
    model: Annotated[str, typer.Option("--model", help="The model to turn, as task/name.", show_default=False)] = "",
    search: Annotated[
        int | None, typer.Option("--search", help="Go on with this search instead.", show_default=False)
    ] = None,
    text: Annotated[str, typer.Option("--text", help="Only sentences that contain this.", show_default=False)] = "",
    words: Annotated[int, typer.Option("--words", help="Words to replace, at most.", min=1, max=5)] = 2,
    beam: Annotated[int, typer.Option("--beam", help="Texts kept in each step.", min=1, max=10)] = 4,
    budget: Annotated[int, typer.Option("--budget", help="Texts to ask the model about, at most.", min=1)] = 500,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", help="Where words come from: opposites, near, data.", show_default=False),
    ] = None,
    ask: Annotated[bool, typer.Option("--ask/--no-ask", help="Go through the proposals afterwards.")] = True,
    json: JsonFlag = False,
) -> None:
    """Search for changes of starter sentences that turn a model, and make pairs of those that you confirm.

    Interrupt it whenever you like: `--search NUMBER` goes on where it ended.

    Example: quintain contest break sentiment/spring --model sentiment/tfidf --budget 300 --url https://bench.example.org
    """
    if bool(model) == (search is not None):
        raise BadInput("Name either a model to turn, or a search to go on with.", remedy="Give --model or --search.")
    with team_client(context, url, token) as client:
        if search is None:
            search = client.start_contest_search(
                ref, model, text=text, words=words, beam=beam, budget=budget, sources=source or ()
            ).number
            say(f"This is search {search}.")
        now = _to_the_end(client, ref, search)
        if ask and not json:
            _decide(client, ref, now)
        elif json:
            print_json(client.contest_proposals(ref, search, limit=200))


def _to_the_end(client: Client, ref: str, number: int) -> ContestSearch:
    """Go on until the search is done, and say how far it is."""
    now = next((search for search in client.contest_searches(ref).searches if search.number == number), None)
    if now is None:
        raise BadInput("Your team has no search {number}.", number=number)
    while not now.done:
        now = client.advance_contest_search(ref, number)
        say(f"{now.position} of {now.total} sentences, {now.asked} texts asked about, {now.proposals} proposals.")
    return now


def _decide(client: Client, ref: str, search: ContestSearch) -> None:
    """Ask somebody about each proposal that waits: a label makes a pair of it."""
    left = client.contest_proposals(ref, search.number, waiting=True, limit=AT_A_TIME).proposals
    for proposal in left:
        _show(proposal)
        label = typer.prompt("Label of the changed sentence (n: no pair, s: later, q: enough)", err=True).strip()
        if label == "q":
            break
        if label == "n":
            client.reject_contest_proposal(ref, proposal.id)
        elif label != "s":
            try:
                pair = client.confirm_contest_proposal(ref, proposal.id, label)
            except BadInput as error:
                say(str(error))
                continue
            say(f"It is your team's pair {pair.name}.")
    waiting = client.contest_proposals(ref, search.number, waiting=True, limit=1).total
    say(f"{waiting} proposals wait. Go on with `quintain contest break {ref} --search {search.number}`.")


def _show(proposal: ContestProposal) -> None:
    for name, value in proposal.original.items():
        pieces = word_diff(str(value), str(proposal.modified.get(name, "")))
        marks = {"added": "[+{}+]", "removed": "[-{}-]"}
        print_line("".join(marks.get(kind, "{}").format(piece) for kind, piece in pieces))
    known = "" if proposal.label is None else f" The starter set says {proposal.label}."
    print_line(f"  The model: {proposal.was} → {proposal.says}.{known}")

"""`quintain model`: look at models and look after them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quintain.cli.context import RevisionOption, workspace_of
from quintain.cli.models.predict import read_text_file
from quintain.cli.output import JsonFlag, out, print_document, print_json, print_table, say
from quintain.cli.plain.models import app
from quintain.cli.streams import in_option
from quintain.core.editing import EditOrigin
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR
from quintain.core.records.tasks import Models
from quintain.services.models import registry as service

Ref = Annotated[
    str, typer.Argument(metavar="MODEL", help="task/name, task/name@version or a hash.", show_default=False)
]


@app.command("list")
def list_(
    context: typer.Context,
    task: Annotated[str | None, typer.Option("--task", "-t", help="Only those of this task.")] = None,
    json: JsonFlag = False,
) -> None:
    """List the models.

    Example: quintain model list --task sentiment
    """
    with workspace_of(context).session() as db:
        models = service.list_models(db, OPERATOR, task)
    if json:
        print_json(Models([model.record() for model in models], len(models), 0))
        return
    rows = [(m.version.ref, m.version.adapter, m.visibility, m.owner, m.version.hash[:12]) for m in models]
    print_table(("model", "adapter", "visibility", "owner", "hash"), rows)


@app.command()
def show(context: typer.Context, ref: Ref, json: JsonFlag = False) -> None:
    """Show a model and its versions.

    Example: quintain model show sentiment/tfidf
    """
    with workspace_of(context).session() as db:
        model = service.get_model(db, OPERATOR, ref)
    if json:
        print_json(model.record())
        return
    out.print(f"{model.version.ref}  {model.visibility}  {model.version.hash}", markup=False, soft_wrap=True)
    rows = [(v.number, v.hash[:12], v.adapter, f"{v.created_at:%Y-%m-%d %H:%M}", _state(v)) for v in model.versions]
    print_table(("version", "hash", "adapter", "made", ""), rows)


@app.command()
def card(
    context: typer.Context,
    ref: Ref,
    file: Annotated[Path | None, in_option("Give it this Markdown file as its card.", "--set")] = None,
    history: Annotated[bool, typer.Option("--history", help="Show when it was changed, and by whom.")] = False,
    revision: RevisionOption = "",
    json: JsonFlag = False,
) -> None:
    """Print a model's card, or give it a new one.

    Example: quintain model card sentiment/tfidf > card.md

    Example: quintain model card sentiment/tfidf --set card.md
    """
    with workspace_of(context).session() as db:
        if file is not None:
            version = service.update_card(db, OPERATOR, ref, read_text_file(file), edit=EditOrigin(revision))
            say(f"The card of {version.ref} is up to date.")
        else:
            version = service.get_model(db, OPERATOR, ref).version
        changes = service.card_history(db, OPERATOR, version.ref) if history else []
    if json:
        listed = [
            {"at": change.created_at.isoformat(), "author": change.author, "text": change.text} for change in changes
        ]
        print_json({"ref": version.ref, "card": version.card} | ({"history": listed} if history else {}))
    elif history:
        rows = [
            (f"{change.created_at:%Y-%m-%d %H:%M}", change.author, f"{len(change.text):,} characters")
            for change in changes
        ]
        print_table(("at", "by", "card"), rows)
    elif file is None:
        print_document(version.card, nl=False)


@app.command()
def visibility(
    context: typer.Context,
    ref: Ref,
    value: Annotated[str, typer.Argument(metavar="VISIBILITY", help="public, private or anonymous.")],
    json: JsonFlag = False,
) -> None:
    """Make a model public, private, or anonymous (shown, but not whose it is).

    Example: quintain model visibility sentiment/tfidf private
    """
    chosen = next((known for known in service.VISIBILITIES if known == value), None)
    if chosen is None:
        raise BadInput(
            "The visibility '{value}' is not one of {visibilities}.",
            value=value,
            visibilities=", ".join(service.VISIBILITIES),
        )
    with workspace_of(context).session() as db:
        model = service.set_visibility(db, OPERATOR, ref, chosen)
    if json:
        print_json(model.record())
    else:
        say(f"{model.task}/{model.name} is {model.visibility} now.")


@app.command()
def withdraw(context: typer.Context, ref: Ref, json: JsonFlag = False) -> None:
    """Withdraw a version: it stays in the records, and nobody can run it any more.

    Example: quintain model withdraw sentiment/tfidf@1
    """
    with workspace_of(context).session() as db:
        version = service.withdraw(db, OPERATOR, ref)
    if json:
        print_json(version.record())
    else:
        say(f"{version.ref} is withdrawn.")


@app.command()
def restore(context: typer.Context, ref: Ref, json: JsonFlag = False) -> None:
    """Take a version back that was withdrawn; what it has missed is queued.

    Example: quintain model restore sentiment/tfidf@1
    """
    with workspace_of(context).session() as db:
        version = service.restore(db, OPERATOR, ref)
    if json:
        print_json(version.record())
    else:
        say(f"{version.ref} is back.")


def _state(version: service.ModelVersionInfo) -> str:
    return "withdrawn" if version.withdrawn_at else ""

"""`quintain model`: look at models, look after them, ask them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, out, print_json, print_table, say
from quintain.cli.streams import in_option
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.example import Prediction
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.people import OPERATOR
from quintain.core.records.tasks import Models
from quintain.core.records.training import LearnerInfo
from quintain.core.task import Task
from quintain.models.contract import BASELINES, baselines_for, load
from quintain.models.learning import LEARNERS, option_rows
from quintain.models.recipes import read_shipped, shipped_recipes
from quintain.services.models import ask as asking
from quintain.services.models import registry as service
from quintain.services.tasks.definitions import get_task
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import read_task

app = typer.Typer(help="Look at models, look after them, ask them.", no_args_is_help=True)

CLI_SECONDS = 120.0  # somebody at a terminal waits for a model to be loaded

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
        found = service.list_models(db, OPERATOR, task)
    if json:
        print_json(Models([model.record() for model in found], len(found), 0))
        return
    rows = [(m.version.ref, m.version.adapter, m.visibility, m.owner, m.version.hash[:12]) for m in found]
    print_table(("model", "adapter", "visibility", "owner", "hash"), rows)


@app.command()
def baselines(
    task: Annotated[Path | None, in_option("Only those that suit this task file.", "--task", "-t")] = None,
    json: JsonFlag = False,
) -> None:
    """List the baselines that `quintain train` knows; needs no workspace.

    Example: quintain model baselines --task task.toml
    """
    suited = BASELINES.names() if task is None else baselines_for(read_task(task))
    found = [(name, BASELINES.get(name)) for name in suited]
    if json:
        print_json({"baselines": [{"name": name, "title": one.title, "about": one.about} for name, one in found]})
    else:
        print_table(("baseline", "title"), [(name, one.title) for name, one in found])


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Print this one.", show_default=False)] = None,
    write: Annotated[Path | None, typer.Option("--write", "-w", help="Write it to this file, to change it.")] = None,
    json: JsonFlag = False,
) -> None:
    """List the recipes that come with the program, or give one to start from; needs no workspace.

    Example: quintain model recipes model-1 --write model-1.toml
    """
    if name is None:
        if write is not None:
            raise typer.BadParameter("Name the recipe that is to be written.")
        found = shipped_recipes()
        if json:
            print_json({"recipes": found})
        else:
            print_table(("recipe", "what it is"), [(one.name, one.about) for one in found])
        return
    one = read_shipped(name)
    if write is not None:
        if write.exists():
            raise Conflict("{path} is there already.", path=write, remedy="Name another file.")
        write.write_text(one.text, encoding="utf-8")
        say(f"Wrote {write}. Change what is yours in it, then: quintain train {write}")
    elif not json:
        typer.echo(one.text, nl=False)
    if json:
        print_json(one)


@app.command()
def learners(json: JsonFlag = False) -> None:
    """List the learners of recipes and their options; needs no workspace.

    Example: quintain model learners
    """
    found = [
        LearnerInfo(name, one.title, one.about, [dict(row) for row in option_rows(one)])
        for name, one in LEARNERS.items()
    ]
    if json:
        print_json({"learners": found})
        return
    for one in found:
        say(f"{one.name}: {one.title}. {one.about}")
        rows = [tuple(str(row[key]) for key in ("name", "default", "takes", "meaning")) for row in one.options]
        print_table(("option", "default", "takes", "meaning"), rows)


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
    json: JsonFlag = False,
) -> None:
    """Print a model's card, or give it a new one.

    Example: quintain model card sentiment/tfidf > card.md

    Example: quintain model card sentiment/tfidf --set card.md
    """
    with workspace_of(context).session() as db:
        if file is not None:
            version = service.update_card(db, OPERATOR, ref, _read_text(file))
            say(f"The card of {version.ref} is up to date.")
        else:
            version = service.get_model(db, OPERATOR, ref).version
        changes = service.card_history(db, OPERATOR, version.ref) if history else []
    if json:
        listed = [{"at": one.created_at.isoformat(), "author": one.author, "text": one.text} for one in changes]
        print_json({"ref": version.ref, "card": version.card} | ({"history": listed} if history else {}))
    elif history:
        rows = [(f"{one.created_at:%Y-%m-%d %H:%M}", one.author, f"{len(one.text):,} characters") for one in changes]
        print_table(("at", "by", "card"), rows)
    elif file is None:
        typer.echo(version.card, nl=False)


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
def predict(
    context: typer.Context,
    ref: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="The model; none with --dir.")] = None,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="A text to ask about.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="JSON lines of inputs; - for stdin.")] = None,
    folder: Annotated[Path | None, typer.Option("--dir", help="A trained folder; needs no workspace.")] = None,
    json: JsonFlag = False,
) -> None:
    """Ask a model about a text, or about each line of a file of inputs.

    Example: quintain model predict sentiment/tfidf "What a lovely day."

    Example: quintain model predict --dir model --file inputs.jsonl --json
    """
    if folder is not None:
        if text is not None:
            raise typer.BadParameter("With --dir there is no MODEL to name: give the text alone.")
        model = load(folder)
        inputs = _inputs(model.task, ref, file)
        asking.check_inputs(model.task, inputs)
        _print(inputs, asking.parse(model.task, inputs, model.predict(inputs), str(folder)), json)
        return
    if ref is None:
        raise typer.BadParameter("Name a model, or a trained folder with --dir.")
    workspace = workspace_of(context)
    with workspace.session() as db:
        task = get_task(db, service.get_model(db, OPERATOR, ref).task)
        inputs = _inputs(task, text, file)
        found = [
            prediction
            for start in range(0, len(inputs), asking.MAX_INPUTS)
            for prediction in asking.predict(
                db,
                workspace.blobs,
                OPERATOR,
                ref,
                inputs[start : start + asking.MAX_INPUTS],
                runners=workspace.runners,
                seconds=CLI_SECONDS,
            )
        ]
    workspace.close()
    _print(inputs, found, json)


def _inputs(task: Task, text: str | None, file: Path | None) -> list[dict[str, Any]]:
    """Give what the model is asked about: one text, or the lines of a file."""
    if (text is None) == (file is None):
        raise typer.BadParameter("Give either a text or --file.")
    if file is not None:
        return _read_lines(file)
    fields = [field.name for field in kind_of(task).fields(task)]
    if len(fields) > 1:
        raise BadInput(
            "An example of task '{name}' has several fields ({fields}), so one text is not enough.",
            name=task.name,
            fields=", ".join(fields),
            remedy="Give them as JSON lines with --file; - reads stdin.",
        )
    return [{fields[0]: text}]


def _read_lines(file: Path) -> list[dict[str, Any]]:
    name = "stdin" if str(file) == "-" else file.name
    content = sys.stdin.read() if str(file) == "-" else _read_text(file)
    found, faults = [], []
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except NotJson as error:
            faults.append(Fault("is not JSON ({error})", error=error, file=name, row=number))
            continue
        if isinstance(value, dict):
            found.append(value)
        else:
            faults.append(Fault("is not a JSON object of inputs", file=name, row=number))
    if faults:
        raise BadInput(faults=faults[:20], total=len(faults))
    if not found:
        raise BadInput("{name} has no lines.", name=name)
    return found


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFound("There is no file {file}.", file=file) from None
    except UnicodeDecodeError:
        raise BadInput("{file} is not UTF-8.", file=file, remedy="Save it as UTF-8.") from None
    except OSError as error:
        raise BadInput("{file} cannot be read: {strerror}.", file=file, strerror=error.strerror) from error


def _print(inputs: list[dict[str, Any]], found: list[Prediction], json: bool) -> None:
    if json:
        shown = [
            {"inputs": one, "prediction": p.answer, "probabilities": p.probabilities and dict(p.probabilities)}
            for one, p in zip(inputs, found, strict=True)
        ]
        print_json({"predictions": shown})
        return
    for prediction in found:
        shares = sorted((prediction.probabilities or {}).items(), key=lambda item: -item[1])
        listed = "  ".join(f"{name} {share:.3f}" for name, share in shares)
        answer = prediction.answer
        said = answer.get("text", "") if isinstance(answer, dict) else answer
        out.print(f"{said}  ({listed})" if listed else str(said), markup=False, soft_wrap=True)


def _state(version: service.ModelVersionInfo) -> str:
    return "withdrawn" if version.withdrawn_at else ""

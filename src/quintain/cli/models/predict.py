"""`quintain model predict`: ask a model of the workspace, or one in a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from quintain.cli.context import workspace_of
from quintain.cli.output import JsonFlag, out, print_json
from quintain.cli.plain.models import app
from quintain.core.errors import BadInput, Fault, NotFound
from quintain.core.example import Prediction
from quintain.core.jsontext import NotJson, parse_json
from quintain.core.people import OPERATOR
from quintain.core.records.tasks import ModelPrediction, Predictions
from quintain.core.task import Task
from quintain.models.contract import load
from quintain.services.plain.files.predictions import check_inputs, parse
from quintain.tasks.contract import kind_of

CLI_SECONDS = 120.0  # somebody at a terminal waits for a model to be loaded


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
        check_inputs(model.task, inputs)
        _print(str(folder), parse(model.task, inputs, model.predict(inputs), str(folder)), json)
        return
    if ref is None:
        raise typer.BadParameter("Name a model, or a trained folder with --dir.")
    from quintain.services.models import ask as asking  # a folder does without the store
    from quintain.services.models import registry as service
    from quintain.services.tasks.definitions import get_task

    workspace = workspace_of(context)
    with workspace.session() as db:
        info = service.get_model(db, OPERATOR, ref)
        task, asked = get_task(db, info.task), info.version.ref
        inputs = _inputs(task, text, file)
        predictions = [
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
    _print(asked, predictions, json)


def _inputs(task: Task, text: str | None, file: Path | None) -> list[dict[str, Any]]:
    """Return what the model is asked about: one text, or the lines of a file."""
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
    content = sys.stdin.read() if str(file) == "-" else read_text_file(file)
    rows, faults = [], []
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except NotJson as error:
            faults.append(Fault("is not JSON ({error})", error=error, file=name, row=number))
            continue
        if isinstance(value, dict):
            rows.append(value)
        else:
            faults.append(Fault("is not a JSON object of inputs", file=name, row=number))
    if faults:
        raise BadInput(faults=faults[:20], total=len(faults))
    if not rows:
        raise BadInput("{name} has no lines.", name=name)
    return rows


def _print(model: str, predictions: list[Prediction], json: bool) -> None:
    if json:
        print_json(
            Predictions(
                model, [ModelPrediction(prediction.answer, prediction.probabilities) for prediction in predictions]
            )
        )
        return
    for prediction in predictions:
        shares = sorted((prediction.probabilities or {}).items(), key=lambda item: -item[1])
        listed = "  ".join(f"{name} {share:.3f}" for name, share in shares)
        answer = prediction.answer
        shown = answer.get("text", "") if isinstance(answer, dict) else answer
        out.print(f"{shown}  ({listed})" if listed else str(shown), markup=False, soft_wrap=True)


def read_text_file(file: Path) -> str:
    """Read a text, or say why it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFound("There is no file {file}.", file=file) from None
    except UnicodeDecodeError:
        raise BadInput("{file} is not UTF-8.", file=file, remedy="Save it as UTF-8.") from None
    except OSError as error:
        raise BadInput("{file} cannot be read: {strerror}.", file=file, strerror=error.strerror) from error

"""Any server of the Open Inference Protocol: `POST /v2/models/{name}/infer` with named tensors."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from quintain.adapters.contract import (
    ADAPTERS,
    Adapter,
    AskingSize,
    Connection,
    ModelStart,
    Options,
    Outside,
    RemoteExample,
    TaskSketch,
)
from quintain.adapters.endpoint_calls import REPLY, EndpointCaller
from quintain.adapters.ledger import CallSize, TokenUse
from quintain.adapters.prices import BYTES_PER_TOKEN
from quintain.adapters.remote import REMOTE_OPTIONS, SERVER_LEFT, check_options, permit
from quintain.adapters.reply_store import open_ledger
from quintain.adapters.shaping import by_label, named
from quintain.core.errors import BadInput, Fault
from quintain.core.task import Task
from quintain.core.untrusted import read_json
from quintain.tasks.contract import kind_of

DIMENSIONS = 8
REPLY_TOKENS = 64  # of the answer to one example, as far as a budget is concerned
AROUND = 64  # bytes of a request beside the fields


@ADAPTERS.register("open-inference")
class OpenInferenceAdapter(Adapter):
    """A server of the Open Inference Protocol, asked at `/v2/models/{name}/infer`."""

    name = "open-inference"
    title = "Open Inference Protocol server"
    place = "remote"
    options: ClassVar[Mapping[str, str]] = {
        **REMOTE_OPTIONS,
        "model": "Name of the model on the server.",
        "version": "Version of the model on the server; its own choice by default.",
        "inputs": "Names of the tensors for the task's fields, such as {text = 'TEXT'}; the fields' own by default.",
        "output": "Name of the output to read; the first one by default.",
        "labels": "The labels in the order of the scores or class numbers; those of the task by default.",
    }

    example: ClassVar[RemoteExample | None] = RemoteExample(
        {"model": "some-model"},
        lambda body, label: {
            "outputs": [
                {
                    "name": "label",
                    "datatype": "BYTES",
                    "shape": body["inputs"][0]["shape"],
                    "data": [label for _ in body["inputs"][0]["data"]],
                }
            ]
        },
    )

    def check(self, folder: Path, task: Task, options: Options) -> list[Fault]:
        """Look at the options; nothing is called."""
        faults = check_options(options)
        if not options.get("model"):
            faults.append(Fault("is missing", file="quintain.toml", field="options.model"))
        if not isinstance(options.get("inputs", {}), Mapping):
            faults.append(Fault("is not a table of names", file="quintain.toml", field="options.inputs"))
        return faults

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return the options of a server, with an address to replace."""
        options = {"url": "https://models.example.org", "model": "some-model"}
        return ModelStart(options=options, left=SERVER_LEFT)

    def asking_size(self, task: Task, options: Options) -> AskingSize:
        """Reckon a call by its size: a server of the protocol does not say how many tokens it took."""
        return AskingSize(AROUND, {item.name: 1 for item in kind_of(task).fields(task)}, REPLY_TOKENS, REPLY_TOKENS)

    def permit(self, options: Options, outside: Outside) -> None:
        """Refuse a server that the operator does not allow."""
        permit(options, outside)

    @contextmanager
    def connect(self, folder: Path, task: Task, options: Options, outside: Outside) -> Iterator[Connection]:
        """Yield a `predict` that sends one tensor per field."""
        version = f"/versions/{quote(str(options['version']), safe='')}" if "version" in options else ""
        path = f"/v2/models/{quote(str(options['model']), safe='')}{version}/infer"
        with (
            open_ledger(options, outside) as (ledger, _),
            EndpointCaller(
                options, outside, ledger, read=lambda reply, size: (reply, _usage(reply, size)), results=("outputs",)
            ) as caller,
        ):
            yield Connection(
                lambda batch: _ask(caller, path, batch, task, options),
                lambda: {**ledger.facts(), "retries": caller.retried},
                batched=True,
                ledger=ledger,
            )


def _usage(reply: Any, size: CallSize) -> TokenUse:
    """Guess the tokens of a call from what went back and forth."""
    received = len(json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace"))
    return TokenUse(-(-size.sent // BYTES_PER_TOKEN), -(-received // BYTES_PER_TOKEN), estimated=True)


def _ask(caller: EndpointCaller, path: str, batch: list[Mapping[str, Any]], task: Task, options: Options) -> list[Any]:
    names = {str(ours): str(theirs) for ours, theirs in dict(options.get("inputs", {})).items()}
    fields = [item.name for item in kind_of(task).fields(task)]
    tensors: list[dict[str, Any]] = [
        {
            "name": names.get(field, field),
            "shape": [len(batch)],
            "datatype": "BYTES",
            "data": [_plain(item.get(field)) for item in batch],
        }
        for field in fields
    ]
    texts = sum(len(text.encode("utf-8", "replace")) for tensor in tensors for text in tensor["data"])
    size = CallSize(AROUND * len(batch) + texts, REPLY_TOKENS * len(batch))
    return read_reply(caller.wait(caller.call(path, {"inputs": tensors}, size)), len(batch), task, options)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_reply(reply: Any, count: int, task: Task, options: Options) -> list[Any]:
    """Read *count* answers from a reply of the protocol, or say what is wrong with it."""
    outputs = reply.get("outputs") if isinstance(reply, dict) else None
    if not isinstance(outputs, list) or not outputs or not all(isinstance(output, dict) for output in outputs):
        raise BadInput("The server's reply has no list 'outputs'.", remedy="It must speak the Open Inference Protocol.")
    output_name = options.get("output")
    matches = [output for output in outputs if output_name is None or output.get("name") == output_name]
    if not matches:
        raise BadInput(
            "The server's reply has no output '{wanted}', but {names}.",
            wanted=output_name,
            names=[output.get("name") for output in outputs],
        )
    shape, data, kind = (matches[0].get(key) for key in ("shape", "data", "datatype"))
    if not isinstance(shape, list) or not all(isinstance(size, int) for size in shape) or not isinstance(data, list):
        raise BadInput("The server's output has no shape or no data.")
    if len(shape) > DIMENSIONS:
        raise BadInput("The server's output has {n} dimensions.", n=len(shape))
    flat = list(_flatten(data))
    if not shape or shape[0] != count or math.prod(shape) != len(flat):
        raise BadInput(
            "{count} inputs were sent and an output of shape {shape} with {n} values came back.",
            count=count,
            shape=shape,
            n=len(flat),
        )
    width = len(flat) // count if count else 1
    rows = [flat[start : start + width] for start in range(0, len(flat), width)]
    labels = [str(label) for label in options.get("labels", task.label_names)]
    return [_answer(row, str(kind), labels) for row in rows]


def _flatten(data: list[Any]) -> Iterator[Any]:
    for value in data:
        if isinstance(value, list):
            yield from _flatten(value)
        else:
            yield value


def _answer(row: list[Any], kind: str, labels: list[str]) -> Any:
    if kind.startswith("FP"):
        if len(row) == 1:
            raise BadInput("The server gives one number for each input, where a score for each answer is needed.")
        try:
            return by_label(row, labels) if labels else row
        except (ValueError, TypeError) as error:
            raise BadInput("The server's scores cannot be read: {error}.", error=error) from error
    value = row[0] if len(row) == 1 else row
    try:
        if isinstance(value, str) and value[:1] in {"{", "["}:
            return read_json(value, REPLY)
        return named(value, labels) if kind.startswith(("INT", "UINT")) else value
    except (ValueError, BadInput) as error:
        raise BadInput(
            "The server's answer {value} cannot be read: {error}.", value=repr(value), error=error
        ) from error

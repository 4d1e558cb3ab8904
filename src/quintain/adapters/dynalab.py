"""A handler class in the manner of TorchServe or Dynalab, through a shim: neither library needs to be there.

The class is asked as those servers ask: `initialize(context)` once, then `handle(data, context)`, or `preprocess`,
`inference` and `postprocess` in a row. *data* is a list of `{"body": {…}}`.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, TaskSketch
from quintain.adapters.handler import FILE, import_file, parse_file
from quintain.core.errors import Fault
from quintain.core.jsontext import parse_json
from quintain.core.task import Task

STEPS = ("preprocess", "inference", "postprocess")
# Where handlers written for those servers import their base class from.
BASES = {"ts.torch_handler.base_handler": "BaseHandler", "dynalab.handler.base_handler": "BaseDynaHandler"}
# What Dynalab adds to an answer for its own book-keeping.
DROPPED = ("id", "uid", "signed", "signature")
RENAMED = {"prob": "probabilities", "pred": "label", "conf": "score"}


@ADAPTERS.register("dynalab")
class DynalabAdapter(Adapter):
    """A folder with a TorchServe or Dynalab handler class: initialize, preprocess, inference, postprocess."""

    name = "dynalab"
    title = "TorchServe or Dynalab handler"
    libraries = ("torch", "numpy")
    options: ClassVar[Mapping[str, str]] = {
        "file": "The handler's file; handler.py by default.",
        "class": "The class; by default the first one with `handle` or `inference`.",
        "fields": "The names that the handler gives to the task's fields, such as {premise = 'context'}.",
        "batched": "Whether `handle` takes several inputs at once; false by default.",
    }

    def check(self, folder: Path, task: Task, options: Mapping[str, Any]) -> list[Fault]:
        """Look for the file, that it parses, and that something in it can answer."""
        name = str(options.get("file", FILE))
        tree = parse_file(folder, name)
        if isinstance(tree, Fault):
            return [tree]
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        chosen = options.get("class")
        if chosen is not None and chosen not in {node.name for node in classes}:
            return [Fault("defines no class {wanted}", wanted=chosen, file=name)]
        if not classes and "handle" not in functions:
            return [Fault("defines neither a handler class nor handle(data, context)", file=name)]
        return []

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a handler class that answers, if not well."""
        answer = f'{{"label": {sketch.labels[0]!r}}}' if sketch.labels else sketch.answer
        left = f"Teach the class in {FILE} something and say in card.md what."
        return ModelStart({FILE: CLASS.format(answer=answer)}, works=True, left=(left,))


CLASS = '''"""Answers every example alike; teach it something better."""

from ts.torch_handler.base_handler import BaseHandler


class Handler(BaseHandler):
    def initialize(self, context):
        self.folder = context.system_properties["model_dir"]

    def handle(self, data, context):
        return [self.answer(request["body"]) for request in data]

    def answer(self, item):
        return {answer}
'''


class Context:
    """What those servers tell a handler about where it runs."""

    def __init__(self, path: str) -> None:
        self.system_properties = {"model_dir": path, "gpu_id": None, "batch_size": 1, "server_name": "quintain"}
        self.manifest = {"model": {"modelName": "model", "serializedFile": None}}
        self.model_name = "model"
        self.metrics = None

    def get_request_header(self, index: int, key: str) -> None:
        """Return no header: there was no request."""


class _Base:
    """Stands in for the base classes; a handler overrides what it needs."""

    def __init__(self) -> None:
        self.model: Any = None
        self.initialized = False

    def initialize(self, context: Any) -> None:
        self.initialized = True

    def preprocess(self, data: Any) -> Any:
        return data

    def inference(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        return self.model(data, *args, **kwargs)

    def postprocess(self, data: Any) -> Any:
        return data.tolist() if hasattr(data, "tolist") else data

    def handle(self, data: Any, context: Any) -> Any:
        return self.postprocess(self.inference(self.preprocess(data)))


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Make the handler, initialise it, and ask it as its own server would."""
    _stand_in()
    module = import_file(path, str(options.get("file", FILE)))
    context = Context(path)
    ask = _asker(module, options.get("class"), context)
    names = {str(ours): str(theirs) for ours, theirs in dict(options.get("fields", {})).items()}

    def request(item: Mapping[str, Any]) -> dict[str, Any]:
        return {"body": {names.get(name, name): value for name, value in item.items()}}

    def predict(batch: list[Any]) -> list[Any]:
        requests = [request(item) for item in batch]
        if options.get("batched", False):
            return [_answer(one) for one in ask(requests, context)]
        return [_answer(_only(ask([request], context))) for request in requests]

    return predict


def _stand_in() -> None:
    """Put modules with the base classes where handlers import them from, unless the real ones are there."""
    for module, name in BASES.items():
        parts = module.split(".")
        for depth in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:depth]), types.ModuleType(".".join(parts[:depth])))
        if not hasattr(sys.modules[module], name):
            setattr(sys.modules[module], name, type(name, (_Base,), {}))


def _asker(module: Any, class_name: Any, context: Context) -> Callable[[Any, Any], Any]:
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == "handler"]
    chosen = [cls for cls in own if cls.__name__ == class_name] if class_name else [cls for cls in own if _answers(cls)]
    if not chosen:
        handle = getattr(module, "handle", None)
        if not callable(handle):
            raise AttributeError("there is no handler class and no function handle(data, context)")
        return handle  # type: ignore[no-any-return]  # checked to be callable above
    handler: Any = chosen[0]()
    if hasattr(handler, "initialize"):
        handler.initialize(context)
    if hasattr(handler, "handle"):
        return handler.handle  # type: ignore[no-any-return]  # a method of the submitted class

    def in_a_row(data: Any, _: Any) -> Any:
        for step in STEPS:
            if hasattr(handler, step):
                data = getattr(handler, step)(data)
        return data

    return in_a_row


def _answers(cls: type) -> bool:
    return hasattr(cls, "handle") or hasattr(cls, "inference")


def _only(replies: Any) -> Any:
    if isinstance(replies, list | tuple) and len(replies) == 1:
        return replies[0]
    if isinstance(replies, list | tuple):
        raise ValueError(f"handle was given one input and returned {len(replies)} answers")
    return replies


def _answer(reply: Any) -> Any:
    """Read an answer as those servers write it: JSON text, or a dictionary with book-keeping around it."""
    if isinstance(reply, bytes):
        reply = reply.decode("utf-8")
    if isinstance(reply, str) and reply[:1] in "{[":
        reply = parse_json(reply)
    if not isinstance(reply, dict):
        return reply
    answer = {RENAMED.get(key, key): value for key, value in reply.items() if key not in DROPPED}
    if "answer" in answer:  # question answering: the text alone, with its place where it gives one
        return {"text": answer["answer"], **({"start": answer["start"]} if "start" in answer else {})}
    if isinstance(answer.get("probabilities"), list):
        answer["probabilities"] = {str(key): value for one in answer["probabilities"] for key, value in one.items()}
    return answer

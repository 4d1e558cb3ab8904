"""A Python handler: `handler.py` with `predict(batch)` and, if it wants one, `load(path)`.

`open_model` runs inside the sandbox, with the standard library and what `requirements.txt` names.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter, ModelStart, TaskSketch
from quintain.core.errors import Fault
from quintain.core.task import Task

FILE = "handler.py"
MAX_SOURCE = 5_000_000


@ADAPTERS.register("handler")
class HandlerAdapter(Adapter):
    """A folder with `handler.py`, which defines `predict(batch)`."""

    name = "handler"
    title = "Python handler"
    options: ClassVar[Mapping[str, str]] = {"file": "The handler's file; handler.py by default."}
    bare: ClassVar[Mapping[str, str]] = {".py": FILE}

    def check(self, folder: Path, task: Task, options: Mapping[str, Any]) -> list[Fault]:
        """Look for the file, that it parses, and that it defines `predict`."""
        name = str(options.get("file", FILE))
        tree = parse_file(folder, name)
        if isinstance(tree, Fault):
            return [tree]
        imported = any(isinstance(node, ast.ImportFrom) for node in tree.body)
        if "predict" not in top_names(tree) and not imported:
            return [Fault("defines no function predict(batch)", file=name)]
        return []

    def start(self, sketch: TaskSketch) -> ModelStart:
        """Return a handler of ten lines at most, which answers, if not well; and a test of it."""
        files = {
            FILE: sketch_handler(sketch),
            "requirements.txt": "# Packages that handler.py imports, one to a line: scikit-learn==1.7.2\n",
            "test_handler.py": _TEST.format(example=dict(sketch.example)),
        }
        return ModelStart(files, works=True, left=(f"Teach {FILE} something and say in card.md what.",))


def sketch_handler(sketch: TaskSketch) -> str:
    """Write a handler that gives every example the same answer."""
    if sketch.labels:
        return _LABELLED.format(field=sketch.texts[-1], labels=json.dumps(sketch.labels, ensure_ascii=False))
    return _OTHER.format(fields=", ".join(sketch.fields), answer=sketch.answer)


_LABELLED = '''"""Answers with a probability for each label; teach it something better."""

LABELS = {labels}

def predict(batch):
    answers = []
    for item in batch:
        text = item[{field!r}]  # look at it, and give each label what it deserves
        answers.append({{label: 1 / len(LABELS) for label in LABELS}})
    return answers
'''
_OTHER = '''"""Answers an example with the fields {fields}; teach it something better."""


def predict(batch):
    return [answer(item) for item in batch]


def answer(item):
    return {answer}
'''
_TEST = '''"""Run with: python -m unittest test_handler.py"""

import unittest

import handler

EXAMPLE = {example!r}


class Handler(unittest.TestCase):
    def test_there_is_one_answer_for_each_example(self):
        self.assertEqual(len(handler.predict([EXAMPLE, EXAMPLE])), 2)

    def test_the_answer_does_not_depend_on_the_batch(self):
        self.assertEqual(handler.predict([EXAMPLE, EXAMPLE])[0], handler.predict([EXAMPLE])[0])
'''


def parse_file(folder: Path, name: str) -> ast.Module | Fault:
    """Parse the Python file *name* in *folder* without running it, or say what is wrong."""
    path = folder / name
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return Fault("is missing; it is the file that answers", file=name)
    if path.stat().st_size > MAX_SOURCE:
        return Fault("has more than {most:,} bytes, which no handler needs", most=MAX_SOURCE, file=name)
    try:
        return ast.parse(path.read_bytes(), filename=name)
    except SyntaxError as error:
        return Fault("does not parse: {error}", error=error.msg, file=name, line=error.lineno)
    except ValueError as error:
        return Fault("does not parse: {error}", error=error, file=name)
    except (RecursionError, MemoryError):
        return Fault("does not parse: it is nested too deep", file=name)


def top_names(tree: ast.Module) -> set[str]:
    """List what a file defines at its top."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, defined)}
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    return names | {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}


def import_file(path: str, name: str) -> Any:
    """Import the file *name* of the model at *path* as a module called `handler`. Inside the sandbox only."""
    sys.path.insert(0, path)
    spec = importlib.util.spec_from_file_location("handler", f"{path}/{name}")
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules["handler"] = module
    spec.loader.exec_module(module)
    return module


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Import the handler, let it load its files, and give its `predict`."""
    name = str(options.get("file", FILE))
    module = import_file(path, name)
    predict = getattr(module, "predict", None)
    if not callable(predict):
        raise AttributeError(f"{name} has no function predict(batch)")
    if callable(getattr(module, "load", None)):
        module.load(path)
    return predict  # type: ignore[no-any-return]  # checked to be callable above

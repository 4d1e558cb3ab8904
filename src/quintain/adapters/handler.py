"""A Python handler: `handler.py` with `predict(batch)` and, if it wants one, `load(path)`.

`open_model` runs inside the sandbox, with the standard library and what `requirements.txt` names.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from quintain.adapters.contract import ADAPTERS, Adapter
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

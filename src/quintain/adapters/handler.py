"""A Python handler: `handler.py` with `predict(batch)` and, if it wants one, `load(path)`.

`open_model` runs inside the sandbox, with the standard library only.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from quintain.adapters.contract import ADAPTERS, Adapter
from quintain.core.errors import Fault
from quintain.core.task import Task


@ADAPTERS.register("handler")
class HandlerAdapter(Adapter):
    """A folder with `handler.py`."""

    name = "handler"
    title = "Python handler"

    def check(self, folder: Path, task: Task) -> list[Fault]:
        """Look for the file, that it parses, and that it defines `predict`."""
        path = folder / "handler.py"
        if not path.is_file():
            return [Fault("is missing; it defines predict(batch)", file="handler.py")]
        try:
            tree = ast.parse(path.read_bytes(), filename="handler.py")
        except (SyntaxError, ValueError) as error:
            return [Fault(f"does not parse: {error}", file="handler.py", row=getattr(error, "lineno", None))]
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        names |= {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        imported = any(isinstance(node, ast.ImportFrom) for node in tree.body)
        if "predict" not in names and not imported:
            return [Fault("defines no function predict(batch)", file="handler.py")]
        return []


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Import the handler, let it load its files, and give its `predict`."""
    file = f"{path}/{options.get('file', 'handler.py')}"
    sys.path.insert(0, path)
    spec = importlib.util.spec_from_file_location("handler", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules["handler"] = module
    spec.loader.exec_module(module)
    predict = getattr(module, "predict", None)
    if not callable(predict):
        raise AttributeError("handler.py has no function predict(batch)")
    if callable(getattr(module, "load", None)):
        module.load(path)
    return predict  # type: ignore[no-any-return]  # checked to be callable above

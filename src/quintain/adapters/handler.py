"""A Python handler: `handler.py` with `predict(batch)` and, if it wants one, `load(path)`.

`open_model` runs inside the sandbox, with the standard library only.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from typing import Any


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

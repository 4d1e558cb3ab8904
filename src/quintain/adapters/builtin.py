"""A baseline of Quintain's own, as `quintain train` writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from quintain.adapters.contract import ADAPTERS, Adapter, Predict
from quintain.core.errors import Fault
from quintain.core.lazy import import_when_used
from quintain.core.task import Task


@ADAPTERS.register("builtin")
class BuiltinAdapter(Adapter):
    """A folder with `model.json` and, for most, `arrays.npz`."""

    name = "builtin"
    title = "Built-in baseline"
    libraries = ("numpy", "scipy", "polars", "regex")
    modules = ("stats", "tasks", "data", "models", "perturbations")
    ours = True

    def check(self, folder: Path, task: Task, options: Mapping[str, Any]) -> list[Fault]:
        """Look for the file that names the baseline."""
        return [] if (folder / "model.json").is_file() else [Fault("is missing", file="model.json")]

    def load(self, folder: Path) -> Predict:
        """Load the baseline into this process."""
        return open_model(str(folder), {})


def open_model(path: str, options: Mapping[str, Any]) -> Callable[[list[Any]], Any]:
    """Load the baseline; what it learned is numbers and JSON, so loading runs no code of the model.

    Polars is for training: a process that only answers starts in half the time without it.
    """
    import_when_used("polars")
    from quintain.models.contract import load

    return load(Path(path)).predict

"""What every way of running a model must say of itself.

An adapter is one file in this package: a class decorated by `@ADAPTERS.register(name)` that describes and checks a
model's folder without ever running anything in it, and

- where *place* is `sandbox`: a function `open_model(path, options)` that gives the model's `predict`. It runs inside
  the sandbox, so at its top the file imports nothing but the standard library and `quintain.core`;
- where *place* is `remote` or `file`: a method `connect(folder, task)`, a context that gives a `predict` which calls a
  server or looks up what somebody else computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Literal

from quintain.core.errors import BadInput, Conflict, Fault
from quintain.core.registry import Registry
from quintain.core.task import Task

Place = Literal["sandbox", "remote", "file"]
Predict = Callable[[list[Mapping[str, Any]]], list[Any]]
MANIFEST = "quintain.toml"


class Adapter(ABC):
    """One way of running a model. See the module's docstring."""

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[Place] = "sandbox"
    # Packages of the platform's own environment that the model is given to work with, by import name.
    libraries: ClassVar[tuple[str, ...]] = ()
    # Parts of this package that it needs beside `core` and `adapters`. None that holds data, labels or queries.
    modules: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, folder: Path, task: Task) -> list[Fault]:
        """Find what is wrong with *folder* by looking only: no code of the model runs here."""

    def connect(self, folder: Path, task: Task) -> AbstractContextManager[Predict]:
        """Give the `predict` of a model that does not run in the sandbox."""
        raise Conflict(f"A model of adapter '{self.name}' runs in the sandbox only.")


ADAPTERS: Registry[type[Adapter]] = Registry("adapter", package="quintain.adapters", group="quintain.adapters")


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Read a model's `quintain.toml`: its adapter, batch size and the adapter's own options."""
    import tomllib  # not at the top: inside the sandbox every import costs start-up time

    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(faults=[Fault(str(error), file=MANIFEST)]) from error

"""Libraries that are imported when they are first used, for processes that may get by without them."""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType
from typing import Any


class UnusedModule(ModuleType):
    """Stands for a library until something of it is asked for; then it has all that the library has.

    The standard library's lazy loader is no help: before Python 3.12 the very statement `import` sets it off.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._importing = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        """Import the library, and return its attribute *name*."""
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # what the statement `import` looks for
        with self._importing:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
                vars(self).update(vars(importlib.import_module(self.__name__)))
            library = importlib.import_module(self.__name__)
        return getattr(library, name)


def import_when_used(name: str) -> None:
    """Let `import name` cost nothing until something of the library is asked for; do nothing where it is there."""
    if name not in sys.modules:
        sys.modules[name] = UnusedModule(name)

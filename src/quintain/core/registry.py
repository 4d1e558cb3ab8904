"""One way to add a member to a family: a file with a decorator.

Built-ins are the modules of a package, third parties the entry points of a group; both are loaded by the
same call and stand in the same table.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Generic, TypeVar

from quintain.core.errors import Conflict, NotFound

Member = TypeVar("Member")


class Registry(Generic[Member]):
    """A named family of members, such as the metrics.

    *family* is the word for one member, *package* holds the built-ins one module each, *group* is the
    entry-point group through which other distributions add theirs.
    """

    def __init__(self, family: str, *, package: str, group: str) -> None:
        self.family = family
        self.package = package
        self.group = group
        self._members: dict[str, Member] = {}
        self._loaded = False
        self._loading = False
        self._lock = threading.RLock()

    def register(self, name: str) -> Callable[[Member], Member]:
        """Add the decorated member under *name*."""

        def add(member: Member) -> Member:
            if name in self._members:
                raise Conflict(
                    "There are two {family}s called '{name}'.",
                    family=self.family,
                    name=name,
                    remedy="Rename one of them.",
                )
            self._members[name] = member
            return member

        return add

    def get(self, name: str) -> Member:
        """Return the member called *name*; NotFound names the known ones.

        Where a module of the package has that name, nothing else is loaded for it: a process that needs one member, as
        one that a model runs in, starts the sooner.
        """
        if not self._loaded and not self._import_own(name):
            self._load()
        try:
            return self._members[name]
        except KeyError:
            raise NotFound(
                "There is no {family} called '{name}'.",
                family=self.family,
                name=name,
                names=", ".join(self.names()),
                remedy="Known: {names}.",
            ) from None

    def names(self) -> list[str]:
        """List the names of all members in alphabetical order."""
        self._load()
        return sorted(self._members)

    def items(self) -> Iterator[tuple[str, Member]]:
        """Go through all members in the order of their names."""
        return ((name, self._members[name]) for name in self.names())

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._members

    def _load(self) -> None:
        if self._loaded:
            return
        # Whoever comes while another thread loads waits for all of it; a module that is being loaded may look around.
        with self._lock:
            if self._loaded or self._loading:
                return
            self._loading = True
            try:
                self._import_all()
                self._loaded = True
            finally:
                self._loading = False

    def _import_own(self, name: str) -> bool:
        """Import the built-in module of this *name*; say whether the member is there now."""
        module = name.replace("-", "_")
        if name in self._members or not module.isidentifier():
            return name in self._members
        full_name = f"{self.package}.{module}"
        if importlib.util.find_spec(full_name) is not None:
            importlib.import_module(full_name)
        return name in self._members

    def _import_all(self) -> None:
        package = importlib.import_module(self.package)
        for module in pkgutil.walk_packages(package.__path__, prefix=f"{self.package}."):
            importlib.import_module(module.name)
        for entry in _entries().select(group=self.group):
            entry.load()


@cache
def _entries() -> Any:
    """List what all installed packages offer: it takes a look at each of them, once for all registries."""
    from importlib.metadata import entry_points  # slow to import, and not needed where nothing is looked up

    return entry_points()

"""Finding the route of a request by the parts of its path: there are hundreds, and the framework tries one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from starlette.routing import BaseRoute, Match, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(slots=True)
class _Node:
    """What begins with the same parts: the routes that end here, those that take any rest, and where it goes on."""

    here: list[int] = field(default_factory=list)
    deep: list[int] = field(default_factory=list)
    named: dict[str, _Node] = field(default_factory=dict)
    any: _Node | None = None


class Switchboard:
    """Stand before a router: hand a request to the route that it would find, and all else to the router.

    The index names the few routes that may fit. Each of them decides by itself, in the router's order, so that what is
    found is what the router would have found; what no route takes in full (another method, a slash too many, nothing)
    is answered by the router.
    """

    def __init__(self, router: Router) -> None:
        self.router = router
        self.beyond: ASGIApp = router.middleware_stack
        self.routes: list[BaseRoute] = []
        self.root = _Node()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        match = self.find(scope) if scope["type"] == "http" else None
        if match is None:
            await self.beyond(scope, receive, send)
            return
        route, matched = match
        scope["router"] = self.router
        scope.update(matched)
        await route.handle(scope, receive, send)

    def find(self, scope: Scope) -> tuple[BaseRoute, Scope] | None:
        """Return the first route that takes a request, with what it read from the path."""
        if len(self.routes) != len(self.router.routes):
            self._read(self.router.routes)
        parts = scope["path"].removeprefix(scope.get("root_path", "")).split("/")
        for number in sorted(self._fitting(self.root, parts, 0)):
            match, matched = self.routes[number].matches(scope)
            if match is Match.FULL:
                return self.routes[number], matched
        return None

    def _read(self, routes: Sequence[BaseRoute]) -> None:
        self.routes, self.root = [*routes], _Node()
        for number, route in enumerate(self.routes):
            node = self.root
            for part in route.path.split("/") if isinstance(route, Route | Mount) else ():
                if ":path}" in part:
                    break
                if "{" not in part:
                    node = node.named.setdefault(part, _Node())
                else:
                    node.any = node.any or _Node()
                    node = node.any
            else:
                if isinstance(route, Route):
                    node.here.append(number)
                    continue
            node.deep.append(number)

    def _fitting(self, node: _Node, parts: Sequence[str], depth: int) -> Iterator[int]:
        yield from node.deep
        if depth == len(parts):
            yield from node.here
            return
        for further in (node.named.get(parts[depth]), node.any):
            if further is not None:
                yield from self._fitting(further, parts, depth + 1)

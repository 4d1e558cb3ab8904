"""The list of events is whole: each is announced somewhere, and whoever follows is there and takes what is told."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from unittest.mock import MagicMock

import pytest

from quintain.services import events
from quintain.services.events import FOLLOWS, ServiceEvent, announce, follower
from tests.conftest import ROOT

SERVICES = ROOT / "src" / "quintain" / "services"


def announcements() -> Iterator[tuple[ServiceEvent, int]]:
    """List what services announce, each with how many things are told of it."""
    for path in SERVICES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "announce":
                event = node.args[1]
                assert isinstance(event, ast.Attribute)
                yield ServiceEvent[event.attr], len(node.args) - 2


def test_every_event_is_announced_and_followed() -> None:
    """No line of the list is dead, and nothing is announced that is not in it."""
    assert {event for event, _ in announcements()} == set(ServiceEvent) == set(FOLLOWS)
    assert all(FOLLOWS.values())


@pytest.mark.parametrize("event", ServiceEvent, ids=lambda event: event.name)
def test_followers_take_what_is_told(event: ServiceEvent) -> None:
    """Each name in the list leads to a function, which can be called with what any service tells of the event."""
    told = {number for announced, number in announcements() if announced is event}
    for path in FOLLOWS[event]:
        for number in told:
            inspect.signature(follower(path)).bind(MagicMock(), *range(number))


def test_followers_are_called_in_order_with_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is worked down from its beginning, in the caller's session; what fails stops it and is raised."""
    called: list[object] = []

    def follow(path: str) -> object:
        def note(db: object, task: str) -> None:
            called.append((path, db, task))
            if path == "c":
                raise ValueError(task)

        return note

    db = MagicMock()
    monkeypatch.setattr(events, "follower", follow)
    monkeypatch.setattr(events, "FOLLOWS", {ServiceEvent.CELL_DONE: ("a", "b")})
    announce(db, ServiceEvent.CELL_DONE, "mood")
    assert called == [("a", db, "mood"), ("b", db, "mood")]
    monkeypatch.setattr(events, "FOLLOWS", {ServiceEvent.CELL_DONE: ("c", "a")})
    with pytest.raises(ValueError, match="mood"):
        announce(db, ServiceEvent.CELL_DONE, "mood")
    assert Counter(path for path, *_ in called) == {"a": 1, "b": 1, "c": 1}

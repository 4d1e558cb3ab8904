"""The rooms of a task as its sidebar lists them, grouped by what somebody comes for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SidebarEntry:
    """One line of a task's sidebar."""

    key: str
    title: str
    url: str
    icon: str


@dataclass(frozen=True, slots=True)
class SidebarGroup:
    """Lines that belong together; the first group needs no title."""

    key: str
    title: str
    entries: tuple[SidebarEntry, ...]


def sidebar_of(_: Callable[[str], str], task: str, *, signed_in: bool, owner: bool, expert: bool) -> list[SidebarGroup]:
    """List the rooms of *task* that somebody with these rights may enter."""

    def group(key: str, title: str, *rooms: tuple[bool, str, str, str]) -> SidebarGroup:
        entries = [
            SidebarEntry(name, words, f"/tasks/{task}" if name == "overview" else f"/tasks/{task}/{name}", icon)
            for may_enter, name, words, icon in rooms
            if may_enter
        ]
        return SidebarGroup(key, title, tuple(entries))

    groups = [
        group(
            "task",
            "",
            (True, "overview", _("Overview"), "home"),
            (True, "board", _("Board"), "board"),
            (True, "talk", _("Talk"), "talk"),
        ),
        group(
            "contribute",
            _("Contribute"),
            (True, "write", _("Write"), "pen"),
            (True, "judge", _("Judge"), "check"),
            (True, "contrast", _("Contrast"), "contrast"),
            (True, "contests", _("Contests"), "target"),
        ),
        group(
            "collection",
            _("Collection"),
            (True, "data", _("Data"), "data"),
            (True, "models", _("Models"), "model"),
            (True, "runs", _("Runs"), "runs"),
            (owner, "rounds", _("Rounds"), "round"),
            (owner or expert, "validation", _("Validation"), "shield"),
        ),
        group(
            "studies",
            _("Studies"),
            (True, "reports", _("Reports"), "report"),
            (owner or expert, "trials", _("Trials"), "trial"),
            (signed_in, "codings", _("Hand coding"), "tag"),
        ),
        group(
            "owner",
            _("Owner"),
            (owner, "pay", _("Pay"), "coin"),
            (owner, "settings", _("Settings"), "settings"),
        ),
    ]
    return [group for group in groups if group.entries]

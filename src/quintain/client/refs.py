"""Where things are in the API: references as people write them, turned into paths."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from quintain.core.errors import BadInput


def task_path(task: str) -> str:
    """Return the path of a task."""
    return f"/tasks/{quote(task, safe='')}"


def ref_path(ref: str, kind: str) -> str:
    """Return the path of what `task/name` names, such as a quiz, a round or a validation."""
    task, _, name = ref.partition("/")
    if not task or not name:
        raise BadInput("'{ref}' is not a reference.", ref=ref, remedy="Write task/name, or task/number for a round.")
    return f"{task_path(task)}/{kind}/{quote(name, safe='')}"


def address(ref: str, kind: str) -> tuple[str, dict[str, str]]:
    """Turn a reference to something with versions into a path and the query that selects the version."""
    whole, _, version = ref.partition("@")
    task, slash, name = whole.partition("/")
    if not (task and slash and name):
        raise BadInput("'{ref}' is not a reference.", ref=ref, remedy="Write task/name or task/name@2.")
    return f"{task_path(task)}/{kind}/{quote(name, safe='')}", {"version": version} if version else {}


def format_of(target: Path, chosen: str | None) -> str:
    """Return the format to ask for: the one that was *chosen*, or that of the file's ending."""
    return chosen or target.suffix.lstrip(".")

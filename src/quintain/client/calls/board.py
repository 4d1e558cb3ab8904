"""Calls about the board of a task: what people keep of it, its settings, the keys that sign.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from urllib.parse import quote

from quintain.client.refs import task_path
from quintain.client.transport import Transport
from quintain.core.records.board import (
    BoardSettings,
    Fork,
    Forks,
    QueuedRuns,
    Remeasured,
    SigningKey,
    SigningKeys,
    Snapshot,
    Snapshots,
)
from quintain.core.records.ranking import BoardClaim


class BoardCalls:
    """What `Client` can ask about board."""

    _transport: Transport

    def claim(self, task: str) -> BoardClaim:
        """Return who leads the board by its owner's view, by what figure, and how sure that is."""
        return self._transport.read(BoardClaim, "GET", f"{task_path(task)}/board/claim")

    def board_settings(self, task: str) -> BoardSettings:
        """Return what the owner set for the board."""
        return self._transport.read(BoardSettings, "GET", f"{task_path(task)}/board/settings")

    def remeasure(self, task: str) -> Remeasured:
        """Queue what was measured on another class of machine than the one that ranks (the task's owner)."""
        return self._transport.read(Remeasured, "POST", f"{task_path(task)}/board/remeasure")

    def queue_runs(self, task: str, dataset: str) -> QueuedRuns:
        """Queue all runs that a data set needs to be weighed, though it does not score yet (its owner)."""
        return self._transport.read(
            QueuedRuns, "POST", f"{task_path(task)}/board/datasets/{quote(dataset, safe='')}/runs"
        )

    def forks(self, task: str) -> list[Fork]:
        """List the views that people keep under a name."""
        return self._transport.read(Forks, "GET", f"{task_path(task)}/board/forks").forks

    def remove_fork(self, task: str, name: str) -> None:
        """Remove a view: one's own or, for the owner of the task, anybody's."""
        self._transport.ask("DELETE", f"{task_path(task)}/board/forks", params={"name": name})

    def snapshots(self, task: str) -> list[Snapshot]:
        """List the frozen copies of the board, the newest first."""
        return self._transport.read(Snapshots, "GET", f"{task_path(task)}/board/snapshots").snapshots

    def signing_keys(self) -> list[SigningKey]:
        """List the public keys that the server signs snapshots with, also those that were replaced."""
        return self._transport.read(SigningKeys, "GET", "/keys").keys

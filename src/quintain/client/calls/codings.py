"""Calls about hand coding (`task/name`): samples that people sort into categories.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintain.client.refs import ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.coding import Coding, CodingProgress, CodingResults, Codings, ItemToCode, ToCode


class CodingsCalls:
    """What `Client` can ask about codings."""

    _transport: Transport

    def codings(self, task: str, *, offset: int = 0, limit: int = 100) -> list[Coding]:
        """List the codings of a task in which one may code."""
        return self._transport.read(
            Codings, "GET", f"{task_path(task)}/codings", params={"offset": offset, "limit": limit}
        ).codings

    def put_coding(self, task: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> Coding:
        """Make the coding that a TOML file defines and draw its sample, or change the one of that name (owners)."""
        return self._transport.read(
            Coding,
            "PUT",
            f"{task_path(task)}/codings",
            params={"revision": revision, "remove": list(remove)},
            json={"toml": toml},
        )

    def coding(self, ref: str) -> Coding:
        """Return a coding with its progress."""
        return self._transport.read(Coding, "GET", ref_path(ref, "codings"))

    def close_coding(self, ref: str) -> CodingResults:
        """End a coding for good; from then on it is told which item is of which arm (owners)."""
        return self._transport.read(CodingResults, "POST", f"{ref_path(ref, 'codings')}/close")

    def next_to_code(self, ref: str) -> ItemToCode | None:
        """Take the next item to code, or the one that one has."""
        return self._transport.read(ToCode, "POST", f"{ref_path(ref, 'codings')}/items").item

    def last_coded(self, ref: str, *, before: int | None = None) -> ItemToCode | None:
        """Return the item that one coded last, or the one *before* it, to code it anew."""
        return self._transport.read(
            ToCode, "GET", f"{ref_path(ref, 'codings')}/items/last", params={"before": before}
        ).item

    def code_item(self, ref: str, item: int, categories: Iterable[str], note: str = "") -> CodingProgress:
        """Put an item into categories; put anew, the newest counts."""
        return self._transport.read(
            CodingProgress,
            "POST",
            f"{ref_path(ref, 'codings')}/items/{item}/code",
            json={"categories": list(categories), "note": note},
        )

    def coding_results(self, ref: str) -> CodingResults:
        """Return shares with intervals and agreement; arms and differences once the coding is closed (owners)."""
        return self._transport.read(CodingResults, "GET", f"{ref_path(ref, 'codings')}/results")

"""Calls about rounds (`task/number`), for their owners.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintain.client.refs import ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.collect import Counters, Flags, Round, RoundChange, RoundHistory, Rounds
from quintain.core.records.stations import Stations


class RoundsCalls:
    """What `Client` can ask about rounds."""

    _transport: Transport

    def rounds(self, task: str) -> list[Round]:
        """List the rounds of a task; drafts to its owners only."""
        return self._transport.read(Rounds, "GET", f"{task_path(task)}/rounds").rounds

    def put_round(self, task: str, toml: str, *, revision: str = "", remove: Iterable[str] = ()) -> Round:
        """Add the round that a TOML file defines as a draft, or change the one of that number (owners)."""
        return self._transport.read(
            Round,
            "POST",
            f"{task_path(task)}/rounds",
            params={"revision": revision, "remove": list(remove)},
            json={"toml": toml},
        )

    def round(self, ref: str) -> Round:
        """Return a round; how people from a panel come and go is in it for the task's owners only."""
        return self._transport.read(Round, "GET", ref_path(ref, "rounds"))

    def open_round(self, ref: str) -> Round:
        """Let people write (owners)."""
        return self._transport.read(Round, "POST", f"{ref_path(ref, 'rounds')}/open")

    def close_round(self, ref: str) -> Round:
        """End a round (owners)."""
        return self._transport.read(Round, "POST", f"{ref_path(ref, 'rounds')}/close")

    def clone_round(self, ref: str, title: str = "") -> Round:
        """Add a draft that asks the same, without prompts and dates (owners)."""
        return self._transport.read(Round, "POST", f"{ref_path(ref, 'rounds')}/clone", json={"title": title})

    def round_history(self, ref: str) -> list[RoundChange]:
        """List every state of a round's file, the newest first (owners)."""
        return self._transport.read(RoundHistory, "GET", f"{ref_path(ref, 'rounds')}/history").versions

    def flags(self, ref: str, *, decided: bool = False, offset: int = 0, limit: int = 1000) -> Flags:
        """List texts that may hurt, hold personal data or were reported; with *decided*, all of them (owners)."""
        return self._transport.read(
            Flags,
            "GET",
            f"{ref_path(ref, 'rounds')}/flags",
            params={"decided": decided, "offset": offset, "limit": limit},
        )

    def decide_flag(self, flag: int, withhold: bool, note: str = "") -> None:
        """Keep a flagged attempt, or withhold it from everything that leaves (owners)."""
        self._transport.ask("POST", f"/flags/{flag}/decision", json={"withhold": withhold, "note": note})

    def counters(self, ref: str) -> Counters:
        """Count how a round goes: attempts, and how often they fool the model, by everything (owners)."""
        return self._transport.read(Counters, "GET", f"{ref_path(ref, 'rounds')}/counters")

    def stations(self, ref: str) -> Stations:
        """Return which of write, judge, label, release and next model a round is past, and what is to be done next."""
        return self._transport.read(Stations, "GET", f"{ref_path(ref, 'rounds')}/stations")

"""The client's calls about rounds, for their owners."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quintain.client.refs import format_of, place, task_path
from quintain.client.result_shapes import Counters, Round
from quintain.client.transport import Transport
from quintain.client.writing_shapes import Earning, Flag, RoundChange, RoundPay
from quintain.core.errors import NotFound


class RoundCalls:
    """What `Client` can ask about rounds (`task/number`)."""

    _transport: Transport

    def rounds(self, task: str) -> list[Round]:
        """List the rounds of a task; drafts to its owners only."""
        return [Round.read(item) for item in self._transport.ask("GET", f"{task_path(task)}/rounds")["rounds"]]

    def round(self, ref: str) -> Round:
        """Give a round."""
        return Round.read(self._transport.ask("GET", place(ref, "rounds")))

    def put_round(self, task: str, toml: str) -> Round:
        """Add the round that a TOML file defines as a draft, or change the one of that number (owners)."""
        return Round.read(self._transport.ask("POST", f"{task_path(task)}/rounds", json={"toml": toml}))

    def open_round(self, ref: str) -> Round:
        """Let people write (owners)."""
        return Round.read(self._transport.ask("POST", f"{place(ref, 'rounds')}/open"))

    def close_round(self, ref: str) -> Round:
        """End a round (owners)."""
        return Round.read(self._transport.ask("POST", f"{place(ref, 'rounds')}/close"))

    def clone_round(self, ref: str, *, title: str = "") -> Round:
        """Add a draft that asks the same, without prompts and dates (owners)."""
        return Round.read(self._transport.ask("POST", f"{place(ref, 'rounds')}/clone", json={"title": title}))

    def round_history(self, ref: str) -> list[RoundChange]:
        """List every state of a round's file, the newest first (owners)."""
        found = self._transport.ask("GET", f"{place(ref, 'rounds')}/history")
        return [RoundChange.read(one) for one in found["versions"]]

    def import_prompts(
        self, ref: str, path: Path | str, *, corpus: str = "", part: str = "", tags: Sequence[str] = ()
    ) -> dict[str, int]:
        """Add the prompts of a table to a round (owners), and count `rows`, `added`, `repeated`, `used`, `used_parts`.

        What earlier rounds of the task used is left out.
        """
        source = Path(path)
        if not source.is_file():
            raise NotFound("There is no file {source}.", source=source)
        with source.open("rb") as stream:
            found: dict[str, int] = self._transport.ask(
                "POST",
                f"{place(ref, 'rounds')}/prompts",
                data={"corpus": corpus, "part": part, "tags": ",".join(tags)},
                files={"file": (source.name, stream)},
            )
        return found

    def counters(self, ref: str) -> Counters:
        """Count how a round goes: attempts, and how often they fool the model, by everything (owners)."""
        return Counters.read(self._transport.ask("GET", f"{place(ref, 'rounds')}/counters"))

    def flags(self, ref: str, *, decided: bool = False) -> list[Flag]:
        """List texts that may hurt, hold personal data or were reported; with *decided*, all of them (owners)."""
        found = self._transport.ask("GET", f"{place(ref, 'rounds')}/flags", params={"decided": decided})
        return [Flag.read(one) for one in found["flags"]]

    def decide_flag(self, flag: int, *, withhold: bool, note: str = "") -> None:
        """Keep a flagged attempt, or withhold it from everything that leaves (owners)."""
        self._transport.ask("POST", f"/flags/{flag}/decision", json={"withhold": withhold, "note": note})

    def round_pay(self, ref: str, *, status: str | None = None) -> RoundPay:
        """Say what a round pays and has cost, and who earned what: all, or what is `pending` (owners)."""
        params = {"status": status} if status else {}
        found = self._transport.ask("GET", f"{place(ref, 'rounds')}/pay", params=params)
        return RoundPay.read({**found, "earnings": [Earning.read(one) for one in found["earnings"]]})

    def earnings(self, task: str, *, status: str | None = None) -> list[Earning]:
        """List what people earned with a task, newest first (owners)."""
        params = {"status": status} if status else {}
        found = self._transport.ask("GET", f"{task_path(task)}/earnings", params=params)
        return [Earning.read(one) for one in found["earnings"]]

    def decide_earnings(
        self, task: str, ids: Sequence[int], *, approved: bool = True, reason: str = ""
    ) -> list[Earning]:
        """Approve earnings, or set them aside with a reason that the worker reads (owners)."""
        body = {"ids": list(ids), "approved": approved, "reason": reason}
        found = self._transport.ask("POST", f"{task_path(task)}/earnings/decisions", json=body)
        return [Earning.read(one) for one in found["earnings"]]

    def download_attempts(
        self,
        ref: str,
        path: Path | str,
        *,
        format: str | None = None,  # noqa: A002 - the API's word
        fooling: bool = False,
    ) -> Path:
        """Write a round's attempts, with other names for the writers; the file's ending chooses the format (owners).

        With *fooling*, only those that fooled the model.
        """
        target = Path(path)
        params = {"format": format_of(target, format), "fooling": str(fooling).lower()}
        self._transport.fetch(f"{place(ref, 'rounds')}/attempts", target, params=params)
        return target

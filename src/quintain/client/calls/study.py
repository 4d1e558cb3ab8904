"""Calls about reports on a task: its models, texts, labels and people.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from quintain.client.refs import task_path
from quintain.client.transport import Transport
from quintain.core.records.report import Report, ReportChoices
from quintain.core.records.studies import KeptStudy


class StudyCalls:
    """What `Client` can ask about study."""

    _transport: Transport

    def report_choices(self, task: str) -> ReportChoices:
        """Return which reports can be made of a task, and of which rounds and validations."""
        return self._transport.read(ReportChoices, "GET", f"{task_path(task)}/reports")

    def report(
        self,
        task: str,
        kind: str,
        *,
        rounds: Iterable[int] = (),
        harvests: Iterable[str] = (),
        validation: str = "",
        seed: int = 0,
    ) -> Report:
        """Return a report: `models` for everybody; `compare`, `relabel` and `workers` for owners.

        Where there is much to read, a worker makes it, and the answer is 202 until it is there.
        """
        return self._transport.read(
            Report,
            "GET",
            f"{task_path(task)}/reports/{quote(kind, safe='')}",
            params={"rounds": list(rounds), "harvests": list(harvests), "validation": validation, "seed": seed},
        )

    def study(self, task: str, room: str, name: str) -> KeptStudy:
        """Return the last report, and how far the next one is (owners; errors on open labels: everybody)."""
        return self._transport.read(
            KeptStudy, "GET", f"{task_path(task)}/studies/{quote(room, safe='')}/{quote(name, safe='')}"
        )

    def start_study(self, task: str, room: str, name: str, recipe: str = "", *, seed: int = 0) -> KeptStudy:
        """Have a worker make the report anew (owners; errors also a model's owner).

        A *recipe* is TOML whose `learner` and `options` take the place of the linear learner, in the report of a data
        set or a round and in a comparison.
        """
        return self._transport.read(
            KeptStudy,
            "POST",
            f"{task_path(task)}/studies/{quote(room, safe='')}/{quote(name, safe='')}",
            params={"seed": seed},
            json={"recipe": recipe},
        )

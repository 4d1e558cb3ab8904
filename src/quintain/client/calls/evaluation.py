"""Calls about how models did (`task/name`, or `task/name@2`), and about runs, by their numbers.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from urllib.parse import quote

from quintain.client.refs import address, task_path
from quintain.client.transport import Transport
from quintain.core.records.evaluate import AnswerDifferences, Answers, Flips, GivenAnswer, Overlap, Overlaps, RunReport
from quintain.core.records.results import DatasetResult, ModelResults


class EvaluationCalls:
    """What `Client` can ask about evaluation."""

    _transport: Transport

    def results(self, ref: str) -> list[DatasetResult]:
        """Return a model's results on all data sets, on five axes."""
        where, version = address(ref, "models")
        return self._transport.read(ModelResults, "GET", f"{where}/results", params=version).datasets

    def overlap(self, ref: str) -> list[Overlap]:
        """Return how much of each evaluation set is in the data that a model says it was trained on."""
        where, version = address(ref, "models")
        return self._transport.read(Overlaps, "GET", f"{where}/overlap", params=version).overlaps

    def flips(
        self, ref: str, dataset: str, *, family: str = "", group: str = "", offset: int = 0, limit: int = 20
    ) -> Flips:
        """List the answers that changed when only the wording did. On hidden labels: the builder and owners."""
        where, version = address(ref, "models")
        return self._transport.read(
            Flips,
            "GET",
            f"{where}/results/{quote(dataset, safe='')}/flips",
            params={**version, "family": family, "group": group, "offset": offset, "limit": limit},
        )

    def answers(
        self,
        ref: str,
        dataset: str,
        *,
        offset: int = 0,
        limit: int = 50,
        show: str = "all",
        label: str = "",
        said: str = "",
        text: str = "",
    ) -> Answers:
        """List what a model answered to each example. On hidden labels: its builder, without gold, and owners."""
        where, version = address(ref, "models")
        return self._transport.read(
            Answers,
            "GET",
            f"{where}/results/{quote(dataset, safe='')}/examples",
            params={
                **version,
                "offset": offset,
                "limit": limit,
                "show": show,
                "label": label,
                "said": said,
                "text": text,
            },
        )

    def answer(self, ref: str, dataset: str, example: str) -> GivenAnswer:
        """Return what a model made of one example, with what it was asked in words and what it wrote."""
        where, version = address(ref, "models")
        return self._transport.read(
            GivenAnswer,
            "GET",
            f"{where}/results/{quote(dataset, safe='')}/examples/{quote(example, safe='')}",
            params=version,
        )

    def differences(
        self, task: str, a: str, b: str, dataset: str, *, only: str = "", offset: int = 0, limit: int = 20
    ) -> AnswerDifferences:
        """List the examples that two models answer differently, on a data set with open labels."""
        return self._transport.read(
            AnswerDifferences,
            "GET",
            f"{task_path(task)}/compare/examples",
            params={"a": a, "b": b, "dataset": dataset, "only": only, "offset": offset, "limit": limit},
        )

    def run(self, number: int) -> RunReport:
        """Return how a run is, with its place in the queue and, for those who may read it, its log."""
        return self._transport.read(RunReport, "GET", f"/runs/{number}")

    def cancel_run(self, number: int) -> RunReport:
        """Cancel a run that waits or goes on (its builder, the task's owner)."""
        return self._transport.read(RunReport, "POST", f"/runs/{number}/cancel")

    def retry_run(self, number: int) -> RunReport:
        """Queue a failed or cancelled run again (its builder, the task's owner)."""
        return self._transport.read(RunReport, "POST", f"/runs/{number}/retry")

    def measure_run(self, number: int) -> RunReport:
        """Queue a measurement again (the task's owner; its builder where it is uneven, or the machine was busy)."""
        return self._transport.read(RunReport, "POST", f"/runs/{number}/measure")

"""The client's calls about results and runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quintain.client.refs import address, format_of, task_path
from quintain.client.result_shapes import Answers, DatasetResult, GivenAnswer, Run, RunReport, Runs
from quintain.client.transport import Transport


class EvaluationCalls:
    """What `Client` can ask about how models did (`task/name@version`), and about runs, by their numbers."""

    _transport: Transport

    def results(self, ref: str) -> list[DatasetResult]:
        """Give a model's results on every data set version that it has been run on."""
        path, query = address(ref, "models")
        found = self._transport.ask("GET", f"{path}/results", params=query)
        return [DatasetResult.read(item) for item in found["datasets"]]

    def answers(
        self,
        ref: str,
        dataset: str,
        *,
        show: str = "all",
        label: str = "",
        said: str = "",
        text: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> Answers:
        """List what a model answered on a data set, a page at a time.

        *show* is `all`, `right`, `wrong` or `failed`; *label* is the right answer and *said* the model's; *text* is
        part of the inputs.
        """
        where, query = address(ref, "models")
        filters = {"show": show, "label": label, "said": said, "text": text, "offset": offset, "limit": limit}
        path = f"{where}/results/{quote(dataset, safe='')}/examples"
        found = self._transport.ask("GET", path, params={**query, **filters})
        return Answers.read({**found, "answers": [GivenAnswer.read(item) for item in found["answers"]]})

    def answer(self, ref: str, dataset: str, example: str) -> GivenAnswer:
        """Give what a model made of one example, by its id, with what it was asked and what it wrote."""
        where, query = address(ref, "models")
        path = f"{where}/results/{quote(dataset, safe='')}/examples/{quote(example, safe='')}"
        return GivenAnswer.read(self._transport.ask("GET", path, params=query))

    def download_answers(
        self,
        ref: str,
        dataset: str,
        path: Path | str,
        *,
        format: str | None = None,  # noqa: A002 - the API's word
    ) -> Path:
        """Write what a model answered to each example of a data set with open labels, with gold answer and score."""
        target = Path(path)
        where, query = address(ref, "models")
        query["format"] = format_of(target, format)
        self._transport.fetch(f"{where}/results/{quote(dataset, safe='')}/answers", target, params=query)
        return target

    def compare(self, task: str, first: str, second: str) -> list[dict[str, Any]]:
        """Compare two models of a task, `name` or `name@version`, on every data set that both were run on.

        Each data set has its name as `dataset`, the `metric` and what the `first` and the `second` reached, their
        `difference` with interval and p-value, `mcnemar`, `answers_differ`, and how many
        `more_examples_needed` would settle it.
        """
        params = {"a": first, "b": second}
        found: list[dict[str, Any]] = self._transport.ask("GET", f"{task_path(task)}/compare", params=params)[
            "datasets"
        ]
        return found

    def runs(
        self,
        task: str,
        *,
        states: Sequence[str] = (),
        model: str = "",
        dataset: str = "",
        variant: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> Runs:
        """List the runs of a task: what runs first, then what waits, then what failed."""
        filters = {"state": list(states), "model": model, "dataset": dataset, "variant": variant}
        params = {**filters, "offset": offset, "limit": limit}
        found = self._transport.ask("GET", f"{task_path(task)}/runs", params=params)
        return Runs.read({**found, "runs": [Run.read(item) for item in found["cells"]]})

    def run(self, number: int) -> RunReport:
        """Say how a run is and why, with its place in the queue."""
        return _report(self._transport.ask("GET", f"/runs/{number}"))

    def cancel_run(self, number: int) -> RunReport:
        """Cancel a run that waits or goes on (its builder, the task's owner)."""
        return _report(self._transport.ask("POST", f"/runs/{number}/cancel"))

    def retry_run(self, number: int) -> RunReport:
        """Queue a failed or cancelled run again (its builder, the task's owner)."""
        return _report(self._transport.ask("POST", f"/runs/{number}/retry"))


def _report(found: dict[str, Any]) -> RunReport:
    return RunReport.read({**found, "run": Run.read(found["cell"]) if found["cell"] else None})

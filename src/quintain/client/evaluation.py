"""The client's calls about results that name two models, several states, or a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from quintain.client.calls.evaluation import EvaluationCalls
from quintain.client.refs import address, format_of, task_path
from quintain.core.records.evaluate import Comparison, DatasetComparison, Runs


class EvaluationClient(EvaluationCalls):
    """What `Client` can ask about how models did (`task/name@version`), and about runs, by their numbers."""

    def compare(self, task: str, first: str, second: str) -> list[DatasetComparison]:
        """Compare two models of a task, `name` or `name@version`, on every data set that both were run on."""
        params = {"a": first, "b": second}
        return self._transport.read(Comparison, "GET", f"{task_path(task)}/compare", params=params).datasets

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
        return self._transport.read(Runs, "GET", f"{task_path(task)}/runs", params=params)

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

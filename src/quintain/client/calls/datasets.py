"""Calls about data sets, `task/name` for the newest version or `task/name@2`.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from quintain.client.refs import address, ref_path, task_path
from quintain.client.transport import Transport
from quintain.core.records.tasks import (
    DatasetDifference,
    DatasetInputs,
    DatasetVersion,
    DatasetVersions,
    LabelCounts,
    Preview,
)


class DatasetsCalls:
    """What `Client` can ask about datasets."""

    _transport: Transport

    def datasets(self, task: str) -> list[DatasetVersion]:
        """List the data set versions of a task."""
        return self._transport.read(DatasetVersions, "GET", f"{task_path(task)}/datasets").datasets

    def dataset(self, ref: str) -> DatasetVersion:
        """Return one version with its lineage."""
        where, version = address(ref, "datasets")
        return self._transport.read(DatasetVersion, "GET", where, params=version)

    def preview(
        self, ref: str, *, text: str = "", label: str = "", tag: str = "", offset: int = 0, limit: int = 20
    ) -> Preview:
        """Return some examples: those that contain *text*, with this *label* and *tag*; hidden answers are left out."""
        where, version = address(ref, "datasets")
        return self._transport.read(
            Preview,
            "GET",
            f"{where}/preview",
            params={**version, "text": text, "label": label, "tag": tag, "offset": offset, "limit": limit},
        )

    def inputs(self, ref: str) -> DatasetInputs:
        """Return who may read the inputs of a data set, and what was asked."""
        return self._transport.read(DatasetInputs, "GET", f"{ref_path(ref, 'datasets')}/inputs")

    def set_inputs(self, ref: str, inputs: str, *, traces: bool | None = None) -> DatasetInputs:
        """Choose who reads the inputs of a data set (owners)."""
        return self._transport.read(
            DatasetInputs, "PUT", f"{ref_path(ref, 'datasets')}/inputs", json={"inputs": inputs, "traces": traces}
        )

    def ask_for_inputs(self, ref: str, why: str = "") -> DatasetInputs:
        """Ask the owners to read the inputs of a data set."""
        return self._transport.read(
            DatasetInputs, "POST", f"{ref_path(ref, 'datasets')}/inputs/requests", json={"why": why}
        )

    def decide_inputs(self, ref: str, request: int, decision: str) -> DatasetInputs:
        """Allow or decline a request to read inputs, or revoke what was allowed (owners)."""
        return self._transport.read(
            DatasetInputs, "POST", f"{ref_path(ref, 'datasets')}/inputs/requests/{request}", json={"decision": decision}
        )

    def label_counts(self, ref: str) -> dict[str, int]:
        """Count the answers of a version."""
        where, version = address(ref, "datasets")
        return self._transport.read(LabelCounts, "GET", f"{where}/labels", params=version).labels

    def diff_datasets(self, ref: str, a: int, b: int, *, limit: int = 20) -> DatasetDifference:
        """Return how version *b* differs from version *a*."""
        return self._transport.read(
            DatasetDifference, "GET", f"{ref_path(ref, 'datasets')}/diff", params={"a": a, "b": b, "limit": limit}
        )

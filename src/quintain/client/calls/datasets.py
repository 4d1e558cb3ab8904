"""Calls about data sets, `task/name` for the newest version or `task/name@2`.

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from quintain.client.refs import address, place, task_path
from quintain.client.transport import Transport
from quintain.core.records.tasks import DatasetDifference, DatasetVersion, DatasetVersions, LabelCounts, Preview


class DatasetsCalls:
    """What `Client` can ask about datasets."""

    _transport: Transport

    def datasets(self, task: str) -> list[DatasetVersion]:
        """List the data set versions of a task."""
        return self._transport.read(DatasetVersions, "GET", f"{task_path(task)}/datasets").datasets

    def dataset(self, ref: str) -> DatasetVersion:
        """Give one version with its lineage."""
        where, version = address(ref, "datasets")
        return self._transport.read(DatasetVersion, "GET", where, params=version)

    def preview(
        self, ref: str, *, text: str = "", label: str = "", tag: str = "", offset: int = 0, limit: int = 20
    ) -> Preview:
        """Give some examples: those that contain *text*, with this *label* and *tag*; hidden answers are left out."""
        where, version = address(ref, "datasets")
        return self._transport.read(
            Preview,
            "GET",
            f"{where}/preview",
            params={**version, "text": text, "label": label, "tag": tag, "offset": offset, "limit": limit},
        )

    def label_counts(self, ref: str) -> dict[str, int]:
        """Count the answers of a version."""
        where, version = address(ref, "datasets")
        return self._transport.read(LabelCounts, "GET", f"{where}/labels", params=version).labels

    def diff_datasets(self, ref: str, a: int, b: int, *, limit: int = 20) -> DatasetDifference:
        """Say how version *b* differs from version *a*."""
        return self._transport.read(
            DatasetDifference, "GET", f"{place(ref, 'datasets')}/diff", params={"a": a, "b": b, "limit": limit}
        )

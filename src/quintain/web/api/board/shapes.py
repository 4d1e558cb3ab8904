"""What the API takes about boards."""

from __future__ import annotations

from typing import Literal

from quintain.web.api.shapes import Shape, Text

ExportKind = Literal["csv", "json", "latex", "markdown", "harness", "model-index"]


class ScoringChange(Shape):
    """Whether a data set scores."""

    scores: bool


class ForkChange(Shape):
    """A view to keep, and its name."""

    name: Text
    weights: dict[str, float] | None = None
    datasets: dict[str, float] | None = None
    epsilon: float | None = None
    base: Text | None = None
    amrs: dict[str, float] | None = None
    rate: Text | None = None


class SnapshotRequest(Shape):
    """What to call a snapshot."""

    title: Text = ""

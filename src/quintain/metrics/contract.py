"""What every metric must say of itself.

A metric is a class decorated by `@METRICS.register(name)`, one file per family. It says what each example adds to a
sum (`tally`) and what figure the sum makes (`value`); the value by tag and the bootstrap intervals follow from those
two, for every metric alike. It never touches a file, a clock or a global random state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from quintain.core.registry import Registry
from quintain.core.task import AnswerType
from quintain.metrics.aligned import Aligned
from quintain.stats.bootstrap import FloatArray, IntArray, Tally

Direction = Literal["higher", "lower"]
Need = Literal["answers", "probabilities", "distributions"]


class Metric(ABC):
    """One metric. See the module's docstring.

    *better* says which way is better; *needs* what must be there besides the gold answers; *range* the least and the
    greatest value there can be. Values that are rates are fractions between 0 and 1.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    answer_types: ClassVar[tuple[AnswerType, ...]]
    better: ClassVar[Direction] = "higher"
    needs: ClassVar[tuple[Need, ...]] = ("answers",)
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @abstractmethod
    def tally(self, data: Aligned) -> Tally:
        """Return what each example adds to the totals."""

    @abstractmethod
    def value(self, totals: FloatArray) -> FloatArray:
        """Make the figure from totals (last axis), for any number of them at once; NaN where it is undefined."""

    def tally_slice(self, data: Aligned, tally: Tally, rows: IntArray) -> Tally:
        """Return what the examples at *rows* add when they are all there is; *tally* is that of all examples."""
        del data
        return tally.take(rows)

    def parts(self, data: Aligned, totals: FloatArray) -> Mapping[str, FloatArray]:
        """Return the figures that this one is made of, by name, such as those of the classes; by default none."""
        del data, totals
        return {}

    def undefined(self, data: Aligned) -> str:
        """Return why the value is undefined, where it is."""
        del data
        return "it is undefined on these examples"


class MeanMetric(Metric):
    """A metric that is the mean of one score per example."""

    @abstractmethod
    def scores(self, data: Aligned) -> FloatArray:
        """Score each example; an unanswered one (null) gets the worst score there is."""

    def tally(self, data: Aligned) -> Tally:
        """Add up the scores."""
        # Scores without a natural end have no worst example that could stand for what is not known.
        bounds = self.range if self.range == (0.0, 1.0) else None
        return data.once(f"scores:{self.name}", lambda: Tally.of_scores(self.scores(data), bounds))

    def value(self, totals: FloatArray) -> FloatArray:
        """Divide the sum of the scores by their number."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(totals[..., 0] / totals[..., 1], dtype=np.float64)


METRICS: Registry[type[Metric]] = Registry("metric", package="quintain.metrics", group="quintain.metrics")

__all__ = ["METRICS", "Direction", "MeanMetric", "Metric", "Need"]

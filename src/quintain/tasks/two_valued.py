"""What the kinds share whose answer is one of two fixed labels."""

from __future__ import annotations

from typing import Any, ClassVar

from quintain.core.example import Inputs, Prediction
from quintain.core.task import Task
from quintain.tasks.labelled import LabelKind


class TwoValuedKind(LabelKind):
    """A kind with two labels, the first of which says yes. Models may answer true and false as well."""

    default_metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1")

    def parse_answer(self, task: Task, inputs: Inputs, raw: Any) -> Prediction:
        """Read a label, a truth value, or probabilities by label."""
        agreed, denied = self.fixed_labels
        if isinstance(raw, bool):
            raw = agreed if raw else denied
        return super().parse_answer(task, inputs, raw)

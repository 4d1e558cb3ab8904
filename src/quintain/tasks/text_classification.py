"""One text, one label: sentiment, hate speech, topic."""

from __future__ import annotations

from typing import ClassVar

from quintain.core.example import Example
from quintain.core.task import Field, Task
from quintain.tasks.contract import KINDS
from quintain.tasks.labelled import LabelKind


@KINDS.register("text-classification")
class TextClassification(LabelKind):
    """One text, one label."""

    name: ClassVar[str] = "text-classification"
    title: ClassVar[str] = "Text classification"
    hub_categories: ClassVar[tuple[str, ...]] = ("text-classification",)
    starter_labels: ClassVar[tuple[str, ...]] = ("negative", "neutral", "positive")
    example: ClassVar[Example] = Example({"text": "The soup was cold, and so was the waiter."}, "negative")

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the text."""
        return (Field("text", "long_text", title="Text"),)

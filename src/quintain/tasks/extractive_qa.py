"""A question on a passage, answered by a piece of it: SQuAD, Quoref, ROPES."""

from __future__ import annotations

from typing import ClassVar

from quintain.core.example import Example
from quintain.core.task import Field, Task
from quintain.tasks.contract import KINDS
from quintain.tasks.spans import SpanKind


@KINDS.register("extractive-qa")
class ExtractiveQA(SpanKind):
    """A question answered by a span of the passage."""

    name: ClassVar[str] = "extractive-qa"
    title: ClassVar[str] = "Extractive question answering"
    hub_categories: ClassVar[tuple[str, ...]] = ("question-answering",)
    source: ClassVar[str] = "passage"
    example: ClassVar[Example] = Example(
        {"passage": "The mill was built in 1802 and burnt down in 1911.", "question": "When did the mill burn down?"},
        [{"text": "1911", "start": 45}],
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the passage, which a prompt gives, and the question."""
        return (
            # A changed passage would put the gold spans in the wrong place.
            Field("passage", "long_text", title="Passage", editable=False),
            Field("question", "text", title="Question", max_length=2_000),
        )

"""A question on a passage that is answered by yes or no: BoolQ."""

from __future__ import annotations

from typing import ClassVar

from quintain.core.example import Example
from quintain.core.task import Field, Task
from quintain.tasks.contract import KINDS
from quintain.tasks.two_valued import TwoValuedKind


@KINDS.register("yes-no")
class YesNo(TwoValuedKind):
    """Yes or no, given a passage."""

    name: ClassVar[str] = "yes-no"
    title: ClassVar[str] = "Yes/no questions on a passage"
    hub_categories: ClassVar[tuple[str, ...]] = ("question-answering",)
    fixed_labels: ClassVar[tuple[str, ...]] = ("yes", "no")
    example: ClassVar[Example] = Example(
        {"passage": "The ferry runs from April to October.", "question": "Can one take the ferry in May?"}, "yes"
    )

    def fields(self, task: Task) -> tuple[Field, ...]:
        """Ask for the passage, which a prompt gives, and the question."""
        return (
            Field("passage", "long_text", title="Passage", editable=False),
            Field("question", "text", title="Question", max_length=2_000),
        )

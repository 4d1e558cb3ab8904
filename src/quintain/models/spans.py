"""What all baselines share that answer with a piece of a text."""

from __future__ import annotations

from typing import Any, ClassVar

from quintain.core.task import AnswerType, Task
from quintain.models.contract import Baseline
from quintain.models.fields import clean, of_type
from quintain.tasks.contract import kind_of


class SpanBaseline(Baseline):
    """A baseline for tasks whose answer is a span of a long text, or of any of several."""

    answer_types: ClassVar[tuple[AnswerType, ...]] = ("span", "discrete")

    @classmethod
    def finds_fields(cls, task: Task) -> bool:
        """Ask for one long text, or for some where an answer need not be a piece of a certain one."""
        texts = of_type(task, "long_text")
        return len(texts) == 1 or (bool(texts) and kind_of(task).source is None)

    def source(self, example: dict[str, Any]) -> str:
        """Return the text that the answer is taken from; left as it is, so that positions stay right."""
        return "\n".join(str(example.get(name) or "") for name in of_type(self.task, "long_text"))

    def question(self, example: dict[str, Any]) -> str:
        """Return the question: the last of the short texts."""
        short = of_type(self.task, "text")
        return clean(example.get(short[-1])) if short else ""


def span(text: str, start: int, end: int) -> dict[str, Any]:
    """Return the piece of *text* from *start* to *end* as an answer, without the space around it."""
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return {"text": piece.strip(), "start": begin}

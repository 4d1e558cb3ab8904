"""Task files by themselves: what is wrong with one can be said without a workspace."""

from __future__ import annotations

from quintain.core.task import VMER, Task
from quintain.metrics.contract import METRICS
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS
from quintain.tasks.definition import parse_task


def check_task(toml_text: str, *, file: str | None = None) -> Task:
    """Return the task that *toml_text* defines, or raise BadInput with everything that is wrong with it.

    Needs no workspace. Besides the form, the names of the metrics are checked and whether they suit the kind.
    """
    known = {name: metric.answer_types for name, metric in METRICS.items()}
    return parse_task(toml_text, file=file, metrics={**known, VMER: ANSWER_KINDS.names()})

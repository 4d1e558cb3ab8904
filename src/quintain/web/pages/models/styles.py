"""How the models of a task are drawn: the same colour and mark on each of its pages."""

from __future__ import annotations

from quintain.reports.series import Style, styles_of
from quintain.services.models.registry import list_names
from quintain.web.visit import Visit


def model_styles(visit: Visit, task: str) -> dict[str, Style]:
    """Return the style of each model of *task* that the reader may see, by name."""
    return styles_of([name for _task, name in list_names(visit.db, visit.actor, task)])

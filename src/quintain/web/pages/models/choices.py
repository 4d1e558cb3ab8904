"""Choosing a model on a form: from a list where there are few, else from the newest, or by its name."""

from __future__ import annotations

from quintain.services.models.registry import ModelChoices
from quintain.web.visit import Visit


def how_to_name_others(visit: Visit, task: str, offered: ModelChoices) -> str:
    """Return how models are named that a form does not show; nothing where it shows all."""
    if not offered.more:
        return ""
    return visit.tongue.gettext(
        "Only the newest are shown. Name others as %(example)s, with commas between them.", example=f"{task}/name@1"
    )

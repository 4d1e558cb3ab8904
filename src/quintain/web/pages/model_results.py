"""What a model reached, for the page of the model and those of its results."""

from __future__ import annotations

from typing import Any

from quintain.core.task import Task
from quintain.metrics.contract import METRICS
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.results.dataset_results import newest_only
from quintain.services.models.registry import ModelInfo
from quintain.services.tasks import definitions as tasks
from quintain.web.visit import Visit


def axes_of(visit: Visit, task: Task, info: ModelInfo) -> dict[str, Any]:
    """Return what the model page shows of its results."""
    results = newest_only(model_results(visit.db, visit.blobs, visit.actor, info.version.ref))
    return {
        "results": results,
        "metric": tasks.leading_metric(task),
        "metric_title": METRICS.get(tasks.leading_metric(task)).title,
        "is_rate": is_rate,
        "names_training": bool(info.version.meta.get("data")),
    }


def is_rate(metric: str) -> bool:
    """Whether a metric is a share, which people read as a percentage."""
    return metric in METRICS and METRICS.get(metric).range == (0.0, 1.0)

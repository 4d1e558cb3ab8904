"""Whether a model version has passed its trial, as a condition of queries."""

from __future__ import annotations

from sqlalchemy import ColumnElement, exists

from quintain.store.tables import ModelVersion, Trial

QUEUED, PASSED, REFUSED = "queued", "passed", "refused"


def untried() -> ColumnElement[bool]:
    """Say of a model version in a query that its trial has not been passed."""
    return exists().where(Trial.version_id == ModelVersion.id, Trial.state != PASSED)


def refused() -> ColumnElement[bool]:
    """Say of a model version in a query that it was refused after its trial."""
    return exists().where(Trial.version_id == ModelVersion.id, Trial.state == REFUSED)

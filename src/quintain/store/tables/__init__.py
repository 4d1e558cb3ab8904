"""All tables, one file per noun. Importing this package makes the metadata complete."""

from quintain.store.tables.boards import BoardFork, BoardSettings, BoardSnapshot
from quintain.store.tables.datasets import Dataset, DatasetVersion, Lineage
from quintain.store.tables.evaluation import Cell, CellEvent, ResultCache, Upload, Variant
from quintain.store.tables.log import AuditEntry, Notification
from quintain.store.tables.models import Model, ModelCard, ModelVersion
from quintain.store.tables.people import ApiToken, OneTimeLink, RoleGrant, Throttle, User, WebSession
from quintain.store.tables.tasks import TaskRow, TaskVersion

__all__ = [
    "ApiToken",
    "AuditEntry",
    "BoardFork",
    "BoardSettings",
    "BoardSnapshot",
    "Cell",
    "CellEvent",
    "Dataset",
    "DatasetVersion",
    "Lineage",
    "Model",
    "ModelCard",
    "ModelVersion",
    "Notification",
    "OneTimeLink",
    "ResultCache",
    "RoleGrant",
    "TaskRow",
    "TaskVersion",
    "Throttle",
    "Upload",
    "User",
    "Variant",
    "WebSession",
]

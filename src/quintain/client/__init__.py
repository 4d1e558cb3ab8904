"""The typed Python client of a Quintain server.

    from quintain import Client

    with Client("https://quintain.example", token="qt_…") as client:
        for task in client.tasks():
            print(task.name)
        print(client.predict("sentiment/tfidf", [{"text": "A quiet triumph."}]))

What the server refuses is raised as the errors of `quintain.core.errors`, with the same message, remedy and faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from quintain.client.board import BoardCalls
from quintain.client.evaluation import EvaluationCalls
from quintain.client.refs import address, format_of, task_path
from quintain.client.result_shapes import (
    Board,
    Counters,
    DatasetResult,
    Estimate,
    Fork,
    RankedModel,
    Ranking,
    Round,
    Run,
    RunReport,
    Runs,
    SigningKey,
    Snapshot,
    SnapshotCheck,
    Uncertainty,
)
from quintain.client.rounds import RoundCalls
from quintain.client.shapes import (
    DatasetVersion,
    Model,
    Notification,
    Person,
    Preview,
    Status,
    TaskInfo,
    TaskSummary,
    Token,
)
from quintain.client.submit import Progress, submit
from quintain.client.transport import Transport
from quintain.client.validation import ValidationClient
from quintain.client.work import WorkCalls
from quintain.client.writing import WritingCalls
from quintain.client.writing_shapes import (
    Earning,
    Flag,
    Inspiration,
    OwnAttempt,
    Readiness,
    RoundChange,
    RoundPay,
    Verdict,
    WordEffect,
    WritingSession,
)
from quintain.core.errors import NotFound
from quintain.core.example import Prediction
from quintain.core.records.judging import (
    Contested,
    Gold,
    JudgeHistory,
    JudgeReview,
    JudgingPage,
    PageItem,
    Receipt,
    RuleEffect,
)
from quintain.core.records.validate import (
    Act,
    ItemsAdded,
    Judge,
    JudgedItem,
    JudgedItems,
    JudgingNote,
    PolicyVersion,
    Validation,
    ValidationProgress,
)


class Client(BoardCalls, EvaluationCalls, RoundCalls, ValidationClient, WorkCalls, WritingCalls):
    """A Quintain server at *url*, asked on behalf of whoever *token* belongs to.

    References are those of the command line: `task/name` for the newest version, `task/name@2` for version 2.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 60) -> None:
        self._transport = Transport(url, token, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def status(self) -> Status:
        """Say which version the server has and whether it is ready."""
        return Status.read(self._transport.ask("GET", "/status"))

    def me(self) -> Person:
        """Give the account on whose behalf this client asks."""
        return Person.read(self._transport.ask("GET", "/me"))

    def tokens(self) -> list[Token]:
        """List one's own API tokens."""
        return [Token.read(item) for item in self._transport.ask("GET", "/me/tokens")["tokens"]]

    def create_token(self, name: str, *, days: int | None = 90) -> Token:
        """Make an API token; its secret is known only now."""
        return Token.read(self._transport.ask("POST", "/me/tokens", json={"name": name, "days": days}))

    def revoke_token(self, token_id: int) -> None:
        """Make one of one's own tokens useless."""
        self._transport.ask("DELETE", f"/me/tokens/{token_id}")

    def notifications(self, *, unread: bool = False) -> list[Notification]:
        """List one's own messages, the newest first."""
        found = self._transport.ask("GET", "/me/notifications", params={"unread": unread})
        return [Notification.read(item) for item in found["notifications"]]

    def tasks(self, *, archived: bool = False) -> list[TaskSummary]:
        """List the tasks."""
        found = self._transport.ask("GET", "/tasks", params={"archived": archived})
        return [TaskSummary.read(item) for item in found["tasks"]]

    def task(self, name: str) -> TaskInfo:
        """Give a task as it is defined now."""
        return TaskInfo.read(self._transport.ask("GET", task_path(name)))

    def put_task(self, toml: str) -> TaskInfo:
        """Add the task that a TOML file defines, or change the one of that name."""
        return TaskInfo.read(self._transport.ask("POST", "/tasks", json={"toml": toml}))

    def datasets(self, task: str) -> list[DatasetVersion]:
        """List the data set versions of a task."""
        found = self._transport.ask("GET", f"{task_path(task)}/datasets")
        return [DatasetVersion.read(item) for item in found["datasets"]]

    def dataset(self, ref: str) -> DatasetVersion:
        """Give one version of a data set."""
        path, query = address(ref, "datasets")
        return DatasetVersion.read(self._transport.ask("GET", path, params=query))

    def preview(
        self, ref: str, *, text: str = "", label: str = "", tag: str = "", offset: int = 0, limit: int = 20
    ) -> Preview:
        """Give some examples of a version: those that contain *text*, with this *label* and this *tag*."""
        path, query = address(ref, "datasets")
        query |= {"text": text, "label": label, "tag": tag, "offset": str(offset), "limit": str(limit)}
        return Preview.read(self._transport.ask("GET", f"{path}/preview", params=query))

    def label_counts(self, ref: str) -> dict[str, int]:
        """Count the answers of a version."""
        path, query = address(ref, "datasets")
        counts: dict[str, int] = self._transport.ask("GET", f"{path}/labels", params=query)["labels"]
        return counts

    def download(self, ref: str, path: Path | str, *, format: str | None = None) -> Path:  # noqa: A002 - the API's word
        """Write a version to *path*; the format is that of its ending (jsonl, csv, tsv, parquet) unless given."""
        target = Path(path)
        where, query = address(ref, "datasets")
        query["format"] = format_of(target, format)
        self._transport.fetch(f"{where}/download", target, params=query)
        return target

    def upload(
        self,
        task: str,
        name: str,
        path: Path | str,
        *,
        role: str,
        hidden: bool = False,
        language: str = "en",
        description: str = "",
        plan: str = "",
        skip_bad: bool = False,
        score: bool = False,
    ) -> DatasetVersion:
        """Import the file at *path* as a version of data set *name*; *plan* is an import plan in TOML.

        A new data set does not score on the board until `let_score`, or at once with *score*.
        """
        source = Path(path)
        if not source.is_file():
            raise NotFound(f"There is no file {source}.")
        fields = {"name": name, "role": role, "language": language, "description": description, "plan": plan}
        given = {"hidden": hidden, "skip_bad": skip_bad, "score": score}
        flags = {name: str(value).lower() for name, value in given.items()}
        with source.open("rb") as stream:
            made = self._transport.ask(
                "POST",
                f"{task_path(task)}/datasets",
                data={**fields, **flags},
                files={"file": (source.name, stream)},
            )
        return DatasetVersion.read(made)

    def models(self, task: str) -> list[Model]:
        """List the models of a task that one may see."""
        return [Model.read(item) for item in self._transport.ask("GET", f"{task_path(task)}/models")["models"]]

    def model(self, ref: str) -> Model:
        """Give a model."""
        path, query = address(ref, "models")
        return Model.read(self._transport.ask("GET", path, params=query))

    def submit(
        self,
        archive: Path,
        task: str,
        *,
        name: str | None = None,
        visibility: str = "public",
        progress: Progress = lambda done, total: None,
    ) -> dict[str, Any]:
        """Submit a model's .tar.gz or .zip to *task*; an upload that broke off goes on where it stopped."""
        return submit(self._transport, Path(archive), task, name=name, visibility=visibility, progress=progress)

    def predict(self, ref: str, inputs: Iterable[Mapping[str, Any]]) -> list[Prediction]:
        """Ask a model about examples, and give one prediction for each."""
        path, query = address(ref, "models")
        body = {"inputs": [dict(one) for one in inputs]}
        found = self._transport.ask("POST", f"{path}/predict", params=query, json=body)
        return [Prediction(item["answer"], item["probabilities"]) for item in found["predictions"]]


__all__ = [
    "Act",
    "Board",
    "Client",
    "Contested",
    "Counters",
    "DatasetResult",
    "DatasetVersion",
    "Earning",
    "Estimate",
    "Flag",
    "Fork",
    "Gold",
    "Inspiration",
    "ItemsAdded",
    "Judge",
    "JudgeHistory",
    "JudgeReview",
    "JudgedItem",
    "JudgedItems",
    "JudgingNote",
    "JudgingPage",
    "Model",
    "Notification",
    "OwnAttempt",
    "PageItem",
    "Person",
    "PolicyVersion",
    "Preview",
    "RankedModel",
    "Ranking",
    "Readiness",
    "Receipt",
    "Round",
    "RoundChange",
    "RoundPay",
    "RuleEffect",
    "Run",
    "RunReport",
    "Runs",
    "SigningKey",
    "Snapshot",
    "SnapshotCheck",
    "Status",
    "TaskInfo",
    "TaskSummary",
    "Token",
    "Uncertainty",
    "Validation",
    "ValidationProgress",
    "Verdict",
    "WordEffect",
    "WritingSession",
]

"""The typed Python client of a Quintain server.

    from quintain import Client

    with Client("https://quintain.example", token="qt_…") as client:
        for task in client.tasks():
            print(task.name)
        print(client.predict("sentiment/tfidf", [{"text": "A quiet triumph."}]))

What the server refuses is raised as the errors of `quintain.core.errors`, with the same message, remedy and faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from quintain.client.board import BoardClient, SnapshotCheck
from quintain.client.calls.datasets import DatasetsCalls
from quintain.client.calls.me import MeCalls
from quintain.client.calls.models import ModelsCalls
from quintain.client.calls.quizzes import QuizzesCalls
from quintain.client.calls.status import StatusCalls
from quintain.client.calls.tasks import TasksCalls
from quintain.client.calls.users import UsersCalls
from quintain.client.contests import ContestClient
from quintain.client.contrast import ContrastClient
from quintain.client.evaluation import EvaluationClient
from quintain.client.refs import address, format_of, task_path
from quintain.client.rounds import RoundClient
from quintain.client.study import StudyClient
from quintain.client.submit import Progress, submit
from quintain.client.transport import Transport
from quintain.client.trials import TrialClient
from quintain.client.validation import ValidationClient
from quintain.client.writing import WritingClient
from quintain.core.errors import NotFound
from quintain.core.example import Prediction
from quintain.core.records.access import Notification, Person, Status, Token
from quintain.core.records.board import Board, Fork, SigningKey, Snapshot
from quintain.core.records.collect import (
    Counters,
    Flag,
    Inspiration,
    OwnAttempt,
    Readiness,
    Round,
    RoundChange,
    Verdict,
    WordEffect,
    WritingSession,
)
from quintain.core.records.evaluate import Run, RunReport, Runs
from quintain.core.records.figures import Estimate
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
from quintain.core.records.pay import Earning, RoundPay
from quintain.core.records.ranking import RankedModel, Ranking, Uncertainty
from quintain.core.records.results import DatasetResult
from quintain.core.records.tasks import (
    DatasetVersion,
    Model,
    Predictions,
    Preview,
    Submission,
    TaskInfo,
    TaskSummary,
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
from quintain.core.records.work import KnownFacts
from quintain.labels.views import LabelView


class Client(
    BoardClient,
    ContrastClient,
    ContestClient,
    DatasetsCalls,
    EvaluationClient,
    MeCalls,
    ModelsCalls,
    QuizzesCalls,
    RoundClient,
    StatusCalls,
    StudyClient,
    TasksCalls,
    TrialClient,
    UsersCalls,
    ValidationClient,
    WritingClient,
):
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

    def download(
        self,
        ref: str,
        path: Path | str,
        *,
        format: str | None = None,  # noqa: A002 - the API's word
        also: Sequence[str] = (),
        labels: LabelView = "majority",
    ) -> Path:
        """Write a version to *path*; the format is that of its ending (jsonl, csv, tsv, parquet) unless given.

        The format dynasent is JSON lines in DynaSent's names. The formats hf and croissant are folders, written as a
        ZIP; *also* names versions of the task that go into it, too, such as `dev@2`. *labels* as people voted, for
        owners: a row for each vote (distributional), or the share of each label (soft).
        """
        target = Path(path)
        where, query = address(ref, "datasets")
        params = {**query, "format": format_of(target, format), "also": list(also), "labels": labels}
        self._transport.fetch(f"{where}/download", target, params=params)
        return target

    def upload(
        self,
        task: str,
        name: str,
        path: Path | str,
        *,
        role: str,
        hidden: bool = False,
        language: str = "",
        description: str = "",
        plan: str = "",
        skip_bad: bool = False,
        score: bool = False,
    ) -> DatasetVersion:
        """Import the file at *path* as a version of data set *name*; *plan* is an import plan in TOML.

        Its language is the task's first by default. A new data set does not score on the board until `let_score`, or at
        once with *score*.
        """
        source = Path(path)
        if not source.is_file():
            raise NotFound("There is no file {source}.", source=source)
        fields = {"name": name, "role": role, "language": language, "description": description, "plan": plan}
        switches = {"hidden": hidden, "skip_bad": skip_bad, "score": score}
        flags = {name: str(value).lower() for name, value in switches.items()}
        with source.open("rb") as stream:
            return self._transport.read(
                DatasetVersion,
                "POST",
                f"{task_path(task)}/datasets",
                data={**fields, **flags},
                files={"file": (source.name, stream)},
            )

    def submit(
        self,
        archive: Path,
        task: str,
        *,
        name: str | None = None,
        visibility: str = "public",
        progress: Progress = lambda done, total: None,
    ) -> Submission:
        """Submit a model to *task*: its .tar.gz or .zip, or one file that is a model, such as .joblib or .onnx.

        An upload that broke off goes on where it stopped.
        """
        return submit(self._transport, Path(archive), task, name=name, visibility=visibility, progress=progress)

    def predict(self, ref: str, inputs: Iterable[Mapping[str, Any]]) -> list[Prediction]:
        """Ask a model about examples, and give one prediction for each."""
        path, query = address(ref, "models")
        body = {"inputs": [dict(one) for one in inputs]}
        answered = self._transport.read(Predictions, "POST", f"{path}/predict", params=query, json=body)
        return [Prediction(prediction.answer, prediction.probabilities) for prediction in answered.predictions]

    def state_fact(self, name: str, value: str) -> dict[str, str]:
        """State one's country or language, and return what is known of oneself."""
        known = self._transport.read(KnownFacts, "PUT", "/me/facts", json={"name": name, "value": value})
        return {fact.name: fact.value for fact in known.facts}


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

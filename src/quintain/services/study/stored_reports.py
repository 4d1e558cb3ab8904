"""Reports as they are shown: made at once where there is little to read, else by a worker, and kept with their time.

They are kept by what may be seen, never by who looks: everybody sees the same report on models, a task's owners see all
of it, and who has a model that others do not see has a report of their own. What only owners see is kept once. Where
more has come in than the last report knows, it is shown with its time while a worker makes the next; one that shows
what is not to be seen any more, a model or a text, is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlencode

from sqlalchemy.orm import Session

from quintain import __version__
from quintain.core.cells import CellState
from quintain.core.errors import BadInput, Forbidden, NotFound, Unavailable
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.core.records.report import Report, ReportFact, ReportKind
from quintain.core.texts import Text
from quintain.reports.plain import from_plain, to_plain
from quintain.services.board.materialised import OWNER, BoardKey, board_audience
from quintain.services.jobs import figures, queue
from quintain.services.jobs.figures import FigureKind, ReportProgress, files
from quintain.services.models.registry import model_visibility as eyes_of
from quintain.services.study import compare, judged, models
from quintain.services.study.reports import ReportRequest, make_report
from quintain.services.validate.quality.validation_figures import VALIDATION
from quintain.store.blobs import Blobs
from quintain.store.queries.board import boards as board_queries
from quintain.store.queries.jobs import figures as kept_queries
from quintain.store.queries.models.models import visibilities
from quintain.store.queries.study.texts import taken_back_since

FORMAT = 1  # goes up when the shape or the meaning of a kept report changes
CELLS_AT_ONCE = 500  # of which a report on models is made while somebody waits: some tenths of a second
SOON_S = 2
PENDING = "report_pending"  # the code of the error where a large report was never made
LONGEST = 255  # of what names a kept report


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A report as it is shown: None where none is there to be seen. *job* makes the next where it is not *fresh*."""

    report: Report | None
    computed_at: datetime | None
    fresh: bool
    job: JobStanding | None = None

    @property
    def failed(self) -> bool:
        """Whether the last attempt to make it failed."""
        return self.job is not None and self.job.state == CellState.FAILED.value

    def require_report(self) -> Report:
        """Return the report; refuse for now where it is being made, for good where it could not be."""
        if self.report is not None:
            return self.report
        if self.job is not None and self.failed:
            raise Unavailable("The report could not be made: {reason}", reason=self.job.reason)
        raise Unavailable(
            "The report is being made: there is much to read, so that a worker does it.",
            retry_after=SOON_S,
            code=PENDING,
            remedy="Try again in a moment; where no worker runs, start one: quintain worker.",
            page="Look again in a moment. A worker makes it.",
        )


@dataclass(frozen=True, slots=True)
class ReportKey:
    """Which report: what is wanted, and as whom it is seen."""

    wanted: ReportRequest
    audience: str = OWNER

    def __str__(self) -> str:
        request = self.wanted
        parts = [("kind", request.kind), ("sight", self.audience), ("seed", str(request.seed))]
        parts += [("round", str(number)) for number in request.rounds]
        parts += [("harvest", name) for name in request.harvests]
        parts += [("validation", request.validation)] if request.validation else []
        return f"{request.task}?{urlencode(parts)}"

    @classmethod
    def read(cls, subject: str) -> ReportKey:
        """Read what `str` has written.

        >>> key = ReportKey(WantedReport("mood", "compare", (1, 2), ("a b@1",), seed=3))
        >>> ReportKey.read(str(key)) == key
        True
        """
        task, _, query = subject.rpartition("?")
        query_values = parse_qs(query)
        request = ReportRequest(
            task,
            _kind(query_values["kind"][0]),
            tuple(map(int, query_values.get("round", ()))),
            tuple(query_values.get("harvest", ())),
            query_values.get("validation", [""])[0],
            int(query_values["seed"][0]),
        )
        return cls(request, query_values["sight"][0])

    @property
    def actor(self) -> Actor:
        """Somebody who sees this report."""
        return BoardKey(self.wanted.task, self.audience).actor

    @property
    def ref(self) -> str:
        """What the validation is called."""
        return f"{self.wanted.task}/{self.wanted.validation}"


def shown_report(db: Session, blobs: Blobs, actor: Actor, request: ReportRequest) -> ShownReport:
    """Return the report of a *request* as it was last computed, and ask for a newer one where its facts have changed.

    `models` is for everybody, the others are for the task's owners.
    """
    key = _checked(db, actor, request)
    subject, kind = str(key), FIGURES[request.kind]
    if len(subject) > LONGEST:
        raise BadInput("These names are too long together.", remedy="Compare fewer at a time.")
    last = queue.newest(db, kind.job, subject)
    shown = figures.shown_figure(db, blobs, kind, subject, task=request.task)
    if shown.value is None or shown.computed_at is None:
        return ShownReport(None, None, fresh=False, job=_failed_or(last, shown.job))
    report = from_plain(shown.value["report"])
    if shown.fresh:
        return ShownReport(report, shown.computed_at, fresh=True)
    job = _failed_or(last, shown.job)
    if not _may_still_be_seen(db, key, shown.value, shown.computed_at):
        return ShownReport(None, None, fresh=False, job=job)
    when = Text("{when} UTC; more has come in since", when=f"{shown.computed_at:%Y-%m-%d %H:%M}")
    report = replace(report, facts=[*report.facts, ReportFact(Text("As of"), when)])
    return ShownReport(report, shown.computed_at, fresh=False, job=job)


def _failed_or(last: JobStanding | None, job: JobStanding | None) -> JobStanding | None:
    """Return the job before where it failed, so that who waits hears of it; the next one is on the way already."""
    return last if last is not None and last.state == CellState.FAILED.value else job


def _checked(db: Session, actor: Actor, request: ReportRequest) -> ReportKey:
    """Return which report it is that *actor* would see; refuse where there is none."""
    if request.kind == "models":
        models.require_labels(db, request.task)
        key = ReportKey(
            replace(request, rounds=(), harvests=(), validation=""), board_audience(db, actor, request.task)
        )
        if request.seed and key.audience != OWNER and _cells(db, str(key)) > FIGURES["models"].at_once:
            # Every seed is another report, and anybody can think of many.
            raise Forbidden("Only the owners of the task may choose the seed.", remedy="Leave it at 0.")
        return key
    if request.kind == "compare":
        compare.require_comparable(db, actor, request.task, *_refs(request))
        return ReportKey(replace(request, validation=""))
    if not request.validation:
        raise BadInput("No validation is named.", remedy="Choose the validation that the report is about.")
    judged.require_judged(db, actor, f"{request.task}/{request.validation}", labels=request.kind == "relabel")
    return ReportKey(replace(request, rounds=(), harvests=()))


def _may_still_be_seen(db: Session, key: ReportKey, value: Mapping[str, Any], at: datetime) -> bool:
    task = key.wanted.task
    if key.wanted.kind == "models":
        return set(value["models"]) <= visibilities(db, eyes_of(key.actor), task).keys()
    return key.wanted.kind == "workers" or not taken_back_since(db, task, None, at)


def _compute(db: Session, blobs: Blobs | None, subject: str, tell: ReportProgress) -> Mapping[str, Any]:
    key = ReportKey.read(subject)
    tell(0, 1)
    report = make_report(db, files(blobs), key.actor, key.wanted)
    named = sorted({one.partition("@")[0] for one in models.named_in(report)}) if key.wanted.kind == "models" else []
    return {"report": to_plain(report), "models": named}


def _stamp(db: Session, subject: str) -> str:
    models.require_labels(db, ReportKey.read(subject).wanted.task)
    return f"{FORMAT}-{__version__} {'.'.join(map(str, board_queries.stamp(db)))}"


def _cells(db: Session, subject: str) -> int:
    return board_queries.count_cells(db, ReportKey.read(subject).wanted.task, CELLS_AT_ONCE + 1)


def _texts_basis(db: Session, subject: str) -> str:
    key = ReportKey.read(subject)
    parts = compare.resting_on(db, key.wanted.task, *_refs(key.wanted))
    return content_id([FORMAT, __version__, *parts])


def _texts(db: Session, subject: str) -> int:
    key = ReportKey.read(subject)
    return compare.count_texts(db, *_refs(key.wanted), most=figures.AT_ONCE + 1)


def _judged_basis(db: Session, subject: str) -> str:
    return content_id([FORMAT, __version__, VALIDATION.basis(db, ReportKey.read(subject).ref)])


def _judgements(db: Session, subject: str) -> int:
    return VALIDATION.facts(db, ReportKey.read(subject).ref)


def _refs(request: ReportRequest) -> tuple[list[str], list[str]]:
    return [f"{request.task}/{one}" for one in request.rounds], [
        f"{request.task}/{harvest}" for harvest in request.harvests
    ]


def _kind(name: str) -> ReportKind:
    return next(one for one in FIGURES if one == name)


def _figure(
    name: ReportKind,
    basis: Callable[[Session, str], str],
    facts: Callable[[Session, str], int],
    at_once: int = figures.AT_ONCE,
) -> FigureKind:
    def is_there(db: Session, subject: str) -> bool:
        try:
            return bool(basis(db, subject))
        except (NotFound, BadInput):  # what it was about is gone, or has no labels any more
            return False

    def subjects(db: Session) -> Iterable[str]:
        return [subject for subject in kept_queries.subjects(db, f"report {name}") if is_there(db, subject)]

    return FigureKind(f"report {name}", basis, facts, _compute, subjects, at_once=at_once)


FIGURES: Mapping[ReportKind, FigureKind] = {
    "models": _figure("models", _stamp, _cells, CELLS_AT_ONCE),
    "compare": _figure("compare", _texts_basis, _texts),
    "relabel": _figure("relabel", _judged_basis, _judgements),
    "workers": _figure("workers", _judged_basis, _judgements),
}

"""Files of many rows: a worker writes them, and they are kept for a day; short ones are written at once.

JUDGEMENTS = ExportKind("judgements", of=…, figure=…, write=…)
job = ask_export(db, blobs, actor, WantedFile(JUDGEMENTS, "sentiment/2", "csv"))
kept_file(db, blobs, actor, job.id).path
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.errors import Conflict, NotFound
from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.data.exporting import SINKS, require_format
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.jobs import queue
from quintain.services.jobs.figures import AT_ONCE, FigureKind, ReportProgress, quietly
from quintain.services.jobs.running import Handler, JobRun
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction

KEPT = timedelta(days=1)
PREFIX = "export:"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file rests on where no figure does; as in `FigureKind`."""

    basis: Callable[[Session, str], str]
    facts: Callable[[Session, str], int]
    at_once: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class ExportKind:
    """A kind of file that owners of a task may have.

    *of* gives the task of what is exported, and refuses who may not have it. The rows are the facts that a *figure*
    rests on: where they are so few that it is computed at once, so is the file, and a file that rests on the same facts
    is not written again. *write* takes who asked and for what, says how far it is, and gives the number of rows. There
    are files of the formats *forms*.
    """

    name: str
    of: Callable[[Session, Actor, str], str]
    figure: FigureKind | FileFacts
    write: Callable[[Session, Blobs, Actor, ExportRequest, Path, ReportProgress], int]
    forms: tuple[str, ...] = tuple(SINKS)

    @property
    def job(self) -> str:
        """The kind of job that writes it."""
        return f"{PREFIX}{self.name}"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """A file that somebody asks for: of what, in which format, and which of the kind's *options* are chosen."""

    kind: ExportKind
    ref: str
    form: str
    options: Mapping[str, bool] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """What tells it from other files of its kind."""
        return " ".join([self.ref, self.form, *sorted(name for name, chosen in self.options.items() if chosen)])

    @property
    def stem(self) -> str:
        """What the file is called, without its ending."""
        return f"{self.ref.replace('/', '-')}-{self.kind.name}"


@dataclass(frozen=True, slots=True)
class StoredExport:
    """A file that a worker has written, and what it is called."""

    path: Path
    name: str


def ask_export(db: Session, blobs: Blobs, actor: Actor, file: ExportRequest) -> JobStanding | None:
    """Have a worker write a file; None where it is so short that it is to be written at once.

    The job that writes it already is given where there is one, or the one whose file is as new as its facts.
    """
    kind, ref = file.kind, file.ref
    if file.form not in kind.forms:
        require_format(file.form)
    task = kind.of(db, actor, ref)
    if kind.figure.facts(db, ref) <= kind.figure.at_once:
        return None
    last = queue.newest(db, kind.job, file.subject)
    if last is not None and (last.going or _stands(blobs, last, kind.figure.basis(db, ref))):
        return last
    params = {"ref": ref, "format": file.form, "options": dict(file.options)}
    return queue.enqueue(db, kind.job, file.subject, task=task, by=actor, params=params)


def write_at_once(db: Session, blobs: Blobs, actor: Actor, file: ExportRequest, path: Path) -> int:
    """Write a short file to *path*, which has the format's ending, and count its rows."""
    return file.kind.write(db, blobs, actor, file, path, quietly)


def stored_export(db: Session, blobs: Blobs, actor: Actor, number: int) -> StoredExport:
    """Return the file that a job has written, for owners of its task; Conflict where it is not there yet."""
    job = queue.get_job(db, actor, number)
    require_owner(actor, job.task)
    if not is_export(job):
        raise NotFound("Job {number} writes no file.", number=number)
    if job.going:
        raise Conflict("The file is not written yet.", remedy="Ask again in a moment.")
    if job.state != CellState.DONE.value:
        raise Conflict("The file was not written.", remedy="Export it again.")
    path = blobs.passing(job.result["kept"])
    if path is None:
        raise NotFound("The file was thrown away.", remedy="Export it again.")
    with transaction(db):
        audit.record(db, actor, "export.download", job.subject, what=job.kind.removeprefix(PREFIX))
    return StoredExport(path, job.result["name"])


def is_export(job: JobStanding) -> bool:
    """Whether a job writes a file."""
    return job.kind.startswith(PREFIX)


def is_stored(blobs: Blobs, job: JobStanding) -> bool:
    """Whether the file that a job has written is still there."""
    return is_export(job) and job.state == CellState.DONE.value and blobs.passing(job.result["kept"]) is not None


def drop_old(blobs: Blobs) -> None:
    """Throw files away that were kept for long enough."""
    blobs.drop_passing(now() - KEPT)


def handler_of(kind: ExportKind) -> Handler:
    """Return what a worker does for a job that writes a file of *kind*."""

    def write(run: JobRun) -> Mapping[str, Any]:
        drop_old(run.blobs)
        file = ExportRequest(kind, run.params["ref"], run.params["format"], run.params["options"])
        with run.sessions() as db, run.blobs.scratch(suffix=f".{file.form}") as path:
            basis = kind.figure.basis(db, file.ref)
            rows = kind.write(db, run.blobs, run.asker(db), file, path, run.report_progress)
            size, name = path.stat().st_size, f"{file.stem}.{file.form}"
            return {"name": name, "rows": rows, "size": size, "basis": basis, "kept": run.blobs.put_passing(path)}

    return write


def _stands(blobs: Blobs, job: JobStanding, basis: str) -> bool:
    """Whether the file of a job is there, rests on *basis*, and will be there for a while."""
    late = job.finished_at is not None and job.finished_at < now() - KEPT / 2
    return not late and is_stored(blobs, job) and job.result["basis"] == basis

"""Releases of much that was judged: a worker looks at them and makes them; of little that is done at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.errors import Conflict, NotFound
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.base import decode, to_json
from quintain.core.records.jobs import JobStanding
from quintain.core.records.release import Release
from quintain.core.release import ReleaseSpec
from quintain.core.spec import plain, restore
from quintain.services.access.permissions import require_owner
from quintain.services.jobs import queue
from quintain.services.jobs.exports import drop_old
from quintain.services.jobs.running import JobRun
from quintain.services.release.releases import find_release, preview, release
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.quality.validation_figures import is_large
from quintain.store.blobs import Blobs
from quintain.store.tables import Job

LOOK, MAKE = "look at release", "release"


@dataclass(frozen=True, slots=True)
class QueuedRelease:
    """A release that a worker looks at, or makes, as *spec* says: there, once the *job* is over."""

    job: JobStanding
    spec: ReleaseSpec
    release: Release | None


def ask_release(db: Session, actor: Actor, ref: str, spec: ReleaseSpec, *, preview_only: bool) -> JobStanding | None:
    """Have a worker look at a release, or make it; None where so little was judged that it is done at once (owners)."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    if not is_large(db, validation):
        return None
    options = plain(spec, whole=True)
    kind, subject = LOOK if preview_only else MAKE, f"{ref} {content_id(options)[:16]}"
    last = queue.newest(db, kind, subject)
    if last is not None and last.going:
        return last
    return queue.enqueue(db, kind, subject, task=validation.task.name, by=actor, params={"ref": ref, "spec": options})


def queued_release(db: Session, blobs: Blobs, actor: Actor, ref: str, number: int) -> QueuedRelease:
    """Return what came of the job *number*, or how far it is (owners)."""
    job = queue.get_job(db, actor, number)
    require_owner(actor, job.task)
    params = db.get_one(Job, number).params
    if job.kind not in {LOOK, MAKE} or params["ref"] != ref:
        raise NotFound("Job {number} makes no release of {ref}.", number=number, ref=ref)
    return QueuedRelease(job, restore(ReleaseSpec, params["spec"]), _result_of(db, blobs, actor, ref, job))


def require_release(asked: QueuedRelease) -> Release:
    """Return the release; refuse where it is not there yet, or where its job failed."""
    if asked.release is not None:
        return asked.release
    if asked.job.going:
        raise Conflict("The release is not ready yet.", remedy="Ask again in a moment.")
    if asked.job.state == CellState.DONE.value:
        raise NotFound("What was seen then was thrown away.", remedy="Look at the release again.")
    if asked.job.state == CellState.CANCELLED.value:
        raise Conflict("The job was cancelled.", remedy="Ask for it again.")
    raise Conflict("A worker could not do it: {reason}", reason=asked.job.reason)


def run_preview_job(run: JobRun) -> Mapping[str, Any]:
    """Look at a release, as a job; what was seen is kept for a day."""
    drop_old(run.blobs)
    with run.sessions() as db, run.blobs.scratch(suffix=".json") as path:
        ref, spec = run.params["ref"], restore(ReleaseSpec, run.params["spec"])
        previewed = preview(db, run.blobs, run.asker(db), ref, spec, tell=run.report_progress)
        path.write_text(to_json(previewed), encoding="utf-8")
        return {"kept": run.blobs.put_passing(path)}


def run_release_job(run: JobRun) -> Mapping[str, Any]:
    """Make a release, as a job: a worker that dies leaves nothing, or all of it, which the next one finds."""

    def held(db: Session) -> None:
        run.save_within(db, {})  # nobody else is at it, and nobody has cancelled it

    with run.sessions() as db:
        ref, spec = run.params["ref"], restore(ReleaseSpec, run.params["spec"])
        released = release(db, run.blobs, run.asker(db), ref, spec, tell=run.report_progress, held=held)
    return {"number": released.number, "new": released.new}


def _result_of(db: Session, blobs: Blobs, actor: Actor, ref: str, job: JobStanding) -> Release | None:
    if job.state != CellState.DONE.value:
        return None
    if job.kind == MAKE:
        return replace(find_release(db, actor, ref, job.result["number"]), new=job.result["new"])
    path = blobs.passing(job.result["kept"])
    return decode(Release, json.loads(path.read_text(encoding="utf-8"))) if path is not None else None

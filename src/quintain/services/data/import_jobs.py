"""Imports of large files: a worker does them, and they can be cancelled; of small ones that is done at once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.core.spec import plain, restore
from quintain.core.texts import joined
from quintain.data.limits import MIB, FileLimits, holds_more
from quintain.data.plan import ImportPlan
from quintain.services.data import datasets
from quintain.services.data.bundles import has_images
from quintain.services.data.import_parts import import_parts
from quintain.services.jobs import queue
from quintain.services.jobs.exports import drop_old
from quintain.services.jobs.running import JobRun
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs

JOB = "import"
AT_ONCE = FileLimits(16 * MIB, 100_000)  # what a file may unpack to that is read while somebody waits
FAULTS = 20  # that a job's reason lists


def is_large(path: Path) -> bool:
    """Whether the import of *path* is a worker's, by what it unpacks to: a small file may hold many times its size."""
    return holds_more(path, AT_ONCE)


def ask_import(  # noqa: PLR0917 - as `import_dataset`
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    name: str,
    source: Path,
    plan: ImportPlan,
    *,
    score: bool = False,
    parts: bool = False,
) -> JobStanding | None:
    """Have a worker import *source* as `import_dataset` would; None where it is so small that it is done at once.

    With *parts* it is done as by `import_parts`. The file is kept for a day. One import into a data set is done after
    the other: while one waits, another is refused.
    """
    checked = replace(plan, role=Role.TEST.value) if parts else plan
    datasets.require_import(db, actor, task, name, checked, score=score)
    if not is_large(source):
        return None
    if has_images(get_task(db, task)) and source.suffix.lower() != ".zip":  # what stands beside it is not kept
        raise BadInput(
            "{name} is large, so a worker imports it, and its images stand beside it.",
            name=source.name,
            remedy="Put the file and its images into one .zip file.",
        )
    subject = f"{task}/{name}"
    if queue.is_waiting(db, JOB, subject):
        raise Conflict(
            "An import into {subject} waits already.",
            subject=subject,
            remedy="Wait until it is done, or cancel it: `quintain jobs list`.",
            page="Wait until it is done, or cancel it among the jobs.",
        )
    drop_old(blobs)
    with blobs.scratch(suffix=".data") as path:
        shutil.copyfile(source, path)
        stored_file = blobs.put_passing(path)
    params = {
        "task": task,
        "name": name,
        "kept": stored_file,
        "file": source.name,
        "plan": plain(plan, whole=True),
        "score": score,
        "parts": parts,
    }
    return queue.enqueue(db, JOB, subject, task=task, by=actor, params=params)


def do_import(run: JobRun) -> Mapping[str, Any]:
    """Import the file that was kept, as a job; what is cancelled leaves nothing."""
    params = run.params
    stored_file = run.blobs.passing(params["kept"])
    if stored_file is None:
        raise Conflict("The file was thrown away.", remedy="Send it again.")

    def held(db: Session) -> None:
        run.save_within(db, {})  # nobody else is at it, and nobody has cancelled it

    with tempfile.TemporaryDirectory(prefix="quintain-import-") as folder, run.sessions() as db:
        source = Path(folder) / params["file"]
        source.symlink_to(stored_file)
        try:
            bring = _import_parts if params.get("parts") else datasets.import_dataset
            version = bring(
                db,
                run.blobs,
                run.asker(db),
                params["task"],
                params["name"],
                source,
                restore(ImportPlan, params["plan"]),
                score=params["score"],
                progress=run.report_progress,
                held=held,
            )
        except BadInput as error:
            raise _with_faults(error) from error
    return {"ref": version.ref, "rows": version.rows, "new": version.new}


def _import_parts(*arguments: Any, **options: Any) -> datasets.VersionInfo:
    """Divide the file, and return the set that scores models: what a job names as its result is one."""
    return import_parts(*arguments, **options)[-1]


def _with_faults(error: BadInput) -> BadInput:
    """Put the first faults into the message, which is all that a job keeps of an error."""
    if not error.faults or not error.remedy:
        return error
    return BadInput(joined([error.text, *(str(fault) for fault in error.faults[:FAULTS])], "\n"))

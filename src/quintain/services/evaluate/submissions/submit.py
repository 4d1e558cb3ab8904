"""Submitting a model: looked at, never run outside the sandbox, registered, and its cells queued."""

from __future__ import annotations

import logging
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain.adapters.contract import ADAPTERS, Outside
from quintain.adapters.manifest import MANIFEST, Manifest
from quintain.core.errors import BadInput, Forbidden, QuintainError, TooMany, Unavailable
from quintain.core.people import Actor, RoleName
from quintain.core.records import tasks as records
from quintain.core.records.base import plain
from quintain.core.records.evaluate import CostEstimate
from quintain.core.records.tasks import Visibility
from quintain.core.task import Task
from quintain.engine.archives import ArchiveLimits, packed
from quintain.engine.sandbox.layers import require_sandbox
from quintain.engine.sandbox.limits import Outcome
from quintain.services.access import throttle
from quintain.services.access.permissions import require_role
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.spending import estimate_of_task
from quintain.services.evaluate.submissions import tryouts
from quintain.services.evaluate.submissions.check_model import CheckReport
from quintain.services.evaluate.submissions.coverage import covered
from quintain.services.evaluate.submissions.few_shot import draw_for_task
from quintain.services.evaluate.submissions.model_files import opened_model
from quintain.services.models import uploads
from quintain.services.models.environments import read_requirements
from quintain.services.models.inspection import Inspection, inspect_model
from quintain.services.models.registry import ModelVersionInfo, register_version
from quintain.services.models.tryouts import tryout_of
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.models import submissions as queries
from quintain.store.queries.models.tried import PASSED, QUEUED

DAY = timedelta(days=1)
TRIES_PER_HOUR = 60
log = logging.getLogger("quintain.submit")


@dataclass(frozen=True, slots=True)
class SubmissionRules:
    """What the operator lets be submitted. *per_day* counts for each builder and task; None is no limit.

    Models are tried under the conditions *tryout* before they are run; *elsewhere* says that workers on other machines
    can do that where this one lacks a sandbox.
    """

    per_day: int | None = 10
    sandbox: str = "full"
    outside: Outside = field(default_factory=Outside)
    archive: ArchiveLimits = field(default_factory=ArchiveLimits)
    tryout: Conditions | None = None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class ModelSubmission:
    """What became of a submission. *new* is False where the same content was there already.

    *left_today* is None where there is no limit, or where it is not known at the moment. *estimate* is what the runs
    may cost, where calls have a price.
    """

    version: ModelVersionInfo
    new: bool
    cells: int
    left_today: int | None
    tryout: str = PASSED
    estimate: CostEstimate | None = None

    @property
    def waiting(self) -> bool:
        """Whether a worker has to try it before its cells are queued."""
        return self.tryout == QUEUED

    def record(self) -> records.Submission:
        """Return the submission as programs see it."""
        return records.Submission(
            **plain(self.version.record()),
            new=self.new,
            cells=self.cells,
            left_today=self.left_today,
            trial=self.tryout,
            estimate=self.estimate,
        )


def submit_upload(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    upload_id: str,
    *,
    rules: SubmissionRules,
    name: str | None = None,
    visibility: Visibility = "public",
    filename: str = "",
) -> ModelSubmission:
    """Submit the file that was uploaded; it is removed once the model is registered, or refused for what it is.

    *filename* is as for `submit_file`.
    """
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    archive = uploads.whole_upload(db, blobs, actor, upload_id)
    try:
        submission = submit_file(
            db, blobs, actor, task, archive, rules=rules, name=name, visibility=visibility, filename=filename
        )
    except BadInput:
        # What is wrong with it stays wrong: the next one needs its place.
        db.rollback()
        uploads.discard(db, blobs, actor, upload_id)
        raise
    try:
        uploads.discard(db, blobs, actor, upload_id)
    except (QuintainError, SQLAlchemyError, OSError):  # the model is recorded, and old uploads are dropped anyway
        log.exception("upload %s of a submitted model was not removed", upload_id)
    return submission


def submit_file(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    file: Path,
    *,
    rules: SubmissionRules,
    name: str | None = None,
    visibility: Visibility = "public",
    filename: str = "",
) -> ModelSubmission:
    """Submit the model in *file*: an archive of its folder, or one file that is a whole model by itself.

    *filename* is what its sender calls it; such a file is known by how its name ends.
    """
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    with opened_model(file, rules.archive, filename=filename) as folder:
        return _submit(db, blobs, actor, task, folder, rules=rules, name=name, visibility=visibility)


def may_submit(actor: Actor, task: str) -> None:
    """Refuse whoever may not have models run for *task*, before anything of theirs is looked at."""
    require_role(actor, RoleName.BUILDER, RoleName.OWNER, task=task)


def try_model(
    db: Session, blobs: Blobs, actor: Actor, task: str, folder: Path, *, rules: SubmissionRules
) -> CheckReport:
    """Try the model in *folder* as it would be tried when it is submitted, and keep nothing of it."""
    may_submit(actor, task)
    definition = get_task(db, task)
    inspection = inspect_model(folder, definition)
    faults = [fault for fault in inspection.faults if fault.field != "card"]
    if faults:
        raise BadInput(faults=faults)
    _permit(actor, task, inspection.manifest, rules)
    draw_for_task(db, blobs, actor, definition, folder, inspection.manifest.options)
    report = _tried(db, blobs, actor, definition, folder, manifest=inspection.manifest, rules=rules)
    if report is None:
        raise Unavailable(
            "Only a worker can try it: the sandbox is on another machine, or it takes longer than a moment.",
            remedy="Submit it; it is tried first.",
        )
    return report


def submit_folder(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    folder: Path,
    *,
    rules: SubmissionRules,
    name: str | None = None,
    visibility: Visibility = "public",
) -> ModelSubmission:
    """Submit the model in *folder* on this machine, the same way as one that comes from elsewhere."""
    with (
        tempfile.TemporaryDirectory(prefix="quintain-submit-") as scratch,
        packed(folder, Path(scratch) / "m") as archive,
    ):
        return submit_file(db, blobs, actor, task, archive, rules=rules, name=name, visibility=visibility)


def quota_left(db: Session, actor: Actor, task: str, rules: SubmissionRules) -> int | None:
    """Return how many models *actor* may still submit to *task* today; None where there is no limit.

    Refused submissions never count, nor do those that failed through a fault of ours.
    """
    if rules.per_day is None or actor.user_id is None:
        return None
    used = queries.submitted_since(db, actor.user_id, task, now() - DAY, excused=Outcome.PLATFORM.value)
    return max(0, rules.per_day - used)


def _submit(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    task: str,
    folder: Path,
    *,
    rules: SubmissionRules,
    name: str | None,
    visibility: Visibility,
) -> ModelSubmission:
    definition = get_task(db, task)
    inspection = _inspected(folder, definition)
    _permit(actor, task, inspection.manifest, rules)
    chosen = _named(name or inspection.manifest.name)
    drawn = draw_for_task(db, blobs, actor, definition, folder, inspection.manifest.options)
    meta = _meta(folder, definition, inspection.manifest)
    if drawn is not None and "few_shot" in meta.get("request", {}):
        meta["request"]["few_shot"]["data"] = drawn
    if ADAPTERS.get(inspection.manifest.adapter).place == "file":
        meta["datasets"] = covered(db, blobs, definition, folder, inspection.manifest.options)
    tried = _try(db, blobs, actor, definition, folder, manifest=inspection.manifest, rules=rules)
    new = False

    def guard(session: Session) -> None:
        nonlocal new
        new = True
        _refuse_over_quota(session, actor, task, rules)

    with transaction(db):
        version = register_version(
            db,
            blobs,
            actor,
            task,
            chosen,
            adapter=inspection.manifest.adapter,
            folder=folder,
            card=inspection.card,
            meta=meta,
            visibility=visibility,
            guard=guard,
        )
        if tried:
            tryouts.record_pass(db, version.id)
        elif new or tryout_of(db, version.id) is not None:
            tryouts.postpone_tryout(db, version.id)
    known = tryout_of(db, version.id)
    cells, left = _queue(db, actor, task, rules)
    manifest = inspection.manifest
    cost = estimate_of_task(db, blobs, definition, manifest.adapter, manifest.options, rules.outside)
    return ModelSubmission(version, new, cells, left, known.state if known else PASSED, cost)


def _inspected(folder: Path, task: Task) -> Inspection:
    """Look the model over, and refuse it where something is wrong."""
    inspection = inspect_model(folder, task)
    if inspection.faults:
        raise BadInput(
            faults=inspection.faults,
            remedy="`quintain model check` shows the same before anything is sent.",
            page="Mend it, and send it again.",
        )
    return inspection


def _named(name: str | None) -> str:
    if name is None:
        raise BadInput(
            "The model has no name.",
            manifest=MANIFEST,
            remedy="Give one with --name, or as `name` in {manifest}.",
            page="Give it one in the form.",
        )
    return name


def _refuse_over_quota(db: Session, actor: Actor, task: str, rules: SubmissionRules) -> None:
    """Refuse what is beyond a day's submissions, one at a time, so that two at once are both counted."""
    lock(db, f"submit:{actor.user_id}:{task}")
    if quota_left(db, actor, task, rules) == 0:
        raise TooMany(
            "You have submitted {n} models to task '{task}' in the last 24 hours.",
            n=rules.per_day,
            task=task,
            retry_after=3600,
            remedy="Go on tomorrow; `quintain model check` and `quintain evaluate local` have no limit.",
            code="quota_reached",
            page="Go on tomorrow.",
        )


def _try(
    db: Session, blobs: Blobs, actor: Actor, task: Task, folder: Path, *, manifest: Manifest, rules: SubmissionRules
) -> bool:
    """Try the model here and refuse it where it fails; False where only a worker can say."""
    adapter = ADAPTERS.get(manifest.adapter)
    if rules.tryout is None or adapter.place == "file" or adapter.ours:
        return True
    report = _tried(db, blobs, actor, task, folder, manifest=manifest, rules=rules)
    if report is not None and report.faults:
        raise tryouts.refusal(report)
    return report is not None


def _tried(
    db: Session, blobs: Blobs, actor: Actor, task: Task, folder: Path, *, manifest: Manifest, rules: SubmissionRules
) -> CheckReport | None:
    """Try the model here, for a moment; None where that does not decide it."""
    if rules.tryout is None:
        return None
    # A refused model counts for nothing in the quota; without this, somebody could use the machine by being refused.
    if actor.user_id is not None:
        throttle.hit(db, f"try:{actor.user_id}", TRIES_PER_HOUR, 3600)
    inputs = tryouts.inputs_for(db, blobs, task)
    db.rollback()  # hold no connection while the model thinks
    return tryouts.try_here(lambda: nullcontext(db), folder, task, manifest, inputs, rules.tryout)


def _queue(db: Session, actor: Actor, task: str, rules: SubmissionRules) -> tuple[int, int | None]:
    """Add the cells of a model that is recorded, and say what is left of the quota.

    Where that fails, workers add the cells: it is no reason to say that the model was not taken.
    """
    try:
        return evaluate.fill(db, task), quota_left(db, actor, task, rules)
    except (QuintainError, SQLAlchemyError):
        log.exception("the cells of task %s were not added at once", task)
        return 0, None


def _permit(actor: Actor, task: str, manifest: Manifest, rules: SubmissionRules) -> None:
    """Refuse what cannot be run safely here, before anything is kept."""
    adapter = ADAPTERS.get(manifest.adapter)()
    if adapter.ours and not actor.has(RoleName.OWNER, task):
        raise Forbidden(
            "A built-in baseline is trained by the task's owner, not submitted.", remedy="Submit a handler instead."
        )
    if adapter.place == "sandbox" and not adapter.ours and not rules.elsewhere:
        require_sandbox(rules.sandbox)
    adapter.permit(manifest.options, rules.outside)


def _meta(folder: Path, task: Task, manifest: Manifest) -> dict[str, Any]:
    adapter = ADAPTERS.get(manifest.adapter)
    meta: dict[str, Any] = {"batch_size": manifest.batch_size, "place": adapter.place}
    meta |= adapter().about(folder, task, manifest.options)
    request = adapter().request(folder, task, manifest.options)
    if request:
        meta["request"] = dict(request)
    if "perturbations" in manifest.options:
        meta["perturbations"] = manifest.options["perturbations"]
    requirements = read_requirements(folder)
    return {**meta, "requirements": requirements} if requirements else meta

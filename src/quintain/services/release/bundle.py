"""Everything about a release in one folder: data in three formats, datasheet, report, changelog.

Hidden answers, and how people voted where answers are hidden, are left out unless the owner asks for them. The inputs
of all splits are in it; in a *public* one, only those that are open to all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, NotFound, OutOfOrder
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.base import to_json
from quintain.core.records.release import Release
from quintain.data.publish.dynasent import suits_dynasent, write_dynasent
from quintain.data.publish.folder import HUGGING_FACE, pack
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import get_round
from quintain.services.data.content import scan
from quintain.services.data.datasets import get_version
from quintain.services.data.inputs import is_open
from quintain.services.data.publishing import check_public, export_folder, without_inputs
from quintain.services.jobs.exports import ExportKind, ExportRequest, FileFacts
from quintain.services.jobs.figures import ReportProgress
from quintain.services.release.changelog import changelog
from quintain.services.release.datasheet import SheetFacts, datasheet
from quintain.services.release.markdown import report_text
from quintain.services.release.releases import find_release, release_before
from quintain.services.validate.console.manage import find_validation
from quintain.store.blobs import Blobs
from quintain.store.database import transaction

RELEASE = "/release-"  # between a validation and the number of its release
TEXTS = ("report.md", "datasheet.md", "changelog.md")


def text_of(db: Session, blobs: Blobs, actor: Actor, ref: str, number: int | None, name: str) -> str:
    """Return one of a release's texts: its report, datasheet or changelog, as Markdown (owners)."""
    release = find_release(db, actor, ref, number)
    if name == "report.md":
        return report_text(release)
    if name == "datasheet.md":
        return datasheet(_facts(db, actor, release))
    if name == "changelog.md":
        return changelog(db, blobs, actor, release, release_before(db, actor, release))
    raise NotFound("A release has no '{name}'.", name=name, known=", ".join(TEXTS), remedy="There are {known}.")


def write_bundle(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    number: int | None,
    path: Path,
    *,
    archive: bool = False,
    hidden_answers: bool = False,
    public: bool = False,
) -> Release:
    """Write release *number* of validation *ref* (the newest by default) to the new folder *path*, or to a ZIP file.

    Whole, or not at all. For owners; one to be passed on is *public*, and has no inputs that are not open to all.
    """
    check_public(public=public, hidden_answers=hidden_answers)
    release = find_release(db, actor, ref, number)
    if not path.absolute().parent.is_dir():
        raise BadInput("There is no folder {parent} to write to.", parent=path.parent)
    if not archive and path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise Conflict("{path} is there already.", path=path, remedy="Name a folder that is new, or empty.")
    scratch = Path(tempfile.mkdtemp(dir=path.absolute().parent, prefix=f".{path.name}-"))
    try:
        folder = scratch / "made"
        folder.mkdir()
        _fill(db, blobs, actor, release, folder, hidden_answers=hidden_answers, public=public)
        if archive:
            pack(folder, scratch / "made.zip")
            folder = scratch / "made.zip"
        os.replace(folder, path)
    except OSError as error:
        raise OutOfOrder("{path} could not be written: {error}.", path=path, error=str(error)) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    with transaction(db):
        audit.record(db, actor, "release.bundle", ref, number=release.number, answers=hidden_answers)
    return release


def wanted_bundle(ref: str, number: int) -> ExportRequest:
    """Name the ZIP of a release: a short one is written at once, a long one by a worker."""
    return ExportRequest(BUNDLE_FILE, f"{ref}{RELEASE}{number}", "zip")


def _of(db: Session, actor: Actor, ref: str) -> str:
    validation, number = _parts(ref)
    find_release(db, actor, validation, number)
    return find_validation(db, validation).task.name


def _rows(db: Session, ref: str) -> int:
    validation, number = _parts(ref)
    return sum(split.rows for split in find_release(db, OPERATOR, validation, number).report.splits)


def _write(db: Session, blobs: Blobs, actor: Actor, file: ExportRequest, path: Path, tell: ReportProgress) -> int:
    tell(0, 1)
    release = write_bundle(db, blobs, actor, *_parts(file.ref), path, archive=True)
    return sum(split.rows for split in release.report.splits)


def _parts(ref: str) -> tuple[str, int]:
    validation, _, number = ref.rpartition(RELEASE)
    return validation, int(number)


BUNDLE_FILE = ExportKind(
    "bundle",
    of=_of,
    figure=FileFacts(basis=lambda db, ref: ref, facts=_rows),  # a release never changes
    write=_write,
    forms=("zip",),
)


def _fill(
    db: Session, blobs: Blobs, actor: Actor, release: Release, folder: Path, *, hidden_answers: bool, public: bool
) -> None:
    for name in TEXTS:
        text = text_of(db, blobs, actor, release.validation, release.number, name)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "report.json").write_text(to_json(release) + "\n", encoding="utf-8")
    refs = list(release.versions.values())
    export_path = folder / HUGGING_FACE
    export_folder(db, blobs, actor, refs, HUGGING_FACE, export_path, hidden_answers=hidden_answers, public=public)
    task = find_validation(db, release.validation).task
    if not suits_dynasent(task):
        return
    (folder / "dynasent").mkdir()
    for split, ref in release.versions.items():
        version = get_version(db, actor, ref)
        table = scan(db, blobs, actor, ref, answers=hidden_answers or not version.hidden)
        if public and not is_open(db, version.id):
            table = without_inputs(table, task)
        write_dynasent(table, task, version.meta, folder / "dynasent" / f"{split}.jsonl")


def _facts(db: Session, actor: Actor, release: Release) -> SheetFacts:
    validation = find_validation(db, release.validation)
    require_owner(actor, validation.task.name)
    round_info = get_round(db, actor, release.validation) if validation.round_id is not None else None
    versions = [get_version(db, actor, ref) for ref in release.versions.values()]
    licenses = sorted({str(version.meta["license"]) for version in versions if version.meta.get("license")})
    return SheetFacts(
        task=validation.task,
        release=release,
        kind=round_info.kind if round_info else None,
        round=round_info.spec if round_info else None,
        licenses=licenses,
    )

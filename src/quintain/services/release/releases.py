"""Releases: look at what one would be, make it, and find those there are.

A release is made of what the judgements say at that moment. Its data set versions never change, and nor does it: the
same specification on the same judgements gives the same versions, and the release that is there already, unless the
owner has answered more of the datasheet since: then the same versions are released again, with the answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, NotFound
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.records import release as records
from quintain.core.records.base import decode, to_json
from quintain.core.release import ReleaseSpec, known_spec
from quintain.core.spec import plain, read
from quintain.core.toml import parse_toml
from quintain.data.publish.votes import PUBLISHED
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.data.datasets import Facts, WrittenTable, keep_written, write_made
from quintain.services.jobs.figures import ReportProgress, quietly
from quintain.services.plain.files.split_costs import costs_of
from quintain.services.plain.files.splits import Plan, plan_splits
from quintain.services.release.candidates import Candidates, gather
from quintain.services.release.datasheet_answers import answers_of
from quintain.services.release.people import people_of
from quintain.services.release.report import report_on
from quintain.services.release.tables import table_of
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.types import ValidationInfo
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.release import releases as queries
from quintain.store.queries.validate.validation import newest_facts, place_of
from quintain.store.tables import ReleaseRow

STEPS = 6  # in which progress is told: reading, dividing, three files, keeping them


@dataclass(frozen=True, slots=True)
class Basis:
    """What a release would rest on, asked of the ends of indices: where it is the same, nothing has come in.

    Other attempts get notes all the time: *tags* are those of the validation's own, as seen from the newest *note*.
    """

    validation: ValidationInfo
    judged: str
    versions: str
    tags: queries.NewestTags

    @classmethod
    def of(cls, db: Session, validation: ValidationInfo, note: int | None = None) -> Basis:
        """Return what a release of a validation would rest on now."""
        return cls(
            validation=replace(validation, seen_to=""),  # what is written since is judged later
            judged=newest_facts(db, validation.id, None),
            versions=queries.newest_versions(db, validation.task.name),
            tags=queries.newest_tags(db, validation.id, note),
        )

    def now(self, db: Session, validation: ValidationInfo) -> Basis:
        """Return the same as it is now."""
        return Basis.of(db, validation, self.tags.note)


def parse_release(text: str, *, file: str | None = None) -> ReleaseSpec:
    r"""Make a specification of the TOML *text*, or raise BadInput with every fault in it; an empty text is the default.

    >>> parse_release("dev = 360\ntest = 360").dev
    360
    """
    return read(ReleaseSpec, parse_toml(text, file=file), file=file)


def preview(
    db: Session, blobs: Blobs, actor: Actor, ref: str, spec: ReleaseSpec, *, tell: ReportProgress = quietly
) -> records.Release:
    """Return what a release of validation *ref* would be and what constraints cost; nothing is written (owners)."""
    tell(0, 3)
    plan = _plan(db, blobs, actor, ref, spec)
    tell(1, 3)
    report = _report(db, plan)
    tell(2, 3)
    costs = costs_of(plan.candidates, spec, plan.even)
    return records.Release(ref, None, plain(spec, whole=True), report, costs=costs)


def release(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    spec: ReleaseSpec,
    *,
    tell: ReportProgress = quietly,
    held: Callable[[Session], None] | None = None,
) -> records.Release:
    """Make data set versions of validation *ref* as *spec* says: all of them, or nothing. For owners.

    Everything is computed and written to files first; then one short transaction sees to it that nothing has come in
    meanwhile, and keeps them. *held* is called in it, and may refuse.
    """
    tell(0, STEPS)
    rests_on = Basis.of(db, find_validation(db, ref))  # before anything is read
    plan = _plan(db, blobs, actor, ref, spec)
    tell(1, STEPS)
    report = _report(db, plan)
    written = _written(db, blobs, actor, plan, report, tell)
    db.rollback()  # the reading is over
    with transaction(db):
        lock(db, f"release {ref}")
        if held is not None:
            held(db)
        if rests_on.now(db, find_validation(db, ref)) != rests_on:
            raise Conflict("{ref} has changed in the meantime.", ref=ref, remedy="Look at the release again.")
        versions = {
            one.split: keep_written(
                db, actor, plan.candidates.validation.task.name, file, name=one.dataset, facts=_facts(plan, one)
            ).id
            for one, file in zip(report.splits, written, strict=True)
        }
        return _recorded(db, actor, plan, report, versions)


def _written(
    db: Session, blobs: Blobs, actor: Actor, plan: Plan[Candidates], report: records.ReleaseReport, tell: ReportProgress
) -> list[WrittenTable]:
    """Write the data sets of a release to files, which no version has yet."""
    task, tables = plan.candidates.validation.task.name, []
    for number, split in enumerate(report.splits):
        tell(2 + number, STEPS)
        tables.append(write_made(db, blobs, actor, task, table_of(plan, split.split), name=split.dataset))
    return tables


def _recorded(
    db: Session, actor: Actor, plan: Plan[Candidates], report: records.ReleaseReport, versions: Mapping[str, int]
) -> records.Release:
    """Write down a release of *versions*, or give the one that is there already. Inside a transaction."""
    spec, validation = plan.spec, plan.candidates.validation
    ref, options = validation.ref, plain(spec, whole=True)
    alike = _alike(db, validation.id, versions, options)
    same = next((row for row in alike if row.report.get("answers", {}) == report.answers), None)
    if same is not None:
        return _record(db, ref, same, new=False)
    # The same data with other answers in its datasheet shows nothing new.
    if not alike and spec.hidden and not spec.again and queries.of_validation(db, validation.id):
        # What one of them hides in test, the other may show in train: together they hide nothing.
        raise Conflict(
            "{ref} has been released before, and a second release may show labels that the first one hides.",
            ref=ref,
            remedy="Keep to the first release, or set again = true if its labels need not stay hidden.",
            code="released_before",
        )
    row = ReleaseRow(
        validation_id=validation.id, spec=options, report=json.loads(to_json(report)), created_by=actor.user_id
    )
    stored = queries.add(db, row, versions)
    audit.record(db, actor, "release.make", ref, number=stored.number)
    return _record(db, ref, stored)


def list_releases(db: Session, actor: Actor, ref: str) -> records.Releases:
    """List the releases of validation *ref*, the newest first. For owners."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    return records.Releases([_record(db, ref, row) for row in queries.of_validation(db, validation.id)])


def find_release(db: Session, actor: Actor, ref: str, number: int | None = None) -> records.Release:
    """Return release *number* of validation *ref*, or its newest one; NotFound without one (owners)."""
    releases = list_releases(db, actor, ref).releases
    release = next((one for one in releases if number is None or one.number == number), None)
    if release is None:
        raise NotFound(
            "{ref} has no release {number}." if releases else "{ref} has not been released.",
            ref=ref,
            number=number,
            known=", ".join(str(one.number) for one in reversed(releases)),
            remedy="It has: {known}." if releases else "Release it first: `quintain round release {ref}`.",
            page="It has: {known}." if releases else "Release it first.",
        )
    return release


def release_before(db: Session, actor: Actor, release: records.Release) -> records.Release | None:
    """Return the release before one: of the same validation, else the last of the task; None for the first."""
    row = queries.before(db, find_validation(db, release.validation).id, release.number or 0)
    if row is None:
        return None
    ref = "/".join(place_of(db, row.validation_id))
    return find_release(db, actor, ref, row.number)


def _report(db: Session, plan: Plan[Candidates]) -> records.ReleaseReport:
    """Report on a plan, with who judged and what the owner has answered for the datasheet."""
    answers = plain(answers_of(db, plan.candidates.validation.task.name))
    return report_on(
        plan, people_of(db, plan.candidates), {name: text for name, text in answers.items() if text.strip()}
    )


def _plan(db: Session, blobs: Blobs, actor: Actor, ref: str, spec: ReleaseSpec) -> Plan[Candidates]:
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    return plan_splits(gather(db, blobs, validation, spec), spec)


def _facts(plan: Plan[Candidates], split: records.ReleaseSplit) -> Facts:
    validation = plan.candidates.validation
    return Facts(
        Role(split.role),
        hidden=split.hidden,
        language=validation.task.languages[0],
        meta={
            "validation": validation.ref,
            "model": plan.model,
            **({PUBLISHED: True} if plan.spec.votes else {}),
            **({"round": int(validation.name)} if validation.round_id is not None else {}),
        },
    )


def _alike(db: Session, validation_id: int, versions: Mapping[str, int], spec: Mapping[str, Any]) -> list[ReleaseRow]:
    """List the releases that have exactly these versions by exactly this specification, the newest first."""
    return [
        row
        for row in queries.of_validation(db, validation_id)
        if known_spec(row.spec) == json.loads(json.dumps(spec)) and queries.version_ids(db, row.id) == versions
    ]


def _record(db: Session, ref: str, row: ReleaseRow, *, new: bool = True) -> records.Release:
    return records.Release(
        validation=ref,
        number=row.number,
        spec=row.spec,
        report=decode(records.ReleaseReport, row.report),
        versions=queries.version_refs(db, row.id),
        created_at=row.created_at,
        new=new,
    )

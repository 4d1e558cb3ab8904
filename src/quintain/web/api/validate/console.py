"""What the owner's console shows and sets, for programs: the policy, the judges, their notes, what was done, labels."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.records.judging import JudgingEntry
from quintain.core.records.validate import AdaptiveForecast, Judges, JudgingNotes, Policies, ValidationTrail
from quintain.services.jobs.exports import ExportRequest
from quintain.services.validate.console import audit_trail as validation_trail
from quintain.services.validate.console import export as judged_export
from quintain.services.validate.console import forecast as adaptive_forecast
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import panel_entry
from quintain.services.validate.quality import judges
from quintain.web.api.call import Calling
from quintain.web.api.params import Changing, Format, Limit, Offset, ValidationRef
from quintain.web.api.shapes import LongText, Shape
from quintain.web.exporting import export_call


class PolicyRequest(Shape):
    """A policy as TOML; an empty one is the default."""

    policy: LongText


class ForeseeRequest(Shape):
    """The policy to try, as TOML; the one that stands where it is left out."""

    policy: LongText | None = None


def list_validation_policies(call: Calling, ref: ValidationRef) -> Policies:
    """Return the policy as TOML, and every state that it had, the newest first (owners)."""
    return validation_trail.policies(call.db, call.actor, ref)


def set_validation_policy(call: Calling, ref: ValidationRef, body: PolicyRequest, edit: Changing) -> Policies:
    """Change the policy, a TOML text; slots that are there stay (owners)."""
    validate.set_policy(call.db, call.actor, ref, body.policy, edit=edit)
    return validation_trail.policies(call.db, call.actor, ref)


def foresee_adaptive(call: Calling, ref: ValidationRef, body: ForeseeRequest | None = None) -> AdaptiveForecast:
    """Return what asking adaptively would save and risk, by the current policy or another TOML text (owners)."""
    return adaptive_forecast.foresee_adaptive(call.db, call.actor, ref, body.policy if body else None)


def list_judges(call: Calling, ref: ValidationRef, limit: Limit = 100, offset: Offset = 0) -> Judges:
    """Return a page of the judges with their figures, the lowest accuracy first (owners)."""
    return judges.judge_page(call.db, call.actor, ref, limit=limit, offset=offset)


def list_judging_notes(call: Calling, ref: ValidationRef) -> JudgingNotes:
    """List what judges flagged and skipped, with their reasons (owners)."""
    return JudgingNotes(validation_trail.notes(call.db, call.actor, ref))


def list_validation_trail(call: Calling, ref: ValidationRef, limit: Limit = 100) -> ValidationTrail:
    """List what was done to a validation and its judges, the newest first (owners)."""
    return ValidationTrail(validation_trail.trail(call.db, call.actor, ref, limit=limit))


def export_labels(call: Calling, ref: ValidationRef, format: Format = "csv") -> Response:  # noqa: A002 - the word in the address
    """Download the judged items with their labels and votes (owners); a long file is written by a job."""
    return export_call(call, ExportRequest(judged_export.LABELS_FILE, ref, format))


def get_judging_entry(call: Calling, ref: ValidationRef) -> JudgingEntry:
    """Return the address that a panel sends judges to (owners)."""
    return panel_entry.judging_entry(call.db, call.actor, ref, call.base_url)

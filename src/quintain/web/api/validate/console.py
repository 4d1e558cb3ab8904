"""What the owner's console shows and sets, for programs: the policy, the judges, their notes, what was done, labels."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.responses import Response

from quintain.services.access.permissions import require_owner
from quintain.services.validate import forecast as adaptive_forecast
from quintain.services.validate import judges
from quintain.services.validate import trail as validation_trail
from quintain.services.validate import validations as validate
from quintain.web.api.call import Calling
from quintain.web.api.params import Format, Limit, TaskName
from quintain.web.api.shapes import LongText, Shape
from quintain.web.api.validate.validation import Name
from quintain.web.files import download


class PolicyRequest(Shape):
    """A policy as TOML; an empty one is the default."""

    policy: LongText


def get_policy(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """Give the policy as TOML, and every state that it had, the newest first (owners)."""
    found = [one.as_dict() for one in validation_trail.policies(call.db, call.actor, f"{task}/{name}")]
    return {**found[0], "versions": found}


def put_policy(call: Calling, task: TaskName, name: Name, wanted: PolicyRequest) -> dict[str, Any]:
    """Change the policy; slots that are there stay (owners)."""
    validate.set_policy(call.db, call.actor, f"{task}/{name}", wanted.policy)
    return get_policy(call, task, name)


def foresee_adaptive(call: Calling, task: TaskName, name: Name, wanted: PolicyRequest | None = None) -> dict[str, Any]:
    """Say what asking adaptively would save and risk, by the policy that stands or another one (owners)."""
    given = wanted.policy if wanted else None
    return adaptive_forecast.foresee_adaptive(call.db, call.actor, f"{task}/{name}", given).as_dict()


def list_judges(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """List the judges with their figures, the lowest accuracy first (owners)."""
    return {"judges": judges.judge_table(call.db, call.actor, f"{task}/{name}")}


def list_judging_notes(call: Calling, task: TaskName, name: Name) -> dict[str, Any]:
    """List what judges flagged and skipped, with their reasons (owners)."""
    found = validation_trail.notes(call.db, call.actor, f"{task}/{name}")
    return {"notes": [one.as_dict() for one in found]}


def list_validation_trail(call: Calling, task: TaskName, name: Name, limit: Limit = 100) -> dict[str, Any]:
    """List what was done to a validation and its judges, the newest first (owners)."""
    found = validation_trail.trail(call.db, call.actor, f"{task}/{name}", limit=limit)
    return {
        "entries": [
            {
                "at": one.at.isoformat(),
                "actor": one.actor,
                "action": one.action,
                "subject": one.subject,
                "details": one.details,
            }
            for one in found
        ]
    }


def export_labels(call: Calling, task: TaskName, name: Name, format: Format = "csv") -> Response:  # noqa: A002 - the word in the address
    """Download the judged items with their labels and votes (owners)."""
    require_owner(call.actor, task)
    write = partial(validation_trail.export_labels, call.db, call.actor, f"{task}/{name}")
    return download(f"{task}-{name}-labels", format, write)

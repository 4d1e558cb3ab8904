"""The policy of a validation as a form; what the form has no control for stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from quintain.core.errors import BadInput
from quintain.core.validation import ValidationPolicy
from quintain.labels.contract import AGGREGATORS
from quintain.services.validate.policy import dump_policy, policy_of
from quintain.web.errors import Trouble
from quintain.web.form_reading import FormReading
from quintain.web.spec_form import Control, Sheet, SpecForm
from quintain.web.visit import Post, Visit

FORM = SpecForm(ValidationPolicy)


@dataclass(frozen=True, slots=True)
class PolicyControls:
    """The controls of the form: those that matter first, the others, and the methods that make labels."""

    first: list[Control]
    others: list[Control]
    faulty: bool


def policy_controls(
    visit: Visit, policy: ValidationPolicy, typed: Mapping[str, Any] | None, trouble: Trouble | None
) -> PolicyControls:
    """Return the controls with what was typed, or with what *policy* says."""
    faults = FORM.faults_by_control(trouble.faults, visit.language) if trouble and typed else {}
    methods = [(name, name, "") for name in AGGREGATORS.names()]
    sheet = Sheet(FORM, visit.tongue, typed or FORM.show(policy), faults, {"method": methods})
    # Methods can be added, so that no specification lists them.
    others = [replace(one, widget="choice") if one.name == "method" else one for one in sheet.rest("more")]
    return PolicyControls(sheet.rest("what"), others, sheet.faulty("more"))


def typed_policy(post: Post) -> dict[str, Any]:
    """Return what was typed into the form."""
    return FORM.typed(post)


def policy_text(typed: Mapping[str, Any], before: ValidationPolicy) -> str:
    """Return as TOML the policy that was typed over what was *before*, or raise BadInput with all faults."""
    reading = FormReading(dict(typed))
    data = FORM.data(reading, before)
    if reading.faults:
        raise BadInput(faults=reading.faults)
    return dump_policy(policy_of(data))

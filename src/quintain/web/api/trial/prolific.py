"""Prolific, for programs: studies that lead to us, participant groups, and Prolific's own messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request

from quintain.core.records.pay import PanelEventTaken, PanelGroup, Study
from quintain.services.collect.panels import prolific
from quintain.services.trial import studies
from quintain.services.trial.studies import To
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import RoundRef, TaskName, TrialName, ValidationRef
from quintain.web.api.pay.shapes import GroupRequest, StudyChangeRequest, StudyRequest

StudyId = Annotated[str, Path(description="What Prolific calls the study.", max_length=80, pattern=r"^[A-Za-z0-9_-]+$")]


def create_study(call: Calling, ref: RoundRef, study: StudyRequest) -> Study:
    """Make a draft of a study on Prolific that sends people to a round (owners)."""
    return _created(call, ref, "round", study)


def create_judging_study(call: Calling, ref: ValidationRef, study: StudyRequest) -> Study:
    """Make a draft of a study on Prolific that sends people to a judging (owners)."""
    return _created(call, ref, "judging", study)


def create_trial_study(call: Calling, task: TaskName, trial: TrialName, study: StudyRequest) -> Study:
    """Make a draft of a study on Prolific that sends people to a trial, to take part (owners)."""
    return _created(call, f"{task}/{trial}", "trial", study)


def create_grading_study(call: Calling, task: TaskName, trial: TrialName, study: StudyRequest) -> Study:
    """Make a draft of a study on Prolific that sends people to a trial, to grade (owners)."""
    return _created(call, f"{task}/{trial}", "grading", study)


def _created(call: Call, ref: str, to: To, study: StudyRequest) -> Study:
    outside, base = call.workspace.outside, call.base_url
    return studies.create_study(
        call.db,
        call.actor,
        ref,
        outside,
        base,
        to=to,
        places=study.places,
        group=study.group,
        reward=study.reward,
    )


def change_study(call: Calling, ref: RoundRef, study: StudyId, change: StudyChangeRequest) -> Study:
    """Publish, pause, start or stop a study, or let more people take part (owners)."""
    return prolific.change_study(
        call.db, call.actor, ref, study, call.workspace.outside, action=change.action, places=change.places
    )


def change_panel_study(call: Calling, task: TaskName, study: StudyId, change: StudyChangeRequest) -> Study:
    """Publish, pause, start or stop a study, wherever it leads, or let more people take part (owners)."""
    return prolific.change_study(
        call.db, call.actor, task, study, call.workspace.outside, action=change.action, places=change.places
    )


def sync_group(call: Calling, task: TaskName, body: GroupRequest) -> PanelGroup:
    """Let a participant group hold exactly who holds a qualification (owners)."""
    outside = call.workspace.outside
    return prolific.sync_group(call.db, call.actor, task, body.qualification, outside, group=body.group)


async def _raw(request: Request) -> bytes:
    """Return the body as it came: what is signed are its bytes."""
    return await request.body()


def take_prolific_event(call: Calling, task: TaskName, body: Annotated[bytes, Depends(_raw)]) -> PanelEventTaken:
    """Take a signed message of Prolific; one with a wrong signature, an old one and a repeated one are refused."""
    headers = {name.lower(): value for name, value in call.request.headers.items()}
    return PanelEventTaken(prolific.take_event(call.db, task, call.workspace.outside, headers, body))

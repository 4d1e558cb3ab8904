"""Rounds, for programs: what owners set and watch, and everything that the write page does."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, replace
from pathlib import Path as File
from typing import Annotated, Literal

from fastapi import Path, Response
from fastapi import Query as Parameter

from quintain.core.errors import Conflict
from quintain.core.people import RoleName
from quintain.services import attempt_export, attempts, collect, pay, readiness, rounds, writing
from quintain.services.predict import limit_calls
from quintain.services.round_definition import dump_round, parse_round
from quintain.services.verdicts import Verdict
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import Limit, TaskName
from quintain.web.api.round_shapes import (
    ChoiceRequest,
    CountersShape,
    DecisionRequest,
    DraftRequest,
    DraftShape,
    EarningShape,
    EarningsShape,
    NotesRequest,
    OwnAttemptShape,
    OwnAttemptsShape,
    ReadinessShape,
    RetractRequest,
    RoundDefinition,
    RoundShape,
    RoundsShape,
    SessionShape,
    Submission,
    VerdictShape,
    WordRequest,
)

RoundNumber = Annotated[int, Path(description="Number of the round.", ge=1, le=1_000_000)]
SessionKey = Annotated[str, Path(description="Key of the session.", max_length=40, pattern=r"^[A-Za-z0-9_-]+$")]
AttemptId = Annotated[int, Path(description="Id of the attempt.", ge=1, le=2**31 - 1)]
TableFormat = Annotated[Literal["jsonl", "csv", "tsv", "parquet"], Parameter(description="Format of the file.")]
EarningStatus = Annotated[
    Literal["pending", "approved", "declined"] | None, Parameter(description="Only earnings that stand so.")
]


def list_rounds(call: Calling, task: TaskName) -> RoundsShape:
    """List the rounds of a task; drafts to its owners only."""
    return RoundsShape(rounds=[_round(call, one) for one in rounds.list_rounds(call.db, call.actor, task)])


def create_round(call: Calling, task: TaskName, definition: RoundDefinition) -> RoundShape:
    """Add the round that a TOML file defines as a draft, or change the one of that number (owners)."""
    named = parse_round(definition.toml).task
    if named != task:
        raise Conflict(f"This defines a round of '{named}', not of '{task}'.")
    return _round(call, rounds.put_round(call.db, call.actor, definition.toml))


def get_round(call: Calling, task: TaskName, number: RoundNumber) -> RoundShape:
    """Give a round; how people from a panel come and go is in it for the task's owners only."""
    return _round(call, rounds.get_round(call.db, call.actor, f"{task}/{number}"))


def open_round(call: Calling, task: TaskName, number: RoundNumber) -> RoundShape:
    """Let people write (owners)."""
    return _round(call, rounds.open_round(call.db, call.actor, f"{task}/{number}"))


def close_round(call: Calling, task: TaskName, number: RoundNumber) -> RoundShape:
    """End a round (owners)."""
    return _round(call, rounds.close_round(call.db, call.actor, f"{task}/{number}"))


def clone_round(call: Calling, task: TaskName, number: RoundNumber) -> RoundShape:
    """Add a draft that asks the same (owners)."""
    return _round(call, rounds.clone_round(call.db, call.actor, f"{task}/{number}"))


def get_counters(call: Calling, task: TaskName, number: RoundNumber) -> CountersShape:
    """Count how a round goes: attempts, and the rate at which they fool the model, by everything (owners)."""
    return CountersShape.model_validate(attempts.counters(call.db, call.actor, f"{task}/{number}").as_dict())


def export_attempts(call: Calling, task: TaskName, number: RoundNumber, format: TableFormat = "jsonl") -> Response:  # noqa: A002 - the word in the address
    """Download a round's attempts, with other names for the writers (owners)."""
    with tempfile.TemporaryDirectory(prefix="quintain-export-") as folder:
        path = File(folder) / f"attempts.{format}"
        attempt_export.export_attempts(call.db, call.actor, f"{task}/{number}", path)
        headers = {"content-disposition": f'attachment; filename="{task}-{number}-attempts.{format}"'}
        return Response(path.read_bytes(), media_type="application/octet-stream", headers=headers)


def get_readiness(call: Calling, task: TaskName, number: RoundNumber) -> ReadinessShape:
    """Say what one has to do before writing in a round."""
    return _readiness(readiness.readiness(call.db, call.actor, f"{task}/{number}"))


def make_choice(call: Calling, task: TaskName, number: RoundNumber, choice: ChoiceRequest) -> ReadinessShape:
    """Consent, accept the content warning, opt out or in."""
    return _readiness(readiness.choose(call.db, call.actor, f"{task}/{number}", choice.kind))


def start_session(call: Calling, task: TaskName, number: RoundNumber) -> SessionShape:
    """Begin a writing session, or take up the one that lasts."""
    return _session(writing.start(call.db, call.blobs, call.actor, f"{task}/{number}"))


def get_writing_session(call: Calling, key: SessionKey) -> SessionShape:
    """Give one of one's own writing sessions."""
    return _session(writing.get_session(call.db, call.actor, key))


def submit_attempt(call: Calling, key: SessionKey, submission: Submission) -> VerdictShape:
    """Submit a text; the model answers at once."""
    limit_calls(call.db, call.actor, call.address, call.workspace.settings.model_calls)
    found = collect.attempt(
        call.db,
        call.blobs,
        call.actor,
        key,
        submission.inputs,
        target=submission.target,
        token=submission.token,
        runners=call.workspace.runners,
    )
    return _verdict(found)


def save_draft(call: Calling, key: SessionKey, draft: DraftRequest) -> DraftShape:
    """Keep what has been typed so far, and the prompt with it."""
    return DraftShape(lease_until=writing.save_draft(call.db, call.actor, key, draft.inputs, draft.target))


def give_up_session(call: Calling, key: SessionKey) -> SessionShape:
    """End a writing session early."""
    return _session(writing.give_up(call.db, call.actor, key))


def confirm_attempt(call: Calling, attempt: AttemptId, word: WordRequest) -> VerdictShape:
    """Say whether other people would give the label aimed at."""
    return _verdict(collect.confirm(call.db, call.actor, attempt, word.yes))


def decide_attempt(call: Calling, attempt: AttemptId, word: WordRequest) -> VerdictShape:
    """Say, where the round leaves it to the writer, whether the model was fooled."""
    return _verdict(collect.decide(call.db, call.actor, attempt, word.yes))


def note_attempt(call: Calling, attempt: AttemptId, notes: NotesRequest) -> VerdictShape:
    """Add a reason and tags to one of one's own attempts."""
    attempts.add_notes(call.db, call.actor, attempt, reason=notes.reason, tags=notes.tags)
    return _verdict(collect.get_verdict(call.db, call.actor, attempt))


def retract_attempt(call: Calling, attempt: AttemptId, why: RetractRequest) -> None:
    """Take one of one's own attempts back."""
    attempts.retract(call.db, call.actor, attempt, why.reason)


def list_my_attempts(call: Calling, limit: Limit = 100) -> OwnAttemptsShape:
    """List one's own attempts, newest first."""
    found = attempts.my_attempts(call.db, call.actor, limit=limit)
    return OwnAttemptsShape(attempts=[OwnAttemptShape.model_validate(asdict(one)) for one in found])


def list_my_earnings(call: Calling, limit: Limit = 100) -> EarningsShape:
    """List what one earned, newest first."""
    found = pay.my_earnings(call.db, call.actor, limit=limit)
    return EarningsShape(earnings=[EarningShape.model_validate(one.as_dict()) for one in found])


def list_earnings(call: Calling, task: TaskName, status: EarningStatus = None) -> EarningsShape:
    """List what people earned with a task (owners)."""
    found = pay.list_earnings(call.db, call.actor, task, status=status)
    return EarningsShape(earnings=[EarningShape.model_validate(one.as_dict()) for one in found])


def decide_earnings(call: Calling, task: TaskName, decision: DecisionRequest) -> EarningsShape:
    """Approve earnings, or set them aside with a reason (owners)."""
    found = pay.decide(call.db, call.actor, task, decision.ids, approved=decision.approved, reason=decision.reason)
    return EarningsShape(earnings=[EarningShape.model_validate(one.as_dict()) for one in found])


def _round(call: Call, info: rounds.RoundInfo) -> RoundShape:
    shape = info.as_dict()
    if not call.actor.has(RoleName.OWNER, info.task):
        # Who knows the completion code is paid by the panel, work or no work.
        shape["toml"] = dump_round(replace(info.spec, entry=None))
    return RoundShape.model_validate(shape)


def _readiness(found: readiness.Readiness) -> ReadinessShape:
    return ReadinessShape.model_validate({**asdict(found), "ready": found.ready})


def _session(found: writing.WritingSession) -> SessionShape:
    return SessionShape.model_validate(asdict(found))


def _verdict(found: Verdict) -> VerdictShape:
    return VerdictShape.model_validate(asdict(found))

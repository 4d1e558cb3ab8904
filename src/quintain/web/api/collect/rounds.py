"""Rounds, for programs: what owners set and watch, and everything that the write page does."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, replace
from pathlib import Path as File
from typing import Annotated, Literal

from fastapi import Path, Response
from fastapi import Query as Parameter

from quintain.core.errors import Conflict
from quintain.services.collect import attempt as collect
from quintain.services.collect import attempts, entry, readiness, rounds, writing
from quintain.services.collect import export as attempt_export
from quintain.services.collect.definition import parse_round
from quintain.services.collect.target_names import spec_for
from quintain.services.collect.verdicts import Verdict
from quintain.services.models.ask import limit_calls
from quintain.services.validate import leaving
from quintain.web.api.call import Call, Calling
from quintain.web.api.collect.shapes import (
    ChoiceRequest,
    CloneRequest,
    CountersShape,
    DraftRequest,
    DraftShape,
    NotesRequest,
    OwnAttemptShape,
    OwnAttemptsShape,
    ReadinessShape,
    RetractRequest,
    RoundChangeShape,
    RoundDefinition,
    RoundHistoryShape,
    RoundShape,
    RoundsShape,
    SessionShape,
    Submission,
    VerdictShape,
    WordRequest,
)
from quintain.web.api.params import Limit, TaskName

RoundNumber = Annotated[int, Path(description="Number of the round.", ge=1, le=1_000_000)]
SessionKey = Annotated[str, Path(description="Key of the session.", max_length=40, pattern=r"^[A-Za-z0-9_-]+$")]
AttemptId = Annotated[int, Path(description="Id of the attempt.", ge=1, le=2**31 - 1)]
TableFormat = Annotated[Literal["jsonl", "csv", "tsv", "parquet"], Parameter(description="Format of the file.")]


def list_rounds(call: Calling, task: TaskName) -> RoundsShape:
    """List the rounds of a task; drafts to its owners only."""
    return RoundsShape(rounds=[_round(call, one) for one in rounds.list_rounds(call.db, call.actor, task)])


def create_round(call: Calling, task: TaskName, definition: RoundDefinition) -> RoundShape:
    """Add the round that a TOML file defines as a draft, or change the one of that number (owners)."""
    named = parse_round(definition.toml).task
    if named != task:
        raise Conflict("This defines a round of '{named}', not of '{task}'.", named=named, task=task)
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


def clone_round(call: Calling, task: TaskName, number: RoundNumber, wanted: CloneRequest | None = None) -> RoundShape:
    """Add a draft that asks the same, without prompts and dates (owners)."""
    title = wanted.title.strip() if wanted else ""
    return _round(call, rounds.clone_round(call.db, call.actor, f"{task}/{number}", title=title or None))


def list_round_history(call: Calling, task: TaskName, number: RoundNumber) -> RoundHistoryShape:
    """List every state of a round's file, the newest first (owners)."""
    found = rounds.round_history(call.db, call.actor, f"{task}/{number}")
    return RoundHistoryShape(versions=[RoundChangeShape.model_validate(asdict(one)) for one in found])


def get_counters(call: Calling, task: TaskName, number: RoundNumber) -> CountersShape:
    """Count how a round goes: attempts, and the rate at which they fool the model, by everything (owners)."""
    return CountersShape.model_validate(attempts.counters(call.db, call.actor, f"{task}/{number}").as_dict())


def export_attempts(
    call: Calling,
    task: TaskName,
    number: RoundNumber,
    format: TableFormat = "jsonl",  # noqa: A002 - the word in the address
    fooling: Annotated[bool, Parameter(description="Only attempts that fooled the model.")] = False,
) -> Response:
    """Download a round's attempts, with other names for the writers (owners)."""
    with tempfile.TemporaryDirectory(prefix="quintain-export-") as folder:
        path = File(folder) / f"attempts.{format}"
        attempt_export.export_attempts(call.db, call.actor, f"{task}/{number}", path, nonfooling=not fooling)
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
    leaving.retract(call.db, call.actor, attempt, why.reason)


def list_my_attempts(call: Calling, limit: Limit = 100) -> OwnAttemptsShape:
    """List one's own attempts, newest first."""
    found = attempts.my_attempts(call.db, call.actor, limit=limit)
    return OwnAttemptsShape(attempts=[OwnAttemptShape.model_validate(asdict(one)) for one in found])


def _round(call: Call, info: rounds.RoundInfo) -> RoundShape:
    shown = replace(info, spec=spec_for(call.db, call.actor, info))
    address = entry.entry_url(shown, call.base_url) if shown.spec.entry else None
    return RoundShape.model_validate({**shown.as_dict(), "entry_url": address})


def _readiness(found: readiness.Readiness) -> ReadinessShape:
    return ReadinessShape.model_validate({**asdict(found), "ready": found.ready})


def _session(found: writing.WritingSession) -> SessionShape:
    return SessionShape.model_validate(asdict(found))


def _verdict(found: Verdict) -> VerdictShape:
    return VerdictShape.model_validate(asdict(found))

"""Rounds, for programs: what owners set and watch, and everything that the write page does."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Response
from fastapi import Query as Parameter
from pydantic import Field

from quintain.core.records.collect import (
    Counters,
    DraftKept,
    OwnAttempts,
    Readiness,
    Round,
    RoundHistory,
    Rounds,
    Verdict,
    WritingSession,
)
from quintain.services.collect.panels import entry
from quintain.services.collect.rounds import export as attempt_export
from quintain.services.collect.rounds import manage, round_figures
from quintain.services.collect.writing import list_attempts, readiness, sessions
from quintain.services.collect.writing import submit_attempt as collect
from quintain.services.jobs.exports import ExportRequest
from quintain.services.models.ask import limit_calls
from quintain.web.api.call import Call, Calling
from quintain.web.api.params import Changing, Limit, RoundRef, TaskName
from quintain.web.api.shapes import LongText, Shape, Text
from quintain.web.exporting import export_call


class RoundDefinition(Shape):
    """A round as a TOML file."""

    toml: LongText


class CloneRequest(Shape):
    """What the clone of a round is called; empty for the same title."""

    title: Text = ""


class ChoiceRequest(Shape):
    """What a worker says to a round."""

    kind: Literal["consent", "warning", "opt_out", "opt_in"]


class AttemptRequest(Shape):
    """A text to submit. The same token again gives the first verdict again."""

    inputs: dict[str, Any]
    target: Any = None
    justification: LongText = ""
    type: Annotated[str, Field(max_length=200)] = ""
    token: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00]+$")]


class DraftRequest(Shape):
    """What has been typed so far."""

    inputs: dict[str, Any]
    target: Any = None


class WordRequest(Shape):
    """A writer's word on an attempt: yes or no."""

    yes: bool


class NotesRequest(Shape):
    """Why the model failed, and which phenomena are in the text."""

    reason: Text = ""
    tags: list[Text] = Field(default_factory=list)


class RetractRequest(Shape):
    """Why an attempt is taken back; may be empty."""

    reason: Text = ""


SessionKey = Annotated[str, Path(description="Key of the session.", max_length=40, pattern=r"^[A-Za-z0-9_-]+$")]
AttemptId = Annotated[int, Path(description="Id of the attempt.", ge=1, le=2**31 - 1)]
TableFormat = Annotated[Literal["jsonl", "csv", "tsv", "parquet"], Parameter(description="Format of the file.")]


def list_rounds(call: Calling, task: TaskName) -> Rounds:
    """List the rounds of a task; drafts to its owners only."""
    return Rounds([_round(call, info) for info in manage.list_rounds(call.db, call.actor, task)])


def put_round(call: Calling, task: TaskName, definition: RoundDefinition, edit: Changing) -> Round:
    """Add the round that a TOML file defines as a draft, or change the one of that number (owners)."""
    return _round(call, manage.put_round(call.db, call.actor, definition.toml, task=task, edit=edit))


def get_round(call: Calling, ref: RoundRef) -> Round:
    """Return a round; how people from a panel come and go is in it for the task's owners only."""
    return _round(call, manage.get_round(call.db, call.actor, ref))


def open_round(call: Calling, ref: RoundRef) -> Round:
    """Let people write (owners)."""
    return _round(call, manage.open_round(call.db, call.actor, ref))


def close_round(call: Calling, ref: RoundRef) -> Round:
    """End a round (owners)."""
    return _round(call, manage.close_round(call.db, call.actor, ref))


def clone_round(call: Calling, ref: RoundRef, body: CloneRequest | None = None) -> Round:
    """Add a draft that asks the same, without prompts and dates (owners)."""
    title = body.title.strip() if body else ""
    return _round(call, manage.clone_round(call.db, call.actor, ref, title=title or None))


def list_round_history(call: Calling, ref: RoundRef) -> RoundHistory:
    """List every state of a round's file, the newest first (owners)."""
    return RoundHistory(manage.round_history(call.db, call.actor, ref))


def get_counters(call: Calling, ref: RoundRef) -> Counters:
    """Count how a round goes: attempts, and how often they fool the model, by everything (owners)."""
    return round_figures.counters(call.db, call.actor, ref)


def export_attempts(
    call: Calling,
    ref: RoundRef,
    format: TableFormat = "jsonl",  # noqa: A002 - the word in the address
    fooling: Annotated[bool, Parameter(description="Only attempts that fooled the model.")] = False,
) -> Response:
    """Download a round's attempts, with other names for the writers (owners); a long file is written by a job."""
    return export_call(call, ExportRequest(attempt_export.ATTEMPTS_FILE, ref, format, {"fooling": fooling}))


def get_readiness(call: Calling, ref: RoundRef) -> Readiness:
    """Return what one has to do before writing in a round."""
    return readiness.readiness(call.db, call.actor, ref)


def choose(call: Calling, ref: RoundRef, choice: ChoiceRequest) -> Readiness:
    """Answer a round's first page: `consent`, `warning` (read and accepted), `opt_out` or `opt_in`."""
    return readiness.record_choice(call.db, call.actor, ref, choice.kind)


def begin_writing(call: Calling, ref: RoundRef) -> WritingSession:
    """Begin a writing session, or take up the one that lasts."""
    return sessions.start_session(call.db, call.blobs, call.actor, ref)


def get_writing_session(call: Calling, key: SessionKey) -> WritingSession:
    """Return one of one's own writing sessions as it stands."""
    return sessions.get_session(call.db, call.actor, key)


def write(call: Calling, key: SessionKey, submission: AttemptRequest) -> Verdict:
    """Submit a text; the model answers at once. The same token again gives the first verdict again."""
    writing = sessions.find_place(call.db, call.actor, key, submission.token)
    if writing.row.models:
        limit_calls(call.db, call.actor, call.address, call.workspace.settings.model_calls)
    return collect.submit_attempt(
        call.db,
        call.blobs,
        call.actor,
        key,
        submission.inputs,
        target=submission.target,
        token=submission.token,
        justification=submission.justification,
        of_type=submission.type,
        writing=writing,
        runners=call.workspace.runners,
    )


def save_draft(call: Calling, key: SessionKey, draft: DraftRequest) -> DraftKept:
    """Keep what has been typed so far, and give until when the prompt is held."""
    return DraftKept(sessions.save_draft(call.db, call.actor, key, draft.inputs, draft.target))


def end_writing(call: Calling, key: SessionKey) -> WritingSession:
    """End a writing session early; the attempts that were made are paid by their share."""
    return sessions.give_up(call.db, call.actor, key)


def confirm(call: Calling, attempt: AttemptId, word: WordRequest) -> Verdict:
    """Take down whether other people would give the answer aimed at."""
    return collect.confirm(call.db, call.actor, attempt, word.yes)


def decide(call: Calling, attempt: AttemptId, word: WordRequest) -> Verdict:
    """Note the writer's word on whether the model was fooled, where the round leaves it to them."""
    return collect.decide(call.db, call.actor, attempt, word.yes)


def add_notes(call: Calling, attempt: AttemptId, notes: NotesRequest) -> Verdict:
    """Take down why the model failed, and which phenomena are in the text."""
    list_attempts.add_notes(call.db, call.actor, attempt, reason=notes.reason, tags=notes.tags)
    return collect.get_verdict(call.db, call.actor, attempt)


def list_my_attempts(call: Calling, limit: Limit = 100) -> OwnAttempts:
    """List one's own attempts, the newest first."""
    return OwnAttempts(list_attempts.my_attempts(call.db, call.actor, limit=limit))


def _round(call: Call, info: manage.RoundInfo) -> Round:
    return entry.shown_round(call.db, call.actor, info, call.base_url)

"""Writing at a live model: aim, compose, verdict. What is typed is never lost, and nothing counts twice."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, QuintainError, TooMany, Unavailable
from quintain.core.records.collect import WritingSession
from quintain.core.task import Task
from quintain.services.access.permissions import require_signed_in
from quintain.services.collect.panels import entry
from quintain.services.collect.panels.entry import Completion
from quintain.services.collect.rounds.manage import RoundInfo, trial_of_round
from quintain.services.collect.writing import list_attempts, readiness, sessions
from quintain.services.collect.writing import submit_attempt as collect
from quintain.services.collect.writing.list_attempts import Notes
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.collect.verdict import ShownVerdict, about_fields, shown_verdict
from quintain.web.pages.collect.write_form import SpanPlace, Typed, boxes_of, places_of, read, target_of
from quintain.web.pages.collect.write_start import landing_page
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Posting, Visit, Visiting

WHOLE = {"hx-retarget": "#writing", "hx-reselect": "#writing", "hx-reswap": "outerHTML"}
PART = {"hx-retarget": "#verdict", "hx-reselect": "#verdict", "hx-reswap": "outerHTML"}


def begin(post: Posting, task: str, number: int) -> Response:
    """Begin a session, or go on with the one that lasts; what stands in the way is said on the first page."""
    visit = post.visit
    ref = f"{task}/{number}"
    try:
        session = sessions.start_session(visit.db, visit.blobs, visit.actor, ref)
    except (Conflict, Forbidden, TooMany, Unavailable) as error:
        return landing_page(visit, ref, trouble_of(error))
    return visit.redirect(f"/write/{session.key}")


def choose(post: Posting, task: str, number: int) -> Response:
    """Take down what somebody says to a round: that they agree, or that they would rather not."""
    visit = post.visit
    choice = post.text("choice")
    readiness.record_choice(visit.db, visit.actor, f"{task}/{number}", choice)
    if choice == "warning":
        visit.go_past_warning(tasks.get_task(visit.db, task))
    return visit.redirect(f"/tasks/{task}/rounds/{number}/write")


def session_page(visit: Visiting, key: str, prompt: str = "") -> Response:
    """Show a session as it stands, with what was typed last; with *prompt*, with the prompt in the box to edit."""
    require_signed_in(visit.actor)
    return _page(visit, key, beside_box=not prompt)


def attempt(post: Posting, key: str) -> Response:
    """Let the model answer what was written. What it says is asked on the server; nothing else in the form counts."""
    visit = post.visit
    token = post.text("token")
    writing = sessions.find_place(visit.db, visit.actor, key, token)
    info, task = writing.info, writing.task
    typed = read(task, post)
    typed_beside = {name: post.text(name) for name in ("justification", "type")}
    try:
        verdict = collect.submit_attempt(
            visit.db,
            visit.blobs,
            visit.actor,
            key,
            typed.inputs,
            target=typed.target,
            token=token,
            justification=typed_beside["justification"],
            of_type=typed_beside["type"],
            writing=writing,
            runners=visit.workspace.runners,
        )
    except (BadInput, Conflict, Unavailable) as error:
        return _refused(visit, task, info, key, typed, error, typed_beside)
    if not by_htmx(visit):
        return visit.redirect(f"/write/{key}")
    if verdict.ended or verdict.ask or not info.spec.targets.has_model:  # the next text is a new one
        return _page(visit, key, headers=WHOLE)
    return _part(visit, info, key, verdict=shown_verdict(visit, task, writing.row.allowed, verdict))


def save_draft(post: Posting, key: str) -> Response:
    """Keep what has been typed so far."""
    visit = post.visit
    typed = read(sessions.find_place(visit.db, visit.actor, key).task, post)
    sessions.save_draft(visit.db, visit.actor, key, typed.inputs, typed.target)
    return Response(status_code=204)


def confirm(post: Posting, key: str) -> Response:
    """Take down whether other people would give the answer aimed at."""
    visit = post.visit
    collect.confirm(visit.db, visit.actor, post.number("attempt"), post.text("yes") == "1")
    return _after(visit, key)


def decide(post: Posting, key: str) -> Response:
    """Take down whether the model was fooled, where the writer has the last word."""
    visit = post.visit
    collect.decide(visit.db, visit.actor, post.number("attempt"), post.text("yes") == "1")
    return _after(visit, key)


def add_notes(post: Posting, key: str) -> Response:
    """Take down why the model failed and what the example is about; both may be left out."""
    visit = post.visit
    number, reason, tags = post.number("attempt"), post.text("reason"), post.texts("tags")
    list_attempts.add_notes(visit.db, visit.actor, number, reason=reason, tags=tags)
    return visit.redirect(f"/write/{key}", visit.tongue.gettext("Thank you."))


def give_up(post: Posting, key: str) -> Response:
    """End a session early."""
    sessions.give_up(post.visit.db, post.visit.actor, key)
    return _after(post.visit, key)


def _after(visit: Visit, key: str) -> Response:
    if not by_htmx(visit):
        return visit.redirect(f"/write/{key}")
    return _page(visit, key, headers=WHOLE)


def by_htmx(visit: Visit) -> bool:
    """Whether a script asks, and wants a part of the page only."""
    return visit.request.headers.get("hx-request") == "true"


def _refused(  # noqa: PLR0917 - where, what was typed, and what is wrong with it
    visit: Visit,
    task: Task,
    info: RoundInfo,
    key: str,
    typed: Typed,
    error: QuintainError,
    beside: Mapping[str, str],
) -> Response:
    """Show what is wrong beside the text, which stays where it is."""
    trouble = about_fields(visit, task, trouble_of(error))
    prompt = sessions.get_session(visit.db, visit.actor, key).prompt
    places = places_of(task, {**(prompt.inputs if prompt else {}), **typed.inputs}, typed.target)
    if by_htmx(visit):
        return _part(visit, info, key, trouble=trouble, places=places)
    return _page(visit, key, trouble=trouble, inputs=typed.inputs, places=places, beside=beside)


def _part(
    visit: Visit,
    info: RoundInfo,
    key: str,
    *,
    verdict: ShownVerdict | None = None,
    trouble: Trouble | None = None,
    places: Sequence[SpanPlace] = (),
) -> Response:
    """Answer with the verdict alone; the text above it, and the cursor in it, stay as they are."""
    return visit.render(
        "collect/verdict.html",
        status=trouble.status if trouble else 200,
        headers=PART,
        key=key,
        spec=info.spec,
        verdict=verdict,
        trouble=trouble,
        places=places,
        token=_token(),
        fresh=verdict is not None,
    )


def _token() -> str:
    return secrets.token_urlsafe(12)


def _page(
    visit: Visit,
    key: str,
    *,
    trouble: Trouble | None = None,
    inputs: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    places: Sequence[SpanPlace] = (),
    beside: Mapping[str, str] | None = None,
    beside_box: bool = True,
) -> Response:
    _ = visit.tongue.gettext
    desk = collect.desk(visit.db, visit.actor, key)
    task, info, session = desk.task, desk.info, desk.session
    shown = [shown_verdict(visit, task, session.allowed, verdict) for verdict in desk.verdicts]
    prompt = session.prompt
    draft = inputs if inputs is not None else session.draft
    started = bool(shown or draft)
    boxes = boxes_of(task, prompt.inputs if prompt else None, draft, started=started, beside=beside_box)
    answer = session.draft_target if started else prompt.answer if prompt else None
    return visit.render(
        "collect/write.html",
        part=headers is WHOLE,  # who is on the page already needs nothing around it
        status=trouble.status if trouble else 200,
        headers=headers,
        task=task,
        section="write",
        round=info,
        spec=info.spec,
        session=session,
        judged=desk.judged,
        key=session.key,
        boxes=boxes,
        target=target_of(task, boxes, answer, session.target),
        verdict=shown[-1] if shown else None,
        history=shown,
        trouble=trouble,
        token=_token(),
        fresh=False,
        action=f"/write/{session.key}/try",
        autosave=f"/write/{session.key}/draft",
        notes=_notes(visit, info, session, shown),
        places=places,
        beside=beside or {},
        completion=_completion(visit, info, session),
        trial=_trial_address(visit, task, info) if session.ended else None,
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (_("Write"), f"/tasks/{task.name}/write"),
            (info.spec.title, None),
        ],
    )


def _trial_address(visit: Visit, task: Task, info: RoundInfo) -> str | None:
    """Return the page of the trial that a round belongs to: whoever wrote there goes on from it."""
    trial = trial_of_round(visit.db, info.id)
    return None if trial is None else f"/tasks/{task.name}/trials/{trial}"


def _notes(visit: Visit, info: RoundInfo, session: WritingSession, shown: Sequence[ShownVerdict]) -> Notes | None:
    """Return what the writer said of the attempt that fooled the model, where the round asks for it."""
    if session.outcome != "fooled" or not shown or not (info.spec.asks.reason or info.spec.asks.tags):
        return None
    return list_attempts.get_notes(visit.db, visit.actor, shown[-1].attempt_id)


def _completion(visit: Visit, info: RoundInfo, session: WritingSession) -> Completion | None:
    """Return the way back for somebody who came from a panel and is done; None for others."""
    if info.spec.entry is None or not session.ended:
        return None
    try:
        return entry.complete(visit.db, visit.actor, info.ref)
    except (Conflict, NotFound):  # came by another door, or has not finished anything since they came
        return None

"""What helps a writer: a sandbox, which words moved the model, what fooled it before."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Forbidden, TooMany, Unavailable
from quintain.core.records.collect import WritingSession
from quintain.services.access.permissions import require_signed_in
from quintain.services.collect.rounds import manage
from quintain.services.collect.writing import readiness, sessions, writing_aids
from quintain.services.collect.writing import submit_attempt as collect
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.forms import answer_text
from quintain.web.pages.collect.verdict import ShownVerdict, about_fields, shown_verdict
from quintain.web.pages.collect.write import PART, by_htmx
from quintain.web.pages.collect.write_form import SpanPlace, Typed, boxes_of, places_of, read, target_of
from quintain.web.pages.collect.write_start import landing_page
from quintain.web.pages.models.moved import moved_pieces
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.written import own_text
from quintain.web.visit import Posting, Visit, Visiting


def practice_page(visit: Visiting, task: str, number: int, prompt: str = "") -> Response:
    """Show the sandbox: it looks like the real page, and nothing in it is stored. A warning comes before it, too."""
    require_signed_in(visit.actor)
    ready = readiness.readiness(visit.db, visit.actor, f"{task}/{number}")
    if ready.needs_warning or ready.needs_consent or ready.opted_out or ready.closed:
        return visit.redirect(f"/tasks/{task}/rounds/{number}/write")
    session = writing_aids.try_session(visit.db, visit.actor, f"{task}/{number}")
    return _sandbox(visit, session, beside_box=not prompt)


def practise(post: Posting, task: str, number: int) -> Response:
    """Let the model answer, and forget it."""
    visit = post.visit
    ref = f"{task}/{number}"
    definition = tasks.get_task(visit.db, task)
    try:
        session = writing_aids.try_session(visit.db, visit.actor, ref)
    except (Conflict, Forbidden) as error:  # closed while somebody typed, say
        refusal = trouble_of(error)
        return _answer(visit, ref, None, refusal) if by_htmx(visit) else landing_page(visit, ref, refusal)
    typed = read(definition, post, session.prompt.inputs if session.prompt else None)
    shown, trouble = None, None
    try:
        verdict = writing_aids.try_attempt(
            visit.db,
            visit.blobs,
            visit.actor,
            ref,
            typed.inputs,
            target=typed.target,
            prompt_id=session.prompt.id if session.prompt else None,
            runners=visit.workspace.runners,
        )
        shown = shown_verdict(visit, definition, session.allowed, verdict)
    except (BadInput, Conflict, TooMany, Unavailable) as error:
        trouble = about_fields(visit, definition, trouble_of(error))
    if not by_htmx(visit):
        return _sandbox(visit, session, typed, shown, trouble)
    return _answer(visit, ref, shown, trouble, places_of(definition, typed.inputs, typed.target) if trouble else ())


def moved(visit: Visiting, key: str, attempt: int) -> Response:
    """Show which words of an attempt moved the model."""
    require_signed_in(visit.actor)
    session = sessions.get_session(visit.db, visit.actor, key)
    task = tasks.get_task(visit.db, session.task)
    inputs = collect.get_verdict(visit.db, visit.actor, attempt).inputs
    runners = visit.workspace.runners
    effects = writing_aids.occlusion(visit.db, visit.blobs, visit.actor, attempt, runners=runners)
    return visit.render("collect/verdict_moved.html", fields=moved_pieces(visit, task, inputs, effects))


def inspiration(visit: Visiting, key: str) -> Response:
    """Show what fooled the model before, written by others."""
    require_signed_in(visit.actor)
    task = sessions.find_place(visit.db, visit.actor, key).task
    shown_examples = writing_aids.inspiration(visit.db, visit.actor, key)
    examples = [
        (
            own_text(task, example.inputs),
            answer_text(task, example.inputs, example.target),
            answer_text(task, example.inputs, example.prediction),
        )
        for example in shown_examples
    ]
    return visit.render("collect/write_inspiration.html", examples=examples)


def _answer(
    visit: Visit, ref: str, shown: ShownVerdict | None, trouble: Trouble | None, places: Sequence[SpanPlace] = ()
) -> Response:
    """Answer with the verdict of the sandbox alone; the text above it stays as it is."""
    return visit.render(
        "collect/verdict.html",
        status=trouble.status if trouble else 200,
        headers=PART,
        key="",
        spec=manage.get_round(visit.db, visit.actor, ref).spec,
        verdict=shown,
        trouble=trouble,
        places=places,
        token="",
        fresh=shown is not None,
    )


def _sandbox(
    visit: Visit,
    session: WritingSession,
    typed: Typed | None = None,
    shown: ShownVerdict | None = None,
    trouble: Trouble | None = None,
    *,
    beside_box: bool = True,
) -> Response:
    _ = visit.tongue.gettext
    task = tasks.get_task(visit.db, session.task)
    info = manage.get_round(visit.db, visit.actor, session.round)
    prompt = session.prompt
    texts = prompt.inputs if prompt else None
    boxes = boxes_of(task, texts, typed.inputs if typed else {}, started=bool(typed), beside=beside_box)
    answer = typed.target if typed else prompt.answer if prompt else None
    base = f"/tasks/{task.name}/rounds/{info.number}"
    return visit.render(
        "collect/write.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="write",
        round=info,
        spec=info.spec,
        session=session,
        key="",
        boxes=boxes,
        target=target_of(task, boxes, answer, None),
        verdict=shown,
        history=[shown] if shown else [],
        trouble=trouble,
        token="",
        fresh=False,
        action=f"{base}/practice",
        autosave="",
        notes=None,
        places=places_of(task, typed.inputs, typed.target) if typed and trouble else (),
        completion=None,
        crumbs=[
            (title_of(visit, task), f"/tasks/{task.name}"),
            (info.spec.title, f"{base}/write"),
            (_("Sandbox"), None),
        ],
    )

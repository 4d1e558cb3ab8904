"""A worker's own work: open rounds, every attempt, taking one back, and all of it as a file."""

from __future__ import annotations

import json

from starlette.responses import Response

from quintain.core.records.collect import OwnAttempt
from quintain.core.rounds import Money
from quintain.services.access.permissions import require_signed_in
from quintain.services.collect.rounds import manage
from quintain.services.collect.writing import list_attempts
from quintain.services.collect.writing.session_under_way import session_under_way
from quintain.services.contest import judging
from quintain.services.contest.offers import ContestOffer, ContestStep, contest_offers
from quintain.services.pay import earnings
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import offers as judging_offers
from quintain.services.validate.judging import retraction
from quintain.web.forms import answer_text
from quintain.web.pages.pay.words import status_names
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.written import own_text
from quintain.web.visit import Posting, Visit, Visiting

MOST = 500
MOST_EXPORTED = 1_000_000


def index(visit: Visiting) -> Response:
    """Show where there is work, and what the person has written."""
    require_signed_in(visit.actor)
    _ = visit.tongue.gettext
    is_open = manage.open_rounds(visit.db, visit.actor)
    titles = {info.task: title_of(visit, tasks.get_task(visit.db, info.task)) for info in is_open}
    begun = {info.id: session_under_way(visit.db, visit.actor, info) for info in is_open}
    attempts = list_attempts.my_attempts(visit.db, visit.actor, limit=MOST)
    return visit.render(
        "house/own_work.html",
        rounds=[
            (info, titles[info.task], earnings.wage(visit.db, info.id, info.spec), begun[info.id])
            for info in sorted(is_open, key=lambda info: begun[info.id] is None)
        ],
        offers=[
            (
                offer,
                title_of(visit, offer.validation.task),
                f"/tasks/{offer.validation.task.name}/judge/{offer.validation.name}",
            )
            for offer in judging_offers.open_offers(visit.db, visit.actor)
            if offer.trouble is None or offer.quiz
        ],
        pairs=_pairs_to_judge(visit),
        attempts=[_shown(visit, attempt) for attempt in attempts],
        limit=MOST,
        judged=[ref for ref in validate.list_validations(visit.db) if ref in {attempt.round for attempt in attempts}],
        totals=earnings.my_totals(visit.db, visit.actor),
        statuses=status_names(visit),
        crumbs=[(_("Your work"), None)],
    )


def _pairs_to_judge(visit: Visit) -> list[tuple[ContestOffer, str, str, tuple[float, Money, bool]]]:
    """List the contests whose pairs wait for the person's judgement: title of the task, address, time and wage."""
    known = {task.task.name: title_of(visit, task.task) for task in tasks.list_tasks(visit.db)}
    return [
        (
            offer,
            known[offer.contest.task],
            f"/tasks/{offer.contest.task}/contests/{offer.contest.name}/judge",
            judging.wage(visit.db, offer.contest),
        )
        for offer in contest_offers(visit.db, visit.actor, known)
        if offer.step is ContestStep.JUDGE
    ]


def retract(post: Posting) -> Response:
    """Take an attempt back."""
    visit = post.visit
    retraction.retract(visit.db, visit.actor, post.number("attempt"), post.text("reason"))
    return visit.redirect("/work", visit.tongue.gettext("The attempt is retracted. It stays paid."))


def export(visit: Visiting) -> Response:
    """Send the person everything they wrote, as JSON."""
    require_signed_in(visit.actor)
    attempts = list_attempts.my_attempts(visit.db, visit.actor, limit=MOST_EXPORTED)
    rows = [
        {
            "round": attempt.round,
            "number": attempt.number,
            "inputs": dict(attempt.inputs),
            "target": attempt.target,
            "prediction": attempt.prediction,
            "fooled": attempt.fooled,
            "retracted": attempt.retracted,
            "at": attempt.at.isoformat(),
        }
        for attempt in attempts
    ]
    headers = {"content-disposition": 'attachment; filename="attempts.json"'}
    text = json.dumps({"attempts": rows}, ensure_ascii=False, indent=2)
    return Response(text, media_type="application/json", headers=headers)


def _shown(visit: Visit, attempt: OwnAttempt) -> dict[str, object]:
    task = tasks.get_task(visit.db, attempt.round.rpartition("/")[0])
    return {
        "id": attempt.id,
        "round": attempt.round,
        "number": attempt.number,
        "text": own_text(task, attempt.inputs),
        "aim": answer_text(task, attempt.inputs, attempt.target),
        "said": answer_text(task, attempt.inputs, attempt.prediction) if attempt.prediction is not None else "–",
        "fooled": attempt.fooled,
        "retracted": attempt.retracted,
        "at": attempt.at,
    }

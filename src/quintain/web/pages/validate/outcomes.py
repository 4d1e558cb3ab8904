"""What became of what somebody wrote: the label that people agreed on, how they voted, and whether the aim was met."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.access.permissions import require_signed_in
from quintain.services.collect.writing import list_attempts
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.quality import vmer
from quintain.web.forms import answer_text
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.pages.written import own_text
from quintain.web.paging import Paging
from quintain.web.visit import Visiting

SIZE = 50
RECENT = 500  # texts of which it is said how many met their aim


def show(visit: Visiting, task: str, name: str, offset: int = 0) -> Response:
    """Show a writer their own texts of a round, the newest first, with the outcome of each."""
    require_signed_in(visit.actor)
    _ = visit.tongue.gettext
    definition = tasks.get_task(visit.db, task)
    ref = f"{task}/{name}"
    first = max(offset, 0)
    recent = vmer.my_outcomes(visit.db, visit.actor, ref, limit=RECENT)
    page = recent.attempts[first : first + SIZE]
    if first + SIZE > RECENT:
        page = vmer.my_outcomes(visit.db, visit.actor, ref, limit=SIZE, offset=first).attempts
    texts = {
        text.id: text
        for text in list_attempts.own_attempts(visit.db, visit.actor, [outcome.attempt or 0 for outcome in page])
    }
    mine = [(texts[outcome.attempt], outcome) for outcome in page if outcome.attempt in texts]
    return visit.render(
        "validate/outcomes.html",
        task=definition,
        section="write",
        name=name,
        rows=[
            (text, own_text(definition, text.inputs), answer_text(definition, text.inputs, text.target), outcome)
            for text, outcome in mine
        ],
        total=recent.total,
        recent=len(recent.attempts),
        successes=sum(bool(outcome.success) for outcome in recent.attempts),
        paging=Paging(f"/tasks/{task}/outcomes/{name}", {}, first, len(mine), recent.total, SIZE),
        states={
            "validated": _("judged"),
            "no majority": _("no majority"),
            "waiting": _("being judged"),
            "not judged": _("not judged"),
        },
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Your work"), "/work"), (ref, None)],
    )

"""What became of what somebody wrote: the label that people agreed on, how they voted, and whether the aim was met."""

from __future__ import annotations

from starlette.responses import Response

from quintain.services.access.permissions import require_signed_in
from quintain.services.collect import attempts
from quintain.services.tasks import definitions as tasks
from quintain.services.validate import vmer
from quintain.web.forms import answer_text
from quintain.web.pages.collect.verdict import own_text
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Visiting

MOST = 500


def show(visit: Visiting, task: str, name: str) -> Response:
    """Show a writer their own texts of a round, the newest first, with the outcome of each."""
    require_signed_in(visit.actor)
    _ = visit.tongue.gettext
    found = tasks.get_task(visit.db, task)
    ref = f"{task}/{name}"
    outcomes = {one.attempt: one for one in vmer.my_outcomes(visit.db, visit.actor, ref)}
    mine = [one for one in attempts.my_attempts(visit.db, visit.actor, limit=MOST) if one.id in outcomes]
    return visit.render(
        "collect/outcomes.html",
        task=found,
        section="write",
        name=name,
        rows=[
            (one, own_text(found, one.inputs), answer_text(found, one.inputs, one.target), outcomes[one.id])
            for one in mine
        ],
        successes=sum(bool(outcomes[one.id].success) for one in mine),
        states={
            "validated": _("judged"),
            "no majority": _("no majority"),
            "waiting": _("being judged"),
            "not judged": _("not judged"),
        },
        crumbs=[(title_of(visit, found), f"/tasks/{task}"), (_("Your work"), "/work"), (ref, None)],
    )

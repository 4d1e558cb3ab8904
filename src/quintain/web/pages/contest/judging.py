"""Judging pairs, by people outside the contest: both labels, and whether the pair is minimal."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict
from quintain.services.access.permissions import require_signed_in
from quintain.services.contest import judging
from quintain.tasks.contract import kind_of
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.contest.common import Room, room_of
from quintain.web.pages.contest.sides import answer_field, differences
from quintain.web.pages.written import shown_input
from quintain.web.visit import Posting, Visit, Visiting


def judge_page(visit: Visiting, task: str, name: str) -> Response:
    """Show the next pair to judge."""
    require_signed_in(visit.actor)
    return _judge(visit, room_of(visit, task, name))


def judge(post: Posting, task: str, name: str) -> Response:
    """Keep what somebody says of a pair, and show the next one."""
    visit = post.visit
    room = room_of(visit, task, name)
    minimal = {"yes": True, "no": False}.get(post.text("minimal"))
    try:
        judged = judging.judge_pair(
            visit.db,
            visit.actor,
            room.info.ref,
            post.number("pair"),
            post.text("original_label"),
            post.text("modified_label"),
            minimal=minimal,
        )
    except (BadInput, Conflict) as error:
        return _judge(visit, room, trouble_of(error))
    _ = visit.tongue.gettext
    toast = _("Thank you. It earned you %(money)s.", money=judged.earned) if judged.earned.amount else _("Thank you.")
    return visit.redirect(f"{room.base}/judge", toast)


def give_back(post: Posting, task: str, name: str) -> Response:
    """Return a pair without judging it, and show the next one."""
    visit = post.visit
    room = room_of(visit, task, name)
    try:
        judging.return_pair(visit.db, visit.actor, room.info.ref, post.number("pair"))
    except Conflict as error:
        return _judge(visit, room, trouble_of(error))
    return visit.redirect(f"{room.base}/judge", visit.tongue.gettext("Somebody else judges that pair."))


def _judge(visit: Visit, room: Room, trouble: Trouble | None = None) -> Response:
    _ = visit.tongue.gettext
    pair = judging.next_to_judge(visit.db, visit.actor, room.info.ref)
    answer = answer_field(room.task)
    meanings = {label.name: label.gloss_in(visit.language) for label in room.task.labels}
    return room.render(
        "judge",
        "judge",
        trouble=trouble,
        pair=pair,
        wage=judging.wage(visit.db, room.info),
        pieces=differences(room.task, pair.original, pair.modified) if pair else [],
        answer=answer,
        fields=kind_of(room.task).form(room.task).inputs,
        shown_input=shown_input,
        label_choices=[(key, key, meanings.get(key, gloss if gloss != key else "")) for key, gloss in answer.choices],
        minimal_choices=[
            ("yes", _("Yes"), _("Only what matters was changed.")),
            ("no", _("No"), _("More than one thing was changed.")),
        ],
    )

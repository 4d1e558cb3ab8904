"""Building: handing in models and answers, what the systems answered to the blind set, and reference systems."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.contests import Phase
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound
from quintain.services.access.permissions import require_signed_in
from quintain.services.contest import blind, systems
from quintain.services.contest.freeze import freeze
from quintain.services.models.registry import ModelChoices, models_to_choose
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import download, on_disk
from quintain.web.listing import SIZE, Asking, page_of
from quintain.web.pages.contest.common import Room, room_of
from quintain.web.pages.contest.sides import line_of
from quintain.web.visit import Post, Posting, Visit, Visiting


def build_page(visit: Visiting, task: str, name: str) -> Response:
    """Show a team its system, and organisers all of them."""
    require_signed_in(visit.actor)
    freeze(visit.db, visit.blobs, f"{task}/{name}")
    return _build(visit, room_of(visit, task, name))


def submit_model(post: Posting, task: str, name: str) -> Response:
    """Hand in a model."""
    visit = post.visit
    try:
        ref, system = f"{task}/{name}", _system(post)
        systems.submit_model(visit.db, visit.actor, ref, post.text("model"), system=system)
    except (BadInput, Conflict, Forbidden, NotFound) as error:
        return _build(visit, room_of(visit, task, name), trouble_of(error))
    toast = visit.tongue.gettext("The model is handed in; it is being run on the blind set.")
    return visit.redirect(f"/tasks/{task}/contests/{name}/build", toast)


def hand_in(post: Posting, task: str, name: str) -> Response:
    """Hand in answers."""
    visit = post.visit
    upload = post.file("file")
    try:
        if upload is None:
            raise BadInput(faults=[Fault("no file was chosen", field="file")])
        with on_disk(upload, visit.workspace.limits_at_once) as path:
            systems.hand_in(visit.db, visit.blobs, visit.actor, f"{task}/{name}", path, system=_system(post))
    except (BadInput, Conflict, Forbidden, NotFound) as error:
        return _build(visit, room_of(visit, task, name), trouble_of(error))
    toast = visit.tongue.gettext("The answers are handed in.")
    return visit.redirect(f"/tasks/{task}/contests/{name}/build", toast)


def withdraw(post: Posting, task: str, name: str) -> Response:
    """Take a system out again."""
    visit = post.visit
    system = post.text("system")
    try:
        systems.withdraw_system(visit.db, visit.actor, f"{task}/{name}", system)
    except (Conflict, NotFound) as error:
        return _build(visit, room_of(visit, task, name), trouble_of(error))
    toast = visit.tongue.gettext("The system %(name)s is taken out.", name=system)
    return visit.redirect(f"/tasks/{task}/contests/{name}/build", toast)


def _system(post: Post) -> str:
    """Return the name of the system that is handed in: one that is there, or that of a new one."""
    return post.text("new_system").strip() or post.text("system").strip()


def add_reference(post: Posting, task: str, name: str) -> Response:
    """Add a reference system."""
    visit = post.visit
    try:
        systems.add_reference(
            visit.db,
            visit.blobs,
            visit.actor,
            f"{task}/{name}",
            post.text("system"),
            model=post.text("model"),
            counts=post.flag("counts"),
        )
    except (BadInput, Conflict, NotFound) as error:
        return _build(visit, room_of(visit, task, name), trouble_of(error))
    return visit.redirect(f"/tasks/{task}/contests/{name}/build", visit.tongue.gettext("Saved."))


def let_count(post: Posting, task: str, name: str) -> Response:
    """Let a reference system enter the breakers' scores, or not."""
    visit = post.visit
    counts = post.text("counts") == "yes"
    systems.let_count(visit.db, visit.actor, f"{task}/{name}", post.text("system"), counts)
    return visit.redirect(f"/tasks/{task}/contests/{name}/build", visit.tongue.gettext("Saved."))


def answers_page(visit: Visiting, task: str, name: str, asked: Asking) -> Response:
    """Show breakers what the systems answered to the blind set; labels are nowhere."""
    room = room_of(visit, task, name)
    answers = blind.dev_answers(
        visit.db, visit.blobs, visit.actor, room.info.ref, text=asked.q.strip(), offset=asked.offset, limit=SIZE
    )
    names = list(answers.items[0].answers) if answers.items else []
    listing = page_of(answers.items, answers.total, asked, path=f"{room.base}/answers", sort="", down=False)
    return room.render(
        "answers",
        "answers",
        listing=listing,
        names=names,
        shown_text=lambda inputs: line_of(room.task, inputs),
        filters=asked,
        systems=systems.list_systems(visit.db, visit.blobs, visit.actor, room.info.ref),
    )


def download_part(visit: Visiting, task: str, name: str, part: str, format: str = "csv") -> Response:  # noqa: A002
    """Send what is to be answered: ids and inputs, without labels."""
    require_signed_in(visit.actor)
    return download(
        f"{task}-{name}-{part}",
        format,
        lambda path: blind.export_part(visit.db, visit.blobs, visit.actor, f"{task}/{name}", part, path),
    )


def _build(visit: Visit, room: Room, trouble: Trouble | None = None) -> Response:
    ref = room.info.ref
    listed = systems.list_systems(visit.db, visit.blobs, visit.actor, ref)
    own = [item for item in listed if item.mine]
    may_add = room.info.phase is Phase.BUILD and len(own) < room.info.spec.systems
    offered = models_to_choose(visit.db, visit.actor, room.info.task, own=True)
    mine = [(model.ref, f"{model.name} @ {model.number}") for model in offered.models]
    references = systems.reference_models(visit.db, room.info) if room.organiser else ModelChoices((), more=False)
    return room.render(
        "build",
        "build",
        trouble=trouble,
        own=own,
        may_add=may_add,
        system_choices=[(item.name, item.name) for item in own],
        by_hand=[(item.name, item.name) for item in own if item.source != "model"],
        models=mine if room.builds else [],
        more=offered.more,
        systems=listed if room.organiser else [],
        references=[(model.ref, model.ref) for model in references.models],
        more_references=references.more,
        may_refer=room.organiser and room.info.phase in systems.AFTER_BREAKING,
        part="dev" if room.info.phase is Phase.BUILD else "pairs",
    )

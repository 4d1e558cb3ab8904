"""Contests of a task: the list, making and changing one, its first page, and its teams."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from starlette.responses import Response

from quintain.core.contests import ContestSpec, Phase
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.task import Task
from quintain.services.access.permissions import require_owner
from quintain.services.contest import contests, systems, teams
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.definition import contest_of, dump_contest, parse_contest
from quintain.services.data.datasets import list_versions
from quintain.services.models.registry import ModelChoices, models_to_choose
from quintain.services.tasks import definitions as tasks
from quintain.store.base import now
from quintain.web.drafts import SpecDraft, refuse_other
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.contest.common import next_steps, room_of
from quintain.web.pages.contest_words import phase_names, role_names
from quintain.web.pages.models.choices import how_to_name_others
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.spec_form import Choice, SpecForm
from quintain.web.visit import Post, Posting, Visit, Visiting

FORM = SpecForm(ContestSpec)


def index(visit: Visiting, task: str) -> Response:
    """List the contests of a task."""
    definition = tasks.get_task(visit.db, task)
    return visit.render(
        "contest/contests.html",
        task=definition,
        section="contests",
        contests=contests.list_contests(visit.db, task),
        phases=phase_names(visit),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (visit.tongue.gettext("Contests"), None)],
    )


def show(visit: Visiting, task: str, name: str) -> Response:
    """Show where a contest stands, what to do next, and who takes part."""
    return _show(visit, task, name)


def new_page(visit: Visiting, task: str, file: str = "") -> Response:
    """Offer a form, or a file, to start from."""
    definition = tasks.get_task(visit.db, task)
    return _editor(visit, definition, None, _draft(visit, definition, None, as_file=bool(file)))


def create(post: Posting, task: str) -> Response:
    """Add a contest."""
    return _save(post, tasks.get_task(post.visit.db, task), None)


def edit_page(visit: Visiting, task: str, name: str, file: str = "") -> Response:
    """Show what a contest asks, to change it."""
    definition = tasks.get_task(visit.db, task)
    info = contests.find_contest(visit.db, f"{task}/{name}")
    return _editor(visit, definition, info, _draft(visit, definition, info, as_file=bool(file)))


def save(post: Posting, task: str, name: str) -> Response:
    """Change a contest."""
    return _save(post, tasks.get_task(post.visit.db, task), contests.find_contest(post.visit.db, f"{task}/{name}"))


def create_team(post: Posting, task: str, name: str) -> Response:
    """Make a team."""
    visit, ref = post.visit, f"{task}/{name}"
    try:
        teams.create_team(visit.db, visit.actor, ref, post.text("team").strip(), post.text("role"))
    except (BadInput, Conflict) as error:
        return _show(visit, task, name, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/contests/{name}", visit.tongue.gettext("Your team is there."))


def join_page(visit: Visiting, task: str, name: str, team: str, key: str = "") -> Response:
    """Ask whether somebody wants to join a team, to whose link they came."""
    room = room_of(visit, task, name)
    teams.find_team(visit.db, room.info, team)
    return room.render("join", "contest", joined=team, key=key)


def join(post: Posting, task: str, name: str, team: str) -> Response:
    """Join a team."""
    visit = post.visit
    try:
        teams.join_team(visit.db, visit.actor, f"{task}/{name}", team, post.text("key"))
    except (Conflict, Forbidden) as error:
        return _show(visit, task, name, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/contests/{name}", visit.tongue.gettext("You are in the team."))


def leave(post: Posting, task: str, name: str) -> Response:
    """Leave one's team."""
    visit = post.visit
    try:
        teams.leave_team(visit.db, visit.actor, f"{task}/{name}")
    except (Conflict, NotFound) as error:
        return _show(visit, task, name, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/contests/{name}", visit.tongue.gettext("You have left the team."))


def _show(visit: Visit, task: str, name: str, trouble: Trouble | None = None) -> Response:
    room = room_of(visit, task, name)
    forming = room.info.phase in teams.FORMING
    known = role_names(visit)
    roles = ["breaker"] if room.info.spec.build_ends is None else ["builder", "breaker"]
    if room.info.spec.both and "builder" in roles:
        roles.append("both")
    return room.render(
        "contest",
        "contest",
        trouble=trouble,
        steps=next_steps(room),
        teams=teams.list_teams(visit.db, visit.actor, room.info.ref),
        systems=systems.list_systems(visit.db, visit.blobs, visit.actor, room.info.ref),
        roles=known,
        offered=[(role, known[role], "") for role in roles],
        may_form=forming and not room.team and not room.organiser,
        may_leave=bool(room.team) and room.info.phase in (Phase.COMING, Phase.BUILD),
        base_url=visit.base_url,
    )


def _starter(visit: Visit, task: Task) -> ContestSpec:
    begin = now().replace(tzinfo=None, microsecond=0, second=0, minute=0) + timedelta(days=1)
    versions = list_versions(visit.db, visit.actor, task.name)
    hidden = next((version.ref for version in versions if version.hidden and version.role != "train"), "")
    opened = next((version.ref for version in versions if not version.hidden and version.role != "train"), "")
    train = next((version.ref for version in versions if version.role == "train"), "")
    return ContestSpec(
        task.name,
        "contest",
        visit.tongue.gettext("Build it, break it"),
        hidden,
        begin,
        begin + timedelta(days=21),
        begin + timedelta(days=28),
        starter=opened,
        train=train,
        build_ends=begin + timedelta(days=14),
        review_ends=begin + timedelta(days=35),
    )


def _draft(visit: Visit, task: Task, info: ContestInfo | None, *, as_file: bool = False) -> SpecDraft:
    spec = info.spec if info else _starter(visit, task)
    stored = info.spec if info else None
    return SpecDraft(FORM, FORM.show(spec), dump_contest(spec), as_file, stored=stored)


def _save(post: Post, task: Task, info: ContestInfo | None) -> Response:
    visit = post.visit
    draft = _draft(visit, task, info).typed(post)
    try:
        if draft.as_file:
            spec = parse_contest(draft.text)
        else:
            named = {"name": info.name} if info else {}
            spec = contest_of(FORM.read(draft.values, info.spec if info else None, task=task.name, **named))
        refuse_other(spec, task.name, info.name if info else None)
        saved = contests.put_spec(visit.db, visit.actor, spec, new=info is None, edit=post.edit)
    except (BadInput, Conflict) as error:
        return _editor(visit, task, info, draft.refused(error))
    return visit.redirect(f"/tasks/{task.name}/contests/{saved.name}", visit.tongue.gettext("Saved."))


def _editor(visit: Visit, task: Task, info: ContestInfo | None, draft: SpecDraft) -> Response:
    require_owner(visit.actor, task.name)
    _ = visit.tongue.gettext
    base = f"/tasks/{task.name}/contests"
    title = _("Edit the contest %(name)s", name=info.name) if info else _("New contest")
    offered = models_to_choose(visit.db, visit.actor, task.name)
    return visit.render(
        "contest/contest_edit.html",
        task=task,
        section="contests",
        contest=info,
        title=title,
        action=f"{base}/{info.name}/edit" if info else f"{base}/new",
        back=f"{base}/{info.name}" if info else base,
        data=_data(visit, task, draft.values),
        begun=info is not None and info.phase is not Phase.COMING,
        crumbs=[(title_of(visit, task), f"/tasks/{task.name}"), (_("Contests"), base), (title, None)],
        others=how_to_name_others(visit, task.name, offered),
        **draft.shown(visit, _models(offered, draft.values)),
    )


def _models(offered: ModelChoices, values: Mapping[str, Any]) -> dict[str, list[Choice]]:
    public = [(model.ref, model.name, "") for model in offered.models if model.visibility != "private"]
    gone = [(ref, ref, "") for ref in values["models"] if ref not in [known for known, _name, _gloss in public]]
    return {"models": [*gone, *public]}


def _data(visit: Visit, task: Task, values: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Offer the data sets that fit: hidden ones as the blind set, open ones to start from and to train on."""
    _ = visit.tongue.gettext
    versions = list_versions(visit.db, visit.actor, task.name)

    def named(refs: list[str], empty: str, chosen: str) -> list[tuple[str, str]]:
        chosen_before = [] if not chosen or chosen in refs else [(chosen, chosen)]
        return [*([("", empty)] if empty else []), *chosen_before, *((ref, ref.partition("/")[2]) for ref in refs)]

    hidden = [version.ref for version in versions if version.hidden and version.role != "train"]
    opened = [version.ref for version in versions if not version.hidden]
    return {
        "dev": named(hidden, "" if hidden else _("none: import one with hidden labels"), values["dev"]),
        "starter": named(opened, _("none: pairs are written from scratch"), values["starter"]),
        "train": named(opened, _("none"), values["train"]),
    }

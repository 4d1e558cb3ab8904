"""For admins: people and their roles, invitations, what happened, and how the installation is."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import RoleName
from quintain.core.records.access import PeopleOrder
from quintain.services.access import accounts, audit, ending, links
from quintain.services.access.links import Link
from quintain.services.access.permissions import require_admin
from quintain.web.errors import Trouble, trouble_of
from quintain.web.i18n import Tongue, languages
from quintain.web.listing import SIZE, Asking, ListQuery, page_of
from quintain.web.roles import role_words
from quintain.web.visit import Posting, Visit, Visiting

AUDIT_PAGE = 100
PEOPLE_ORDERS: Mapping[str, tuple[PeopleOrder, PeopleOrder]] = {  # up and down
    "name": ("name", "name_down"),
    "since": ("oldest", "newest"),
}


def people_page(visit: Visiting, asked: Asking) -> Response:
    """List the accounts, and offer to invite somebody."""
    return _people(visit, asked)


def invite(post: Posting) -> Response:
    """Make an account and show the link that opens it, this once."""
    visit = post.visit
    try:
        _, link = accounts.invite(
            visit.db,
            visit.actor,
            post.text("name"),
            email=post.text("email") or None,
            display_name=post.text("display_name"),
            roles=[_role(name) for name in post.texts("roles")],
            language=post.text("language"),
        )
    except (BadInput, Conflict) as error:
        return _people(visit, trouble=trouble_of(error))
    return _people(visit, link=link)


def make_link(post: Posting, name: str) -> Response:
    """Make a link with which somebody chooses a new password."""
    visit = post.visit
    return _people(visit, link=links.make_link(visit.db, visit.actor, name))


def end_access(post: Posting, name: str) -> Response:
    """End every session and API token of somebody."""
    visit = post.visit
    ended = ending.end_access(visit.db, visit.actor, name)
    toast = visit.tongue.gettext("All sessions and API tokens of %(name)s are ended.", name=ended.name)
    return visit.redirect("/admin", toast)


def grant(post: Posting, name: str) -> Response:
    """Grant somebody a role."""
    visit = post.visit
    try:
        role = _role(post.text("role"))
        accounts.grant_role(visit.db, visit.actor, name, role, task=post.text("task") or None)
    except (BadInput, NotFound) as error:
        return _people(visit, trouble=trouble_of(error))
    return visit.redirect("/admin", visit.tongue.gettext("The role is granted."))


def revoke(post: Posting, name: str) -> Response:
    """Take a role from somebody."""
    visit = post.visit
    try:
        role = _role(post.text("role"))
        accounts.revoke_role(visit.db, visit.actor, name, role, task=post.text("task") or None)
    except (BadInput, NotFound, Conflict) as error:
        return _people(visit, trouble=trouble_of(error))
    return visit.redirect("/admin", visit.tongue.gettext("The role is taken back."))


def audit_page(visit: Visiting, before: int | None = None) -> Response:
    """Show what happened, newest first."""
    entries = audit.entries(visit.db, visit.actor, limit=AUDIT_PAGE, before=before)
    _ = visit.tongue.gettext
    older = entries[-1].id if len(entries) == AUDIT_PAGE else None
    return visit.render(
        "access/audit.html", entries=entries, older=older, tab="audit", crumbs=_crumbs(visit, _("Audit log"))
    )


def _crumbs(visit: Visit, title: str) -> list[tuple[str, str | None]]:
    return [(visit.tongue.gettext("Administration"), "/admin"), (title, None)]


def _people(
    visit: Visit, asked: ListQuery | None = None, *, link: Link | None = None, trouble: Trouble | None = None
) -> Response:
    require_admin(visit.actor)
    _ = visit.tongue.gettext
    asked = asked or ListQuery()
    search = asked.q.strip()[:200]
    role = next((one for one in RoleName if one.value == asked.show), None)
    sort, down = (asked.sort if asked.sort in PEOPLE_ORDERS else "name"), asked.order == "down"
    people = accounts.page_of_people(
        visit.db,
        visit.actor,
        search=search,
        role=role,
        order=PEOPLE_ORDERS[sort][down],
        limit=SIZE,
        offset=max(asked.offset, 0),
    )
    return visit.render(
        "access/people.html",
        status=trouble.status if trouble else 200,
        listing=page_of(people.users, people.total, asked, path="/admin", sort=sort, down=down),
        search=search,
        chosen_role=role.value if role else "",
        role_choices=[("", _("any")), *((one.value, word) for one, word in role_words(_).items())],
        roles=[str(role) for role in RoleName],
        task_names=accounts.tasks_to_grant(visit.db, visit.actor),
        link=link,
        link_url=link.url(visit.base_url) if link else "",
        language_choices=[("", _("as their browser asks")), *((code, Tongue.name_of(code)) for code in languages())],
        tab="people",
        crumbs=[(_("Administration"), None)],
        error=trouble,
    )


def _role(name: str) -> RoleName:
    try:
        return RoleName(name)
    except ValueError:
        known = ", ".join(RoleName)
        raise BadInput(faults=[Fault("'{name}' is not one of {known}", name=name, known=known, field="role")]) from None

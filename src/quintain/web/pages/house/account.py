"""One's own account: profile, password, browsers, tokens, messages, and everything that is kept about one."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict
from quintain.services.access import accounts
from quintain.services.access import sign_in as sessions
from quintain.services.access.actors import normal_name
from quintain.services.access.permissions import require_signed_in
from quintain.services.house import personal_data
from quintain.services.pay import final_pay
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import download_archive
from quintain.web.i18n import Tongue, languages
from quintain.web.visit import SESSION_COOKIE, Posting, Visit, Visiting


def show(visit: Visiting) -> Response:
    """Show the account."""
    require_signed_in(visit.actor)
    return _account(visit)


def save_profile(post: Posting) -> Response:
    """Change name, address, language and whether messages are mailed."""
    visit = post.visit
    try:
        accounts.update_profile(
            visit.db,
            visit.actor,
            display_name=post.text("display_name"),
            email=post.text("email"),
            language=post.text("language"),
            email_notifications=post.flag("email_notifications"),
            edit=post.edit,
        )
    except (BadInput, Conflict) as error:
        return _account(visit, trouble_of(error))
    return visit.redirect("/account", visit.tongue.gettext("Saved."))


def change_password(post: Posting) -> Response:
    """Change the password, and sign out everywhere else."""
    visit = post.visit
    current = visit.session.id if visit.session else None
    try:
        accounts.change_password(visit.db, visit.actor, post.text("old"), post.text("new"), current=current)
    except BadInput as error:
        return _account(visit, trouble_of(error))
    return visit.redirect("/account", visit.tongue.gettext("The password is changed."))


def end_session(post: Posting) -> Response:
    """Sign out in one other browser."""
    visit = post.visit
    sessions.revoke_session(visit.db, visit.actor, post.text("session"))
    return visit.redirect("/account", visit.tongue.gettext("That browser is signed out."))


def end_other_sessions(post: Posting) -> Response:
    """Sign out in all other browsers."""
    visit = post.visit
    sessions.revoke_other_sessions(visit.db, visit.actor, current=visit.session.id if visit.session else "")
    return visit.redirect("/account", visit.tongue.gettext("All other browsers are signed out."))


def export(visit: Visiting) -> Response:
    """Send everything that is kept about the person, as a file."""
    write = partial(personal_data.export_person, visit.db, visit.actor)
    return download_archive(f"quintain-{visit.actor.name}", write)


def delete(post: Posting) -> Response:
    """Delete the account, if its name was typed and nothing is owed, or that is given up; or ask for what is owed."""
    visit = post.visit
    require_signed_in(visit.actor)
    _ = visit.tongue.gettext
    if post.text("pay") == "ask":
        final_pay.ask_for_last_pay(visit.db, visit.actor)
        return visit.redirect("/account#mine", _("The owners are asked to pay you. Come back when the money is there."))
    try:
        if normal_name(post.text("name")) != visit.actor.name:
            raise BadInput("That is not the name of your account; nothing was deleted.")
        personal_data.delete_person(visit.db, visit.actor, give_up_pay=post.text("pay") == "give-up")
    except (BadInput, Conflict) as error:
        return _account(visit, trouble_of(error))
    visit.forget(SESSION_COOKIE)
    return visit.redirect("/", _("Your account is deleted."))


def _account(visit: Visit, trouble: Trouble | None = None) -> Response:
    return visit.render(
        "house/account.html",
        status=trouble.status if trouble else 200,
        person=accounts.get_person(visit.db, visit.actor),
        made_from=visit.made_from("profile", accounts.profile_of(accounts.get_person(visit.db, visit.actor))),
        owed=final_pay.my_open_pay(visit.db, visit.actor),
        sessions=sessions.list_sessions(visit.db, visit.actor, current=visit.session.id if visit.session else ""),
        language_choices=[(code, Tongue.name_of(code)) for code in languages()],
        crumbs=[(visit.tongue.gettext("Account"), None)],
        error=trouble,
    )

"""The models of a task: the list, one model with its card, and what its owner may change."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict
from quintain.core.records.tasks import Visibility
from quintain.services.models import registry as models
from quintain.services.models.registry import VISIBILITIES
from quintain.services.models.tryouts import tryout_of
from quintain.services.tasks import definitions as tasks
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.model_results import axes_of
from quintain.web.pages.models.language_note import language_note
from quintain.web.pages.models.styles import model_styles
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Posting, Visit, Visiting


def show(visit: Visiting, task: str, model: str, version: str = "") -> Response:
    """Show one version of a model."""
    return _show(visit, task, model, version)


def set_visibility(post: Posting, task: str, model: str) -> Response:
    """Set who may see the model."""
    visit = post.visit
    typed = post.text("visibility")
    visibility: Visibility | None = next((name for name in VISIBILITIES if name == typed), None)
    if visibility is None:
        raise BadInput(
            "The visibility '{visibility}' is not one of {visibilities}.",
            visibility=typed,
            visibilities=", ".join(VISIBILITIES),
        )
    models.set_visibility(visit.db, visit.actor, f"{task}/{model}", visibility)
    return visit.redirect(f"/tasks/{task}/models/{model}", visit.tongue.gettext("Saved."))


def withdraw(post: Posting, task: str, model: str) -> Response:
    """Withdraw one version."""
    visit = post.visit
    models.withdraw(visit.db, visit.actor, f"{task}/{model}@{post.number('version')}")
    url = f"/tasks/{task}/models/{model}?version={post.number('version')}"
    return visit.redirect(url, visit.tongue.gettext("The version is withdrawn. It can be taken back here."))


def restore(post: Posting, task: str, model: str) -> Response:
    """Take a withdrawn version back."""
    visit, number = post.visit, post.number("version")
    try:
        models.restore(visit.db, visit.actor, f"{task}/{model}@{number}")
    except Conflict as error:
        return _show(visit, task, model, str(number), trouble_of(error))
    url = f"/tasks/{task}/models/{model}?version={number}"
    return visit.redirect(url, visit.tongue.gettext("The version is back. What it has missed is run."))


def save_card(post: Posting, task: str, model: str) -> Response:
    """Put a new card of one version in place."""
    visit = post.visit
    number = post.number("version")
    try:
        text = post.text("text").replace("\r\n", "\n")
        models.update_card(visit.db, visit.actor, f"{task}/{model}@{number}", text, edit=post.edit)
    except BadInput as error:
        return _show(visit, task, model, str(number), trouble_of(error))
    url = f"/tasks/{task}/models/{model}?version={number}"
    return visit.redirect(url, visit.tongue.gettext("The card is saved."))


def _show(visit: Visit, task: str, model: str, version: str, trouble: Trouble | None = None) -> Response:
    definition = tasks.get_task(visit.db, task)
    info = models.get_model(visit.db, visit.actor, f"{task}/{model}@{version}" if version else f"{task}/{model}")
    _ = visit.tongue.gettext
    return visit.render(
        "models/model.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="models",
        model=info,
        version=info.version,
        made_from=visit.made_from("card", {"card": info.version.card}),
        trial=tryout_of(visit.db, info.version.id),
        style=model_styles(visit, task).get(info.name),
        language_note=language_note(visit, info.version),
        visibility_names=visibility_names(_),
        visibility_choices=visibility_choices(_),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Models"), f"/tasks/{task}/models"), (model, None)],
        error=trouble,
        **axes_of(visit, definition, info),
    )


def visibility_choices(_: Callable[[str], str]) -> list[tuple[str, str, str]]:
    """Return each visibility with its name and what it means."""
    names = visibility_names(_)
    glosses = {
        "public": _("Everybody sees it and whose it is."),
        "anonymous": _("Everybody sees it, but not whose it is."),
        "private": _("Only you, the task's owner and admins see it."),
    }
    return [(name, names[name], glosses[name]) for name in VISIBILITIES]


def visibility_names(_: Callable[[str], str]) -> dict[str, str]:
    """Return what each visibility is called."""
    return {"public": _("public"), "anonymous": _("anonymous"), "private": _("private")}

"""The page that makes a round of a harvest."""

from __future__ import annotations

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.services.access.permissions import require_owner
from quintain.services.models import registry as models
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.harvests import add_harvest
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import on_disk
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Posting, Visit, Visiting

FIELDS = ("title", "model", "policy")


def page(visit: Visiting, task: str) -> Response:
    """Offer to upload a sample."""
    return _page(visit, task, dict.fromkeys(FIELDS, ""))


def create(post: Posting, task: str) -> Response:
    """Make the sample a round."""
    visit = post.visit
    typed = {name: post.text(name).strip() for name in FIELDS}
    upload = post.file("file")
    try:
        if upload is None:
            raise BadInput(faults=[Fault("no file was chosen", field="file")])
        with on_disk(upload, visit.workspace.file_limits) as path:
            made = add_harvest(
                visit.db,
                visit.actor,
                task,
                path,
                title=typed["title"] or visit.tongue.gettext("Harvest: %(name)s", name=upload.filename or "")[:200],
                model=typed["model"],
                policy_toml=typed["policy"] or None,
            )
    except (BadInput, Conflict, NotFound) as error:
        return _page(visit, task, typed, trouble_of(error))
    return visit.redirect(
        f"/tasks/{task}/rounds/{made.number}", visit.tongue.gettext("It is a round, and people can judge it.")
    )


def _page(visit: Visit, task: str, typed: dict[str, str], trouble: Trouble | None = None) -> Response:
    found = tasks.get_task(visit.db, task)
    require_owner(visit.actor, task)
    _ = visit.tongue.gettext
    offered = models.models_to_choose(visit.db, visit.actor, task)
    shown = [one.name for one in offered.models]
    known = [
        (one.ref, one.ref)
        for info in (models.list_models(visit.db, visit.actor, task, shown) if shown else ())
        for one in info.versions
        if one.withdrawn_at is None
    ]
    return visit.render(
        "validate/harvest.html",
        status=trouble.status if trouble else 200,
        task=found,
        section="rounds",
        typed=typed,
        models=[("", _("as the sample says")), *known],
        more=offered.more,
        crumbs=[
            (title_of(visit, found), f"/tasks/{task}"),
            (_("Rounds"), f"/tasks/{task}/rounds"),
            (_("Add a harvest"), None),
        ],
        error=trouble,
    )

"""Harvesting from the browser: a corpus, a model and a rule become a round; following it; or a sample that is there."""

from __future__ import annotations

from contextlib import nullcontext

from starlette.responses import Response

from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound, Unavailable
from quintain.services.access.permissions import require_owner
from quintain.services.data.datasets import list_versions
from quintain.services.jobs import queue
from quintain.services.models import registry as models
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console.harvest_jobs import HarvestRequest, ask_harvest, find_harvest
from quintain.services.validate.console.harvests import add_harvest
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import on_disk
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Post, Posting, Visit, Visiting

COLUMNS = ("text", "rating", "id")
TYPED = (
    *("dataset", "model", "rule", "rules", "where", "size", "seed", "title", "policy"),
    *(f"column-{name}" for name in COLUMNS),
)
MOST_DATA = 100  # data set versions that are offered, the newest
OF_SAMPLES = ("title", "model", "policy")
REFUSED = (BadInput, Conflict, Forbidden, NotFound, Unavailable)


def page(visit: Visiting, task: str) -> Response:
    """Offer to harvest, or to upload a sample."""
    return _page(visit, task, {})


def create(post: Posting, task: str) -> Response:
    """Make the sample a round."""
    visit = post.visit
    typed = {name: post.text(name).strip() for name in OF_SAMPLES}
    upload = post.file("file")
    try:
        if upload is None:
            raise BadInput(faults=[Fault("no file was chosen", field="file")])
        with on_disk(upload, visit.workspace.limits_at_once) as path:
            info = add_harvest(
                visit.db,
                visit.actor,
                task,
                path,
                title=typed["title"] or visit.tongue.gettext("Harvest: %(name)s", name=upload.filename or "")[:200],
                model=typed["model"],
                policy_toml=typed["policy"] or None,
            )
    except (BadInput, Conflict, NotFound) as error:
        return _page(visit, task, {}, trouble_of(error), sample=typed)
    return visit.redirect(
        f"/tasks/{task}/rounds/{info.number}", visit.tongue.gettext("It is a round, and people can judge it.")
    )


def start(post: Posting, task: str) -> Response:
    """Have a worker harvest."""
    visit, upload = post.visit, post.file("file")
    typed = {name: post.text(name).strip() for name in TYPED}
    try:
        request = _harvest_request(post)
        with on_disk(upload, visit.workspace.file_limits) if upload else nullcontext() as path:
            job = ask_harvest(
                visit.db, visit.blobs, visit.actor, task, request, file=path, runners=visit.workspace.runners
            )
    except REFUSED as error:
        return _page(visit, task, typed, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/harvests/{job.id}", visit.tongue.gettext("The harvest is queued."))


def show(visit: Visiting, task: str, job: int) -> Response:
    """Show how far a harvest is, and what came of it."""
    definition = tasks.get_task(visit.db, task)
    harvest = find_harvest(visit.db, visit.actor, task, job)
    _ = visit.tongue.gettext
    return visit.render(
        "validate/harvest_job.html",
        task=definition,
        section="rounds",
        job=harvest,
        number_of_round=str(harvest.result.get("round", "")).rpartition("/")[2],
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Rounds"), f"/tasks/{task}/rounds"),
            (_("Harvest"), f"/tasks/{task}/rounds/harvest"),
            (str(job), None),
        ],
    )


def cancel(post: Posting, task: str, job: int) -> Response:
    """Cancel a harvest; it leaves no round."""
    visit = post.visit
    find_harvest(visit.db, visit.actor, task, job)
    queue.cancel(visit.db, visit.actor, job)
    return visit.redirect(f"/tasks/{task}/harvests/{job}", visit.tongue.gettext("The harvest is cancelled."))


def _harvest_request(post: Post) -> HarvestRequest:
    rule = post.text("rule")
    return HarvestRequest(
        post.text("model").strip(),
        rules=post.text("rules").replace("\r\n", "\n") if rule == "own" else rule,
        where=post.text("where").strip(),
        size=post.number("size") if post.text("size").strip() else None,
        seed=post.number("seed") if post.text("seed").strip() else 0,
        columns={name: post.text(f"column-{name}").strip() for name in COLUMNS if post.text(f"column-{name}").strip()},
        dataset=post.text("dataset").strip(),
        title=post.text("title").strip(),
        policy=post.text("policy").strip(),
    )


def _page(
    visit: Visit,
    task: str,
    typed: dict[str, str],
    trouble: Trouble | None = None,
    *,
    sample: dict[str, str] | None = None,
) -> Response:
    definition = tasks.get_task(visit.db, task)
    require_owner(visit.actor, task)
    _ = visit.tongue.gettext
    offered = models.models_to_choose(visit.db, visit.actor, task)
    names = [info.name for info in offered.models]
    versions = [
        version
        for info in (models.list_models(visit.db, visit.actor, task, names) if names else ())
        for version in info.versions
        if version.withdrawn_at is None
    ]
    runners = visit.workspace.runners
    live = [version.ref for version in versions if version.adapter in runners]
    listed = list_versions(visit.db, visit.actor, task)
    data = sorted(
        (dataset for dataset in listed if dataset.readable and not dataset.hidden), key=lambda dataset: -dataset.id
    )
    return visit.render(
        "validate/harvest.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="rounds",
        typed={**dict.fromkeys(TYPED, ""), "rule": "contradictions", **typed},
        sample=sample or dict.fromkeys(OF_SAMPLES, ""),
        as_sample=sample is not None,
        asked=[(ref, ref) for ref in live],
        models=[("", _("as the sample says")), *((version.ref, version.ref) for version in versions)],
        more=offered.more,
        datasets=[
            ("", _("none: the file above")),
            *((dataset.ref, f"{dataset.ref} ({dataset.rows})") for dataset in data[:MOST_DATA]),
        ],
        rules=[
            ("contradictions", _("Against the rating"), _("Half of it contradicts the stars of its review.")),
            ("labels", _("Even by predicted label"), _("For a corpus without ratings.")),
            ("unsure", _("Where the model is unsure"), _("Half of it has a probability below 0.6.")),
            ("own", _("A rule of my own"), _("As TOML, below.")),
        ],
        columns=COLUMNS,
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Rounds"), f"/tasks/{task}/rounds"),
            (_("Harvest"), None),
        ],
        error=trouble,
    )

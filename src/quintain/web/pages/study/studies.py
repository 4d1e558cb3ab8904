"""All about a data set, a round, a trial or a model's errors as a page: the last report, and the job for the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from quintain.compose import checkpoints_of
from quintain.core.errors import BadInput, Conflict, NotFound, Unavailable
from quintain.core.toml import parse_toml
from quintain.models.checkpoint_folder import checkpoints_in
from quintain.models.learning import LEARNERS
from quintain.reports.html import body_of
from quintain.services.study import studies as service
from quintain.services.tasks import definitions as tasks
from quintain.tasks.writing import dump_toml
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.report_files import in_words, send_file
from quintain.web.visit import Posting, Visit, Visiting

Names = Annotated[list[str], Query()]


def show(visit: Visiting, task: str, room: str, name: str, following: str = "") -> Response:
    """Show the last report and how far the next one is; who is *following* is told to look again once it is there."""
    return _page(visit, task, f"{room}/{name}", following=bool(following))


def _page(
    visit: Visit,
    task: str,
    source: str,
    *,
    following: bool = False,
    values: Mapping[str, str] | None = None,
    trouble: Trouble | None = None,
) -> Response:
    """Show it; after *trouble* with the learner that was chosen the form has the *values* that were sent."""
    study = service.get_study(visit.db, visit.actor, task, source)
    definition = tasks.get_task(visit.db, task)
    report, wording = in_words(study.report, visit.language) if study.report else (None, None)
    going = study.job is not None and study.job.going
    base = f"/tasks/{task}/studies/{study.source}"
    room = study.source.partition("/")[0]
    _ = visit.tongue.gettext
    about, parts = _subject(visit, study.source)
    return visit.render(
        "study/study.html",
        status=trouble.status if trouble else 200,
        headers={"HX-Refresh": "true"} if following and not going else None,
        task=definition,
        section="reports",
        study=study,
        going=going,
        report=report,
        body=body_of(report, wording) if report and wording else "",
        base=base,
        about=about,
        parts=[(part, f"/tasks/{task}/{address}") for part, address in parts],
        room=room,
        learners=_learners(visit) if room in service.LEARNING else [],
        checkpoints=checkpoints_in(checkpoints_of(visit.workspace.settings)),
        values=values or {},
        error=trouble,
        crumbs=[
            (title_of(visit, definition), f"/tasks/{task}"),
            (_("Reports"), f"/tasks/{task}/reports"),
            (about, None),
        ],
    )


def _learners(visit: Visit) -> list[tuple[str, str]]:
    """List what may learn in a study, with the quick one of studies first."""
    quick = visit.tongue.gettext("The quick one of studies: words and pairs of words")
    return [("", quick), *((name, learner.title) for name, learner in LEARNERS.items())]


def _subject(visit: Visiting, source: str) -> tuple[str, list[tuple[str, str]]]:
    """Name in words what a report is about, and the things in it with where they are."""
    _ = visit.tongue.gettext
    room, name = source.split("/", 1)
    first, *rest = refs = name.split(service.BESIDE)
    if room == "compared":
        parts = [(ref, f"data/{ref.partition('@')[0]}") for ref in refs]
        return _("%(sets)s compared", sets=", ".join(refs)), parts
    if room == "errors":
        about = _("Errors of %(models)s on %(dataset)s", models=", ".join(rest), dataset=first)
        return about, [(ref, _results(ref, first.partition("@")[0])) for ref in rest]
    words = {"data": _("data set %(name)s"), "rounds": _("round %(name)s"), "trials": _("trial %(name)s")}
    about = words[room] % {"name": name}
    return about, [(about, source.partition("@")[0])]


def _results(model: str, dataset: str) -> str:
    name, _, number = model.partition("@")
    return f"models/{name}/results/{dataset}?version={number}"


def start(post: Posting, task: str, room: str, name: str) -> Response:
    """Have a worker make the report, with the learner that was chosen; or show what is wrong with that."""
    visit, source = post.visit, f"{room}/{name}"
    values = {"learner": post.text("learner"), "options": post.text("options").replace("\r\n", "\n")}
    checkpoints = checkpoints_of(visit.workspace.settings)
    try:
        recipe = _recipe(**values)
        study = service.start_study(visit.db, visit.actor, task, source, recipe=recipe, checkpoints=checkpoints)
    except (BadInput, Conflict, NotFound, Unavailable) as error:
        if not any(values.values()):
            raise
        return _page(visit, task, source, values=values, trouble=trouble_of(error))
    return visit.redirect(f"/tasks/{task}/studies/{study.source}")


def _recipe(learner: str, options: str) -> str:
    """Return the recipe's TOML of what was chosen; none where it is the learner of studies."""
    if not learner:
        if options.strip():
            raise BadInput("The learner of studies has no options.", remedy="Choose another learner, or delete them.")
        return ""
    return dump_toml({"learner": learner, "options": parse_toml(options)})


def compare(visit: Visiting, task: str, sets: Names = []) -> Response:  # noqa: B006 - what the framework asks for
    """Lead to the comparison of the data sets that were chosen."""
    study = service.get_study(visit.db, visit.actor, task, f"compared/{service.BESIDE.join(sets)}")
    return visit.redirect(f"/tasks/{task}/studies/{study.source}")


def fetch(visit: Visiting, task: str, room: str, name: str, format: str = "html") -> Response:  # noqa: A002 - the address's word
    """Send the last report as a file, in the reader's language."""
    report = service.kept_report(visit.db, visit.actor, task, f"{room}/{name}")
    return visit.finish(send_file(report, f"{task}-{room}-{name}", format, visit.language))

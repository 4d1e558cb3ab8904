"""Training the next model from the browser: a recipe as a form or as TOML, and following what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from starlette.responses import Response

from quintain.compose import trainer_of
from quintain.core.errors import BadInput, Conflict, NotFound, Unavailable
from quintain.core.people import RoleName
from quintain.core.recipe import RecipeSpec, SourceSpec
from quintain.core.records.training import Inoculation
from quintain.core.spec import plain
from quintain.core.task import Task
from quintain.models.learning import LEARNERS
from quintain.models.recipes import read_shipped, shipped_recipes
from quintain.reports.line_charts import line_chart
from quintain.services.access.permissions import require_role
from quintain.services.data.content import label_counts
from quintain.services.data.datasets import VersionInfo, list_versions
from quintain.services.evaluate.training import trainings as service
from quintain.services.models.baselines import ask_baselines
from quintain.services.tasks import definitions as tasks
from quintain.tasks.writing import dump_toml
from quintain.web.errors import Trouble, trouble_of
from quintain.web.form_reading import FormReading
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.spec_form import Sheet, SpecForm
from quintain.web.visit import Posting, Visit, Visiting

FORM = SpecForm(RecipeSpec)
OFFERED = 5  # dev sets that are looked at for one to offer


def index(visit: Visiting, task: str, file: str = "", recipe: str = "") -> Response:
    """Show the form, or the recipe as TOML, and the trainings there are."""
    definition = tasks.get_task(visit.db, task)
    require_role(visit.actor, RoleName.BUILDER, RoleName.OWNER, task=task)
    toml = read_shipped(recipe).text if recipe else ""
    return _page(visit, definition, as_file=bool(file or recipe), toml=toml)


def start(post: Posting, task: str) -> Response:
    """Start the training, or show beside each field what is wrong."""
    visit = post.visit
    definition = tasks.get_task(visit.db, task)
    as_file, values = post.flag("as_file"), FORM.typed(post)
    chosen = {name.removeprefix("copies:"): post.text(name) for name in post.form if name.startswith("copies:")}
    toml = post.text("toml").replace("\r\n", "\n")
    try:
        text = toml if as_file else dump_toml(_data(task, values, chosen))
        training = service.start(visit.db, visit.blobs, visit.actor, task, text, trainer_of(visit.workspace.settings))
    except (BadInput, Conflict, NotFound, Unavailable) as error:
        return _page(
            visit, definition, as_file=as_file, toml=toml, values=values, chosen=chosen, trouble=trouble_of(error)
        )
    toast = visit.tongue.gettext("The training is queued.")
    return visit.redirect(f"/tasks/{task}/trainings/{training.id}", toast)


def train_baselines(post: Posting, task: str) -> Response:
    """Have every baseline that suits the task trained; the task's first page shows how far that is."""
    visit = post.visit
    ask_baselines(visit.db, visit.actor, task)
    return visit.redirect(f"/tasks/{task}", visit.tongue.gettext("The baselines are being trained."))


def show(visit: Visiting, task: str, number: int) -> Response:
    """Show how far a training is, and what came of it."""
    definition = tasks.get_task(visit.db, task)
    training = service.get_training(visit.db, visit.actor, task, number)
    _ = visit.tongue.gettext
    inoculation = training.result.inoculation if training.result else None
    return visit.render(
        "evaluate/training.html",
        task=definition,
        section="models",
        training=training,
        state_names=_states(_),
        charts=_curves(inoculation, _) if inoculation else [],
        crumbs=[*_crumbs(visit, definition), (_("Train"), f"/tasks/{task}/train"), (str(number), None)],
    )


def cancel(post: Posting, task: str, number: int) -> Response:
    """Cancel a training."""
    visit = post.visit
    service.cancel(visit.db, visit.actor, task, number)
    return visit.redirect(f"/tasks/{task}/trainings/{number}", visit.tongue.gettext("The training is cancelled."))


def _data(task: str, values: Mapping[str, Any], chosen: Mapping[str, str]) -> dict[str, Any]:
    """Make a recipe of what was typed; a data set with copies is a source of the mix."""
    reading = FormReading({**values, **{f"copies:{name}": text for name, text in chosen.items()}})
    data = FORM.data(reading)
    sources = [(ref, reading.whole(f"copies:{ref}")) for ref, text in chosen.items() if text.strip()]
    if reading.faults:
        raise BadInput(faults=reading.faults)
    mix = [plain(SourceSpec(data=ref, copies=copies)) for ref, copies in sources if copies]
    return {"task": task, **data, "mix": mix}


def _page(
    visit: Visit,
    task: Task,
    *,
    as_file: bool,
    toml: str = "",
    values: Mapping[str, Any] | None = None,
    chosen: Mapping[str, str] | None = None,
    trouble: Trouble | None = None,
) -> Response:
    _ = visit.tongue.gettext
    versions = [version for version in list_versions(visit.db, visit.actor, task.name) if not version.hidden]
    newest = {version.dataset: version for version in sorted(versions, key=lambda version: version.number)}
    start_from = RecipeSpec(task=task.name, name="next-model", mix=(), dev=_default_dev(visit, list(newest.values())))
    faults = FORM.faults_by_control(trouble.faults, visit.language) if trouble else {}
    learners = [(name, version.title, "") for name, version in LEARNERS.items()]
    sources = [version for version in newest.values() if version.role == "train"]
    return visit.render(
        "evaluate/train.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="models",
        as_file=as_file,
        toml=toml or dump_toml({**plain(start_from), "mix": [{"data": version.ref} for version in sources]}),
        sheet=Sheet(FORM, visit.tongue, values or FORM.show(start_from), faults, {"learner": learners}),
        sources=sources,
        chosen=chosen if chosen is not None else {version.ref: "1" for version in sources},
        faults=faults,
        recipes=shipped_recipes(),
        trainings=service.list_trainings(visit.db, visit.actor, task.name).trainings[:20],
        state_names=_states(_),
        crumbs=[*_crumbs(visit, task), (_("Train"), None)],
        error=trouble,
    )


def _default_dev(visit: Visit, versions: Sequence[VersionInfo]) -> tuple[str, ...]:
    """Offer the newest dev set that has answers to measure by."""
    newest_first = sorted((version for version in versions if version.role == "dev"), key=lambda version: -version.id)[
        :OFFERED
    ]
    answered = (
        version.ref for version in newest_first if label_counts(visit.db, visit.blobs, visit.actor, version.ref)
    )
    return tuple(islice(answered, 1))


def _crumbs(visit: Visit, task: Task) -> list[tuple[str, str | None]]:
    models = visit.tongue.gettext("Models")
    return [(title_of(visit, task), f"/tasks/{task.name}"), (models, f"/tasks/{task.name}/models")]


def _curves(inoculation: Inoculation, _: Callable[[str], str]) -> list[tuple[str, dict[str, Any]]]:
    """Draw one chart for each data set: F1 of every class over the number of examples."""
    names = list(dict.fromkeys(point.dataset for point in inoculation.points))
    charts = []
    for name in names:
        rows = [
            {"size": point.size, "class": label, "f1": point.f1[label], "n": point.examples}
            for point in inoculation.points
            if point.dataset == name
            for label in inoculation.labels
            if point.f1[label] is not None
        ]
        chart = line_chart(rows, x="size", y="f1", series="class", titles=(_("Examples"), "F1", _("Class")))
        charts.append((name, chart))
    return charts


def _states(_: Callable[[str], str]) -> dict[str, str]:
    return {
        "queued": _("queued"),
        "running": _("running"),
        "done": _("done"),
        "failed": _("failed"),
        "cancelled": _("cancelled"),
    }

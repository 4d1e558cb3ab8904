"""The data sets of a task: the list, one version with its examples, downloads, and what changed between two."""

from __future__ import annotations

from itertools import groupby

from starlette.responses import Response

from quintain.core.example import Role
from quintain.core.task import Task
from quintain.data.publish.dynasent import DYNASENT
from quintain.data.publish.folder import FOLDERS
from quintain.reports.charts import bar_chart
from quintain.services.data import content as dataset_content
from quintain.services.data import datasets, inputs
from quintain.services.data.bundles import has_images
from quintain.services.data.content import ExamplePage, VersionDifference
from quintain.services.data.datasets import VersionInfo
from quintain.services.data.fitness import fitness
from quintain.services.data.origins import origin_of
from quintain.services.data.publishing import export_folder
from quintain.services.tasks import definitions as tasks
from quintain.services.tasks.board_settings import let_score
from quintain.stats.fitness import Weakness
from quintain.tasks.contract import kind_of
from quintain.web.files import MEDIA_TYPES, download, download_archive
from quintain.web.forms import answer_text
from quintain.web.pages.figure_words import warning_text
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import Posting, Visit, Visiting

PAGE_SIZE = 20
SHOWN_DIFFERENCES = 50


def index(visit: Visiting, task: str) -> Response:
    """List the data sets, each with its newest version first."""
    definition = tasks.get_task(visit.db, task)
    versions = sorted(datasets.list_versions(visit.db, visit.actor, task), key=lambda v: (v.dataset, -v.number))
    groups = [(name, list(group)) for name, group in groupby(versions, key=lambda version: version.dataset)]
    crumbs = _crumbs(visit, definition)
    return visit.render("data/datasets.html", task=definition, section="data", groups=groups, crumbs=crumbs)


def show(
    visit: Visiting,
    task: str,
    dataset: str,
    *,
    version: int | None = None,
    text: str = "",
    label: str = "",
    tag: str = "",
    offset: int = 0,
) -> Response:
    """Show one version: its examples, filtered, with the distribution of labels."""
    definition = tasks.get_task(visit.db, task)
    ref = _ref(task, dataset, version)
    info = datasets.get_version(visit.db, visit.actor, ref)
    page = (
        dataset_content.preview(
            visit.db,
            visit.blobs,
            visit.actor,
            ref,
            text=text.strip()[:200] or None,
            label=label[:200] or None,
            tag=tag[:200] or None,
            offset=max(0, offset),
            limit=PAGE_SIZE,
        )
        if info.readable
        else ExamplePage(info, info.rows, 0, (), datasets.may_see_answers(visit.actor, info))
    )
    access = inputs.inputs_of(visit.db, visit.actor, f"{task}/{dataset}")
    counts = _in_task_order(definition, dataset_content.label_counts(visit.db, visit.blobs, visit.actor, info.ref))
    tags = dataset_content.tag_counts(visit.db, visit.blobs, visit.actor, info.ref)
    query = {"version": str(info.number), "text": text.strip(), "label": label, "tag": tag}
    path = f"/tasks/{task}/data/{dataset}"
    _ = visit.tongue.gettext
    return visit.render(
        "data/dataset.html",
        task=definition,
        section="data",
        info=info,
        origin=(origin := origin_of(visit.db, visit.actor, info.ref)),
        access=access,
        policies=[
            ("open", _("Everybody")),
            ("request", _("People whom an owner lets, on request")),
            ("never", _("Owners only")),
        ],
        request_states={
            "waiting": _("waits"),
            "granted": _("may read them"),
            "declined": _("declined"),
            "revoked": _("taken back"),
        },
        votes=origin is not None and visit.owns(definition),
        others=_versions_of(visit, task, dataset),
        page=page,
        rows=[(row, answer_text(definition, row, row.get("answer"))) for row in page.examples],
        fields=kind_of(definition).fields(definition),
        counts=counts,
        tags=tags,
        label_choices=[(name, name) for name in counts],
        tag_choices=[(name, f"{name} ({count})") for name, count in tags.items()],
        filters=query,
        chart=bar_chart(counts, category=_("Label"), value=_("Examples")) if counts else None,
        paging=Paging(path, query, page.offset, len(page.examples), page.total, PAGE_SIZE),
        formats=list(MEDIA_TYPES),
        warnings=[warning_text(_, one) for one in _weak(visit, definition, info)],
        crumbs=_crumbs(visit, definition, dataset),
    )


def score(post: Posting, task: str, dataset: str) -> Response:
    """Let the data set score on the board, or show it there without scoring."""
    visit, on = post.visit, post.flag("scores")
    let_score(visit.db, visit.actor, f"{task}/{dataset}", on)
    _ = visit.tongue.gettext
    return visit.redirect(
        f"/tasks/{task}/data/{dataset}", _("It scores from now on.") if on else _("It does not score any more.")
    )


def choose_inputs(post: Posting, task: str, dataset: str) -> Response:
    """Choose who reads the inputs of a data set."""
    visit = post.visit
    ref = f"{task}/{dataset}"
    inputs.set_inputs(visit.db, visit.actor, ref, post.text("inputs"), traces=post.flag("traces"))
    return visit.redirect(f"/tasks/{task}/data/{dataset}#readers", visit.tongue.gettext("Saved."))


def ask_inputs(post: Posting, task: str, dataset: str) -> Response:
    """Ask to read the inputs of a data set."""
    visit = post.visit
    inputs.ask_for_inputs(visit.db, visit.actor, f"{task}/{dataset}", post.text("why"))
    return visit.redirect(f"/tasks/{task}/data/{dataset}#readers", visit.tongue.gettext("Asked: an owner will decide."))


def decide_inputs(post: Posting, task: str, dataset: str, request: int) -> Response:
    """Allow, decline or take back the reading of inputs."""
    visit = post.visit
    inputs.decide_inputs(visit.db, visit.actor, f"{task}/{dataset}", request, post.text("decision"))
    return visit.redirect(f"/tasks/{task}/data/{dataset}#readers", visit.tongue.gettext("Saved."))


def fetch(  # noqa: PLR0917 - what the address may say
    visit: Visiting,
    task: str,
    dataset: str,
    version: int | None = None,
    format: str = "jsonl",  # noqa: A002 - the word in the address
    labels: str = "majority",
    public: bool = False,
) -> Response:
    """Send one version as a file, or a folder of it as a ZIP; a public one is to be passed on."""
    info = datasets.get_version(visit.db, visit.actor, _ref(task, dataset, version))
    if format in FOLDERS:
        return download_archive(
            f"{task}-{dataset}-v{info.number}-{format}",
            lambda path: export_folder(
                visit.db, visit.blobs, visit.actor, [info.ref], format, path, archive=True, public=public
            ),
        )
    lines = format == DYNASENT
    if has_images(tasks.get_task(visit.db, task)):
        return download_archive(
            f"{task}-{dataset}-v{info.number}",
            lambda path: dataset_content.export(
                visit.db, visit.blobs, visit.actor, info.ref, format, path, labels=labels, archive=True
            ),
        )
    return download(
        f"{task}-{dataset}-v{info.number}{'-dynasent' if lines else ''}",
        "jsonl" if lines else format,
        lambda path: dataset_content.export(visit.db, visit.blobs, visit.actor, info.ref, format, path, labels=labels),
    )


def compare(visit: Visiting, task: str, dataset: str, a: int, b: int) -> Response:
    """Show what changed between two versions."""
    definition = tasks.get_task(visit.db, task)
    difference = dataset_content.diff(
        visit.db, visit.blobs, visit.actor, _ref(task, dataset, a), _ref(task, dataset, b)
    )
    return visit.render(
        "data/diff.html",
        task=definition,
        section="data",
        difference=difference,
        parts=_parts(visit, difference),
        fields=kind_of(definition).fields(definition),
        crumbs=[
            *_crumbs(visit, definition, dataset, linked=True),
            (visit.tongue.gettext("Versions %(a)s and %(b)s", a=a, b=b), None),
        ],
    )


def _weak(visit: Visit, task: Task, info: VersionInfo) -> tuple[Weakness, ...]:
    """Return why a version that models are evaluated on is weak ground for a ranking."""
    return () if info.role == Role.TRAIN else fitness(visit.blobs, task, info.blob, hidden=info.hidden)


def _parts(visit: Visit, difference: VersionDifference) -> list[tuple[str, str, int, list[dict[str, object]]]]:
    _ = visit.tongue.gettext
    tables = (
        ("added", _("Added"), difference.added),
        ("removed", _("Removed"), difference.removed),
        ("changed", _("Answer changed"), difference.changed),
    )
    return [(key, title, table.height, table.head(SHOWN_DIFFERENCES).to_dicts()) for key, title, table in tables]


def _in_task_order(task: Task, counts: dict[str, int]) -> dict[str, int]:
    """Put labels in the order of the task's file; other answers follow."""
    known = [name for name in task.judgement_labels if name in counts]
    return {name: counts[name] for name in [*known, *(name for name in counts if name not in known)]}


def _versions_of(visit: Visit, task: str, dataset: str) -> list[VersionInfo]:
    versions = [item for item in datasets.list_versions(visit.db, visit.actor, task) if item.dataset == dataset]
    return sorted(versions, key=lambda item: -item.number)


def _ref(task: str, dataset: str, version: int | None) -> str:
    return f"{task}/{dataset}@{version}" if version is not None else f"{task}/{dataset}"


def _crumbs(visit: Visit, task: Task, dataset: str = "", *, linked: bool = False) -> list[tuple[str, str | None]]:
    base = f"/tasks/{task.name}"
    data = (visit.tongue.gettext("Data"), f"{base}/data" if dataset else None)
    crumbs: list[tuple[str, str | None]] = [(title_of(visit, task), base), data]
    return [*crumbs, (dataset, f"{base}/data/{dataset}" if linked else None)] if dataset else crumbs

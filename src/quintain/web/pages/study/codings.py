"""Hand coding on pages: the list, the form, one coding with its results, and its table."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.responses import Response

from quintain.core.coding import GLOSSES, CodingSpec, CodingState
from quintain.core.errors import BadInput, Conflict
from quintain.core.records.coding import CodingFigures
from quintain.core.rounds import RoundState
from quintain.core.spec import read
from quintain.core.task import Task
from quintain.reports.charts import interval_chart
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.data import datasets
from quintain.services.study import coding_figures, codings
from quintain.services.study.codings import CodingInfo
from quintain.services.tasks import definitions as tasks
from quintain.services.trial.trials import list_trials
from quintain.web.drafts import SpecDraft, refuse_other
from quintain.web.errors import Trouble, trouble_of
from quintain.web.files import download
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.spec_form import Choice, SpecForm
from quintain.web.visit import Post, Posting, Visit, Visiting

FORM = SpecForm(CodingSpec)
PAGE_SIZE = 25
ITEMS = 100  # which a form begins with


def index(visit: Visiting, task: str, offset: int = 0) -> Response:
    """List the codings in which one may code."""
    definition = tasks.get_task(visit.db, task)
    start = max(0, offset)
    page = codings.list_codings(visit.db, visit.actor, task, offset=start, limit=PAGE_SIZE)
    base = f"/tasks/{task}/codings"
    return visit.render(
        "study/codings.html",
        task=definition,
        section="codings",
        codings=page.codings,
        states=state_words(visit),
        base=base,
        paging=Paging(base, {}, start, len(page.codings), page.total, PAGE_SIZE),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (visit.tongue.gettext("Hand coding"), None)],
    )


def new_page(visit: Visiting, task: str, file: str = "", source: str = "") -> Response:
    """Offer a form, or a file, to start from; *source* is what the person came from."""
    definition = tasks.get_task(visit.db, task)
    return _editor(visit, definition, None, _draft(visit, definition, None, source, as_file=bool(file)))


def create(post: Posting, task: str) -> Response:
    """Make a coding."""
    return _save(post, tasks.get_task(post.visit.db, task), None)


def edit_page(visit: Visiting, task: str, name: str, file: str = "") -> Response:
    """Show what a coding asks, to change it."""
    definition, info = tasks.get_task(visit.db, task), codings.find_coding(visit.db, f"{task}/{name}")
    return _editor(visit, definition, info, _draft(visit, definition, info, as_file=bool(file)))


def save(post: Posting, task: str, name: str) -> Response:
    """Change a coding."""
    visit = post.visit
    return _save(post, tasks.get_task(visit.db, task), codings.find_coding(visit.db, f"{task}/{name}"))


def show(visit: Visiting, task: str, name: str) -> Response:
    """Show how far a coding is and, to owners, what came of it."""
    return _page(visit, f"{task}/{name}")


def close(post: Posting, task: str, name: str) -> Response:
    """End a coding, which shows its arms."""
    visit = post.visit
    ref = f"{task}/{name}"
    try:
        coding_figures.close_coding(visit.db, visit.actor, ref)
    except Conflict as error:
        return _page(visit, ref, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/codings/{name}", visit.tongue.gettext("The coding is closed."))


def export(visit: Visiting, task: str, name: str) -> Response:
    """Send the table of codes."""
    write = partial(coding_figures.export_codes, visit.db, visit.actor, f"{task}/{name}")
    return visit.finish(download(f"{task}-{name}-codes", "csv", write))


def state_words(visit: Visit) -> dict[str, str]:
    """Return in the reader's language where a coding may stand."""
    _ = visit.tongue.gettext
    return {CodingState.OPEN: _("open"), CodingState.CLOSED: _("closed")}


def category_word(visit: Visit, name: str) -> str:
    """Return a category in the reader's language, where it is one of ours."""
    return visit.tongue.gettext(name) if name in GLOSSES else name


def crumbs_of(visit: Visit, task: Task, title: str, name: str = "", here: str = "") -> list[tuple[str, str | None]]:
    """Return the way to a page of hand coding."""
    base = f"/tasks/{task.name}/codings"
    last: list[tuple[str, str | None]] = [
        (title, f"{base}/{name}" if here else None),
        *([(here, None)] if here else []),
    ]
    return [(title_of(visit, task), f"/tasks/{task.name}"), (visit.tongue.gettext("Hand coding"), base), *last]


def _page(visit: Visit, ref: str, trouble: Trouble | None = None) -> Response:
    coding = codings.get_coding(visit.db, visit.actor, ref)
    info = codings.find_coding(visit.db, ref)
    task = tasks.get_task(visit.db, coding.task)
    figures = coding_figures.results(visit.db, visit.actor, ref).figures if visit.owns(task) else None
    return visit.render(
        "study/coding.html",
        status=trouble.status if trouble else 200,
        task=task,
        section="codings",
        coding=coding,
        spec=info.spec,
        figures=figures,
        chart=_chart(visit, figures) if figures else None,
        by_category={
            category.name: [example for example in figures.examples if example.category == category.name]
            for category in figures.categories
        }
        if figures
        else {},
        words={name: category_word(visit, name) for name in coding.categories},
        states=state_words(visit),
        base=f"/tasks/{task.name}/codings/{coding.name}",
        crumbs=crumbs_of(visit, task, coding.title),
        error=trouble,
    )


def _chart(visit: Visit, figures: CodingFigures) -> dict[str, Any]:
    """Draw the shares: by arm, where they are told."""
    _ = visit.tongue.gettext
    if len(figures.arms) > 1:
        rows = [
            (category_word(visit, category.name), arm.arm, arm.shares[category.name], arm.items)
            for category in figures.categories
            for arm in figures.arms
        ]
    else:
        rows = [
            (category_word(visit, category.name), _("all"), category.share, figures.items)
            for category in figures.categories
        ]
    return interval_chart(rows, row=_("Category"), series=_("Arm"), value=_("Share of items"))


def _starter(visit: Visit, task: Task, source: str) -> CodingSpec:
    _ = visit.tongue.gettext
    sources = tuple(one for one, _title, _gloss in _sources(visit, task))
    chosen = (source,) if source in sources else ()
    name = "-".join(source.replace("@", "-").split("/")) if chosen else "look"
    return CodingSpec(task.name, name, _("A closer look"), chosen, items=ITEMS)


def _sources(visit: Visit, task: Task) -> list[Choice]:
    """List what a sample can be drawn from: rounds in which somebody wrote, trials, the newest version of data sets."""
    _ = visit.tongue.gettext
    rounds = sorted(list_rounds(visit.db, visit.actor, task.name), key=lambda source: -source.number)
    sources: list[Choice] = [
        (f"rounds/{source.number}", _("Round %(number)s: %(title)s", number=source.number, title=source.spec.title), "")
        for source in rounds
        if source.state is not RoundState.DRAFT
    ]
    sources += [
        (f"trials/{source.name}", _("Trial: %(title)s", title=source.title or source.name), "")
        for source in list_trials(visit.db, visit.actor, task.name)
        if source.state != "draft"
    ]
    newest = {
        source.dataset: source
        for source in sorted(datasets.list_versions(visit.db, visit.actor, task.name), key=lambda source: source.number)
    }
    sources += [
        (
            f"data/{source.dataset}@{source.number}",
            _("Data set %(name)s (%(role)s, %(n)s examples)", name=source.dataset, role=source.role, n=source.rows),
            "",
        )
        for source in newest.values()
    ]
    return sources


def _draft(visit: Visit, task: Task, info: CodingInfo | None, source: str = "", *, as_file: bool = False) -> SpecDraft:
    spec = info.spec if info else _starter(visit, task, source)
    stored = info.spec if info else None
    return SpecDraft(FORM, FORM.show(spec), codings.dump_coding(spec), as_file, stored=stored)


def _save(post: Post, task: Task, info: CodingInfo | None) -> Response:
    visit = post.visit
    draft = _draft(visit, task, info).typed(post)
    try:
        if draft.as_file:
            spec = codings.parse_coding(draft.text)
        else:
            named = {"name": info.name} if info else {}
            spec = read(CodingSpec, FORM.read(draft.values, info.spec if info else None, task=task.name, **named))
        refuse_other(spec, task.name, info.name if info else None)
        saved = codings.put_spec(visit.db, visit.blobs, visit.actor, spec, new=info is None, edit=post.edit)
    except (BadInput, Conflict) as error:
        return _editor(visit, task, info, draft.refused(error))
    return visit.redirect(f"/tasks/{task.name}/codings/{saved.name}", visit.tongue.gettext("Saved."))


def _editor(visit: Visit, task: Task, info: CodingInfo | None, draft: SpecDraft) -> Response:
    require_owner(visit.actor, task.name)
    _ = visit.tongue.gettext
    base = f"/tasks/{task.name}/codings"
    title = _("Edit the coding") if info else _("New coding")
    sources = _sources(visit, task)
    known = {one for one, _title, _gloss in sources}
    sources += [(source, source, "") for source in (info.spec.sources if info else ()) if source not in known]
    return visit.render(
        "study/coding_edit.html",
        task=task,
        section="codings",
        coding=info,
        title=title,
        action=f"{base}/{info.name}/edit" if info else f"{base}/new",
        back=f"{base}/{info.name}" if info else base,
        crumbs=crumbs_of(visit, task, info.spec.title if info else title, info.name if info else ""),
        **draft.shown(visit, {"sources": sources}),
    )

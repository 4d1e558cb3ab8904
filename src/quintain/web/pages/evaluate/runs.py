"""Runs: the list with filters, one with its live progress, and what those who may can do with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from quintain.core.cells import CellState
from quintain.core.errors import NotFound
from quintain.core.people import Actor
from quintain.core.records.evaluate import RunReport
from quintain.services.data import datasets
from quintain.services.evaluate.cells import lifecycle as evaluate
from quintain.services.evaluate.cells import progress
from quintain.services.evaluate.cells.measure_again import may_measure_again, measure_again
from quintain.services.models import registry as models
from quintain.services.tasks import definitions as tasks
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.paging import Paging
from quintain.web.visit import Posting, Visit, Visiting, make_visit, workspace_of

PAGE_SIZE = 50
MOST_CHOICES = 200  # of models in a box to choose from; of more, the name is typed
POLL_SECONDS = 1.0


def index(
    visit: Visiting,
    task: str,
    *,
    state: str = "",
    model: str = "",
    dataset: str = "",
    variant: str = "",
    offset: int = 0,
) -> Response:
    """List the runs of a task: what runs first, then what waits, then what failed."""
    definition = tasks.get_task(visit.db, task)
    _ = visit.tongue.gettext
    page = progress.page_of_cells(
        visit.db,
        visit.actor,
        task,
        states=[state] if state in state_names(visit) else [],
        model=model[:120],
        dataset=dataset[:120],
        variant=variant[:80],
        offset=max(0, offset),
        limit=PAGE_SIZE,
    )
    path = f"/tasks/{task}/runs"
    query = {"state": state, "model": model, "dataset": dataset, "variant": variant}
    names = sorted(
        {version.dataset for version in datasets.list_versions(visit.db, visit.actor, task) if version.role != "train"}
    )
    return visit.render(
        "evaluate/runs.html",
        task=definition,
        section="runs",
        page=page,
        counts=progress.status(visit.db, visit.actor, task),
        state_names=state_names(visit),
        filters=query,
        states=[("", _("any")), *state_names(visit).items()],
        models=model_choices(visit, task),
        datasets=[("", _("any")), *((name, name) for name in names)],
        base=path,
        paging=Paging(path, query, page.offset, len(page.cells), page.total, PAGE_SIZE),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Runs"), None)],
    )


def model_choices(visit: Visit, task: str) -> list[str]:
    """Name the models that one may choose from; none where there are more than anybody would look through."""
    names = models.list_names(visit.db, visit.actor, task, limit=MOST_CHOICES + 1)
    return [name for _task, name in names] if len(names) <= MOST_CHOICES else []


def show(visit: Visiting, cell: int) -> Response:
    """Show one run; the page follows it while it goes on."""
    why = progress.explain_cell(visit.db, visit.actor, _small(cell))
    info = why.cell
    if info is None:
        raise NotFound("There is no run {cell}.", cell=cell)
    definition = tasks.get_task(visit.db, info.task)
    _ = visit.tongue.gettext
    return visit.render(
        "evaluate/run.html",
        task=definition,
        section="runs",
        why=why,
        may_manage=progress.may_manage(visit.db, visit.actor, info.id),
        may_measure=may_measure_again(visit.db, visit.actor, info.id),
        cell=info,
        live=not CellState(info.state).ended,
        state_names=state_names(visit),
        crumbs=[
            (title_of(visit, definition), f"/tasks/{definition.name}"),
            (_("Runs"), f"/tasks/{definition.name}/runs"),
            (_("Run %(n)s", n=info.id), None),
        ],
    )


def cancel(post: Posting, cell: int) -> Response:
    """Cancel a run."""
    evaluate.cancel(post.visit.db, post.visit.actor, _small(cell))
    return post.visit.redirect(f"/runs/{cell}", post.visit.tongue.gettext("The run is cancelled."))


def retry(post: Posting, cell: int) -> Response:
    """Queue a run again."""
    evaluate.retry(post.visit.db, post.visit.actor, _small(cell))
    return post.visit.redirect(f"/runs/{cell}", post.visit.tongue.gettext("The run is queued again."))


def measure(post: Posting, cell: int) -> Response:
    """Queue a measurement again."""
    measure_again(post.visit.db, post.visit.actor, _small(cell))
    words = post.visit.tongue.gettext("It is measured again; the figure that is known stands until then.")
    return post.visit.redirect(f"/runs/{cell}", words)


def stream(request: Request, cell: int) -> Response:
    """Send how far a run is, whenever that changes, as server-sent events."""
    with workspace_of(request).session() as db:
        visit = make_visit(request, db)
        progress.explain_cell(db, visit.actor, _small(cell))
        actor = visit.actor
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_follow(request, actor, cell), media_type="text/event-stream", headers=headers)


async def _follow(request: Request, actor: Actor, cell: int) -> AsyncIterator[str]:
    last = ""
    while not getattr(request.app.state, "stopping", False):
        why = await run_in_threadpool(_explained, request, actor, cell)
        text = json.dumps(event_of(why), ensure_ascii=False)
        # A comment now and then tells whether anybody still listens.
        yield f"data: {text}\n\n" if text != last else ": still here\n\n"
        last = text
        if why.cell is None or CellState(why.cell.state).ended or await request.is_disconnected():
            return
        await asyncio.sleep(POLL_SECONDS)


def _explained(request: Request, actor: Actor, cell: int) -> RunReport:
    with workspace_of(request).session() as db:
        return progress.explain_cell(db, actor, cell)


def event_of(why: RunReport) -> dict[str, object]:
    """Return what a page needs to show how far a run is."""
    info = why.cell
    return {
        "state": info.state if info else "",
        "done": info.done if info else 0,
        "total": info.total if info else 0,
        "ahead": why.ahead,
        "wait_seconds": None if why.wait_seconds is None else round(why.wait_seconds),
        "events": len(why.events),
    }


def state_names(visit: Visit) -> dict[str, str]:
    """Return the words for the states that a run can be in."""
    _ = visit.tongue.gettext
    return {
        "queued": _("queued"),
        "running": _("running"),
        "done": _("done"),
        "failed": _("failed"),
        "cancelled": _("cancelled"),
    }


def _small(cell: int) -> int:
    """Keep a number from the address within what the database can hold."""
    return cell if 0 < cell < 2**31 else 0

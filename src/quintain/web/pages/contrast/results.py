"""What a model makes of a contrast set: figures, and the sets that break it drawn as pivot and neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.responses import Response

from quintain.core.errors import Forbidden
from quintain.core.records.contrast import ContrastEstimates, ContrastPart
from quintain.core.records.contrasting import BoundaryMember, BoundarySet
from quintain.core.task import Task
from quintain.services.contrast import results as service
from quintain.services.models import registry as models
from quintain.services.tasks import definitions as tasks
from quintain.stats.diff import Piece
from quintain.web.forms import answer_text
from quintain.web.pages.contrast.projects import differences
from quintain.web.pages.evaluate.results import crumbs
from quintain.web.paging import Paging
from quintain.web.visit import Visit, Visiting

PAGE_SIZE = 10
STEP = 34  # between two neighbours in a drawing
TOP = 24
SIDES = {False: 60, True: 220}  # where neighbours stand that keep the answer, and that change it


@dataclass(frozen=True, slots=True)
class Point:
    """A neighbour in a drawing: where it stands, and what it is."""

    x: int
    y: int
    member: BoundaryMember


@dataclass(frozen=True, slots=True)
class Drawing:
    """A set as a picture: the pivot, its neighbours on either side of the line where the answer changes."""

    set: BoundarySet
    pivot: Point | None
    points: tuple[Point, ...]
    height: int


def show(
    visit: Visiting, task: str, model: str, dataset: str, *, version: str = "", show: str = "broken", offset: int = 0
) -> Response:
    """Show one model on one contrast set."""
    definition = tasks.get_task(visit.db, task)
    ref = f"{task}/{model}@{version}" if version else f"{task}/{model}"
    info = models.get_model(visit.db, visit.actor, ref)
    contrast = service.model_contrast(visit.db, visit.blobs, visit.actor, ref, dataset)
    show = show if show in {"broken", "all"} else "broken"
    path = f"/tasks/{task}/models/{model}/contrast/{dataset}"
    name = contrast.dataset.rpartition("/")[2]
    _ = visit.tongue.gettext
    query = {"show": show, "version": version}
    drawings, paging = _drawings(visit, ref, dataset, Paging(path, query, max(0, offset), 0, 0, PAGE_SIZE))
    return visit.render(
        "contrast/results.html",
        task=definition,
        section="models",
        model=info,
        told=contrast,
        score=contrast.score,
        base=path,
        show=show,
        version=version,
        tags=_rows(contrast.score.by_tag, contrast.score.intervals.by_tag),
        moves=_rows(contrast.score.by_transition, contrast.score.intervals.by_transition),
        drawings=drawings,
        paging=paging,
        texts=_texts,
        answer_text=answer_text,
        crumbs=crumbs(
            visit,
            definition,
            info,
            (name.partition("@")[0], f"/tasks/{task}/models/{model}/results/{name.partition('@')[0]}"),
            (_("Contrast sets"), None),
        ),
    )


def draw(boundary_set: BoundarySet) -> Drawing:
    """Place the members of a set: the pivot on the left, neighbours by what the edit did to the answer."""
    first = next((member for member in boundary_set.members if member.original), None)
    others = [member for member in boundary_set.members if not member.original]
    counts = {False: 0, True: 0}
    points = []
    for member in others:
        y = TOP + STEP * counts[member.differs]
        if not member.differs:
            y += STEP * 2  # below the pivot
        points.append(Point(SIDES[member.differs], y, member))
        counts[member.differs] += 1
    height = max([TOP + STEP, *(point.y + STEP for point in points)])
    pivot = Point(SIDES[False], TOP, first) if first else None
    return Drawing(boundary_set, pivot, tuple(points), height)


def _drawings(visit: Visit, ref: str, dataset: str, asked: Paging) -> tuple[list[Drawing] | None, Paging | None]:
    """Return the sets of a page as drawings; single sets of hidden labels are for owners."""
    try:
        boundary = service.boundary(
            visit.db,
            visit.blobs,
            visit.actor,
            ref,
            dataset,
            show=asked.query["show"],
            offset=asked.offset,
            limit=PAGE_SIZE,
        )
    except Forbidden:
        return None, None
    return [draw(boundary_set) for boundary_set in boundary.sets], replace(
        asked, count=len(boundary.sets), total=boundary.total
    )


def _rows(
    parts: Mapping[str, ContrastPart], intervals: Mapping[str, ContrastEstimates]
) -> list[tuple[str, ContrastPart, ContrastEstimates]]:
    return [(name, part, intervals[name]) for name, part in parts.items()]


def _texts(task: Task, drawing: Drawing, member: BoundaryMember) -> list[tuple[str, list[Piece], bool]]:
    """Return a member's fields as they differ from the pivot's; those of the pivot as they are."""
    before = drawing.pivot.member.inputs if drawing.pivot and not member.original else member.inputs
    shown = differences(task, before, member.inputs)
    return [one for one in shown if one[2]] or shown

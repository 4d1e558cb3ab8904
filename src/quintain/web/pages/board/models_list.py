"""The models of a task, with where everybody sees them stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from starlette.responses import Response

from quintain.core.people import RoleName
from quintain.reports.charts import sparkline
from quintain.services.board.parts import Axis
from quintain.services.board.standings import BoardPlace, known_standings
from quintain.services.models import registry as models
from quintain.services.models.registry import ModelInfo
from quintain.services.tasks import definitions as tasks
from quintain.web.listing import Asking, make_listing
from quintain.web.pages.figure_words import axis_title
from quintain.web.pages.models.models import visibility_names
from quintain.web.pages.models.styles import model_styles
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Visiting


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model in the list: when it changed last, where it stands on the board, how it did in each round."""

    name: str
    added: datetime
    place: BoardPlace | None
    rounds: tuple[tuple[int, float], ...]
    info: ModelInfo | None = None


def index(visit: Visiting, task: str, asked: Asking) -> Response:
    """List the models with where everybody sees them stand, as it is known by now; described are those on the page."""
    definition = tasks.get_task(visit.db, task)
    ranking = known_standings(visit.db, visit.blobs, [task]).get(task)
    places = {place.name: place for place in ranking.places} if ranking else {}
    axes = ranking.axes if ranking else ()
    history = ranking.rounds if ranking else {}
    rows = [
        ModelRow(name, added, places.get(name), tuple(history.get(name, ())))
        for name, added in models.model_lines(visit.db, visit.actor, task)
    ]
    listing = make_listing(rows, _columns(axes), asked, path=f"/tasks/{task}/models", default="rank")
    shown = [row.name for row in listing.rows]
    infos = {info.name: info for info in models.list_models(visit.db, visit.actor, task, shown)}
    _ = visit.tongue.gettext
    return visit.render(
        "board/models.html",
        task=definition,
        section="models",
        listing=replace(listing, rows=[replace(row, info=infos[row.name]) for row in listing.rows]),
        axes=[(axis, axis_title(_, axis)) for axis in axes],
        provisional=ranking is not None and ranking.provisional,
        known=ranking is not None,
        several=any(len(row.rounds) > 1 for row in rows),
        sparkline=sparkline,
        styles=model_styles(visit, task),
        visibility_names=visibility_names(visit.tongue.gettext),
        may_submit=any(visit.actor.has(role, task) for role in (RoleName.BUILDER, RoleName.OWNER)),
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (visit.tongue.gettext("Models"), None)],
    )


def _columns(axes: Sequence[Axis]) -> dict[str, Callable[[ModelRow], Any]]:
    """Return what the list may be sorted by: name, rank, date, and each axis."""

    def figure(axis: str) -> Callable[[ModelRow], Any]:
        return lambda row: row.place.figures[axis].value if row.place and axis in row.place.figures else None

    return {
        "rank": lambda row: row.place.rank if row.place else None,
        "name": lambda row: row.name,
        "added": lambda row: row.added,
        **{axis.name: figure(axis.name) for axis in axes},
    }

"""The board's page: the table that readers weigh, what they keep of it, and the owner's settings."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Any

from fastapi import Depends
from starlette.responses import Response

from quintain.core.errors import BadInput, Unavailable
from quintain.core.records.board import BoardView
from quintain.core.spec import plain
from quintain.core.task import ABILITY, VMER, Task
from quintain.reports.few import few_text, is_few
from quintain.reports.round_lines import RoundWords
from quintain.reports.series import Style
from quintain.services.access.permissions import require_owner
from quintain.services.board import remeasure as measuring_again
from quintain.services.board import snapshots as board_keep
from quintain.services.board.abilities import shown_abilities
from quintain.services.board.cache import PENDING, SOON_S, WarmBoard, warm_board
from quintain.services.board.claims import board_claim
from quintain.services.board.export import KINDS, SINGLE
from quintain.services.board.parts import BoardMatrix, BoardPart
from quintain.services.board.ranking import Ranked, parse_view
from quintain.services.board.rounds import opened_rounds
from quintain.services.evaluate.cells.lifecycle import fill_dataset
from quintain.services.models.registry import models_to_choose
from quintain.services.tasks.board_settings import board_spec, set_board
from quintain.services.tasks.board_spec import AXES, BoardSpec
from quintain.services.tasks.definitions import get_task
from quintain.web.api.board.board import read_part
from quintain.web.errors import Trouble, trouble_of
from quintain.web.pages.board.charts import MOST_POINTS, progress_chart, progress_rows, rounds_chart, scatter_chart
from quintain.web.pages.board.words import presets, words
from quintain.web.pages.figure_words import axis_title, warning_text
from quintain.web.pages.models.styles import model_styles
from quintain.web.pages.tasks.tasks import title_of
from quintain.web.visit import Post, Posting, Visit, Visiting

SLIDER_TOP = 8
MOST_BOXES = 200  # of models to tick; of more, names are typed
SCORING = ("test", "contrast")  # what one would expect to score
FIRST = 25  # rows that are in the page before the browser has the board: more than a screen shows
WITHOUT_SCRIPT = 100
CHOSEN = frozenset({"weights", "datasets", "epsilon", "base", "rate"})  # in the address: the browser ranks by them


def show(visit: Visiting, task: str, part: Annotated[BoardPart, Depends(read_part)]) -> Response:
    """Show the board. What the address says of weights is read in the browser, which ranks by them."""
    return _show(visit, task, part)


def save_fork(post: Posting, task: str) -> Response:
    """Keep the view under a name."""
    visit = post.visit
    try:
        board_keep.save_fork(visit.db, visit.blobs, visit.actor, task, post.text("name"), _view(post))
    except BadInput as error:
        return _show(visit, task, BoardPart(), trouble_of(error))
    return visit.redirect(_back(post, task), visit.tongue.gettext("The view is kept."))


def remove_fork(post: Posting, task: str) -> Response:
    """Remove a view that one keeps."""
    visit = post.visit
    board_keep.remove_fork(visit.db, visit.actor, task, post.text("name"))
    return visit.redirect(f"/tasks/{task}/board", visit.tongue.gettext("The view is removed."))


def take_snapshot(post: Posting, task: str) -> Response:
    """Freeze what is seen."""
    visit = post.visit
    try:
        title = post.text("title").strip()
        part = BoardPart(post.text("tag") or None, post.text("language") or None)
        server = visit.workspace.settings.public_url
        board_keep.take_snapshot(
            visit.db, visit.blobs, visit.actor, task, _view(post), title=title, part=part, server=server
        )
    except BadInput as error:
        return _show(visit, task, BoardPart(), trouble_of(error))
    return visit.redirect(_back(post, task) + "#kept", visit.tongue.gettext("The snapshot is taken."))


def settings_page(visit: Visiting, task: str) -> Response:
    """Show the owner what can be set."""
    return _settings(visit, task)


def save_settings(post: Posting, task: str) -> Response:
    """Set the board."""
    visit = post.visit
    try:
        set_board(visit.db, visit.actor, task, _typed(post, board_spec(visit.db, task)), edit=post.edit)
    except BadInput as error:
        return _settings(visit, task, trouble_of(error))
    return visit.redirect(f"/tasks/{task}/board", visit.tongue.gettext("The board is set."))


def remeasure(post: Posting, task: str) -> Response:
    """Queue what was measured elsewhere."""
    visit = post.visit
    remeasured = measuring_again.remeasure(visit.db, visit.blobs, visit.actor, task)
    toast = visit.tongue.gettext("Measurements that wait for a worker on {machine}: {n}.")
    return visit.redirect(f"/tasks/{task}/board", toast.format(machine=remeasured.machine, n=remeasured.queued))


def queue_runs(post: Posting, task: str) -> Response:
    """Queue what a data set needs to be weighed."""
    visit = post.visit
    queued = fill_dataset(visit.db, visit.actor, f"{task}/{post.text('dataset')}")
    return visit.redirect(f"/tasks/{task}/board", visit.tongue.gettext("Runs queued: {n}.").format(n=queued))


def _back(post: Post, task: str) -> str:
    query = post.text("query").lstrip("?")
    return f"/tasks/{task}/board?{query}" if query.isprintable() and query else f"/tasks/{task}/board"


def _view(post: Post) -> BoardView:
    epsilon = post.text("epsilon").strip()
    return parse_view(
        post.text("weights"),
        post.text("datasets"),
        epsilon=_number(epsilon, "epsilon") if epsilon else None,
        base=post.text("base"),
        rate=post.text("rate"),
    )


def _show(visit: Visit, task: str, part: BoardPart, trouble: Trouble | None = None) -> Response:
    definition = get_task(visit.db, task)
    try:
        warm = warm_board(visit.db, visit.blobs, visit.actor, task, part)
    except Unavailable as error:
        if error.code != PENDING:
            raise
        return _pending(visit, definition)
    board = warm.board
    ranked, scoring = warm.ranked, board_spec(visit.db, task)
    _ = visit.tongue.gettext
    axes = [(axis, axis_title(_, axis)) for axis in board.axes]
    styles = model_styles(visit, task)
    return visit.render(
        "board/board.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="board",
        made=board,
        warm=warm,
        elsewhere=warm.text.once(_elsewhere, board),
        disturbed=warm.text.once(_disturbed, board),
        there=ranked is not None,
        weak=[dataset for dataset in board.datasets if dataset.weight and dataset.warnings],
        warned=lambda dataset: " ".join(warning_text(_, why) for why in dataset.warnings),
        resting=[
            dataset
            for dataset in board.datasets
            if not scoring.dataset_weight(dataset.name) and dataset.role in SCORING
        ],
        renamed=scoring.machine is not None and scoring.machine != board.spec.machine,
        unrun=warm.text.once(Ranked.unrun, ranked) if ranked else [],
        axes=axes,
        titles={axis.name: title for axis, title in axes},
        part=part,
        ranked=ranked,
        order=warm.order[:WITHOUT_SCRIPT],
        first=0 if CHOSEN & visit.request.query_params.keys() else FIRST,
        slider_top=SLIDER_TOP,
        presets=presets(_, board),
        words=words(_, fitted=board.metric == ABILITY),
        abilities=shown_abilities(visit.db, task, board.frozen_at) if board.metric == ABILITY else None,
        few_text=few_text() if warm.text.once(_has_few, board) else None,
        scatter=scatter_chart(),
        over_rounds=_over_rounds(visit, task, board, styles),
        styles=styles,
        drawn={name: (style.colour, style.shape, style.path) for name, style in styles.items()},
        most_points=MOST_POINTS,
        progress=_progress(warm, styles, title=axes[0][1], human=_("people")),
        forks=board_keep.list_forks(visit.db, task),
        snapshots=board_keep.list_snapshots(visit.db, visit.actor, task),
        exports=[(kind, kind not in SINGLE) for kind in KINDS],
        crumbs=[(title_of(visit, definition), f"/tasks/{task}"), (_("Board"), None)],
        error=trouble,
    )


def _has_few(board: BoardMatrix) -> bool:
    """Whether any figure rests on so few examples that it is drawn hollow."""
    return any(
        figure is not None and bool(figure.n) and is_few(figure.n)
        for model in board.models
        for figure in (*chain.from_iterable(model.values.values()), *model.pooled.values())
    )


def claim_part(visit: Visiting, task: str) -> Response:
    """Show who leads: a part of the board that was not ready with it."""
    definition = get_task(visit.db, task)
    try:
        claim = board_claim(visit.db, visit.blobs, visit.actor, task)
    except Unavailable as error:
        if error.code != PENDING:
            raise
        claim = None
    return visit.render("board/claim.html", task=definition, claim=claim)


def _pending(visit: Visit, task: Task) -> Response:
    """Show that a worker makes the board, and look again by itself."""
    _ = visit.tongue.gettext
    return visit.render(
        "board/pending.html",
        headers={"refresh": str(SOON_S)},
        task=task,
        section="board",
        crumbs=[(title_of(visit, task), f"/tasks/{task.name}"), (_("Board"), None)],
    )


def _over_rounds(visit: Visit, task: str, board: BoardMatrix, styles: Mapping[str, Style]) -> dict[str, Any] | None:
    """Draw the rounds of the board as it was made, where anything in them was judged."""
    if not board.rounds:
        return None
    _ = visit.tongue.gettext
    words = RoundWords(
        round=_("Round"),
        value=_("Right, as people agree"),
        who=_("Who"),
        people=_("People"),
        examples=_("Examples"),
        form=".1%",
    )
    notes = {"open": _("still open"), "unjudged": _("nothing judged yet")}
    return rounds_chart(board.rounds, opened_rounds(visit.db, task, board.frozen_at), styles, words, notes)


def _progress(warm: WarmBoard, styles: Mapping[str, Style], *, title: str, human: str) -> dict[str, Any] | None:
    """Draw the progress of a board, where there is any."""
    rows = warm.text.once(progress_rows, warm.ranked) if warm.ranked else []
    people = (human, warm.board.human)
    return progress_chart(rows, title=title, human=people, styles=styles) if rows else None


def _elsewhere(board: BoardMatrix) -> list[str]:
    """Name the models whose throughput or memory was measured on another class of machine than the one that ranks."""
    return [
        model.name
        for model in board.models
        if any(why and why.kind == "machine" for cells in model.gaps.values() for why in cells)
    ]


def _disturbed(board: BoardMatrix) -> list[str]:
    """Name the models that were measured while other work had much of the machine."""
    return [model.name for model in board.models if model.disturbed is not None]


def _settings(visit: Visit, task: str, trouble: Trouble | None = None) -> Response:
    definition = get_task(visit.db, task)
    require_owner(visit.actor, task)
    _ = visit.tongue.gettext
    board = warm_board(visit.db, visit.blobs, visit.actor, task, BoardPart(live=True, seeds_apart=True)).board
    spec = board_spec(visit.db, task)
    base = f"/tasks/{task}"
    offered = models_to_choose(visit.db, visit.actor, task, limit=MOST_BOXES)
    return visit.render(
        "board/settings.html",
        status=trouble.status if trouble else 200,
        task=definition,
        section="board",
        made=board,
        spec=spec,
        made_from=visit.made_from("board", plain(spec)),
        warned=lambda dataset: " ".join(warning_text(_, why) for why in dataset.warnings),
        weights=spec.axis_weights(AXES),
        axes=[(axis, axis_title(_, axis)) for axis in board.axes],
        metrics=[
            ("", _("the task's own: %(metric)s", metric=definition.canonical_metric)),
            *((name, name) for name in dict.fromkeys([*definition.metrics, VMER])),
            (ABILITY, _("ability, by item response theory")),
        ],
        names=sorted({model.name for model in offered.models} | set(spec.hidden_models)),
        many=offered.more,
        crumbs=[(title_of(visit, definition), base), (_("Board"), f"{base}/board"), (_("Settings"), None)],
        error=trouble,
    )


def _typed(post: Post, before: BoardSpec) -> Mapping[str, Any]:
    """Read the settings that were typed; a field left empty keeps its default.

    Where only some models were named to be shown, those that are ticked are named from now on. Of more models than
    there are boxes for, the names that are to be shown, or not to be, are typed.
    """
    ticked = sorted(set(post.texts("shown")))
    named = bool(before.models and ticked)
    models, hidden = ticked if named else [], [] if named else sorted(set(post.texts("model-names")) - set(ticked))
    if "named-models" in post.form:
        typed = sorted({one.strip() for one in post.text("named-models").split(",")} - {""})
        models, hidden = (typed, []) if before.models else ([], typed)
    shows_languages = any(name.startswith("language-") for name in post.form)
    settings: dict[str, Any] = {
        # A data set that came while the form was open keeps what it has.
        "datasets": {**before.datasets, **_numbers(post, "dataset-")},
        "weights": _numbers(post, "weight-"),
        "languages": _numbers(post, "language-") if shows_languages else dict(before.languages),
        "caps": _numbers(post, "cap-"),
        "metric": post.text("metric") or None,
        "rate": post.text("rate") or None,
        "refusals": post.text("refusals") or None,
        "machine": post.text("machine").strip() or None,
        "models": models,
        "hidden_models": hidden,
        "freeze_until": f"{post.text('freeze_until')}T23:59:59+00:00" if post.text("freeze_until") else None,
    }
    for name, factor in (("epsilon", 1.0), ("human", 0.01), ("failure_limit", 0.01)):
        text = post.text(name).strip()
        settings[name] = _number(text, name) * factor if text else None
    return settings


def _numbers(post: Post, prefix: str) -> dict[str, float]:
    typed = {name.removeprefix(prefix): post.text(name).strip() for name in post.form if name.startswith(prefix)}
    return {name: _number(text, f"{prefix}{name}") for name, text in typed.items() if text}


def _number(text: str, field: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput(
            "'{text}' is not a number.", text=text, field=field, remedy="Write a number into '{field}'."
        ) from None

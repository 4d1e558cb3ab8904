"""How sure a board is: examples resampled for all models at once, and what that does to every score and rank.

What is drawn is said in `board_draws`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from sqlalchemy.orm import Session

from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.base import decode, to_json, to_plain
from quintain.core.records.board import BoardView
from quintain.core.records.figures import Estimate, Figure
from quintain.core.records.ranking import RankRange, SureModel, SurePair, Uncertainty
from quintain.services.access.permissions import require_owner
from quintain.services.board.cache import warm_board
from quintain.services.board.draws import draw_axes
from quintain.services.board.materialised import BOARD, LONGEST, BoardKey, board_audience, whole_boards
from quintain.services.board.parts import BoardMatrix, BoardPart
from quintain.services.board.ranking import Ranked, choices_of, rank, without_reasons
from quintain.services.evaluate.cells.recount import set_right
from quintain.services.evaluate.results.axis_gaps import MEASURED
from quintain.services.jobs.checks import Checked
from quintain.services.jobs.figures import FigureKind, ReportProgress, files, shown_figure
from quintain.services.jobs.memory import WarmValues
from quintain.stats.bootstrap import FloatArray, interval
from quintain.stats.ranking import RankUncertainty, bootstrap_dynascores, rank_uncertainty
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.board import boards as queries
from quintain.store.queries.evaluate import results as cache
from quintain.store.queries.jobs import figures as figure_queries
from quintain.store.state import state_of

FORMAT = 4
RESAMPLES = 1000
MANY_MODELS = 200  # from here on fewer resamples: the figure that counts is still there within a second or two
FEWER_RESAMPLES = 250
CONFIDENCE = 0.95
SURE = 1 - (1 - CONFIDENCE) / 2  # how probable an order must be to be settled
POWER = 0.8
MOST_TIMES = 1000
AT_ONCE = 200_000  # answers of all models to all data sets that are resampled while somebody waits
IN_MATRIX = 50  # of many models, how many stand in the matrix of who is above whom
TEXTS_KEPT = 24
NOTHING = Uncertainty(0, 0, [], [], [])


class SentTexts(WarmValues[bytes]):
    """What is sent of large boards, the last ones, for as long as the workspace is open."""

    def __init__(self) -> None:
        super().__init__(TEXTS_KEPT)


def uncertainty(
    db: Session, blobs: Blobs, matrix: BoardMatrix, view: BoardView | None = None, *, tell: ReportProgress | None = None
) -> Uncertainty:
    """Return how sure the ranking of *matrix* by *view* is. The owner's default view is remembered."""
    chosen = view or BoardView()
    ranked = rank(matrix, chosen)
    if not any(ranked.ranking.rank):
        return NOTHING
    if chosen != BoardView() or len(matrix.models) > MANY_MODELS:
        return _report(db, blobs, ranked, tell)
    key = _key(ranked)
    known = cache.cached(db, [key])
    if key in known:
        return decode(Uncertainty, known[key])
    report = _report(db, blobs, ranked, tell)
    with transaction(db):
        cache.keep(db, {key: plain_known(report)})
    return report


def known_uncertainty(
    db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart | None = None, view: BoardView | None = None
) -> Uncertainty:
    """Return how sure the ranking is, as far as known: of a large board a worker computes it, by the owner's view.

    What is asked of a large board by another view is `too_large`, and what nobody has computed yet is `pending`.
    """
    warm = warm_board(db, blobs, actor, task, part)
    subject = str(BoardKey(task, board_audience(db, actor, task), part or BoardPart()))
    if UNCERTAINTY.facts(db, subject) <= UNCERTAINTY.at_once or len(subject) > LONGEST:
        return uncertainty(db, blobs, warm.board, view)
    if view not in (None, BoardView()):
        return replace(NOTHING, too_large=True)
    shown = shown_figure(db, blobs, UNCERTAINTY, subject, task=task)
    if shown.value is None or not (shown.fresh or _is_to_be_seen(shown.value, warm.board)):
        return replace(NOTHING, pending=True)
    return replace(decode(Uncertainty, shown.value), pending=not shown.fresh, computed_at=shown.computed_at)


def _is_to_be_seen(value: Mapping[str, Any], matrix: BoardMatrix) -> bool:
    """Whether all models that it tells of are still to be seen on the board."""
    return {model["model"] for model in value["models"]} <= {model.ref for model in matrix.models}


def sent_uncertainty(
    db: Session, blobs: Blobs, actor: Actor, task: str, part: BoardPart | None = None, view: BoardView | None = None
) -> bytes:
    """Return what is known of how sure the ranking is as JSON; what a worker has computed is written once."""
    if part is not None and part.live:
        require_owner(actor, task)
    subject = str(BoardKey(task, board_audience(db, actor, task), part or BoardPart()))
    stored = figure_queries.stored_basis(db, UNCERTAINTY.name, subject)
    if view not in (None, BoardView()) or stored is None or stored.basis != UNCERTAINTY.basis(db, subject):
        return to_json(known_uncertainty(db, blobs, actor, task, part, view)).encode()
    texts = state_of(db).part(SentTexts)
    key = (subject, *stored)
    return texts.get(key, lambda: to_json(known_uncertainty(db, blobs, actor, task, part)).encode())


def plain_known(sure: Uncertainty) -> dict[str, Any]:
    """Leave what is known itself, as it is kept, also in files: not whether more is to come, or when it was made."""
    shape: dict[str, Any] = without_reasons(to_plain(sure))
    left = {"pending", "computed_at", "too_large"} | ({"sampled"} if sure.sampled is None else set())
    return {name: value for name, value in shape.items() if name not in left}


def _compute(db: Session, source: Blobs | None, subject: str, tell: ReportProgress) -> Mapping[str, Any]:
    """Compute what is kept; where nothing has changed that it rests on, it is the same as before."""
    blobs = files(source)
    key = BoardKey.read(subject)
    matrix = warm_board(db, blobs, key.actor, key.task, key.part, wait=True).board
    ranked = rank(matrix)
    name = _key(ranked)
    stored = figure_queries.figure(db, UNCERTAINTY.name, subject)
    if stored is not None and stored.value.get("key") == name:
        return stored.value
    return {**plain_known(uncertainty(db, blobs, matrix, tell=tell)), "key": name}


def _recount(db: Session, source: Blobs | None, subject: str, tell: ReportProgress) -> Mapping[str, Any]:
    """Compute what is kept from the answers, whatever is known already."""
    blobs = files(source)
    key = BoardKey.read(subject)
    ranked = rank(warm_board(db, blobs, key.actor, key.task, key.part, wait=True).board)
    report = _report(db, blobs, ranked, tell) if any(ranked.ranking.rank) else NOTHING
    return {**plain_known(report), "key": _key(ranked)}


def check_small(db: Session, blobs: Blobs, subject: str) -> Checked:
    """Compare what is remembered of how sure a board of few models is with what its answers say, and set it right."""
    key = BoardKey.read(subject)
    matrix = warm_board(db, blobs, key.actor, key.task, key.part, wait=True).board
    if matrix.is_empty or len(matrix.models) > MANY_MODELS:
        return Checked()
    ranked = rank(matrix)
    name = _key(ranked)
    if name not in cache.cached(db, [name]):
        return Checked()
    return set_right(db, "how sure a board is", subject, {name: plain_known(_report(db, blobs, ranked))})


def _answers(db: Session, subject: str) -> int:
    return queries.count_answers(db, BoardKey.read(subject).task)


def _large(db: Session) -> Iterable[str]:
    return (board for board in whole_boards(db) if _answers(db, board) > AT_ONCE)


UNCERTAINTY = FigureKind("uncertainty", BOARD.basis, _answers, _compute, _large, at_once=AT_ONCE, recount=_recount)


def _key(ranked: Ranked) -> str:
    matrix = ranked.board
    values = np.where(np.isnan(ranked.table.values), -1.0, ranked.table.values).tolist()
    draws = [{axis: [list(keys) for keys in cells] for axis, cells in model.draws.items()} for model in matrix.models]
    models = [[model.ref, [list(keys) for keys in model.predictions]] for model in matrix.models]
    shares = ranked.shares("performance")
    datasets = [[one.hash, weight] for one, weight in zip(matrix.datasets, shares, strict=True)]
    weights, epsilon = dict(ranked.ranking.weights), ranked.ranking.epsilon
    spread = [[figure and [figure.low, figure.high] for figure in one] for one in _figures(matrix)]
    rate = [ranked.ranking.rate] if ranked.ranking.rate != "mean" else []
    return content_id(
        [
            "uncertainty",
            FORMAT,
            *rate,
            matrix.metric,
            matrix.part.tag,
            models,
            draws,
            datasets,
            values,
            weights,
            epsilon,
            spread,
        ]
    )


def _figures(matrix: BoardMatrix) -> list[Sequence[Figure | None]]:
    return [
        [model.pooled.get(axis.name)] if axis.pooled else model.values[axis.name]
        for model in matrix.models
        for axis in matrix.axes
    ]


def _report(db: Session, blobs: Blobs, ranked: Ranked, tell: ReportProgress | None = None) -> Uncertainty:
    matrix = ranked.board
    resamples = RESAMPLES if len(matrix.models) <= MANY_MODELS else FEWER_RESAMPLES
    samples, used = draw_axes(db, blobs, ranked, resamples, tell)
    drawn = bootstrap_dynascores(ranked.table, samples, choices_of(matrix, ranked.view))
    # Rounded, so that two equal models are never apart by an error of the arithmetic.
    drawn = np.round(drawn, 9)
    ranks = rank_uncertainty(drawn, ranked.ranking.dynascore, confidence=CONFIDENCE)
    scoring = [one for one, weight in zip(matrix.datasets, ranked.weights, strict=True) if weight > 0]
    examples = sum(dataset.rows for dataset in scoring)
    order = [row for row in ranked.order() if ranked.ranking.rank[row] is not None]
    steady = _without_noise(ranked, samples)
    pairs = [_pair(ranked, drawn, steady, ranks, pair, examples) for pair in pairwise(order)]
    first_ones = order if len(order) <= MANY_MODELS else order[:IN_MATRIX]
    return Uncertainty(
        examples,
        resamples,
        [_model(ranked, drawn, ranks, row) for row in order],
        [[round(float(ranks.above[one, other]), 4) for other in first_ones] for one in first_ones],
        pairs,
        sampled=used if 0 < used < examples else None,
    )


def _model(ranked: Ranked, drawn: FloatArray, ranks: RankUncertainty, row: int) -> SureModel:
    return SureModel(
        ranked.board.models[row].ref,
        RankRange(ranked.ranking.rank[row] or 0, ranks.low[row] or 0, ranks.high[row] or 0),
        Estimate(ranked.ranking.dynascore[row], *interval(drawn[:, row], CONFIDENCE)),
        ranks.groups[row] or 0,
    )


def _without_noise(ranked: Ranked, samples: Mapping[str, FloatArray]) -> FloatArray | None:
    """Draw the scores once more as if speed and memory were known exactly; None where they have no part in it."""
    others = {axis: drawn for axis, drawn in samples.items() if axis not in MEASURED}
    if len(others) == len(samples):
        return None
    return np.round(bootstrap_dynascores(ranked.table, others, choices_of(ranked.board, ranked.view)), 9)


def _pair(
    ranked: Ranked,
    drawn: FloatArray,
    steady: FloatArray | None,
    ranks: RankUncertainty,
    pair: tuple[int, int],
    examples: int,
) -> SurePair:
    first, second = pair
    scores = ranked.ranking.dynascore
    difference = (scores[first] or 0.0) - (scores[second] or 0.0)
    apart = drawn[:, first] - drawn[:, second]
    probability = round(float(ranks.above[first, second]), 4)
    return SurePair(
        ranked.board.models[first].ref,
        ranked.board.models[second].ref,
        probability,
        Estimate(difference, *interval(apart, CONFIDENCE)),
        more_examples(probability, examples) if difference else None,
        through_measuring=_only_through_measuring(steady, pair, probability),
    )


def _only_through_measuring(steady: FloatArray | None, pair: tuple[int, int], probability: float) -> bool | None:
    """Whether two neighbours would be told apart if what is measured were known exactly; None without an interval."""
    if steady is None or probability >= SURE:
        return None
    above = float(np.mean(steady[:, pair[0]] > steady[:, pair[1]]))
    return True if above >= SURE else None


def more_examples(probability: float, examples: int) -> int | None:
    """Return how many more examples would show the order of two models, if it is the true one, with a chance of 80 %.

    *probability* is how often that order came out over resamples of *examples*: so many deviations their difference is
    above none, and that grows with the root of the number of examples. Nothing is left to settle where the order
    is sure already, as it is for groups of ties. None where it came out no more often than the opposite, or would need
    more than a thousand times as many.

    >>> more_examples(0.9, 100), more_examples(0.98, 100), more_examples(0.5, 100)
    (378, 0, None)
    """
    if probability >= SURE:
        return 0
    if probability <= 0.5:
        return None
    reach, current = scipy.special.ndtri([SURE, POWER]).sum(), scipy.special.ndtri(probability)
    needed = float(reach / current) ** 2
    return int(np.ceil(examples * (needed - 1))) if needed <= MOST_TIMES else None

"""Which rows of a board wait for runs, for what they wait, and how many runs that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from quintain.core.records.figures import Gap, RunCounts
from quintain.core.task import ABILITY
from quintain.services.board.parts import MatrixModel
from quintain.services.board.ranking import Ranked

COMING = frozenset({"waiting", "held"})  # gaps that a run will fill


def awaits_only_runs(ranked: Ranked, row: int, named: bool) -> bool:
    """Whether a row without a rank lacks nothing but what runs will bring.

    Where the class of machines was just *named*, measurements from elsewhere are to be made again, queued or not.
    """
    if ranked.ranking.rank[row] is not None:
        return False
    if ranked.board.metric == ABILITY and not any(model.pooled.get("performance") for model in ranked.board.models):
        return True
    model = ranked.board.models[row]
    gaps = list(missing_figures(ranked, model))
    if any(why.kind not in {*COMING, "machine"} for _, why in gaps):
        return False
    return bool(gaps) and all(why.kind in COMING or named or model.runs[place].waiting for place, why in gaps)


def missing_figures(ranked: Ranked, model: MatrixModel) -> Iterator[tuple[int, Gap]]:
    """List what a row lacks where it counts, with the place of the data set."""
    for axis, cells in model.gaps.items():
        if ranked.ranking.weights[axis] > 0:
            for index, share in enumerate(ranked.shares(axis)):
                why = cells[index]
                if share > 0 and why is not None:
                    yield index, why


def count_pending(ranked: Ranked, rows: Sequence[int]) -> RunCounts:
    """Count the runs that the next ranking needs; what is to be measured elsewhere is one to come, queued or not."""
    total = RunCounts()
    for row in rows:
        model = ranked.board.models[row]
        unqueued = {place for place, why in missing_figures(ranked, model) if why.kind in {"machine", "held"}}
        for index, weight in enumerate(ranked.weights):
            if weight > 0:
                runs = model.runs[index]
                more = 1 if index in unqueued and not runs.waiting else 0
                total += replace(runs, done=runs.done - more, waiting=runs.waiting + more)
    return total

"""Solved? Models against people on the tests of released rounds.

Figures follow facts: `catch_up` compares every finished run on a released test with the votes behind the test's labels,
stores what it finds, and tells the owners once when a model is not inferior to people. What pages show is read from
there. Whether a round is solved is decided by the margin as it is now.

Only what the platform ran itself counts, and only on hidden labels: what can be read can be learned. A second release
of the same items may show what the first one hides, so that nothing is signalled from then on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.errors import BadInput
from quintain.core.people import Actor
from quintain.core.records.base import decode, plain
from quintain.core.records.figures import Estimate
from quintain.core.records.wheel import Margin, ModelStanding, RoundParity
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.core.wheel import MARGIN, ParityState
from quintain.data.label_view import votes_of
from quintain.engine.loops import Each, straight
from quintain.services.access import audit
from quintain.services.access.notify import notify
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.evaluate.results.stored_predictions import read_predictions
from quintain.services.tasks.definitions import find_row, get_task
from quintain.services.validate.console.manage import find_validation
from quintain.stats.bootstrap import IntArray
from quintain.stats.fitness import LEAST_EXAMPLES
from quintain.stats.parity import parity
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.access import people
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.wheel import standings as queries
from quintain.store.queries.wheel.standings import Due, ReleasedTest, StandingRow
from quintain.store.tables import ParityMargin

MOST_MARGIN = 0.5


def margin_of(db: Session, task: str) -> float:
    """Return how much lower than that of people a model's macro F1 may be."""
    margin = queries.margin(db, task)
    return MARGIN if margin is None else margin


def set_margin(db: Session, actor: Actor, task: str, margin: float) -> Margin:
    """Set the margin of a task; owners may. What is solved is decided anew, also of earlier rounds."""
    row = find_row(db, task)
    require_owner(actor, task)
    if not 0 <= margin <= MOST_MARGIN:
        raise BadInput(
            "A margin of {margin:g} is not between 0 and {most:g}.",
            margin=margin,
            most=MOST_MARGIN,
            remedy="It is a difference of two macro F1, such as 0.02.",
        )
    with transaction(db):
        if margin != margin_of(db, task):
            db.add(ParityMargin(task_id=row.id, margin=margin, created_by=actor.user_id))
            audit.record(db, actor, "task.margin", task, margin=margin)
    return Margin(task, margin)


def solved(db: Session, actor: Actor, ref: str) -> RoundParity:
    """Return whether the round (or other validation) *ref* is solved, with the evidence; owners only."""
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    margin = margin_of(db, validation.task.name)
    tests = queries.released_tests(db, validation.task.name, validation.name)
    if not tests:
        return RoundParity(ref, None, True, margin, ParityState.UNRELEASED, None, [], [], 0)
    rows = queries.of_releases(db, [tests[0].release_id]).get(tests[0].release_id, [])
    return parity_of(tests[0], rows, margin, waiting=queries.waiting(db, tests[0].version_id))


def solved_rounds(db: Session, actor: Actor, task: str) -> list[RoundParity]:
    """List the rounds of a task that are solved and that no round aimed at a model which solved them follows."""
    require_owner(actor, task)
    margin = margin_of(db, task)
    tests = queries.released_tests(db, task)
    stored = queries.of_releases(db, [test.release_id for test in tests])
    parities = [parity_of(test, stored.get(test.release_id, []), margin) for test in tests]
    aimed = {model for info in list_rounds(db, actor, task) for model in info.spec.targets.models}
    return [one for one in parities if one.solved_by and not aimed.intersection(one.solved_by)]


def parity_of(test: ReleasedTest, rows: Sequence[StandingRow], margin: float, *, waiting: int = 0) -> RoundParity:
    """Return how a round stands by the comparisons that are stored of it."""
    models = [standing_of(test, row, margin) for row in rows]
    models.sort(key=lambda compared_model: (-(compared_model.score.value or 0.0), compared_model.model))
    return RoundParity(
        round=test.ref,
        test=test.test,
        hidden=_keeps_labels(test),
        margin=margin,
        state=models[0].state if models else ParityState.WAITING.value,
        human=models[0].human if models else None,
        models=models,
        solved_by=[model.model for model in models if model.state == ParityState.SOLVED],
        waiting=waiting,
    )


def standing_of(test: ReleasedTest, stored: StandingRow, margin: float) -> ModelStanding:
    """Return a stored comparison, and what it says by *margin*."""
    figures = {name: decode(Estimate, stored.row.figures[name]) for name in ("score", "human", "difference")}
    return ModelStanding(
        model=f"{test.task}/{stored.model}@{stored.version}",
        items=stored.row.items,
        **figures,
        state=_state(test, stored.row.items, figures["difference"], margin).value,
    )


def _state(test: ReleasedTest, items: int, difference: Estimate, margin: float) -> ParityState:
    if not _keeps_labels(test):
        return ParityState.SHOWN
    if difference.low is None or difference.high is None:
        return ParityState.TOO_FEW
    if difference.high < -margin:  # few items are enough to see a model that is far behind
        return ParityState.OPEN
    if items < LEAST_EXAMPLES:
        return ParityState.TOO_FEW
    return ParityState.SOLVED if difference.low > -margin else ParityState.UNDECIDED


def _keeps_labels(test: ReleasedTest) -> bool:
    return test.hidden and test.releases == 1


def catch_up(db: Session, blobs: Blobs, each: Each = straight) -> int:
    """Compute what is missing and tell owners what is new; give how many figures were computed.

    Any number of processes may do so at the same time. Nothing is computed inside a transaction that writes. *each*
    says what becomes of a figure that cannot be computed.
    """
    missing = queries.due(db)
    tests = {test.release_id: test for test in queries.released_tests(db)} if missing else {}
    computed = each(
        missing,
        lambda due: _compute(db, blobs, tests[due.release_id], due),
        name=lambda due: f"release {due.release_id}, model version {due.model_version_id}",
        undo=db.rollback,
    )
    _signal(db, each)
    return computed


def _compute(db: Session, blobs: Blobs, test: ReleasedTest, due: Due) -> None:
    task = get_task(db, test.task)
    rows = cell_queries.rows(
        db, model_version_id=due.model_version_id, dataset_version_id=test.version_id, variant=PLAIN
    )
    predictions = read_predictions(blobs, rows[0]).select("id", "prediction")
    examples = pl.read_parquet(blobs.path(test.blob)).filter(pl.col("answer").is_not_null())
    db.rollback()  # hold no connection while resampling
    table = examples.join(predictions, on="id", how="left", maintain_order="left")
    label, answers = (_codes(task, table[name]) for name in ("answer", "prediction"))
    compared = parity(label, _votes(task, table["meta"]), answers, len(task.label_names))
    figures = {"score": compared.model, "human": compared.human, "difference": compared.difference}
    with transaction(db):
        lock(db, f"standings of release {due.release_id}")
        queries.put(db, due, compared.items, {name: plain(value) for name, value in figures.items()}, now())


def _codes(task: Task, answers: pl.Series) -> IntArray:
    codes = {name: code for code, name in enumerate(task.label_names)}
    return np.array([codes.get(str(answer), -1) for answer in answers.to_list()], dtype=np.int64)


def _votes(task: Task, meta: pl.Series) -> IntArray:
    """Count the votes on each item: the task's labels first, then its extra ones."""
    labels = task.judgement_labels
    votes_by_item = [votes_of(text) for text in meta.to_list()]
    return np.array([[int(votes.get(name, 0)) for name in labels] for votes in votes_by_item], dtype=np.int64).reshape(
        len(votes_by_item), len(labels)
    )


def _signal(db: Session, each: Each) -> None:
    """Tell the owners of every model that does as well as people and that they have not been told about."""
    widest = max(MARGIN, queries.widest_margin(db) or 0.0)
    waiting = queries.unsignalled(db, -widest, LEAST_EXAMPLES)
    if not waiting:
        return
    tests = {test.release_id: test for test in queries.released_tests(db)}

    def tell(release_id: int) -> None:
        test = tests[release_id]
        margin = margin_of(db, test.task)
        for row in waiting[release_id]:
            comparison = standing_of(test, row, margin)
            if comparison.state == ParityState.SOLVED:
                _tell(db, test, row, comparison, margin)

    each(list(waiting), tell, name=lambda release_id: f"release {release_id}", undo=db.rollback)


def _tell(db: Session, test: ReleasedTest, stored: StandingRow, comparison: ModelStanding, margin: float) -> None:
    low, score, human = comparison.difference.low or 0.0, comparison.score.value or 0.0, comparison.human.value or 0.0
    text = Text(
        "{ref} may be solved: {model} reaches a macro F1 of {score:.3f} on its test, people {human:.3f}; "
        "the difference is at least {low:+.3f} (95 %), above −{margin:g}. Start the next round with this model?",
        ref=test.ref,
        model=comparison.model,
        score=score,
        human=human,
        low=low,
        margin=margin,
    )
    with transaction(db):
        lock(db, f"standings of release {test.release_id}")
        db.refresh(stored.row)
        if stored.row.signalled_at is None:
            stored.row.signalled_at = now()
            for user in people.owners(db, test.task):
                notify(db, user, "round.solved", text, f"/tasks/{test.task}/timeline")

"""The timeline of a task: its rounds in order, with vMER, and what people and models reach on each.

It is put together from what reviews and comparisons have stored, so that it costs the same however much was judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.core.records.figures import Estimate
from quintain.core.records.wheel import RoundParity, Timeline, TimelineAnswers, TimelineRound, TimelineScore
from quintain.core.wheel import ParityState
from quintain.services.access.concealing import Conceal
from quintain.services.board.parts import rest_of
from quintain.services.collect.rounds.manage import RoundInfo, list_rounds
from quintain.services.evaluate.results.dataset_results import FEWEST_SHOWN
from quintain.services.models.registry import list_names
from quintain.services.tasks.definitions import find_row
from quintain.services.wheel.standings import margin_of, parity_of
from quintain.stats.workers import validated_share, wilson_share
from quintain.store.queries.board import boards
from quintain.store.queries.wheel import standings as queries
from quintain.store.queries.wheel.standings import ReleasedTest, StandingRow
from quintain.store.tables import ValidationReview


def timeline(db: Session, actor: Actor, task: str) -> Timeline:
    """Return the timeline of *task* as *actor* may see it: drafts and private models only to those they are for."""
    find_row(db, task)
    margin = margin_of(db, task)
    rounds = {str(info.number): info for info in list_rounds(db, actor, task)}
    tests = {test.name: test for test in queries.released_tests(db, task)}
    stored = queries.of_releases(db, [test.release_id for test in tests.values()])
    reviews = dict(boards.newest_reviews(db, task))
    seen = {name for _, name in list_names(db, actor, task)}
    is_owner = actor.has(RoleName.OWNER, task)
    shown_rounds = []
    for name, info in rounds.items():  # what is judged under a name of its own, such as old labels, is no round
        parity = _parity(tests.get(name), stored, margin, seen, is_owner=is_owner)
        shown_rounds.append(_round(info, reviews.get(name), parity, seen))
    shown = Timeline(task, margin, sorted(shown_rounds, key=lambda row: (row.at, row.number)))
    return Conceal(db, actor, task)(shown)


def _parity(
    test: ReleasedTest | None,
    stored: Mapping[int, Sequence[StandingRow]],
    margin: float,
    seen: set[str],
    *,
    is_owner: bool,
) -> RoundParity | None:
    """Return how a round stands, without what would tell about single hidden labels or private models."""
    if test is None:
        return None
    rows = stored.get(test.release_id, [])
    whole = parity_of(test, [row for row in rows if row.model in seen], margin)
    if is_owner or not test.hidden or not rows or rows[0].row.items >= FEWEST_SHOWN:
        return whole
    return replace(whole, models=[], human=None, solved_by=[], state=ParityState.TOO_FEW.value)


def _round(
    info: RoundInfo, review: ValidationReview | None, parity: RoundParity | None, seen: set[str]
) -> TimelineRound:
    counts = review.summary.get("vmer") if review else None
    collected_, validated, errors = counts["all"] if counts else (0, 0, 0)
    return TimelineRound(
        ref=info.ref,
        number=info.number,
        title=info.spec.title,
        at=info.created_at,
        targets=_targets(info, counts),
        collected=collected_,
        validated=validated,
        vmer=validated_share(errors, validated, collected_) if counts and counts["models"] else None,
        test=parity.test if parity else None,
        items=max((model.items for model in parity.models), default=0) if parity else 0,
        human=parity.human if parity else None,
        models=[TimelineScore(model.model, model.score) for model in parity.models] if parity else [],
        best=parity.models[0].model if parity and parity.models else None,
        state=parity.state if parity else ParityState.UNRELEASED.value,
        solved_by=parity.solved_by if parity else [],
        stage=info.state.value,
        answered=_answered(counts, seen),
        agreement=_agreement(review) if counts and counts["models"] else None,
    )


def _answered(counts: Mapping[str, Mapping[str, Sequence[int]]] | None, seen: set[str]) -> list[TimelineAnswers]:
    """Return how the models that may be seen did on what was collected."""
    answers = []
    for model, (n, validated, errors) in sorted(counts["models"].items()) if counts else ():
        rate = validated_share(errors, validated, n)
        if model.rpartition("/")[2].partition("@")[0] in seen and rate.value is not None:
            answers.append(TimelineAnswers(model, n, rest_of(rate)))
    return answers


def _agreement(review: ValidationReview | None) -> Estimate | None:
    """Return how often one judge says what most of the others say, as the board does."""
    compared = review.summary.get("compared", 0) if review else 0
    return wilson_share(round(review.summary["agreement"] * compared), compared) if review and compared else None


def _targets(info: RoundInfo, counts: Mapping[str, Mapping[str, Sequence[int]]] | None) -> list[str]:
    """Name the models that answered what was judged or, before anything was, those that the round is aimed at."""
    if counts and counts["models"]:
        return sorted(counts["models"])
    return list(info.spec.targets.models)

"""vMER on the board: what the newest review of each round found, and one figure over all rounds for each model.

Reviews keep the counts, so that a board costs the same however many judgements there are, and a frozen one shows what
was known when it was frozen.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from quintain.core.records.figures import Figure
from quintain.core.toml import parse_toml
from quintain.services.board.parts import MatrixRound, RoundRate
from quintain.services.models.registry import ModelInfo
from quintain.stats.workers import validated_share, wilson_share
from quintain.store.queries.board import boards
from quintain.store.queries.board import boards as board_queries
from quintain.store.tables import ValidationReview


def rounds_of(
    db: Session, task: str, shown: Sequence[ModelInfo], moment: datetime | None = None
) -> tuple[MatrixRound, ...]:
    """List the validated rounds of *task*, oldest first, with the rates of the models that are *shown*."""
    versions = {version.ref for info in shown for version in info.versions if version.withdrawn_at is None}
    return tuple(
        _round(f"{task}/{name}", review, versions)
        for name, review in boards.newest_reviews(db, task, moment)
        if review.summary.get("vmer", {}).get("models")
    )


def opened_rounds(db: Session, task: str, moment: datetime | None = None) -> dict[str, bool]:
    """Return which rounds of *task* were opened by *moment*, by number, and whether people still write in each.

    Those that nobody finds in lists are left out.
    """
    return {
        str(number): closed_at is None or (moment is not None and closed_at > moment)
        for number, closed_at, toml in board_queries.opened_rounds(db, task, moment)
        if parse_toml(toml).get("listed", True)
    }


def _round(ref: str, review: ValidationReview, versions: set[str]) -> MatrixRound:
    counts, compared = review.summary["vmer"], review.summary["compared"]
    collected, validated, _ = counts["all"]
    return MatrixRound(
        ref=ref,
        at=review.created_at,
        collected=collected,
        validated=validated,
        human=wilson_share(round(review.summary["agreement"] * compared), compared) if compared else None,
        models=tuple(
            RoundRate(model, answered, errors, validated_share(errors, validated, answered))
            for model, (answered, validated, errors) in sorted(counts["models"].items())
            if model in versions
        ),
    )


def pooled_rate(rounds: Sequence[MatrixRound], model: str, scale: float) -> Figure | None:
    """Return a model version's vMER over all validated rounds that it answered in; None where there is none."""
    rated = [
        (one, rate) for one in rounds for rate in one.models if rate.model == model and rate.vmer.value is not None
    ]
    if not rated:
        return None
    collected = sum(rate.collected for _, rate in rated)
    rate = wilson_share(sum(rate.errors for _, rate in rated), collected)
    if rate.value is None:
        return None
    low, high = (None if end is None else end * scale for end in (rate.low, rate.high))
    at = max(one.at for one, _ in rated).isoformat(timespec="seconds")
    return Figure(rate.value * scale, low, high, collected, at)

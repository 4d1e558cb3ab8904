"""What asking adaptively would save in a validation and what it would risk, said before it is switched on."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.validate import AdaptiveForecast, AdaptiveSetting
from quintain.core.validation import Adaptive, ValidationPolicy
from quintain.services.access.permissions import require_owner
from quintain.services.validate.console.manage import find_validation
from quintain.services.validate.policy import parse_policy
from quintain.services.validate.quality.judge_figures import Evidence, evidence_of, gather, measure
from quintain.services.validate.quality.validation_figures import is_large, people_figures
from quintain.services.validate.types import ValidationInfo
from quintain.stats.adaptive import Stopping, foresee, replay
from quintain.stats.bootstrap import FloatArray
from quintain.store.queries.validate import items
from quintain.store.queries.validate import judgements as queries

DRAWN_ITEMS = 2_000  # of a large validation: a share of them is known to two points
LOOKED_AT = 20_000  # items among which those are drawn that have all their judgements
ENOUGH_ITEMS = 30  # with all their judgements, before what was judged here says more than a model


def foresee_adaptive(
    db: Session, actor: Actor, ref: str, policy_toml: str | None = None, *, file: str | None = None
) -> AdaptiveForecast:
    """Return what the policy of a validation, or another one, would save by asking adaptively, and risk (owners).

    Where the policy does not ask adaptively, it is said for the defaults. Of much that was judged, some items are
    drawn and played again: nobody waits for all of it to be read.
    """
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    policy = validation.policy if policy_toml is None else parse_policy(policy_toml, file=file)
    adaptive = policy.adaptive or Adaptive(least=policy.minimum)
    ways = _ways(policy, adaptive)
    classes = max(len(validation.task.judgement_labels), 2)
    drawn = is_large(db, validation)
    evidence, accuracy = _drawn(db, validation, policy.judgements) if drawn else _all(db, validation)
    replays = [replay(evidence.counted, accuracy, way, seed=validation.seed) for way in ways]
    played = [replayed for replayed in replays if replayed is not None and replayed.items >= ENOUGH_ITEMS]
    results = played or [foresee(classes, adaptive.accuracy, way, seed=validation.seed) for way in ways]
    settings = [
        AdaptiveSetting(
            way.minimum,
            way.least,
            way.threshold,
            way.most,
            place == 0,
            **{name: share for name, share in asdict(result).items() if name != "items"},
        )
        for place, (way, result) in enumerate(zip(ways, results, strict=True))
    ]
    return AdaptiveForecast(
        validation=ref,
        switched_on=policy.adaptive is not None,
        basis="judgements" if played else "model",
        items=results[0].items,
        accuracy=None if played else adaptive.accuracy,
        settings=settings,
        drawn=drawn and bool(played),
    )


def _all(db: Session, validation: ValidationInfo) -> tuple[Evidence, FloatArray]:
    evidence = gather(db, validation)
    return evidence, measure(evidence).fit.accuracy


def _drawn(db: Session, validation: ValidationInfo, most: int) -> tuple[Evidence, FloatArray]:
    """Read the judgements of some items that have *most* of them, and how able their judges are by all they judged."""
    ids = items.draw_judged(db, validation.id, least=most, number=DRAWN_ITEMS, among=LOOKED_AT)
    table = queries.table(db, validation.id, ids)
    aside, anew = queries.set_aside(db, validation.id), queries.begun_anew(db, validation.id)
    evidence = evidence_of(table, aside, validation.task.judgement_labels, anew)
    figures = people_figures(db, validation).get("judges", {})
    columns = (figures.get(name, ()) for name in ("user", "right", "wrong"))
    known = {user: right / (right + wrong) for user, right, wrong in zip(*columns, strict=True)}
    fitted = zip(evidence.users.tolist(), measure(evidence).fit.accuracy.tolist(), strict=True)
    able = [known.get(user, accuracy) for user, accuracy in fitted]
    return evidence, np.array(able, dtype=np.float64)


def _ways(policy: ValidationPolicy, adaptive: Adaptive) -> list[Stopping]:
    """Return the setting of the policy first, then the one that saves more and the one that risks nothing."""
    over_half = policy.judgements // 2 + 1
    pairs = [(policy.minimum, adaptive.least), (min(2, policy.judgements), 2), (over_half, over_half)]
    return [Stopping(policy.judgements, *pair, adaptive.threshold) for pair in dict.fromkeys(pairs)]

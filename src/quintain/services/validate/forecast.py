"""What asking adaptively would save in a validation and what it would risk, said before it is switched on."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.validate import AdaptiveForecast, AdaptiveSetting
from quintain.core.validation import Adaptive, ValidationPolicy
from quintain.services.access.permissions import require_owner
from quintain.services.validate.judge_figures import gather, measure
from quintain.services.validate.policy import parse_policy
from quintain.services.validate.validations import find
from quintain.stats.adaptive import Stopping, foresee, replay

ENOUGH_ITEMS = 30  # with all their judgements, before what was judged here says more than a model


def foresee_adaptive(
    db: Session, actor: Actor, ref: str, policy_toml: str | None = None, *, file: str | None = None
) -> AdaptiveForecast:
    """Say what the policy of a validation, or another one, would save by asking adaptively, and what it would risk.

    Where the policy does not ask adaptively, it is said for the defaults.
    """
    validation = find(db, ref)
    require_owner(actor, validation.task.name)
    policy = validation.policy if policy_toml is None else parse_policy(policy_toml, file=file)
    adaptive = policy.adaptive or Adaptive(least=policy.minimum)
    ways = _ways(policy, adaptive)
    classes = max(len(validation.task.judgement_labels), 2)
    evidence = gather(db, validation)
    accuracy = measure(evidence).fit.accuracy
    found = [replay(evidence.counted, accuracy, way, seed=validation.seed) for way in ways]
    played = [one for one in found if one is not None and one.items >= ENOUGH_ITEMS]
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
    )


def _ways(policy: ValidationPolicy, adaptive: Adaptive) -> list[Stopping]:
    """Give the setting of the policy first, then the one that saves more and the one that risks nothing."""
    over_half = policy.judgements // 2 + 1
    pairs = [(policy.minimum, adaptive.least), (min(2, policy.judgements), 2), (over_half, over_half)]
    return [Stopping(policy.judgements, *pair, adaptive.threshold) for pair in dict.fromkeys(pairs)]

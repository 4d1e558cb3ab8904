"""What asking adaptively would save in a validation and what it would risk, said before it is switched on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.validation import Adaptive, ValidationPolicy
from quintain.services.access.permissions import require_owner
from quintain.services.validate.judge_figures import measured
from quintain.services.validate.policy import parse_policy
from quintain.services.validate.validations import find
from quintain.stats.adaptive import Replay, Stopping, foresee, replay

ENOUGH_ITEMS = 30  # with all their judgements, before what was judged here says more than a model


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to set `minimum` and `adaptive.least`, with what came of it; *chosen* is that of the policy."""

    minimum: int
    least: int
    threshold: float
    judgements: int
    chosen: bool
    result: Replay

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        own = {name: getattr(self, name) for name in ("minimum", "least", "threshold", "judgements", "chosen")}
        return own | {name: value for name, value in asdict(self.result).items() if name != "items"}


@dataclass(frozen=True, slots=True)
class AdaptiveForecast:
    """The settings that could be taken. It rests on *items* judged here, or on a model of judges of one *accuracy*."""

    ref: str
    switched_on: bool
    items: int
    accuracy: float | None
    settings: tuple[Setting, ...]

    @property
    def source(self) -> str:
        """What it rests on."""
        if self.accuracy is None:
            return f"{self.items} items of this validation, played again"
        return f"a model: judges who are right on {self.accuracy:.0%}, and err evenly"

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {
            "validation": self.ref,
            "switched_on": self.switched_on,
            "from": "judgements" if self.accuracy is None else "model",
            "items": self.items,
            "accuracy": self.accuracy,
            "settings": [one.as_dict() for one in self.settings],
        }


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
    known = measured(db, validation)
    found = [replay(known.evidence.counted, known.figures.fit.accuracy, way, seed=validation.seed) for way in ways]
    played = [one for one in found if one is not None and one.items >= ENOUGH_ITEMS]
    results = played or [foresee(classes, adaptive.accuracy, way, seed=validation.seed) for way in ways]
    settings = [
        Setting(way.minimum, way.least, way.threshold, way.most, place == 0, result)
        for place, (way, result) in enumerate(zip(ways, results, strict=True))
    ]
    accuracy = None if played else adaptive.accuracy
    return AdaptiveForecast(ref, policy.adaptive is not None, results[0].items, accuracy, tuple(settings))


def _ways(policy: ValidationPolicy, adaptive: Adaptive) -> list[Stopping]:
    """Give the setting of the policy first, then the one that saves more and the one that risks nothing."""
    over_half = policy.judgements // 2 + 1
    pairs = [(policy.minimum, adaptive.least), (min(2, policy.judgements), 2), (over_half, over_half)]
    return [Stopping(policy.judgements, *pair, adaptive.threshold) for pair in dict.fromkeys(pairs)]

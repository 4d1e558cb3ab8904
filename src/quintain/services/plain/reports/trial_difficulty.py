"""How hard the items of each arm are for the models that answered all of them, by item response theory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from quintain.core.records.report import ReportSection
from quintain.data.trials import TrialArm, TrialItem
from quintain.services.plain.reports.irt import study_responses
from quintain.services.plain.reports.irt_report import difficulty_section
from quintain.stats.irt.responses import Responses

LEAST_MODELS = 3
LEAST_ITEMS = 20


def arms_difficulty(arms: Sequence[TrialArm], seed: int, commands: Sequence[str]) -> ReportSection | None:
    """Return how hard the items of each arm are; None where there are too few models or items to say so."""
    rows = [(arm.name, item, label) for arm in arms for item in arm.items if (label := _label(arm, item)) is not None]
    common = [set(item.predictions) for _, item, _ in rows]
    models = sorted(set.intersection(*common)) if common else []
    if len(models) < LEAST_MODELS or len(rows) < LEAST_ITEMS:
        return None
    right = [[float(item.predictions[model] == label) for _, item, label in rows] for model in models]
    names = [f"{arm}:{item.name}" for arm, item, _ in rows]
    tests = [arm for arm, _, _ in rows]
    responses = Responses(models, names, np.array(right), np.ones(len(models)), tests)
    return difficulty_section(study_responses(responses, "2pl", seed=seed), list(commands))


def _label(arm: TrialArm, item: TrialItem) -> str | None:
    """Return what most votes say an item's answer is; None without a majority, and where most call it invalid."""
    votes = [label for _, label in item.judgements]
    if not votes:
        return None
    if arm.writer_votes and item.label is not None:
        votes.append(item.label)
    label, number = Counter(votes).most_common(1)[0]
    return label if 2 * number > len(votes) and label != arm.invalid else None

"""How well people do on what is released, by their own judgements: Table 6 of the DynaSent paper (2021)."""

from __future__ import annotations

import numpy as np

from quintain.core.example import Role
from quintain.core.records.figures import Estimate
from quintain.core.records.release import ReleaseHuman
from quintain.services.plain.files.splits import Plan
from quintain.services.release.candidates import Candidates
from quintain.stats.agreement import agreement_of_counts
from quintain.stats.bootstrap import IntArray
from quintain.stats.human import SLICES, Spread, synthetic_annotators
from quintain.stats.judgements import NONE, Judgements

RESAMPLES = 200
SPLITS = (Role.DEV.value, Role.TEST.value, Role.TRAIN.value)
UNKNOWN = "nobody was scored"


def human_of(plan: Plan[Candidates]) -> list[ReleaseHuman]:
    """Estimate how well people do on each split, those that are tested on first, and at last over all of them."""
    places = [(name, plan.of(name)) for name in SPLITS]
    rows = [_on(plan.candidates, name, at) for name, at in places if len(at)]
    return [*rows, _on(plan.candidates, "", np.concatenate([at for _, at in places]))] if rows else []


def _on(candidates: Candidates, split: str, places: IntArray) -> ReleaseHuman:
    votes, gold = _votes_of(candidates, places)
    labelled = (gold != NONE) & (votes.sizes() > 0)
    against = (gold[votes.item] != NONE) & (votes.label != gold[votes.item])
    judged = np.unique(votes.worker[gold[votes.item] != NONE])
    scored = split in (Role.DEV.value, Role.TEST.value) and bool(labelled.any())
    whole = synthetic_annotators(votes, gold, slices=SLICES[:1])[SLICES[0][0]] if scored else None
    counts = votes.counts()
    return ReleaseHuman(
        split=split,
        items=int(labelled.sum()),
        annotators=whole.annotators if whole else 0,
        f1={name: _estimate(scores["f1"]) for name, scores in whole.classes.items()} if whole else {},
        average=_estimate(whole.macro["f1"]) if whole else Estimate(None, reason=UNKNOWN),
        fleiss_kappa=agreement_of_counts(counts[counts.any(axis=1)], resamples=RESAMPLES)["fleiss_kappa"],
        workers=len(judged),
        never_disagreed=len(np.setdiff1d(judged, votes.worker[against])),
    )


def _votes_of(candidates: Candidates, places: IntArray) -> tuple[Judgements, IntArray]:
    """Give the kept votes on the items at *places*, and the label of each of these items as a class of them."""
    voted = candidates.voted
    sizes = voted.starts[places + 1] - voted.starts[places]
    ends = np.cumsum(sizes)
    rows = np.repeat(voted.starts[places] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
    item = np.repeat(np.arange(len(places)), sizes)
    known = voted.label[rows] != NONE
    names = [f"{at:09d}" for at in range(len(places))]  # in their order already
    votes = Judgements.from_codes(
        item[known], voted.judge[rows][known], voted.label[rows][known], names, voted.judges, candidates.labels
    )
    code = np.array([*(votes.classes.index(name) for name in candidates.labels), NONE])
    return votes, code[candidates.label[places]]


def _estimate(spread: Spread) -> Estimate:
    return Estimate(spread.value, spread.low, spread.high, None if spread.value is not None else UNKNOWN)

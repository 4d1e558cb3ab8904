"""The report of a release: a number for every property, counted from the items in each of its data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from quintain.core.example import Role
from quintain.core.records.figures import Estimate
from quintain.core.records.release import (
    AttributeGain,
    ReleaseExample,
    ReleaseHuman,
    ReleasePeople,
    ReleaseReport,
    ReleaseSplit,
)
from quintain.services.plain.files.splits import Plan
from quintain.services.release.candidates import Candidates
from quintain.services.release.tables import dataset_name, flags_of
from quintain.stats.agreement import agreement_of_counts
from quintain.stats.bootstrap import IntArray
from quintain.stats.by_class import class_f1
from quintain.stats.human import SLICES, Spread, synthetic_annotators
from quintain.stats.judgements import NONE, Judgements

RESAMPLES = 200
JUDGED_ORDER = (Role.DEV.value, Role.TEST.value, Role.TRAIN.value)
UNKNOWN = "nobody was scored"


def human_of(plan: Plan[Candidates]) -> list[ReleaseHuman]:
    """Estimate how well people do on each split, those that are tested on first, and at last over all of them."""
    places = [(name, plan.of(name)) for name in JUDGED_ORDER]
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
    """Return the kept votes on the items at *places*, and the label of each of these items as a class of them."""
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


SHORT = 80  # characters of a text that is shown as an example
SHOWN = 2  # examples of each answer and label
SPLITS = (Role.TRAIN.value, Role.DEV.value, Role.TEST.value)


def report_on(
    plan: Plan[Candidates], people: ReleasePeople | None = None, answers: Mapping[str, str] | None = None
) -> ReleaseReport:
    """Count what a plan would release; *people* are those who judged it, *answers* those of the datasheet."""
    candidates = plan.candidates
    splits = [_split(plan, name) for name in SPLITS if len(plan.of(name))]
    homes: dict[int, set[str]] = {}
    for code, split in zip(candidates.writer.tolist(), plan.split, strict=True):
        if code >= 0 and split is not None:
            homes.setdefault(code, set()).add(split)
    left_out = {"waiting for judgements": candidates.waiting, **plan.left_out}
    return ReleaseReport(
        validation=candidates.validation.ref,
        items=len(candidates),
        model=plan.model,
        splits=splits,
        gains=[
            AttributeGain(name, gain.accuracy, gain.chance, gain.gain, name in plan.even)
            for name, gain in plan.gains.items()
        ],
        shared_writers=sum(len(splits) > 1 for splits in homes.values()),
        left_out={reason: count for reason, count in left_out.items() if count},
        is_proved=plan.is_proved,
        examples=_examples(plan, [split.split for split in splits if not split.hidden]),
        people=people,
        human=human_of(plan),
        answers=dict(answers or {}),
    )


def _examples(plan: Plan[Candidates], splits: list[str]) -> list[ReleaseExample]:
    """Draw short texts for every answer of the model and every label, from *splits*, whose labels anybody may read."""
    candidates = plan.candidates
    if not plan.model:
        return []
    texts = candidates.texts
    rng = np.random.default_rng(plan.spec.seed)
    short_texts = [
        at for at in rng.permutation(len(texts)).tolist() if plan.split[at] in splits and 0 < len(texts[at]) <= SHORT
    ]
    cells: dict[tuple[int, int], list[int]] = {}
    for at in short_texts:
        cell = cells.setdefault((int(plan.said[at]), int(candidates.label[at])), [])
        if len(cell) < SHOWN:
            cell.append(at)
    known = [*candidates.labels, None]
    return [
        ReleaseExample(
            split=plan.split[at] or "",
            predicted=candidates.classes[said],
            label=known[label],
            text=texts[at],
            votes=dict(zip(candidates.labels, candidates.votes[at].tolist(), strict=True)),
        )
        for said in range(len(candidates.classes))
        for label in [*range(len(candidates.labels)), NONE]
        for at in cells.get((said, label), ())
    ]


def _split(plan: Plan[Candidates], name: str) -> ReleaseSplit:
    candidates, places = plan.candidates, plan.of(name)
    label = candidates.label[places]
    held_out = name != Role.TRAIN.value
    counts = np.bincount(label[label != NONE], minlength=len(candidates.labels))
    share = candidates.share[places]
    writers = candidates.writer[places]
    return ReleaseSplit(
        split=name,
        dataset=dataset_name(plan, name),
        role=name,
        hidden=name == Role.TEST.value and plan.spec.hidden,
        rows=len(places),
        labels=dict(zip(candidates.labels, counts.tolist(), strict=True)),
        undecided=int((label == NONE).sum()),
        votes=dict(zip(candidates.labels, candidates.votes[places].sum(axis=0).tolist(), strict=True)),
        flags=dict(sorted(Counter(flag for at in places.tolist() for flag in flags_of(plan, at)).items())),
        f1=class_f1(candidates.classes, label, plan.said[places]) if plan.model else {},
        agreement=float(share.min()) if held_out else None,
        writers=len(np.unique(writers[writers >= 0])),
        even={attribute: _table(plan, attribute, places) for attribute in plan.even} if held_out else {},
    )


def _table(plan: Plan[Candidates], attribute: str, places: IntArray) -> Mapping[str, Mapping[str, int]]:
    """Count the values of an attribute by class; "–" stands for none."""
    candidates = plan.candidates
    values = candidates.values(attribute)
    counts: dict[str, dict[str, int]] = {}
    for at in places.tolist():
        row = counts.setdefault(values[at] or "–", dict.fromkeys(candidates.classes, 0))
        row[candidates.classes[candidates.label[at]]] += 1
    return dict(sorted(counts.items()))

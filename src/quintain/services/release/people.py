"""Who made the labels of a release: judges, those who were unqualified, and what their staying would have changed."""

from __future__ import annotations

from collections import Counter

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.records.release import ReleasePeople
from quintain.services.release.candidates import Candidates
from quintain.services.validate.console.item_rules import rules_of
from quintain.services.validate.quality.judge_figures import Evidence, evidence_of
from quintain.services.validate.quality.label_methods import label_items
from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import NONE
from quintain.store.queries.validate import judgements as queries


def people_of(db: Session, candidates: Candidates) -> ReleasePeople:
    """Count the people behind a release."""
    validation = candidates.validation
    evidence = candidates.evidence
    standings = queries.standings(db, validation.id)
    gone = [row for row in standings.values() if not row.qualified]
    table = evidence.table
    normal = table.gold == ""
    compared, other, lost, gained = _had_they_stayed(db, candidates)
    times = table.seconds[normal & ~np.isnan(table.seconds)]
    policy = validation.policy
    return ReleasePeople(
        writers=len(candidates.writers),
        judges=len(np.unique(candidates.voted.judge)),
        everybody=len(np.unique(table.user[normal])),
        given=int(normal.sum()),
        kept=len(candidates.voted.judge),
        set_aside=int(normal.sum()) - len(evidence.counted),
        unqualified=len(gone),
        rules=dict(sorted(Counter(row.rule or "by hand" for row in gone).items())),
        compared=compared,
        other_label=other,
        no_label=lost,
        new_label=gained,
        seconds=float(np.median(times)) if len(times) else None,
        per_item=policy.judgements,
        minimum=policy.minimum,
        method=policy.method,
        unfooled=policy.unfooled_share,
        reward=str(policy.reward.for_items(policy.page_size, policy.page_size)) if policy.reward.amount else "",
        page_size=policy.page_size,
        writer=policy.writer,
        often=int(candidates.often.sum()),
        often_judgements=int(candidates.asked[candidates.often].max(initial=0)),
    )


def _had_they_stayed(db: Session, candidates: Candidates) -> tuple[int, int, int, int]:
    """Label the items once more by the first judgements of each, whoever gave them.

    Gives how many items have a judgement that was set aside, and of those how many would have another label, none, or
    one where there is none now.
    """
    validation, evidence, now = candidates.validation, candidates.evidence, candidates.final
    everything = evidence_of(evidence.table, {}, evidence.counted.classes, evidence.anew)
    if len(everything.counted) == len(evidence.counted):
        return 0, 0, 0, 0
    rules = rules_of(db, validation, everything.items, everything.counted.classes)
    policy = validation.policy
    most = np.minimum(rules.asked, policy.setting) if policy.setting else rules.asked
    used = everything.counted.take(_first(everything, most))
    then = label_items(validation, everything, used, rules)
    position = np.searchsorted(now.items, everything.items)
    present = (position < len(now.items)) & (now.items[np.minimum(position, len(now.items) - 1)] == everything.items)
    aside = ~np.isin(everything.rows, evidence.rows)
    touched = np.bincount(everything.counted.item[aside], minlength=len(everything.items)) > 0
    asked = present & touched & ~now.decided[np.minimum(position, len(now.items) - 1)]
    code = {name: at for at, name in enumerate(used.classes)}
    names = np.array([*(code[name] for name in now.classes), NONE])
    before, after = names[now.label[position[asked]]], then.label[asked]
    return (
        int(asked.sum()),
        int(((before != after) & (before != NONE) & (after != NONE)).sum()),
        int(((before != NONE) & (after == NONE)).sum()),
        int(((before == NONE) & (after != NONE)).sum()),
    )


def _first(evidence: Evidence, most: IntArray) -> IntArray:
    """Return the places of the first judgements of each item, so many as *most* says, in their order."""
    counted = evidence.counted
    order = np.lexsort((evidence.rows, counted.item))
    sizes = counted.sizes()
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[np.arange(len(counted)) - starts < most[counted.item[order]]])

"""From judgements to labels: the best-ranked judges' votes of each item, the policy's method, experts' decisions.

Nothing is stored: the labels follow from the judgements whenever they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from quintain.services.validate.console.item_rules import rules_of
from quintain.services.validate.quality.judge_figures import Evidence, Figures, gather
from quintain.services.validate.quality.label_methods import label_items
from quintain.services.validate.types import ValidationInfo
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import NONE, Judgements, sample_votes
from quintain.stats.workers import agreement_with_others, wilson
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as queries
from quintain.store.queries.validate import slots as slot_queries


@dataclass(frozen=True, slots=True)
class FinalLabels:
    """One entry per item that has judgements: its label (or -1), the votes it rests on, and who decided.

    *confidence* is how much speaks for the label by the method that made it: the share of votes, or a posterior.

    *judgements* are those that are kept, on which labels rest, and *kept* marks their rows in the evidence; *compared*
    are also those beyond them that measure people. *votes* are the kept ones and, where the policy says so, the vote of
    each item's *writer* (a class, or -1). *asked* is how many judgements an item was to get. *decided* are items whose
    label is an expert's; *complete* are those that nobody is asked about any more; *gone* were retracted or withheld,
    so that they have neither votes nor a label.
    """

    items: IntArray
    classes: tuple[str, ...]
    label: IntArray
    votes: IntArray
    confidence: FloatArray
    decided: npt.NDArray[np.bool_]
    complete: npt.NDArray[np.bool_]
    judgements: Judgements
    compared: Judgements
    writer: IntArray
    asked: IntArray
    kept: npt.NDArray[np.bool_]
    gone: npt.NDArray[np.bool_]

    def names(self) -> list[str | None]:
        """Return the labels by name; None where there is none."""
        known = [*self.classes, None]
        return [known[code] for code in self.label.tolist()]

    def distribution(self) -> FloatArray:
        """Return each item's shares of votes."""
        return np.asarray(self.votes / np.maximum(self.votes.sum(axis=1, keepdims=True), 1), dtype=np.float64)

    def by_item(self) -> dict[int, int]:
        """Return the place of each item."""
        return {int(item): place for place, item in enumerate(self.items)}


def final_labels(
    db: Session, validation: ValidationInfo, evidence: Evidence | None = None, figures: Figures | None = None
) -> FinalLabels:
    """Label every item of a validation."""
    evidence = evidence or gather(db, validation)
    compared, agreed = (figures.compared, figures.agreed) if figures else agreement_with_others(evidence.counted)
    gone = np.isin(evidence.items, item_queries.gone_ids(db, validation.id))
    rules = rules_of(db, validation, evidence.items, evidence.counted.classes)
    rules.writer[gone] = NONE
    best = best_ranked(evidence.counted, judge_rank(compared, agreed), rules.asked) & ~gone[evidence.counted.item]
    setting = best & _that_set_labels(evidence.counted, best, validation)
    used = evidence.counted.take(setting)
    labelled = label_items(validation, evidence, used, rules)
    decisions = {item: row.label for item, row in queries.adjudicated(db, validation.id).items()}
    label, decided = _with_decisions(evidence.items, labelled.label, used.classes, gone, decisions)
    complete = (~np.isin(evidence.items, slot_queries.waiting_items(db, validation.id)) | decided) & ~gone
    return FinalLabels(
        items=evidence.items,
        classes=used.classes,
        label=label,
        votes=rules.votes(used.counts()),
        confidence=labelled.confidence,
        decided=decided,
        complete=complete,
        judgements=used,
        compared=evidence.counted.take(best) if validation.policy.setting else used,
        writer=rules.writer,
        asked=rules.asked,
        kept=setting,
        gone=gone,
    )


def judge_rank(compared: IntArray, agreed: IntArray) -> FloatArray:
    """Rank judges by how often they *agreed* of the times that they were *compared* with the others.

    It is the lower Wilson bound, so that three lucky answers do not lead.
    """
    return np.nan_to_num(wilson(agreed, compared)[0], nan=0.0)


def best_ranked(judgements: Judgements, rank: FloatArray, most: IntArray) -> npt.NDArray[np.bool_]:
    """Mark so many judgements of each item at *most*, those of the best-ranked judges; the earlier code wins a tie."""
    order = np.lexsort((judgements.worker, -rank[judgements.worker], judgements.item))
    sizes = judgements.sizes()
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    best = np.zeros(len(judgements), dtype=bool)
    best[order] = np.arange(len(judgements)) - starts < most[judgements.item]
    return best


def _that_set_labels(
    judgements: Judgements, best: npt.NDArray[np.bool_], validation: ValidationInfo
) -> npt.NDArray[np.bool_]:
    """Mark those of the *best* judgements that set labels: all, or as many of each item as the policy has drawn."""
    setting = best.copy()
    if validation.policy.setting:
        setting[best] = sample_votes(judgements.take(best), validation.policy.setting, seed=validation.seed)
    return setting


def _with_decisions(
    items: IntArray,
    label: IntArray,
    classes: tuple[str, ...],
    gone: npt.NDArray[np.bool_],
    decisions: Mapping[int, str],
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Put experts' decisions in the place of labels; also say where."""
    label, decided = label.copy(), np.zeros(len(items), dtype=bool)
    code_of = {name: code for code, name in enumerate(classes)}
    for item, name in decisions.items():
        where = int(np.searchsorted(items, item))
        is_item = where < len(items) and items[where] == item and not gone[where]
        if is_item and name in code_of:
            label[where], decided[where] = code_of[name], True
    return label, decided

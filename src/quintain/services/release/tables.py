"""The items of a release as tables of examples: what a data set version keeps of each."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from quintain.core.example import Role
from quintain.services.plain.files.splits import DUPLICATES, NO_PROMPT, REPEATED, Plan
from quintain.services.release.candidates import Candidates
from quintain.services.validate.types import ValidationInfo
from quintain.stats.judgements import NONE
from quintain.tasks.contract import kind_of

NO_MAJORITY = "no-majority"
FLAGS = {NO_PROMPT: "no-prompt", REPEATED: "repeated-prompt", DUPLICATES: "near-duplicate"}


def dataset_name(plan: Plan[Candidates], split: str) -> str:
    """Name the data set of a split: by the specification, else after the round or the validation.

    The names of splits stand at the end, so that a task's data sets are listed by round.
    """
    validation = plan.candidates.validation
    own = f"round-{validation.name}" if validation.round_id is not None else validation.name
    return f"{plan.spec.name or own}-{split}"


def flags_of(plan: Plan[Candidates], at: int) -> list[str]:
    """Return why an item of train is not in dev or test, as tags: an extra label, no majority, its prompt, a copy."""
    candidates = plan.candidates
    if plan.split[at] != Role.TRAIN.value:
        return []
    label = int(candidates.label[at])
    flags = [flag for reason, flag in FLAGS.items() if plan.barred[reason][at]]
    if label == NONE:
        flags.append(NO_MAJORITY)
    elif label >= len(candidates.classes):
        flags.append(candidates.labels[label])
    return flags


def table_of(plan: Plan[Candidates], split: str) -> pl.DataFrame:
    """Return the examples of a split: inputs, answer (none where the label is no answer of the task), tags and meta."""
    candidates = plan.candidates
    task = candidates.validation.task
    names = [item.name for item in kind_of(task).fields(task)]
    rows = []
    for at in plan.of(split).tolist():
        row, label = candidates.rows[at], int(candidates.label[at])
        rows.append(
            {
                **{name: row.inputs.get(name) for name in names},
                "answer": candidates.labels[label] if 0 <= label < len(candidates.classes) else None,
                "tags": sorted({*candidates.tags[at], *flags_of(plan, at)}),
                "meta": json.dumps(_meta(plan, at), sort_keys=True, ensure_ascii=False),
            }
        )
    schema = {**kind_of(task).schema(task), "tags": pl.List(pl.String()), "meta": pl.String()}
    return pl.DataFrame(rows, schema=schema)


def _meta(plan: Plan[Candidates], at: int) -> dict[str, Any]:
    """Return what is known of an item besides its label; owners see it."""
    candidates = plan.candidates
    row, label = candidates.rows[at], int(candidates.label[at])
    meta: dict[str, Any] = {
        "validation": candidates.validation.ref,
        "text_id": f"{short_name(candidates.validation)}-{at + 1:07d}",
        "hits": candidates.voted.pages(at),
        "judges": candidates.voted.by_label(at, candidates.labels),
        "label": candidates.labels[label] if label != NONE else None,
        "label_distribution": dict(zip(candidates.labels, candidates.votes[at].tolist(), strict=True)),
        "predictions": {str(prediction.get("model")): prediction.get("answer") for prediction in row.predictions},
        "probabilities": {
            str(prediction.get("model")): prediction["probabilities"]
            for prediction in row.predictions
            if prediction.get("probabilities")
        },
        "asked": int(candidates.asked[at]) if candidates.validation.policy.often is not None else None,
        "writer_vote": candidates.labels[candidates.voice[at]] if candidates.voice[at] != NONE else None,
        "writer": candidates.writers[candidates.writer[at]] if candidates.writer[at] >= 0 else None,
        "condition": row.condition,
        "prompt": row.prompt,
        "source": row.origin,
    }
    return {name: value for name, value in meta.items() if value not in (None, {}, [], "")}


def short_name(validation: ValidationInfo) -> str:
    """Return what the ids of a validation's texts begin with: r2 for round 2."""
    return f"r{validation.name}" if validation.round_id is not None else validation.name

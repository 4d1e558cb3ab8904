"""What judges said of a trial's final items, and how a model's answer is held against it.

Judges choose among labels or, where an answer is shown to them, say whether it is right. What is no answer of the task
(the extra labels, and "wrong" of an answer that is shown) makes an item invalid: no model could have said it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.task import Task, normalise_label
from quintain.services.trial.pool import pool_name
from quintain.services.validate.console.manage import aim_text, find_validation, list_validations
from quintain.services.validate.labels import RIGHT, misses, scores, shows_answer, writers_label
from quintain.services.validate.quality.judge_figures import gather
from quintain.services.validate.types import ValidationInfo
from quintain.store.queries.validate.items import hashes

INVALID = "invalid"
OTHER = "another answer"  # than the one that was shown to judges
NOTHING = "no answer"  # which counts against a model: it was asked

Votes = dict[str, list[tuple[int, str]]]  # by the hash of an item: who judged it, and how


def find_pool(db: Session, task: str, trial: str) -> ValidationInfo | None:
    """Return the pool of a trial, once there is one."""
    ref = f"{task}/{pool_name(trial)}"
    return find_validation(db, ref) if ref in list_validations(db, task) else None


def votes_of(db: Session, pool: ValidationInfo | None) -> Votes:
    """Return the judgements that count, by item: not those that are set aside with an unqualified judge."""
    if pool is None:
        return {}
    counted = (evidence := gather(db, pool)).counted
    names = hashes(db, evidence.items.tolist())
    users, ids = evidence.users.tolist(), evidence.items.tolist()
    labels = [label if scores(pool.task, label) else INVALID for label in counted.classes]
    votes: Votes = {}
    for item, worker, label in zip(counted.item.tolist(), counted.worker.tolist(), counted.label.tolist(), strict=True):
        votes.setdefault(names[ids[item]], []).append((users[worker], labels[label]))
    return votes


def label_of_writer(task: Task, answer: Any) -> str | None:
    """Return the label by which a judge would agree with the writer."""
    return None if answer is None else writers_label(task, aim_text(answer))


def label_of_model(task: Task, prediction: Any, answer: Any) -> str:
    """Return the label that a model's answer comes to on an item whose writer gave *answer*."""
    if prediction is None:
        return NOTHING
    if shows_answer(task):
        return OTHER if misses(task, RIGHT.name, {"answer": prediction}, answer) else RIGHT.name
    return (
        normalise_label(prediction)
        if isinstance(prediction, str)
        else json.dumps(prediction, ensure_ascii=False, sort_keys=True)
    )


def labels_when_asked(task: Task, predictions: list[Mapping[str, Any]], answer: Any) -> dict[str, str]:
    """Return what models said to the writer, where there was one to fool, by their names in the task."""
    return {
        str(prediction["model"]).removeprefix(f"{task.name}/"): label_of_model(task, prediction["answer"], answer)
        for prediction in predictions
    }

"""Asking the models that a writer faces, outside of any transaction, so that a slow one holds up nobody else."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.example import Inputs, Prediction
from quintain.core.rounds import RoundSpec
from quintain.core.task import Task
from quintain.core.texts import Text
from quintain.services.collect.writing.checks import Written, fooled
from quintain.services.models.ask import TOOK_TOO_LONG, AdapterRunner, ask
from quintain.services.models.registry import ModelVersionInfo, versions_by_id
from quintain.store.blobs import Blobs

logger = logging.getLogger(__name__)


def target_versions(db: Session, ids: Sequence[int]) -> list[ModelVersionInfo]:
    """Return the model versions of a session; whoever's they are, the round's owner chose them."""
    versions = versions_by_id(db, ids) if ids else {}
    return [versions[version_id] for version_id in ids]


def ask_targets(
    blobs: Blobs,
    versions: Sequence[ModelVersionInfo],
    task: Task,
    spec: RoundSpec,
    written: Written,
    *,
    runners: Mapping[str, AdapterRunner],
    seconds: float,
) -> list[dict[str, Any]]:
    """Ask every target model, and decide for each whether it was fooled; in the form that is stored."""
    answers = []
    for version in versions:
        prediction = ask_safely(blobs, version, task, [written.inputs], runners=runners, seconds=seconds)[0]
        answers.append(
            {
                "version": version.id,
                "model": version.ref,
                "hash": version.hash,
                "answer": prediction.answer,
                "probabilities": dict(prediction.probabilities) if prediction.probabilities else None,
                "fooled": fooled(task, spec.fooled, written.target, prediction),
            }
        )
    return answers


def ask_safely(
    blobs: Blobs,
    version: ModelVersionInfo,
    task: Task,
    inputs: Sequence[Inputs],
    *,
    runners: Mapping[str, AdapterRunner],
    seconds: float,
) -> list[Prediction]:
    """Ask a model; whatever is wrong with it is not the writer's fault, and said to be so."""
    try:
        return ask(blobs, version, task, inputs, runners=runners, seconds=seconds)
    except Unavailable as error:
        logger.warning("a writer got no answer: %s", error)
        # What the model is called, and what its own code complained of, is for those who may see it.
        reason = (
            Text("The model took longer than {seconds:g} seconds.", seconds=seconds)
            if error.code == TOOK_TOO_LONG
            else Text("The model gave no answer.")
        )
    except Exception as error:
        logger.warning("model %s gave no answer to a writer: %s", version.ref, error)
        reason = Text("The model gave no answer that makes sense.")
    raise Unavailable(
        "{reason} This cost you no attempt, and your text is kept.",
        reason=reason,
        remedy="Try again in a moment.",
        code="no_answer",
    )


def all_fooled(answers: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether every target model was fooled; None where the writer decides. Where there is no model, none was."""
    verdicts = [answer["fooled"] for answer in answers]
    return None if None in verdicts else bool(verdicts) and all(verdicts)

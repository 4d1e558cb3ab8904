"""The examples of a data set version for training: what nobody may train on is refused, what is doubtful is noted."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.texts import Text
from quintain.services.data.content import scan, scan_for_scoring
from quintain.services.data.datasets import VersionInfo, get_version, list_versions
from quintain.store.blobs import Blobs

PIVOT = "pivot"  # where an example says, beside it, which one it was made of


def version_of(db: Session, actor: Actor, task: str, ref: str) -> VersionInfo:
    """Return the version that *ref* means; one of another task than *task* is refused."""
    version = get_version(db, actor, ref)
    if version.task != task:
        raise BadInput(
            "{ref} belongs to task '{task}', not to '{other}'.", ref=version.ref, task=version.task, other=task
        )
    return version


def training_table(
    db: Session, blobs: Blobs, actor: Actor, task: str, ref: str, *, force: bool = False
) -> tuple[VersionInfo, pl.DataFrame, list[str]]:
    """Return a version, its examples with answers, and what a card must say about training on it.

    Hidden answers may not be trained on: a model can say out loud what it was told. Contrast sets, and the examples
    that they were made of, are for evaluation only, unless it is forced.
    """
    version = version_of(db, actor, task, ref)
    if version.hidden:
        raise Forbidden(
            "The answers of {ref} are hidden, so no model may be trained on them.",
            ref=version.ref,
            remedy="Train on a version whose answers are open.",
            code="labels_hidden",
        )
    table = scan(db, blobs, actor, version.ref, answers=True).collect()
    notes = [f"`{version.ref}` is a test set, so figures on it say nothing."] if version.role == Role.TEST else []
    reasons = _only_for_evaluation(db, blobs, actor, version, table)
    if reasons and not force:
        raise Conflict(
            "{ref} is for evaluation only: {found}",
            ref=version.ref,
            found=reasons[0],
            remedy="Train on other data; --force, or force = true in a recipe, trains on it all the same, and the "
            "model's card says so.",
            page="Train on other data, or tick the box that takes evaluation data as well; the card then says so.",
            code="evaluation_only",
        )
    return version, table, [*notes, *(f"`{version.ref}` is for evaluation only: {reason}" for reason in reasons)]


def dev_table(db: Session, blobs: Blobs, actor: Actor, task: str, ref: str) -> tuple[VersionInfo, pl.DataFrame]:
    """Return a version and its examples with answers, to measure a model on."""
    version = version_of(db, actor, task, ref)
    return version, scan(db, blobs, actor, version.ref, answers=True).collect()


def _only_for_evaluation(
    db: Session, blobs: Blobs, actor: Actor, version: VersionInfo, table: pl.DataFrame
) -> Sequence[Text]:
    if version.role == Role.CONTRAST:
        return [Text("it is a contrast set.")]
    reasons = []
    for other in list_versions(db, actor, version.task):
        if other.role != Role.CONTRAST:
            continue
        shared = table.filter(pl.col("id").is_in(_held_out(blobs, other).implode())).height
        if shared:
            reasons.append(
                Text(
                    "{n:,} of its examples are in the contrast set {other}, or what it was made of.",
                    n=shared,
                    other=other.ref,
                )
            )
    return reasons


def _held_out(blobs: Blobs, version: VersionInfo) -> pl.Series:
    """Return the ids of a contrast set's examples and of those that they were made of."""
    held = scan_for_scoring(blobs, version).select("id", pivot=pl.col("meta").str.json_path_match(f"$.{PIVOT}"))
    both = held.collect()
    return pl.concat([both["id"], both["pivot"].drop_nulls()]).unique()

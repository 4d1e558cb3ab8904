"""What target models are called before people who may not see them, or not whose they are.

A private model may be the target of a round that everybody writes in. Its name, its version and its hash are for those
who may see the model; everybody else reads "private model 1", numbered as in the round's file. The hash of an anonymous
one is salted as it is everywhere, so that a twin does not tell whose it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.rounds import RoundSpec
from quintain.core.stage_qualifications import is_stage_qualification
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.models.registry import ModelVersionInfo, get_model, hides_builder, may_see, versions_by_id
from quintain.services.models.shown_hash import salted_hash
from quintain.store.queries.collect import rounds as queries

PRIVATE = "private model"


class StandIn(NamedTuple):
    """What somebody reads in place of a target model's name and hash."""

    model: str
    hash: str


def private_name(number: int) -> str:
    """Name the private model that stands at place *number* of a round's file.

    >>> private_name(2)
    'private model 2'
    """
    return f"{PRIVATE} {number}"


def stand_ins(db: Session, actor: Actor, round_id: int, versions: Sequence[ModelVersionInfo]) -> dict[int, StandIn]:
    """Return what stands for those target versions of a round that *actor* may not see as they are, by their ids.

    A private one has a number for its name and no hash; an anonymous one has its name, and a hash that is salted.
    """
    anonymous = {
        version.id: StandIn(version.ref, salted_hash(db, version.id, version.hash))
        for version in versions
        if hides_builder(actor, version)
    }
    unseen = [version.id for version in versions if not may_see(actor, version)]
    if not unseen:
        return anonymous
    order = [version_id for version_id, _ in queries.targets(db, round_id, "")]
    places = order if set(unseen) <= set(order) else [version.id for version in versions]
    return anonymous | {one: StandIn(private_name(places.index(one) + 1), "") for one in unseen}


def spec_for(db: Session, actor: Actor, info: RoundInfo) -> RoundSpec:
    """Return what a round asks as *actor* may read it: all of it to its owners.

    To everybody else it is shown without `[entry]`, the names of private models, and the passes of a trial.
    """
    if actor.has(RoleName.OWNER, info.task):
        return info.spec
    targets = info.spec.targets
    named = tuple(
        ref if _is_seen(db, actor, ref) else private_name(number) for number, ref in enumerate(targets.models, 1)
    )
    # Who knows the completion code is paid by the panel, work or no work.
    open_ = tuple(rule for rule in info.spec.qualifications if not is_stage_qualification(str(rule.get("name", ""))))
    return replace(info.spec, entry=None, targets=replace(targets, models=named), qualifications=open_)


def redact_predictions(predictions: Sequence[Mapping[str, Any]], hidden: Mapping[int, StandIn]) -> list[dict[str, Any]]:
    """Return stored predictions of an attempt for somebody who reads stand-ins for the models in *hidden*."""
    return [
        {**prediction, **hidden[prediction["version"]]._asdict()}
        if prediction.get("version") in hidden
        else dict(prediction)
        for prediction in predictions
    ]


def redact_own_attempts(db: Session, actor: Actor, rows: Sequence[dict[str, Any]]) -> None:
    """Put stand-ins into somebody's attempts, as they stand in their table, before the person gets them."""
    ids = {int(said["version"]) for row in rows for said in row["predictions"]}
    versions = versions_by_id(db, sorted(ids)) if ids else {}
    for row in rows:
        faced = [versions[int(said["version"])] for said in row["predictions"]]
        row["predictions"] = redact_predictions(row["predictions"], stand_ins(db, actor, row["round_id"], faced))


def _is_seen(db: Session, actor: Actor, ref: str) -> bool:
    try:
        get_model(db, actor, ref)
    except NotFound:
        return False
    return True

"""Which release a data set version is from."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.data.datasets import get_version
from quintain.store.queries.data import datasets as queries


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a data set version comes from: a release of a validation, and the round that was validated, if one."""

    task: str
    validation: str
    release: int
    round: int | None


def origin_of(db: Session, actor: Actor, ref: str) -> Origin | None:
    """Return which release a data set version is from; None where it is from none."""
    release = queries.first_release(db, get_version(db, actor, ref).id)
    return Origin(*release) if release else None

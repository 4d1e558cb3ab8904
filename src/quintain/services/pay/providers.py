"""The providers that a task pays through, with the operator's keys: a task names a key and never sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.adapters.panels.contract import PayProvider
from quintain.adapters.panels.prolific import Approvals, Bonuses, Prolific
from quintain.core.errors import Conflict, Forbidden
from quintain.core.pay import ProlificSpec
from quintain.services.pay.policy import policy_of

STEPS: dict[str, Callable[[Prolific], PayProvider]] = {"bonus": Bonuses, "approve": Approvals}


def prolific_spec(db: Session, task_id: int, task: str) -> ProlificSpec:
    """Return how a task works with Prolific; refused where its owner has not said so."""
    spec = policy_of(db, task_id).prolific
    if spec is None:
        raise Conflict(
            "Task '{task}' is not connected with Prolific.",
            task=task,
            remedy="Add [prolific] to its pay policy, with the name of the operator's key.",
        )
    return spec


def secret_of(outside: Outside, name: str) -> str:
    """Return a key of the operator's by its name; refused where there is none."""
    secret = outside.secrets.get(name)
    if secret is None:
        raise Forbidden(
            "There is no key called '{name}'.",
            name=name,
            remedy="The operator adds it to the file QUINTAIN_SECRETS.",
            page="The operator can add it.",
        )
    return secret.key


@contextmanager
def prolific_of(db: Session, task_id: int, task: str, outside: Outside) -> Iterator[Prolific]:
    """Connect with Prolific by the key that a task names."""
    spec = prolific_spec(db, task_id, task)
    key = secret_of(outside, spec.secret)
    db.rollback()  # hold no connection while others think
    with Prolific(outside.secrets[spec.secret].endpoint, key) as connection:
        yield connection

"""Types of which every text must be one, where the round asks for it; those of a session are of different types."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.store.queries.collect.notes import texts_in_session
from quintain.store.tables import WritingSession

TYPE = "type"


def types_left(db: Session, info: RoundInfo, row: WritingSession) -> tuple[str, ...]:
    """List the types that the next text of a session may be of; once all were used, all are there again.

    Of a session with a model to fool, what did not fool it uses up nothing: it is tried again.
    """
    types = info.spec.asks.types
    if not types:
        return ()
    used = texts_in_session(db, row.id, TYPE, fooling=info.spec.targets.has_model)
    left = tuple(one for one in types if used.count(one) == min(used.count(each) for each in types))
    return left or types


def require_type(db: Session, info: RoundInfo, row: WritingSession, chosen: str) -> None:
    """Refuse a text without a type, of a type that there is not, or of one that the session has had already."""
    types = info.spec.asks.types
    if not types:
        return
    left = types_left(db, info, row)
    reason = None
    if not chosen:
        reason = Text("is missing; choose one of {types}", types=_named(left))
    elif chosen not in types:
        reason = Text("'{given}' is not one of {types}", given=chosen, types=_named(types))
    elif chosen not in left:
        reason = Text("you have written one of type '{given}' here; choose {types}", given=chosen, types=_named(left))
    if reason is not None:
        raise BadInput(faults=[Fault(reason, field="type")])


def _named(types: Sequence[str]) -> str:
    return ", ".join(types)

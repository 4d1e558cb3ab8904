"""Justifications that go with what is written: those that say nothing, or repeat another, are not taken."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.sentences import sentences
from quintain.protocols.justifications import is_trivial, repeats
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.store.queries.collect.notes import newest_texts

JUSTIFIED = "justified"
MOST = 2000  # characters
MOST_SENTENCES = 3  # as writers are asked
LOOKED_AT = 500  # of the newest ones of a round, that a new one must differ from


def require_justified(db: Session, info: RoundInfo, text: str) -> None:
    """Refuse a justification that says nothing or repeats another, where the round asks for one."""
    if not info.spec.asks.justification:
        return
    reason = None
    if not text.strip():
        reason = Text("is missing; say in one to three sentences what makes this hard")
    elif len(text) > MOST or "\x00" in text:
        reason = Text("is longer than {most} characters", most=MOST)
    elif (count := len(sentences(text))) > MOST_SENTENCES:
        reason = Text("has {count} sentences; keep to one, two or three", count=count)
    elif is_trivial(text):
        reason = Text("says nothing about this text; name what one has to notice, and which wrong answers mislead")
    elif repeats(text, newest_texts(db, info.id, JUSTIFIED, LOOKED_AT)):
        reason = Text("nearly repeats one that is there already; say what is special about this text")
    if reason is not None:
        raise BadInput(faults=[Fault(reason, field="justification")])

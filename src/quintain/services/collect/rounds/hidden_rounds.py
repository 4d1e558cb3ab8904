"""Rounds that stand in no list: who finds them all the same.

Where one has to hold a qualification to write in such a round, as in those of a trial, it is not there for anybody who
never held it: whoever guesses its number is told what they would be told of a number that is free. Where nothing is to
be held, its address is the invitation.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.core.rounds import RoundSpec
from quintain.store.queries.collect import panels, rounds
from quintain.store.queries.work import qualify
from quintain.store.tables import Round


def is_hidden(db: Session, actor: Actor, row: Round, spec: RoundSpec) -> bool:
    """Whether a round is none of the actor's business.

    Who has written there, or came to it from a panel, still finds it after what let them in has ended.
    """
    held = {str(rule["name"]) for rule in spec.qualifications if rule["rule"] == "holds"}
    if spec.listed or not held or actor.has(RoleName.OWNER, spec.task):
        return False
    if actor.user_id is None:
        return True
    if qualify.ever_held(db, row.task_id, actor.user_id, held) or rounds.has_session(db, row.id, actor.user_id):
        return False
    return panels.newest_visit(db, row.id, actor.user_id) is None

"""What a process does that judges, and may drop dead at any moment."""

from __future__ import annotations

import logging
import random
import time

from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable
from quintain.core.people import Actor, Grant, RoleName
from quintain.services.validate.judging.claim_page import claim_page, extend_page, return_page
from quintain.services.validate.judging.submit_page import Answer, submit_page
from quintain.store.database import connect


def judge_for_a_while(url: str, ref: str, user: int, seconds: float) -> None:
    """Claim, dawdle, answer, skip or return pages until the time is over or nothing is left."""
    chance = random.Random(user)  # noqa: S311 - not a secret
    actor = Actor(user, f"judge{user}", frozenset({Grant(RoleName.WORKER)}))
    engine = connect(url)
    end = time.monotonic() + seconds
    with Session(engine, expire_on_commit=False) as db:
        while time.monotonic() < end:
            try:
                page = claim_page(db, actor, ref)
                if page is None:
                    time.sleep(0.2)
                    continue
                time.sleep(chance.random() * 0.05)
                what = chance.random()
                if what < 0.05:
                    return_page(db, actor, page.token)
                    continue
                if what < 0.15:
                    extend_page(db, actor, page.token)
                submit_page(
                    db, actor, page.token, [Answer(item.id, "positive") for item in page.items if not item.done]
                )
            except Unavailable as error:
                logging.getLogger(__name__).warning("busy: %s", error)
    engine.dispose()

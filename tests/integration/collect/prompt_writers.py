"""Writers in threads and processes of their own who draw prompts; started by the tests of prompts."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.store.base import now
from quintain.store.database import connect, lock, transaction
from quintain.store.queries.collect import prompts


def edit_prompts(url: str, round_id: int, user_id: int, times: int) -> list[int]:
    """Draw a prompt, write from it and give it back, so many times; give the prompts that were held."""
    engine = connect(url)
    held = []
    for _ in range(times):
        with Session(engine) as db:
            with transaction(db):
                lock(db, f"prompts of {round_id}")  # as a session that begins does
                drawn = prompts.draw(db, round_id, user_id, now(), now() + timedelta(minutes=5))
                if drawn is None:
                    continue
                place = (drawn.id, drawn.generation)
            held.append(place[0])
            with transaction(db):
                kept = prompts.count_use(db, *place) and prompts.release(db, *place)
            if not kept:
                raise RuntimeError(f"prompt {place[0]} was taken from its holder")
    engine.dispose()
    return held

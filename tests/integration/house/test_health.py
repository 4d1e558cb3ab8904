"""How full the house is: counted now for a command, and for a page when the house was tidied last."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.house.health import status, tidy
from quintain.store.blobs import Blobs
from tests.people import make_person


def test_a_page_shows_what_was_counted_last_with_its_time(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Before the house was tidied it is counted at once; afterwards a look counts nothing, and says of when it is."""
    first = status(db, blobs, OPERATOR, as_known=True)
    assert (first.rows["users"], first.blobs, first.counted_at) == (1, 0, None)
    blobs.put(b"something")
    tidy(db, blobs)
    make_person(db, "late", RoleName.WORKER)
    known, now = (status(db, blobs, OPERATOR, as_known=as_known) for as_known in (True, False))
    assert (known.rows["users"], known.blobs, known.blob_bytes) == (1, 1, 9)
    assert known.counted_at is not None
    assert (now.rows["users"], now.counted_at) == (2, None)
    with pytest.raises(Forbidden):
        status(db, blobs, owner, as_known=True)

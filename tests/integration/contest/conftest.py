"""What tests of contests share."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from tests.contests import NAMES
from tests.people import find_or_make_person


@pytest.fixture
def people(db: Session) -> dict[str, Actor]:
    """The people, by their names."""
    return {name: find_or_make_person(db, name, RoleName.BUILDER) for name in NAMES}

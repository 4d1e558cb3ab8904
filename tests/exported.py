"""What exports write, as values for tests."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.house import personal_data
from quintain.services.study import coding_figures


def export_person(db: Session, actor: Actor, name: str | None = None) -> bytes:
    """Give all that is kept about somebody, as a ZIP file."""
    with tempfile.TemporaryDirectory() as folder:
        personal_data.export_person(db, actor, path := Path(folder) / "person.zip", name)
        return path.read_bytes()


def export_codes(db: Session, actor: Actor, ref: str) -> str:
    """Give all codes of a coding as CSV."""
    with tempfile.TemporaryDirectory() as folder:
        coding_figures.export_codes(db, actor, ref, path := Path(folder) / "codes.csv")
        return path.read_text()

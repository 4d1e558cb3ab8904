"""The keys that the workspace signs with."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class SigningKey(Base):
    """An Ed25519 key. The one that was not replaced signs; older ones stay, so that what they signed can be checked.

    It is kept here, and not in a file, so that every process of a cluster signs with the same key and backups hold it.
    """

    __tablename__ = "signing_keys"

    id: Mapped[int] = mapped_column(primary_key=True)
    key_id: Mapped[str] = mapped_column(String(32), unique=True)
    public: Mapped[str] = mapped_column(String(64))
    secret: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(default=now)
    replaced_at: Mapped[datetime | None]

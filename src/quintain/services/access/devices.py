"""Browsers in which somebody has signed in before.

Such a browser holds a mark, signed for one account, that lasts longer than a session. Wrong passwords that others try
do not keep it out. The key is made from what is kept of the password: nobody can guess it without the database, and a
new password makes all marks void.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import timedelta

from quintain.store.base import now
from quintain.store.tables import User

LIFETIME = timedelta(days=365)
_FOR = b"quintain: known device"


def make_mark(user: User) -> str:
    """Mark the browser that asks as one of *user*'s, who has just shown who they are."""
    content = f"{secrets.token_hex(8)}.{int((now() + LIFETIME).timestamp())}"
    return f"{content}.{_sign(user, content)}"


def read_mark(user: User | None, mark: str) -> str | None:
    """Give the name of the browser that *mark* was made for, or None where it is not one of *user*'s."""
    device, _, rest = mark.partition(".")
    until, _, signature = rest.partition(".")
    if user is None or user.password_hash is None or not (until.isascii() and until.isdigit() and len(until) < 12):
        return None
    right = hmac.compare_digest(signature.encode(errors="replace"), _sign(user, f"{device}.{until}").encode())
    return device if right and int(until) > now().timestamp() else None


def _sign(user: User, content: str) -> str:
    key = hmac.digest(_FOR, (user.password_hash or "").encode(), "sha256")
    return hmac.new(key, f"{user.id}.{content}".encode(errors="replace"), hashlib.sha256).hexdigest()

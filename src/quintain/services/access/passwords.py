"""Passwords: what is a good one, how it is kept, how it is compared."""

from __future__ import annotations

import hashlib
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text

SHORTEST = 10
LONGEST = 512

_hasher = PasswordHasher()  # argon2id with the low-memory parameters of RFC 9106


def check_password(password: str, *, name: str = "", email: str | None = None) -> None:
    """Refuse passwords that are too short, too long, or follow from who uses them."""
    reason: Text | None = None
    if len(password) < SHORTEST:
        reason = Text(
            "a password needs at least {shortest} characters, and this one has {n}", shortest=SHORTEST, n=len(password)
        )
    elif len(password) > LONGEST:
        reason = Text("a password may have at most {longest} characters", longest=LONGEST)
    elif len(set(password)) < 4:
        reason = Text("a password needs at least 4 different characters")
    elif password.lower() in {name, (email or "").lower(), name * 2}:
        reason = Text("the password is the name of the account")
    if reason:
        raise BadInput(faults=[Fault(reason, field="password")], remedy="A few random words make a good one.")


def hash_password(password: str) -> str:
    """Return what is kept of *password*; slow on purpose."""
    return _hasher.hash(password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Return whether *password* is the one that *password_hash* came from.

    Where there is none (an unknown name, an account that was never opened) the same work is done on another one, so
    that the time taken does not tell which names exist.
    """
    try:
        return _hasher.verify(password_hash or _nobodys(), password) and password_hash is not None
    except (VerifyMismatchError, VerificationError, InvalidHashError):
        return False


def needs_rehash(password_hash: str) -> bool:
    """Return whether *password_hash* was made with older, weaker parameters."""
    return _hasher.check_needs_rehash(password_hash)


def new_secret() -> str:
    """Make a secret that cannot be guessed, for a cookie, a token or a link."""
    return secrets.token_urlsafe(32)


def fingerprint(secret: str) -> str:
    """Return what is kept of a secret made by `new_secret`; one that long needs no slow hash."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


@cache
def _nobodys() -> str:
    return hash_password(secrets.token_urlsafe(16))

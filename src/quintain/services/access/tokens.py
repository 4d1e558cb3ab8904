"""API tokens: how a program shows on whose behalf it asks, and what it is good for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound, NotSignedIn
from quintain.core.people import Actor, Scope
from quintain.core.records.access import Token
from quintain.services.access import audit
from quintain.services.access.actors import find_user, normal_name
from quintain.services.access.passwords import fingerprint, new_secret
from quintain.services.access.permissions import require_account, require_user
from quintain.services.access.scopes import checked_scopes, from_text, to_text
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import people
from quintain.store.tables import ApiToken

PREFIX = "qt_"  # so that a token in a log or a repository is recognised for what it is
MOST_PER_PERSON = 50
LONGEST_DAYS = 3660
TOUCH_EVERY = timedelta(minutes=5)


def create_token(
    db: Session,
    actor: Actor,
    name: str,
    *,
    days: int | None = 90,
    scopes: Iterable[str] = (Scope.READ,),
    person: str | None = None,
) -> tuple[str, Token]:
    """Make a token called *name* that lasts *days* (None: until it is revoked). It is shown this once.

    It is good for *scopes*, and never for more than its person may do. Only the operator makes one for another
    *person*.
    """
    user_id, chosen = _whose(db, actor, person), checked_scopes(actor, scopes)
    name = name.strip()
    faults = []
    if not 1 <= len(name) <= 80:
        faults.append(Fault("a token needs a name of 1 to 80 characters", field="name"))
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        faults.append(
            Fault("{days} is not between 1 and {longest} days", days=days, longest=LONGEST_DAYS, field="days")
        )
    if faults:
        raise BadInput(faults=faults)
    secret = PREFIX + new_secret()
    with transaction(db):
        if len(people.tokens_of(db, user_id)) >= MOST_PER_PERSON:
            raise Conflict(
                "{name} has {most} tokens already.",
                name=person or actor.name,
                most=MOST_PER_PERSON,
                remedy="Revoke one first.",
            )
        expires_at = None if days is None else now() + timedelta(days=days)
        token = ApiToken(
            user_id=user_id,
            name=name,
            token_hash=fingerprint(secret),
            hint=secret[:8],
            expires_at=expires_at,
            scopes=to_text(chosen),
        )
        db.add(token)
        db.flush()
        audit.record(db, actor, "token.create", f"token:{token.id}", scopes=token.scopes)
    return secret, _info(token)


def list_tokens(db: Session, actor: Actor, *, person: str | None = None) -> list[Token]:
    """List the actor's tokens (for the operator, another *person*'s) that have not been revoked, newest first."""
    return [_info(token) for token in people.tokens_of(db, _whose(db, actor, person))]


def revoke_token(db: Session, actor: Actor, token_id: int, *, person: str | None = None) -> None:
    """Make one of the actor's tokens (for the operator, of another *person*'s) useless, at once and for good."""
    user_id = _whose(db, actor, person)
    with transaction(db):
        if not people.revoke_tokens(db, user_id, now(), only=token_id):
            raise NotFound(
                "{name} has no token with id {token}.",
                name=person or actor.name,
                token=token_id,
                remedy="It may be revoked already.",
            )
        audit.record(db, actor, "token.revoke", f"token:{token_id}")


def actor_for_token(db: Session, secret: str) -> Actor:
    """Return on whose behalf a program asks; NotSignedIn says what is wrong with a token."""
    token_and_grants = people.token_with_user(db, fingerprint(secret)) if secret.startswith(PREFIX) else None
    if token_and_grants is None or token_and_grants[0].revoked_at is not None:
        raise NotSignedIn("This API token is not known.", remedy="Make one on the account page.", code="token_unknown")
    token, grants = token_and_grants
    moment = now()
    if token.expires_at is not None and token.expires_at <= moment:
        raise NotSignedIn(
            "The API token '{name}' expired on {day}.",
            name=token.token_name,
            day=f"{token.expires_at:%Y-%m-%d}",
            remedy="Make a new one on the account page.",
            code="token_expired",
        )
    if token.used_at is None or moment - token.used_at > TOUCH_EVERY:
        with transaction(db):
            people.touch_token(db, token.id, moment)
    return Actor(user_id=token.user_id, name=token.name, grants=frozenset(grants), allows=from_text(token.scopes))


def _whose(db: Session, actor: Actor, person: str | None) -> int:
    """Return the account whose tokens are meant: the actor's own or, for the operator, that of *person*."""
    if person is None or normal_name(person) == actor.name:
        return require_account(actor)
    if not actor.operator:
        require_user(actor)
        raise Forbidden("Tokens are made and seen by whose they are, and by the operator.")
    return find_user(db, person).id


def _info(token: ApiToken) -> Token:
    return Token(
        id=token.id,
        name=token.name,
        hint=token.hint,
        created_at=token.created_at,
        expires_at=token.expires_at,
        used_at=token.used_at,
        expired=token.expires_at is not None and token.expires_at <= now(),
        scopes=tuple(scope for scope in Scope if scope in from_text(token.scopes)),
        unscoped=token.unscoped,
    )

"""E-mail addresses: which are taken, and how one is written to.

What is taken is narrower than what the standards allow, and all of it can be written by the mail library: no quotes, no
comments, no addresses of machines. A test writes many of them. Letters of any script may stand on both sides of the @.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 254  # bytes, as mail servers count
LONGEST_LOCAL = 64
LONGEST_LABEL = 63
_ATOM = r"[\w!#$%&'*+/=?^`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(\.{_ATOM})*")
_NAMED = re.compile(r'(?:[\w .-]*|"[\w .,&()-]*" ?)<([^<>]*)>')
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


def normal_address(text: str) -> str:
    """Return an address as it is kept and compared: without spaces around it, in small letters, composed.

    >>> normal_address(" Wilma@Example.ORG ")
    'wilma@example.org'
    """
    return unicodedata.normalize("NFC", text.strip().lower())


def is_address(text: str) -> bool:
    """Whether *text* is an address that is taken.

    >>> is_address("wilma@example.org"), is_address("[<@->>a,<"), is_address("a@b@c"), is_address("a..b@c.org")
    (True, False, False, False)
    """
    local, at, domain = text.rpartition("@")
    if not at or len(text.encode("utf-8", "replace")) > LONGEST or not text.isprintable():
        return False
    if len(local.encode()) > LONGEST_LOCAL or not _LOCAL.fullmatch(local):
        return False
    labels = (_wire_domain(domain) or "").split(".")
    return all(len(label) <= LONGEST_LABEL and _LABEL.fullmatch(label) for label in labels) and not labels[-1].isdigit()


def is_sender(text: str) -> bool:
    """Whether mail can be sent from *text*: an address, or a name and an address in angle brackets."""
    named = _NAMED.fullmatch(text.strip())
    return is_address(normal_address(named[1] if named else text))


def wire_address(address: str) -> str:
    """Return *address* as it is handed to a mail server: its domain in ASCII.

    >>> wire_address("wilma@bücher.example")
    'wilma@xn--bcher-kva.example'
    """
    local, _, domain = address.rpartition("@")
    return f"{local}@{_wire_domain(domain) or domain}"


def _wire_domain(domain: str) -> str | None:
    try:
        return domain.encode("idna").decode("ascii").lower()
    except UnicodeError:  # an empty part, one that is too long, or characters that no domain has
        return None
